// cohort report: a page to look at, from folders of results.
#pragma once

#include <string>
#include <vector>

namespace cohort::cli {

/// Writes report.html into the first folder, and what it shows to the file `json` unless that is
/// empty; says where it is. Returns the exit status.
int write_report(const std::vector<std::string>& folders, const std::string& json = "");

}  // namespace cohort::cli
