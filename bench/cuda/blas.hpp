// cuBLAS, loaded at run time if it is installed, so that no program has to link it.
#pragma once

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <string>

#include "cohort/error.hpp"

namespace cohort::bench::device {

/// Products of matrices in single precision, in a stream.
class Blas {
 public:
  Blas() {
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
      library_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library_ == nullptr) {
        library_ =
            ::dlopen((std::string{"/usr/local/cuda/lib64/"} + name).c_str(), RTLD_NOW | RTLD_LOCAL);
      }
      if (library_ != nullptr) break;
    }
    if (library_ == nullptr) return;
    find(create_, "cublasCreate_v2");
    find(destroy_, "cublasDestroy_v2");
    find(set_stream_, "cublasSetStream_v2");
    find(set_workspace_, "cublasSetWorkspace_v2");
    find(sgemm_, "cublasSgemm_v2");
    if (create_ == nullptr || sgemm_ == nullptr || set_stream_ == nullptr ||
        create_(&handle_) != 0) {
      handle_ = nullptr;
    }
  }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;
  ~Blas() {
    if (handle_ != nullptr) destroy_(handle_);
  }

  [[nodiscard]] bool there() const { return handle_ != nullptr; }
  void use(cudaStream_t stream, void* workspace, std::size_t size) const {
    set_stream_(handle_, stream);
    if (set_workspace_ != nullptr) set_workspace_(handle_, workspace, size);
  }
  void product(int size, const float* a, const float* b, float* c) const {
    const float one = 1;
    const float zero = 0;
    if (sgemm_(handle_, 0, 0, size, size, size, &one, a, size, b, size, &zero, c, size) != 0) {
      throw Error{Errc::device_lost, "bench: cublasSgemm failed"};
    }
  }

 private:
  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(library_, name));
  }

  void* library_ = nullptr;
  void* handle_ = nullptr;
  int (*create_)(void**) = nullptr;
  int (*destroy_)(void*) = nullptr;
  int (*set_stream_)(void*, cudaStream_t) = nullptr;
  int (*set_workspace_)(void*, void*, std::size_t) = nullptr;
  int (*sgemm_)(void*, int, int, int, int, int, const float*, const float*, int, const float*, int,
                const float*, float*, int) = nullptr;
};

}  // namespace cohort::bench::device
