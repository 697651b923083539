// The C API: leases of SMs. Every lease is refused in a build without CUDA, and on engines other
// than CUDA. Leases of tenants are in tenants.cpp.
#include "c/objects.hpp"
#include "cohort/c.h"

namespace cohort::c {

#ifdef COHORT_WITH_CUDA

class SmLease final : public LeaseObject {
 public:
  /// `owned`: the stream to destroy with this object, if it made one.
  SmLease(std::shared_ptr<EngineObject> engine, cuda::Lease lease, cudaStream_t stream, int device,
          bool owned)
      : engine_(std::move(engine)),
        lease_(std::move(lease)),
        stream_(stream),
        device_(device),
        owned_(owned) {}
  ~SmLease() override {
    lease_.reset();  // ends the lease in stream order, before the stream is destroyed
    if (!owned_) return;
    int before = 0;
    if (cudaGetDevice(&before) != cudaSuccess || cudaSetDevice(device_) != cudaSuccess) return;
    static_cast<void>(
        cudaStreamDestroy(stream_));  // returns at once; the driver finishes the stream's work
    static_cast<void>(cudaSetDevice(before));
  }
  [[nodiscard]] void* stream() override { return stream_; }

 private:
  std::shared_ptr<EngineObject> engine_;
  std::optional<cuda::Lease> lease_;
  cudaStream_t stream_;
  int device_;
  bool owned_;
};

namespace {

void check_cuda(cudaError_t error, const char* call) {
  if (error != cudaSuccess)
    throw Error{Errc::device_lost, std::string{call} + ": " + cudaGetErrorString(error)};
}

/// Makes a stream of the highest priority on a device.
cudaStream_t make_stream(int device) {
  int before = 0;
  check_cuda(cudaGetDevice(&before), "cudaGetDevice");
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  int least = 0;
  int greatest = 0;
  cudaStream_t stream = nullptr;
  cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
  if (error == cudaSuccess)
    error = cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest);
  static_cast<void>(cudaSetDevice(before));
  check_cuda(error, "cudaStreamCreateWithPriority");
  return stream;
}

cohort_code lease(cohort_engine* engine, std::optional<cudaStream_t> given, std::uint32_t sms,
                  cohort_lease** lease) {
  return guarded([&] {
    cohort_lease*& out = checked_out(lease, "lease");
    const EngineObject::Use use{object_of(engine)};
    use->visit([&]<class Engine>(Engine& its) {
      if constexpr (std::is_same_v<std::remove_const_t<Engine>, cuda::Engine>) {
        const cudaStream_t stream = given ? *given : make_stream(its.device());
        std::shared_ptr<SmLease> object;
        try {
          object = std::make_shared<SmLease>(use.object(), its.lease(stream, {.sms = sms}), stream,
                                             its.device(), !given);
        } catch (...) {
          if (!given) static_cast<void>(cudaStreamDestroy(stream));
          throw;
        }
        out = handle_of<cohort_lease>(std::move(object));  // the object owns the stream now
      } else {
        refuse(COHORT_UNSUPPORTED,
               "lease: SMs are leased from the engine cuda; this engine is on the CPU");
      }
    });
  });
}

}  // namespace

#else

namespace {

cohort_code lease(cohort_engine* engine, const char* call) {
  return guarded([&] {
    const EngineObject::Use use{object_of(engine)};
    refuse(COHORT_UNSUPPORTED,
           std::string{call} +
               ": SMs are leased from the engine cuda, which this build does not have");
  });
}

}  // namespace

#endif

}  // namespace cohort::c

using namespace cohort::c;

#ifdef COHORT_WITH_CUDA
cohort_code cohort_engine_lease(cohort_engine* engine, void* stream, uint32_t sms,
                                cohort_lease** out) {
  return lease(engine, static_cast<cudaStream_t>(stream), sms, out);
}
cohort_code cohort_engine_lease_stream(cohort_engine* engine, uint32_t sms, cohort_lease** out) {
  return lease(engine, std::nullopt, sms, out);
}
#else
cohort_code cohort_engine_lease(cohort_engine* engine, void*, uint32_t, cohort_lease**) {
  return lease(engine, "lease");
}
cohort_code cohort_engine_lease_stream(cohort_engine* engine, uint32_t, cohort_lease**) {
  return lease(engine, "lease_stream");
}
#endif

cohort_code cohort_lease_stream(cohort_lease* lease, void** stream) {
  return guarded([&] { checked_out(stream, "stream") = object_of(lease)->stream(); });
}

cohort_code cohort_lease_give_back(cohort_lease* lease) {
  return guarded([&] { forget(lease)->give_back(); });
}
