# Finds an MPI: libopenmpi-dev or libmpich-dev. COHORT_MPI is on by default if one is found. If there are several, choose one
# with CMake's hints, as the preset "mpich" does: -DMPI_CXX_COMPILER=mpicxx.mpich -DMPIEXEC_EXECUTABLE=mpiexec.mpich
find_package(MPI QUIET COMPONENTS CXX)
option(COHORT_MPI "Build the engine for several ranks by MPI" ${MPI_CXX_FOUND})
if(COHORT_MPI AND NOT MPI_CXX_FOUND)
  message(FATAL_ERROR "COHORT_MPI is on, but there is no MPI: run scripts/setup --mpi, or configure with -DCOHORT_MPI=OFF")
endif()
