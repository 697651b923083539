# What `cmake --install` puts where: headers, libraries with their exported targets, cohort.pc, and the tool. Nothing in
# it knows the prefix, so an installed tree can be moved; tests/package moves one.
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
# In files of their own: a consumer that uses none of them needs none of their packages.
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
# With all engines, so it needs the packages of all of them.
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
endif()
