// Makes one page from folders of results. Invariant: the page needs no network and no other file.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace cohort::report {

/// Collects the page's data as JSON from folders of results. Throws Error{bad_options} for a folder
/// without results, Error{bad_file} for results that cannot be read.
[[nodiscard]] std::string data_of(std::span<const std::filesystem::path> folders);

/// The page with that data. Throws Error{unsupported} if the program was built without D3.
[[nodiscard]] std::string page_of(std::string data);

}  // namespace cohort::report
