// Handles of the C API: numbers cast to pointers, which are never followed. Invariant: a handle
// value is used once, so a closed handle is always recognised.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "cohort/c.h"

namespace cohort::c {

/// A failure that is not a cohort::Error.
struct Refusal {
  cohort_code code;
  std::string message;
};

[[noreturn]] inline void refuse(cohort_code code, std::string message) {
  throw Refusal{code, std::move(message)};
}

/// Base class of everything to which a handle can refer.
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;
};

/// Guards the table of handles and the engines' bookkeeping. Not held during a call of the library.
/// Not held across fork() either, so a child finds it unlocked.
[[nodiscard]] std::mutex& table_mutex();

class Table {
 public:
  /// Returns a new handle for the object. Call it with the table's mutex held.
  std::uint64_t add(std::shared_ptr<Object> object, unsigned kind) {
    const std::uint64_t handle = (++made_ << kind_bits) | kind;
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  /// Returns null if there is no such object. Call it with the mutex held.
  [[nodiscard]] std::shared_ptr<Object> find(std::uint64_t handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  std::shared_ptr<Object> remove(std::uint64_t handle) {
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    auto object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  static constexpr unsigned kind_bits = 4;

 private:
  std::uint64_t made_ = 0;
  std::unordered_map<std::uint64_t, std::shared_ptr<Object>> objects_;
};

[[nodiscard]] Table& table();

/// The kind of a handle's type: its number and name.
template <class Handle>
struct Kind;

template <class Handle>
std::uint64_t number_of(const Handle* handle) {
  static_assert(sizeof(void*) == sizeof(std::uint64_t), "cohort: handles have 64 bits");
  return reinterpret_cast<std::uint64_t>(handle);
}

template <class Handle>
[[noreturn]] void refuse_handle(const Handle* handle) {
  const std::string name = Kind<Handle>::name;
  if (handle == nullptr) refuse(COHORT_BAD_HANDLE, "no " + name + ": the handle is null");
  refuse(COHORT_BAD_HANDLE, "no " + name + ": it has been closed, or this is no handle of one");
}

/// The object to which a handle refers. Throws Refusal{COHORT_BAD_HANDLE}.
template <class Handle>
std::shared_ptr<typename Kind<Handle>::Type> object_of(const Handle* handle) {
  if ((number_of(handle) & ((1U << Table::kind_bits) - 1)) == Kind<Handle>::number) {
    const std::lock_guard lock{table_mutex()};
    if (auto found = table().find(number_of(handle)))
      return std::static_pointer_cast<typename Kind<Handle>::Type>(std::move(found));
  }
  refuse_handle(handle);
}

/// Returns a new handle for the object.
template <class Handle>
Handle* handle_of(std::shared_ptr<typename Kind<Handle>::Type> object) {
  const std::lock_guard lock{table_mutex()};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it is never followed
  return reinterpret_cast<Handle*>(table().add(std::move(object), Kind<Handle>::number));
}

/// Removes the handle from the table. Destroys the object without holding the mutex.
template <class Handle>
std::shared_ptr<typename Kind<Handle>::Type> forget(const Handle* handle) {
  auto found = object_of(handle);
  const std::lock_guard lock{table_mutex()};
  if (table().remove(number_of(handle)) == nullptr) refuse_handle(handle);
  return found;
}

/// Stores the message of a failure for cohort_message().
void keep_message(const char* text) noexcept;
[[nodiscard]] const char* kept_message() noexcept;

/// Returns the code of the exception being handled, and stores its message. `foreign`: the code for
/// an exception that is not the library's.
[[nodiscard]] cohort_code code_of_exception(cohort_code foreign);

/// Runs the body of a function of the C API.
template <class Body>
cohort_code guarded(Body&& body, cohort_code foreign = COHORT_INTERNAL) {
  try {
    body();
    return COHORT_OK;
  } catch (...) {
    return code_of_exception(foreign);
  }
}

template <class T>
T& checked_out(T* out, const char* name) {
  if (out == nullptr)
    refuse(COHORT_BAD_OPTIONS, std::string{name} + ": it is null; pass the address of a variable");
  return *out;
}

/// The options, or the defaults if there are none. If a newer caller passes a larger structure,
/// reads the known part and requires the rest to be 0.
template <class Options>
Options options_or_default(const Options* options, const char* name) {
  Options result{};
  if (options == nullptr) return result;
  const std::size_t size = options->size;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(options);
  if (size < sizeof size || size > 4096) {
    refuse(COHORT_BAD_OPTIONS, std::string{name} + ": size is " + std::to_string(size) +
                                   "; set it to sizeof(" + name + ")");
  }
  for (std::size_t at = sizeof result; at < size; ++at) {
    if (bytes[at] != 0)
      refuse(COHORT_UNSUPPORTED, std::string{name} +
                                     ": it has options that this library does not "
                                     "know; use the header of this library");
  }
  auto* const to = reinterpret_cast<unsigned char*>(&result);
  for (std::size_t at = 0; at < sizeof result && at < size; ++at) to[at] = bytes[at];
  return result;
}

}  // namespace cohort::c
