// What a program has to announce when it switches between stacks: to the sanitizers, and to the C++
// runtime's exception handling. Invariant: without sanitizers it costs only the copy of two words.
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

/// Tells the sanitizers which stack is running. The conductor has one such object, and so has each
/// fibre.
class FibreNotes {
 public:
  FibreNotes() {  // NOLINT(modernize-use-equals-default): not under the thread sanitizer
#if COHORT_THREAD_SANITIZER
    tsan_ = __tsan_create_fiber(0);
#endif
  }
  explicit FibreNotes(bool /*here*/) {
#if COHORT_THREAD_SANITIZER
    tsan_ = __tsan_get_current_fiber();
    borrowed_ = true;
#endif
  }
  FibreNotes(const FibreNotes&) = delete;
  FibreNotes& operator=(const FibreNotes&) = delete;
  ~FibreNotes() {  // NOLINT(modernize-use-equals-default): not under the thread sanitizer
#if COHORT_THREAD_SANITIZER
    if (!borrowed_) __tsan_destroy_fiber(tsan_);
#endif
  }

  /// Called before a fibre starts on a stack of this size that ends at `top`. The previous fibre on
  /// this stack may have ended without returning from its first functions, so the sanitizer's marks
  /// of it are cleared.
  void begin_on(void* top, std::size_t bytes) {
    bottom_ = static_cast<char*>(top) - bytes;
    size_ = bytes;
#if COHORT_ADDRESS_SANITIZER
    __asan_unpoison_memory_region(bottom_, bytes);
#endif
  }
  /// Called just before this stack switches to `other`. `ends`: this stack will not run again.
  void before_switch_to([[maybe_unused]] FibreNotes& other, [[maybe_unused]] bool ends = false) {
#if COHORT_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(ends ? nullptr : &fake_stack_, other.bottom_, other.size_);
#endif
#if COHORT_THREAD_SANITIZER
    __tsan_switch_to_fiber(other.tsan_, 0);
#endif
  }
  /// Called just after control has come back to this stack. Learns the bounds of the stack of
  /// `from` if they are not known yet.
  void after_switch_from([[maybe_unused]] FibreNotes& from) {
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

/// What the C++ runtime stores per thread about exceptions being handled (Itanium C++ ABI,
/// __cxa_eh_globals). Fibres share a thread, so each needs its own.
struct Handling {
  void* caught = nullptr;
  unsigned int uncaught = 0;

  static Handling& current() { return *reinterpret_cast<Handling*>(abi::__cxa_get_globals()); }
};

}  // namespace cohort
