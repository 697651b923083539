# Finds Clang's libraries, as Debian packages them: libclang-14-dev, libclang-cpp14-dev. COHORT_COMPILER is on by default if
# they are found and cohort is not part of another project. Uses the shared libraries, because linking the static ones takes
# a minute.
set(COHORT_CLANG_MAJOR 14)
set(clang_root /usr/lib/llvm-${COHORT_CLANG_MAJOR})
find_path(COHORT_CLANG_INCLUDE clang/AST/ASTContext.h HINTS ${clang_root}/include NO_DEFAULT_PATH)
find_library(COHORT_CLANG_LIBRARY clang-cpp HINTS ${clang_root}/lib NO_DEFAULT_PATH)
find_library(COHORT_LLVM_LIBRARY LLVM-${COHORT_CLANG_MAJOR} HINTS ${clang_root}/lib NO_DEFAULT_PATH)
mark_as_advanced(COHORT_CLANG_INCLUDE COHORT_CLANG_LIBRARY COHORT_LLVM_LIBRARY)
file(GLOB clang_resources ${clang_root}/lib/clang/${COHORT_CLANG_MAJOR}.*/include/opencl-c-base.h)

if(COHORT_CLANG_INCLUDE AND COHORT_CLANG_LIBRARY AND COHORT_LLVM_LIBRARY AND clang_resources)
  set(COHORT_COMPILER_DEFAULT ON)
else()
  set(COHORT_COMPILER_DEFAULT OFF)
  if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED COHORT_COMPILER)
    message(STATUS "cohortc is left out: Clang ${COHORT_CLANG_MAJOR}'s libraries were not found in ${clang_root}; "
      "`make setup` installs libclang-${COHORT_CLANG_MAJOR}-dev and libclang-cpp${COHORT_CLANG_MAJOR}-dev")
  endif()
endif()
if(PROJECT_IS_TOP_LEVEL)
  option(COHORT_COMPILER "Build cohortc, the compiler of the OpenCL C dialect" ${COHORT_COMPILER_DEFAULT})
else()
  option(COHORT_COMPILER "Build cohortc, the compiler of the OpenCL C dialect" OFF)
endif()

if(COHORT_COMPILER)
  if(NOT COHORT_COMPILER_DEFAULT)
    message(FATAL_ERROR "COHORT_COMPILER is on, but Clang ${COHORT_CLANG_MAJOR}'s libraries were not found in ${clang_root}: "
      "install libclang-${COHORT_CLANG_MAJOR}-dev and libclang-cpp${COHORT_CLANG_MAJOR}-dev, or configure with -DCOHORT_COMPILER=OFF")
  endif()
  list(GET clang_resources 0 clang_header)
  cmake_path(GET clang_header PARENT_PATH clang_headers)
  cmake_path(GET clang_headers PARENT_PATH COHORT_CLANG_RESOURCES)
  cmake_path(GET COHORT_CLANG_RESOURCES FILENAME COHORT_CLANG_VERSION)
endif()
