#include "cuda/watchdog.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#ifdef COHORT_WITH_CUPTI
#include <cupti.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <set>

#include "cohort/error.hpp"
#include "cohort/platform/cpu.hpp"

namespace cohort::cuda {
namespace {

using std::chrono_literals::operator""ms;

/// A function that may wait for all kernels, and its replacement, for the message.
struct Function {
  std::uint32_t id;
  const char* name;
  const char* advice;
};

/// A call in progress. `since` is 0 in a free entry, and `taken` while a thread fills the entry in.
struct Call {
  static constexpr std::uint64_t taken = 1;
  std::atomic<std::uint64_t> since{0};
  std::atomic<const Function*> function{nullptr};
};
std::array<Call, 64> calls;  // further calls at the same time are not watched

#ifdef COHORT_WITH_CUPTI

constexpr const char* own_stream = "use a stream made with cudaStreamNonBlocking, and a lease";

// Missing here: the first launch of a lazily loaded kernel, since it waits where no callback
// reports it.
constexpr Function functions[] = {
    {CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020, "cudaFree", "free with cudaFreeAsync"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaFreeHost_v3020, "cudaFreeHost",
     "free pinned memory when no job runs"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, "cudaDeviceSynchronize",
     "synchronise the stream that you wait for"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, "the legacy default stream", own_stream},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, "cudaMemcpy in the legacy default stream",
     own_stream},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemset_v3020, "cudaMemset in the legacy default stream",
     own_stream},
};

void enter(const CUpti_CallbackData& data, CUpti_CallbackId id) {
  *data.correlationData = 0;
  const auto* const function = std::find_if(std::begin(functions), std::end(functions),
                                            [id](const Function& each) { return each.id == id; });
  if (function == std::end(functions)) return;
  if (id == CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020) {
    // The callback's parameters point to a struct of the function's parameters.
    const auto stream = *static_cast<const cudaStream_t*>(data.functionParams);
    if (stream != nullptr && stream != cudaStreamLegacy) return;
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::uint64_t free = 0;
    if (!calls[i].since.compare_exchange_strong(free, Call::taken)) continue;
    calls[i].function.store(function);
    calls[i].since.store(cpu::now());
    *data.correlationData = i + 1;
    return;
  }
}

void CUPTIAPI note(void* /*user*/, CUpti_CallbackDomain /*domain*/, CUpti_CallbackId id,
                   const void* what) {
  const auto& data = *static_cast<const CUpti_CallbackData*>(what);
  if (data.callbackSite == CUPTI_API_ENTER) {
    enter(data, id);
  } else if (*data.correlationData != 0) {
    calls[*data.correlationData - 1].since.store(0);
  }
}

/// A process can have one subscriber, so this happens once.
void subscribe() {
  void* library = nullptr;
  const std::string name = "libcupti.so." + std::to_string(CUDART_VERSION / 1000);
  for (const char* folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"}) {
    library = ::dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  const auto make = reinterpret_cast<decltype(&cuptiSubscribe)>(
      library == nullptr ? nullptr : ::dlsym(library, "cuptiSubscribe"));
  const auto enable = reinterpret_cast<decltype(&cuptiEnableCallback)>(
      library == nullptr ? nullptr : ::dlsym(library, "cuptiEnableCallback"));
  if (make == nullptr || enable == nullptr) {
    throw Error{Errc::unsupported, "on_blocked_call: " + name +
                                       " of the CUDA toolkit is not there; put its folder into "
                                       "LD_LIBRARY_PATH"};
  }
  CUpti_SubscriberHandle subscriber = nullptr;
  if (make(&subscriber, &note, nullptr) != CUPTI_SUCCESS) {
    throw Error{Errc::unsupported,
                "on_blocked_call: CUPTI has another user, such as a profiler; run without it"};
  }
  for (const Function& each : functions) {
    enable(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, each.id);
  }
}

#else

void subscribe() {
  throw Error{Errc::unsupported, "on_blocked_call: cohort was built without the headers of CUPTI"};
}

#endif

}  // namespace

Watchdog::Watchdog(Report report) : report_(std::move(report)) {
  static const bool once = [] {
    subscribe();
    return true;
  }();
  static_cast<void>(once);
  thread_ = std::jthread{[this](const std::stop_token& stop) { watch(stop); }};
}

void Watchdog::watch(const std::stop_token& stop) {
  constexpr std::uint64_t patience = 100'000'000;
  std::set<std::string> reported;
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(5ms);
    bool any = false;
    for (Call& call : calls) {
      const std::uint64_t since = call.since.load();
      const Function* const function = call.function.load();
      const std::uint64_t launched = launched_at_.load();
      if (since <= Call::taken || since + patience > cpu::now()) continue;
      // Without a running job, the call waits for something else.
      if (launched == 0 && !blocked_) continue;
      any = true;
      if (launched == 0 || !reported.insert(function->name).second) continue;
      report_(std::string{function->name} + " has waited for " +
              std::to_string((cpu::now() - since) / 1'000'000) +
              " ms, while a job runs that was launched " +
              std::to_string((cpu::now() - launched) / 1'000'000) + " ms ago and fills the GPU; " +
              function->advice + ", or move that code into another process");
    }
    blocked_ = any;
  }
}

}  // namespace cohort::cuda
