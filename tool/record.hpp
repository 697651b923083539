// Provenance of every figure (machine, commit, time), and files that are never seen half written.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "cohort/samples.hpp"

namespace cohort::tool {

/// The commit this program was built from.
[[nodiscard]] const char* commit() noexcept;

/// CPU model, usable CPUs, operating system, compiler.
[[nodiscard]] nlohmann::ordered_json machine();

[[nodiscard]] nlohmann::ordered_json to_json(const Summary& summary);

/// The current time, as in 2024-05-31T12:00:00Z.
[[nodiscard]] std::string utc_time();

/// The header of a record: version, commit, time and machine.
[[nodiscard]] nlohmann::ordered_json provenance();

/// A record in its file's format: indented, but with an array of numbers or texts on one line.
[[nodiscard]] std::string record_text(const nlohmann::ordered_json& record);

/// Name of a results file: "overhead.json" for the CPU engine, "overhead-opencl.json" for another.
[[nodiscard]] std::string file_of(std::string_view what, std::string_view engine,
                                  std::string_view extension);

/// Throws Error{bad_options} if `file` cannot be written. Call it before a long run.
void check_writable(const std::filesystem::path& file);

/// Replaces a file atomically: readers see the old or the new content, even after a crash. Streams
/// such as /dev/stdout are written directly. Throws Error{bad_options} on failure, with the old
/// file unchanged.
void write_atomically(const std::filesystem::path& file, const std::string& content);

}  // namespace cohort::tool
