# Finds the OpenCL ICD loader and the C++ bindings: ocl-icd-opencl-dev, opencl-clhpp-headers. COHORT_OPENCL is on by default if
# both are found and cohortc, which compiles the engine's kernels, is built. A device is only needed to run.
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
