// Its results depend on the build options. Compiling it prints a warning.
#pragma clang diagnostic warning "-Wunused-variable"
#if __OPENCL_C_VERSION__ != 120
#error "not -cl-std=CL1.2"
#endif
#include "../add.cl"
kernel void options(global float *x) {
  int unused;
  x[0] = 0.1f;
  x[1] = FLT_MIN;
}
