#include "tenant/wire.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <utility>

#include "cohort/error.hpp"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace cohort::tenant {
namespace {

constexpr std::size_t most_descriptors = 4;
constexpr int fixed_size = F_SEAL_SHRINK | F_SEAL_GROW;

[[noreturn]] void fail(const std::string& what) {
  throw Error{Errc::unsupported, "tenants: " + what + ": " + std::strerror(errno)};
}

}  // namespace

Mapping::Mapping(const Descriptor& memory, std::size_t bytes, bool writable) : bytes_(bytes) {
  struct stat status {};
  if (::fstat(memory.get(), &status) != 0 || status.st_size < static_cast<off_t>(bytes) ||
      (::fcntl(memory.get(), F_GET_SEALS) & fixed_size) != fixed_size) {
    throw Error{Errc::unsupported, "tenants: shared memory of the wrong size, or not sealed"};
  }
  void* const data = ::mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                            MAP_SHARED, memory.get(), 0);
  if (data == MAP_FAILED) fail("cannot map shared memory");
  data_ = data;
  ::madvise(data, bytes, MADV_DONTFORK);  // a child of fork() must not write in its parent's name
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

Descriptor make_memory(const char* name, std::size_t bytes) {
  Descriptor memory{::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!memory.open() || ::ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(memory.get(), F_ADD_SEALS, fixed_size) != 0)
    fail("cannot make shared memory");
  return memory;
}

void seal(const Descriptor& memory, Writers writers) {
  const int more = writers == Writers::mapped_already ? F_SEAL_FUTURE_WRITE : 0;
  if (::fcntl(memory.get(), F_ADD_SEALS, more | F_SEAL_SEAL) != 0)
    fail("cannot seal shared memory (this needs Linux 5.1)");
}

bool send(const Descriptor& socket, const void* message, std::size_t bytes,
          std::span<const int> descriptors) {
  iovec part{.iov_base = const_cast<void*>(message), .iov_len = bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * most_descriptors)]{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const first = CMSG_FIRSTHDR(&header);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(first), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes);
}

Received receive(const Descriptor& socket, void* buffer, std::size_t room,
                 std::vector<Descriptor>* descriptors) {
  iovec part{.iov_base = buffer, .iov_len = room};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * most_descriptors)]{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (descriptors != nullptr) {  // the system closes descriptors for which the receiver has no room
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | MSG_TRUNC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
  if (got < 0) return {.what = Received::What::end};
  if (descriptors != nullptr) {
    for (cmsghdr* each = CMSG_FIRSTHDR(&header); each != nullptr;
         each = CMSG_NXTHDR(&header, each)) {
      if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int value = -1;
        std::memcpy(&value, CMSG_DATA(each) + i * sizeof(int), sizeof value);
        descriptors->emplace_back(value);
      }
    }
  }
  if (got > 0) return {.what = Received::What::message, .bytes = static_cast<std::size_t>(got)};
  // An empty message looks like the end of the connection, so ask the system which it is.
  pollfd hung{.fd = socket.get(), .events = POLLRDHUP, .revents = 0};
  const bool over =
      ::poll(&hung, 1, 0) > 0 && (hung.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
  return {.what = over ? Received::What::end : Received::What::message};
}

void sleep_on(const Futex& word, std::uint32_t seen,
              std::optional<std::uint64_t> deadline) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  timespec until{};
  if (deadline) {
    until.tv_sec = static_cast<std::time_t>(*deadline / second);
    until.tv_nsec = static_cast<long>(*deadline % second);
  }
  ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, seen, deadline ? &until : nullptr, nullptr,
            FUTEX_BITSET_MATCH_ANY);
}

void SharedPlatform::notify(const Descriptor& bell) noexcept {
  const std::uint64_t one = 1;
  // Fails only if the bell already rings.
  static_cast<void>(!::write(bell.get(), &one, sizeof one));
}

void SharedPlatform::notify(const Futex& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace cohort::tenant
