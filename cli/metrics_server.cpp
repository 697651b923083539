#include "cli/metrics_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>

#include "cohort/error.hpp"

namespace cohort::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_connections = 16;
constexpr std::size_t longest_request = 8192;
constexpr std::chrono::seconds patience{2};
constexpr std::chrono::milliseconds pause{100};  // pause when no descriptors are left

std::string http(std::string_view status, std::string_view headers, const std::string& body) {
  std::string text = "HTTP/1.1 ";
  text.append(status).append("\r\n").append(headers);
  text += "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n";
  return text + body;
}

[[noreturn]] void refuse(std::uint16_t port) {
  throw Error{Errc::bad_options, "--prometheus " + std::to_string(port) + ": " +
                                     std::generic_category().message(errno) +
                                     "; choose another port"};
}

}  // namespace

MetricsServer::MetricsServer(std::uint16_t port) {
  listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listening_ < 0) refuse(port);
  const int on = 1;
  ::setsockopt(listening_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listening_, generic, size) != 0 || ::listen(listening_, most_connections) != 0 ||
      ::getsockname(listening_, generic, &size) != 0) {
    const int error = errno;
    ::close(listening_);
    errno = error;
    refuse(port);
  }
  port_ = ntohs(address.sin_port);
}

MetricsServer::~MetricsServer() {
  for (const Connection& each : connections_) ::close(each.socket);
  ::close(listening_);
}

/// The number of connections that may be accepted. A new connection may replace one that has not
/// sent its request.
std::size_t MetricsServer::room() const {
  const auto answering = std::ranges::count(connections_, true, &Connection::answering);
  return most_connections - static_cast<std::size_t>(answering);
}

void MetricsServer::accept_all() {
  // Counted first, so that no fresh connection is replaced.
  for (std::size_t left = room(); left > 0; --left) {
    const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    starved_ = socket < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR &&
               errno != ECONNABORTED;
    if (socket < 0) return;
    if (connections_.size() == most_connections) {
      const auto oldest = std::ranges::find(connections_, false, &Connection::answering);
      ::close(oldest->socket);
      connections_.erase(oldest);
    }
    connections_.push_back(
        {.socket = socket, .deadline = Clock::now() + patience, .request = {}, .answer = {}});
  }
}

std::string MetricsServer::answer_to(const std::string& request,
                                     const std::function<std::string()>& page) {
  const std::string_view line = std::string_view{request}.substr(0, request.find_first_of("\r\n"));
  const std::size_t method_ends = line.find(' ');
  const std::size_t path_ends = line.find(' ', method_ends + 1);
  if (request.find('\n') == std::string::npos || method_ends == std::string_view::npos ||
      path_ends == std::string_view::npos || !line.substr(path_ends + 1).starts_with("HTTP/1."))
    return http("400 Bad Request", "", "not a request of HTTP/1\n");
  const std::string_view method = line.substr(0, method_ends);
  std::string_view path = line.substr(method_ends + 1, path_ends - method_ends - 1);
  path = path.substr(0, path.find('?'));
  if (path != "/metrics") return http("404 Not Found", "", "only /metrics is here\n");
  if (method != "GET") return http("405 Method Not Allowed", "Allow: GET\r\n", "only GET\n");
  return http("200 OK", "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n", page());
}

bool MetricsServer::attend(Connection& connection, const std::function<std::string()>& page) {
  std::array<char, 2048> buffer{};
  while (!connection.answering) {
    const ssize_t got = ::recv(connection.socket, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (got <= 0) return false;
    connection.request.append(buffer.data(), static_cast<std::size_t>(got));
    const bool complete = connection.request.find("\r\n\r\n") != std::string::npos ||
                          connection.request.find("\n\n") != std::string::npos;
    if (!complete && connection.request.size() < longest_request) continue;
    connection.answering = true;
    connection.answer = complete ? answer_to(connection.request, page)
                                 : http("431 Request Header Fields Too Large", "", "too long\n");
  }
  while (connection.answering && !connection.answer.empty()) {
    const ssize_t put =
        ::send(connection.socket, connection.answer.data(), connection.answer.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (put <= 0) return false;
    connection.answer.erase(0, static_cast<std::size_t>(put));
  }
  return !connection.answering;
}

void MetricsServer::serve_until(Clock::time_point when, const std::function<std::string()>& page) {
  for (;;) {
    Clock::time_point next = starved_ ? std::min(when, Clock::now() + pause) : when;
    // Made at most once, because engines that do not answer take seconds.
    std::optional<std::string> made;
    const auto page_once = [&] {
      if (!made) made = page();
      return *made;
    };
    std::vector<pollfd> waits;
    for (const Connection& each : connections_) {
      next = std::min(next, each.deadline);
      waits.push_back({.fd = each.socket,
                       .events = static_cast<std::int16_t>(each.answering ? POLLOUT : POLLIN),
                       .revents = 0});
    }
    if (room() > 0 && !starved_)
      waits.push_back({.fd = listening_, .events = POLLIN, .revents = 0});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    ::poll(waits.data(), waits.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000)));
    const Clock::time_point now = Clock::now();
    std::erase_if(connections_, [&](Connection& each) {
      const bool over = now >= each.deadline || !attend(each, page_once);
      if (over) ::close(each.socket);
      return over;
    });
    accept_all();
    if (now >= when) return;
  }
}

}  // namespace cohort::cli
