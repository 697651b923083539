# Finds nvcc: $CUDACXX, then PATH, then the toolkit's usual folder. COHORT_CUDA is on by default if nvcc works. Inside another
# project, it is on if that project has enabled CUDA, because a language has to be enabled in a scope that contains all linked
# targets.
if(COHORT_CUDA OR (PROJECT_IS_TOP_LEVEL AND NOT DEFINED COHORT_CUDA))
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
  # Apps, tests and benchmarks have many kernels, which are not part of the library. Compile them for one architecture.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # Machine code for both, and PTX of the newer one for later devices.
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
    set(app_architectures 90)
  else()
    set(app_architectures ${CMAKE_CUDA_ARCHITECTURES})
  endif()
  if(EXISTS /dev/nvidiactl)
    set(COHORT_CUDA_RUNS ON)
  else()
    set(COHORT_CUDA_RUNS OFF)
  endif()
  # Compiling the apps takes minutes, so by default they are built only if there is a GPU.
  option(COHORT_CUDA_APPS "Build the applications for CUDA, and optimise the kernels of its tests and benchmarks"
    ${COHORT_CUDA_RUNS})
  if(COHORT_CUDA_APPS)
    set(COHORT_CUDA_RUNS ON)
  endif()
  if(NOT COHORT_CUDA_RUNS)
    list(TRANSFORM app_architectures REPLACE "^([0-9]+[af]?).*" "\\1-virtual")
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()

# cohort_app_kernels(<target>): compiles kernels outside the library, in a folder without other kernels. If no GPU can run them,
# they are only checked: compiled to PTX, without optimisation.
function(cohort_app_kernels target)
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${app_architectures}")
  if(NOT COHORT_CUDA_RUNS)
    # Applies to host code; nvcc warns if -O appears twice.
    set(CMAKE_CUDA_FLAGS_RELEASE "-O0 -DNDEBUG" PARENT_SCOPE)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcicc -O0>")
  endif()
endfunction()
