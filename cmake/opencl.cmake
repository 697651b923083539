# Finds the OpenCL ICD loader and the C++ bindings: ocl-icd-opencl-dev, opencl-clhpp-headers. COHORT_OPENCL defaults to whether
# they are there, with cohortc, which makes the engine's kernels. A device is needed only to run.
find_package(OpenCL QUIET)
find_path(COHORT_OPENCL_BINDINGS CL/opencl.hpp)
mark_as_advanced(COHORT_OPENCL_BINDINGS)
if(OpenCL_FOUND AND COHORT_OPENCL_BINDINGS AND COHORT_COMPILER)
  set(COHORT_OPENCL_DEFAULT ON)
else()
  set(COHORT_OPENCL_DEFAULT OFF)
endif()
option(COHORT_OPENCL "Build the OpenCL engine" ${COHORT_OPENCL_DEFAULT})

if(COHORT_OPENCL AND NOT COHORT_OPENCL_DEFAULT)
  message(FATAL_ERROR "COHORT_OPENCL is on, but it needs COHORT_COMPILER, the OpenCL ICD loader and the C++ bindings: "
    "install ocl-icd-opencl-dev and opencl-clhpp-headers, or configure with -DCOHORT_OPENCL=OFF")
endif()
