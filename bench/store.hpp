// Samples that survive whatever happens: a file with one line of JSON for each finished sample set.
// Invariant: a line is whole and on the disk before the next is begun, so a run that was killed
// goes on where it stopped, and what it left can be read at any time.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cohort::bench {

/// The samples of one experiment.
class Store {
 public:
  using Json = nlohmann::ordered_json;

  /// In memory only.
  explicit Store(Json header) : header_(std::move(header)) {}
  /// Goes on with `file`, or begins it with `header`: what the samples have in common. Samples are
  /// never mixed: throws Error{bad_options} when the file was begun with another header (its `time`
  /// may differ), is in use by another run, or cannot be written; Error{bad_file} when it is
  /// damaged elsewhere than at its end.
  Store(std::filesystem::path file, Json header);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();

  [[nodiscard]] const Json& header() const { return header_; }
  [[nodiscard]] const std::vector<Json>& samples() const { return samples_; }
  /// Whether there is a sample with that `key`.
  [[nodiscard]] bool has(const std::string& key) const;
  [[nodiscard]] const Json* find(const std::string& key) const;
  /// Keeps a sample; it must have a `key`. Throws Error{bad_options} when the disk is full: the
  /// file is then as it was before.
  void add(Json sample);

 private:
  void append(const Json& line);

  std::filesystem::path file_;
  int descriptor_ = -1;
  Json header_;
  std::vector<Json> samples_;
};

/// The lines of such a file, the header first; an unfinished last line is left out. Throws
/// Error{bad_file}.
[[nodiscard]] std::vector<nlohmann::ordered_json> read_lines(const std::filesystem::path& file);

}  // namespace cohort::bench
