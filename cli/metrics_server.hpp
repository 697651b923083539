// Serves one page of metrics over HTTP on the loopback interface, as Prometheus reads it.
// Invariant: a connection has a limit on its bytes and on its time, so no client can hold up others
// for long.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cohort::cli {

class MetricsServer {
 public:
  /// Listens on 127.0.0.1; port 0 takes a free one. Throws Error{bad_options}.
  explicit MetricsServer(std::uint16_t port);
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;
  ~MetricsServer();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Answers requests until then. `page` is called at most once for all that are there at a time.
  void serve_until(std::chrono::steady_clock::time_point when,
                   const std::function<std::string()>& page);

 private:
  struct Connection {
    int socket = -1;
    std::chrono::steady_clock::time_point deadline;
    std::string request;
    std::string answer;  // what is still to be sent
    bool answering = false;
  };

  [[nodiscard]] std::size_t room() const;
  void accept_all();
  /// Reads and writes what is possible now. False: the connection is over.
  static bool attend(Connection& connection, const std::function<std::string()>& page);
  /// `request` has a complete first line, or is too long.
  static std::string answer_to(const std::string& request,
                               const std::function<std::string()>& page);

  int listening_ = -1;
  std::uint16_t port_ = 0;
  std::vector<Connection> connections_;  // in the order in which they came
  bool starved_ = false;                 // no descriptors left: none is accepted for a while
};

}  // namespace cohort::cli
