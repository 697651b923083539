// cohort report: an HTML page from folders of results.
#pragma once

#include <string>
#include <vector>

namespace cohort::cli {

/// Writes report.html into the first folder and, unless `json` is empty, the page's data to that
/// file. Returns the exit status.
int write_report(const std::vector<std::string>& folders, const std::string& json = "");

}  // namespace cohort::cli
