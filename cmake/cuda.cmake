# Finds nvcc: $CUDACXX, then PATH, then the toolkit's usual place. COHORT_CUDA defaults to whether it works.
if(NOT DEFINED COHORT_CUDA OR COHORT_CUDA)
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(COHORT_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(COHORT_NVCC)
    if(COHORT_NVCC)
      set(ENV{CUDACXX} ${COHORT_NVCC})
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
endif()

if(CMAKE_CUDA_COMPILER)
  set(COHORT_CUDA_DEFAULT ON)
else()
  set(COHORT_CUDA_DEFAULT OFF)
endif()
option(COHORT_CUDA "Build for CUDA" ${COHORT_CUDA_DEFAULT})

if(COHORT_CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "COHORT_CUDA is on, but no working nvcc was found: "
      "set CUDACXX to its path, put it on PATH, or configure with -DCOHORT_CUDA=OFF")
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)  # code for both, and PTX of the newer for what comes after
    set(COHORT_APP_ARCHITECTURES 90)  # of apps, tests and figures: there are many kernels, and they are no part of the library
  else()
    set(COHORT_APP_ARCHITECTURES ${CMAKE_CUDA_ARCHITECTURES})
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()
