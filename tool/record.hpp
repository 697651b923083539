// What goes with every figure: the machine, the commit and the time; and files that are never seen
// half written.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace cohort::tool {

/// The commit this program was built from.
[[nodiscard]] const char* commit() noexcept;

/// CPU model, usable CPUs, operating system, compiler.
[[nodiscard]] nlohmann::ordered_json machine();

/// Now, as in 2024-05-31T12:00:00Z.
[[nodiscard]] std::string utc_time();

/// version, commit, time and machine, for the head of a record.
[[nodiscard]] nlohmann::ordered_json provenance();

/// A record as its file holds it: indented, an array of numbers or texts on one line.
[[nodiscard]] std::string record_text(const nlohmann::ordered_json& record);

/// How a file with results is called: "overhead.json" of the CPU, "overhead-opencl.json" of another
/// engine.
[[nodiscard]] std::string file_of(std::string_view what, std::string_view engine,
                                  std::string_view extension);

/// Throws Error{bad_options} if `file` could not be written, so that nobody learns it only after a
/// long run.
void check_writable(const std::filesystem::path& file);

/// Writes a whole file: readers see the old content or the new, also after a crash. What is there
/// and no file, like /dev/stdout, is written to. Throws Error{bad_options} if it cannot; the old
/// file is then as it was.
void write_atomically(const std::filesystem::path& file, const std::string& content);

}  // namespace cohort::tool
