// The messages between engines and tenants on a socket, and the memory that they share. Invariant:
// a message of another size, magic word or version is refused. Nothing is read from a message
// before its size is known.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cohort/platform/cpu_atomic.hpp"
#include "cohort/protocol/tenant.hpp"
#include "files.hpp"

namespace cohort::tenant {

inline constexpr std::array<char, 8> magic{'c', 'o', 'h', 'o', 'r', 't', '-', 't'};
inline constexpr std::uint32_t wire_version = 1;

/// A text in a field of fixed size, terminated by a zero.
template <std::size_t size>
using Text = std::array<char, size>;

template <std::size_t size>
void put(Text<size>& text, std::string_view from) {
  text = {};
  from.copy(text.data(), size - 1);
}
template <std::size_t size>
[[nodiscard]] std::string get(const Text<size>& text) {
  const std::string_view all{text.data(), size};
  return std::string{all.substr(0, all.find('\0'))};
}

enum class Kind : std::uint32_t {
  tenant = 1,
  status = 2,
  capacity = 3,  ///< sets the engine's capacity to `weight`
};

/// The first message of a connection, and each request for the status or a capacity.
struct Hello {
  std::array<char, 8> magic = tenant::magic;
  std::uint32_t version = wire_version;
  Kind kind = Kind::tenant;
  std::uint32_t weight = 1;
  std::int32_t priority = 0;
  Text<64> name{};
};

enum class Verdict : std::uint32_t {
  seated = 1,   ///< comes with three descriptors: demand page, grant page, doorbell
  queued = 2,   ///< all slots are taken; the same connection will be seated
  refused = 3,  ///< `text` says why; the connection ends
  done = 4,     ///< the capacity is set
};

/// The kind of engine, which determines what a unit is.
enum class EngineType : std::uint32_t { cpu = 1, cuda = 2 };

/// The engine's reply to a tenant.
struct Reply {
  std::array<char, 8> magic = tenant::magic;
  std::uint32_t version = wire_version;
  Verdict verdict = Verdict::refused;
  std::uint32_t slot = 0;
  EngineType type = EngineType::cpu;
  std::uint32_t capacity = 0;
  std::uint32_t reserved = 0;
  Text<64> engine{};  ///< name of the engine
  Text<64> device{};  ///< for a GPU: its UUID
  Text<256> text{};   ///< if refused: the reason; for a GPU: the folder of the MPS pipes
};

// These sizes belong to version 1 of the format.
static_assert(sizeof(Hello) == 88 && sizeof(Reply) == 416);

inline constexpr std::uint32_t cpu_words = 16;  ///< a bitmap of 1024 CPUs, as in cpu_set_t

/// Words in memory that two processes share: lock-free atomics of the same layout in both.
struct SharedPlatform {
  template <class T>
  using Atomic = cpu::Atomic<T>;

  /// A bell is an eventfd. It keeps ringing until its owner has read it, so no ring is lost.
  static void notify(const Descriptor& bell) noexcept;
  /// Wakes the threads of all processes that sleep on the word.
  static void notify(const Atomic<std::uint32_t>& word) noexcept;
};
using Futex = SharedPlatform::Atomic<std::uint32_t>;
static_assert(sizeof(Futex) == sizeof(std::uint32_t));
/// Sleeps while the word has the value `seen`, until `deadline` of cpu::now(). May return early.
void sleep_on(const Futex& word, std::uint32_t seen,
              std::optional<std::uint64_t> deadline) noexcept;

using Demand = protocol::Demand;
using Grant = protocol::Grant<cpu_words>;
using DemandPage = protocol::DemandPage<SharedPlatform>;
using GrantPage = protocol::GrantPage<SharedPlatform, cpu_words>;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(DemandPage) == 8 && sizeof(GrantPage) == 16 + 8 * cpu_words);

/// Memory mapped from a descriptor. A child of fork() does not have this mapping.
class Mapping {
 public:
  Mapping() = default;
  /// Throws Error{unsupported} if the memory is too small, or if its size could still change: an
  /// access could then kill the process.
  Mapping(const Descriptor& memory, std::size_t bytes, bool writable);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Which processes can still write to shared memory.
enum class Writers : std::uint8_t {
  every_process,
  mapped_already,  ///< mappings that exist when the memory is sealed
};

/// Makes new memory whose size cannot change.
[[nodiscard]] Descriptor make_memory(const char* name, std::size_t bytes);
/// Seals the memory against further writers. Call it once the memory is mapped. Throws
/// Error{unsupported}.
void seal(const Descriptor& memory, Writers writers);

/// Sends one message without blocking. Returns false if the other side has closed the connection or
/// does not read.
bool send(const Descriptor& socket, const void* message, std::size_t bytes,
          std::span<const int> descriptors = {});

/// A received message.
struct Received {
  enum class What : std::uint8_t { nothing, message, end } what = What::nothing;
  std::size_t bytes = 0;  ///< its size; larger than the buffer if the rest was cut off
};
/// Receives one message without blocking. Descriptors that come with it are put into `descriptors`
/// or closed.
[[nodiscard]] Received receive(const Descriptor& socket, void* buffer, std::size_t room,
                               std::vector<Descriptor>* descriptors = nullptr);

template <class Message>
[[nodiscard]] bool well_formed(const Received& received, const Message& message) {
  return received.bytes == sizeof(Message) && message.magic == magic &&
         message.version == wire_version;
}

}  // namespace cohort::tenant
