// What a switch between stacks has to tell others: the sanitizers, and the C++ runtime's
// exceptions. Invariant: without sanitizers it costs nothing but the copy of two words.
#pragma once

#include <cxxabi.h>

#include <cstddef>

#include "sanitizers.hpp"

#if COHORT_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if COHORT_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace cohort {

/// Tells the sanitizers which stack runs. One for the conductor's side and one for each fibre.
class Whereabouts {
 public:
  Whereabouts() {  // NOLINT(modernize-use-equals-default): not under the thread sanitizer
#if COHORT_THREAD_SANITIZER
    tsan_ = __tsan_create_fiber(0);
#endif
  }
  explicit Whereabouts(bool /*here*/) {
#if COHORT_THREAD_SANITIZER
    tsan_ = __tsan_get_current_fiber();
    borrowed_ = true;
#endif
  }
  Whereabouts(const Whereabouts&) = delete;
  Whereabouts& operator=(const Whereabouts&) = delete;
  ~Whereabouts() {  // NOLINT(modernize-use-equals-default): not under the thread sanitizer
#if COHORT_THREAD_SANITIZER
    if (!borrowed_) __tsan_destroy_fiber(tsan_);
#endif
  }

  /// A fibre is about to begin on these bytes, which end at `top`. Who ran there before may have
  /// left without a word (a fibre's first functions never return): what it marked is void.
  void begin_on(void* top, std::size_t bytes) {
    bottom_ = static_cast<char*>(top) - bytes;
    size_ = bytes;
#if COHORT_ADDRESS_SANITIZER
    __asan_unpoison_memory_region(bottom_, bytes);
#endif
  }
  /// Just before this side switches to `other`; `ends`: it will not come back.
  void before_switch_to([[maybe_unused]] Whereabouts& other, [[maybe_unused]] bool ends = false) {
#if COHORT_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(ends ? nullptr : &fake_stack_, other.bottom_, other.size_);
#endif
#if COHORT_THREAD_SANITIZER
    __tsan_switch_to_fiber(other.tsan_, 0);
#endif
  }
  /// Just after this side has got control; `from` learns its own bounds if it did not know them.
  void after_switch_from([[maybe_unused]] Whereabouts& from) {
#if COHORT_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(fake_stack_, &from.bottom_, &from.size_);
#endif
  }

 private:
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
#if COHORT_ADDRESS_SANITIZER
  void* fake_stack_ = nullptr;
#endif
#if COHORT_THREAD_SANITIZER
  void* tsan_ = nullptr;
  bool borrowed_ = false;
#endif
};

/// What the C++ runtime keeps for each thread about exceptions being handled (Itanium C++ ABI,
/// __cxa_eh_globals). Fibres share a thread, so each has to bring its own.
struct Handling {
  void* caught = nullptr;
  unsigned int uncaught = 0;

  static Handling& current() { return *reinterpret_cast<Handling*>(abi::__cxa_get_globals()); }
};

}  // namespace cohort
