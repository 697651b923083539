// Serves one page of metrics over HTTP on the loopback interface, for Prometheus. Invariant: a
// connection has a limit on its bytes and on its time, so no client can delay others for long.
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
  /// Answers requests until `when`. Calls `page` at most once for all requests that are pending at
  /// the same time.
  void serve_until(std::chrono::steady_clock::time_point when,
                   const std::function<std::string()>& page);

 private:
  struct Connection {
    int socket = -1;
    std::chrono::steady_clock::time_point deadline;
    std::string request;
    std::string answer;  // the rest of the answer, still to be sent
    bool answering = false;
  };

  [[nodiscard]] std::size_t room() const;
  void accept_all();
  /// Reads and writes as much as possible without blocking. Returns false if the connection is
  /// over.
  static bool attend(Connection& connection, const std::function<std::string()>& page);
  /// `request` has a complete first line, or is too long.
  static std::string answer_to(const std::string& request,
                               const std::function<std::string()>& page);

  int listening_ = -1;
  std::uint16_t port_ = 0;
  std::vector<Connection> connections_;  // in order of arrival
  bool starved_ = false;  // no descriptors are left, so connections are not accepted for a while
};

}  // namespace cohort::cli
