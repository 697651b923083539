// From folders of results to one page. Invariant: the page needs no network and no other file.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace cohort::report {

/// The page for results' folders, the first one shown first. Throws Error{bad_options} for a folder
/// without results, Error{bad_file} for results that cannot be read, Error{unsupported} when the
/// program was built without D3.
[[nodiscard]] std::string make(std::span<const std::filesystem::path> folders);

}  // namespace cohort::report
