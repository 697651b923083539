# What `cmake --install` installs: headers, libraries with exported targets, cohort.pc, and the tool. No file contains the
# prefix, so an installed tree can be moved; tests/package moves one.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cohort)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cohort ${PROJECT_BINARY_DIR}/generated/include/cohort
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.hpp PATTERN *.h PATTERN *.cuh PATTERN nvrtc/*)

set_target_properties(cohort_protocol PROPERTIES EXPORT_NAME protocol)
set_target_properties(cohort_cpu PROPERTIES EXPORT_NAME cpu)
set_target_properties(cohort_trace PROPERTIES EXPORT_NAME trace)
set_target_properties(cohort_explore PROPERTIES EXPORT_NAME explore)
set_target_properties(cohort_cohort PROPERTIES EXPORT_NAME cohort)
install(TARGETS cohort_protocol cohort_cpu cohort_trace cohort_explore cohort_cohort
  EXPORT cohort-targets
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET cohort_program)
  set_target_properties(cohort_program PROPERTIES EXPORT_NAME program)
  install(TARGETS cohort_program EXPORT cohort-targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/compiler/apps/ DESTINATION ${CMAKE_INSTALL_DATADIR}/cohort/kernels)
endif()
# Exported in separate files: a consumer that does not use an engine does not need its packages.
if(COHORT_OPENCL)
  set_target_properties(cohort_opencl PROPERTIES EXPORT_NAME opencl)
  install(TARGETS cohort_opencl EXPORT cohort-opencl-targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT cohort-opencl-targets NAMESPACE cohort:: DESTINATION ${package_dir})
endif()
if(COHORT_MPI)
  set_target_properties(cohort_mpi PROPERTIES EXPORT_NAME mpi)
  install(TARGETS cohort_mpi EXPORT cohort-mpi-targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT cohort-mpi-targets NAMESPACE cohort:: DESTINATION ${package_dir})
endif()
if(COHORT_CUDA)
  set_target_properties(cohort_cuda PROPERTIES EXPORT_NAME cuda)
  install(TARGETS cohort_cuda EXPORT cohort-cuda-targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT cohort-cuda-targets NAMESPACE cohort:: DESTINATION ${package_dir})
endif()
# Contains all engines, so it needs the packages of all of them.
set_target_properties(cohort_any PROPERTIES EXPORT_NAME any)
install(TARGETS cohort_any EXPORT cohort-any-targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT cohort-any-targets NAMESPACE cohort:: DESTINATION ${package_dir})
install(EXPORT cohort-targets NAMESPACE cohort:: DESTINATION ${package_dir})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/cohortConfig.cmake.in
  ${PROJECT_BINARY_DIR}/generated/package/cohortConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/package/cohortConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)  # before 1.0 a minor version may change the interface
install(FILES
  ${PROJECT_BINARY_DIR}/generated/package/cohortConfig.cmake
  ${PROJECT_BINARY_DIR}/generated/package/cohortConfigVersion.cmake
  DESTINATION ${package_dir})

file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
configure_file(${CMAKE_CURRENT_LIST_DIR}/cohort.pc.in
  ${PROJECT_BINARY_DIR}/generated/package/cohort.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/package/cohort.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET cohort)
  install(TARGETS cohort)
endif()
if(TARGET cohortc)
  install(TARGETS cohortc)
endif()
if(TARGET cohort_c)
  install(TARGETS cohort_c LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/cohort DESTINATION lib/python3/dist-packages  # Debian's folder for all versions
    FILES_MATCHING PATTERN *.py PATTERN py.typed PATTERN __pycache__ EXCLUDE)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

# `make package`: packs everything above, and everything that other folders install, into a tarball that can be unpacked
# anywhere, and on Debian also into a Debian package.
set(CPACK_GENERATOR TGZ)
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(DPKG_SHLIBDEPS)
if(DPKG_SHLIBDEPS)
  list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_PACKAGE_CONTACT "The cohort maintainers")
string(TOLOWER ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR} CPACK_SYSTEM_NAME)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS  # independent of the umask
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "A library, tool and compiler for long-running parallel kernels that lend some of their CPU cores or GPU SMs to urgent work and get them back.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # finds the packages of the libraries that programs link
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# Dependencies that no program links: packages that users of the static libraries link, and headers that cohortc reads. An engine's
# own packages are only suggested, because find_package leaves out an engine whose packages are missing.
set(CPACK_DEBIAN_PACKAGE_DEPENDS libboost-context-dev zlib1g-dev)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS g++ pkgconf)  # g++ also compiles the kernels of the dialect
set(CPACK_DEBIAN_PACKAGE_SUGGESTS cmake python3)
if(COHORT_COMPILER)
  list(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS libclang-common-${COHORT_CLANG_MAJOR}-dev)
endif()
if(COHORT_OPENCL)
  list(APPEND CPACK_DEBIAN_PACKAGE_SUGGESTS ocl-icd-opencl-dev)
endif()
if(COHORT_MPI)
  list(APPEND CPACK_DEBIAN_PACKAGE_SUGGESTS libopenmpi-dev)
endif()
if(COHORT_CUDA)
  list(APPEND CPACK_DEBIAN_PACKAGE_SUGGESTS nvidia-cuda-toolkit)
endif()
foreach(list DEPENDS RECOMMENDS SUGGESTS)
  list(JOIN CPACK_DEBIAN_PACKAGE_${list} ", " CPACK_DEBIAN_PACKAGE_${list})
endforeach()
include(CPack)
