# Finds an MPI: libopenmpi-dev or libmpich-dev. COHORT_MPI defaults to whether there is one. Of several, CMake's hints choose:
# -DMPI_CXX_COMPILER=mpicxx.mpich -DMPIEXEC_EXECUTABLE=mpiexec.mpich, as the preset "mpich" does.
find_package(MPI QUIET COMPONENTS CXX)
option(COHORT_MPI "Build the engine for several ranks by MPI" ${MPI_CXX_FOUND})
if(COHORT_MPI AND NOT MPI_CXX_FOUND)
  message(FATAL_ERROR "COHORT_MPI is on, but there is no MPI: run scripts/setup --mpi, or configure with -DCOHORT_MPI=OFF")
endif()
