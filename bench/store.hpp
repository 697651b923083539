// Samples that survive crashes: a file with one line of JSON for each finished sample set.
// Invariant: a line is complete and on disk before the next begins. So a run continues where a
// killed run stopped, and the file can be read at any time.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/files.hpp"

namespace cohort::bench {

/// The samples of one experiment.
class Store {
 public:
  using Json = nlohmann::ordered_json;

  /// Keeps the samples in memory only.
  explicit Store(Json header) : header_(std::move(header)) {}
  /// Continues `file`, or creates it with `header`, which describes all its samples. Throws
  /// Error{bad_options} if the file has another header (its `time` may differ), if another run uses
  /// it, or if it cannot be written. Throws Error{bad_file} if it is damaged anywhere but at its
  /// end.
  Store(std::filesystem::path file, Json header);

  [[nodiscard]] const Json& header() const { return header_; }
  [[nodiscard]] const std::vector<Json>& samples() const { return samples_; }
  /// Whether there is a sample with this `key`.
  [[nodiscard]] bool has(const std::string& key) const;
  [[nodiscard]] const Json* find(const std::string& key) const;
  /// Stores a sample, which must have a `key`. If the disk is full, throws Error{bad_options} and
  /// leaves the file unchanged.
  void add(Json sample);

 private:
  void append(const Json& line);

  std::filesystem::path file_;
  Descriptor out_{-1};
  Json header_;
  std::vector<Json> samples_;
};

/// The lines of such a file, the header first. Leaves out an unfinished last line. Throws
/// Error{bad_file}.
[[nodiscard]] std::vector<nlohmann::ordered_json> read_lines(const std::filesystem::path& file);

}  // namespace cohort::bench
