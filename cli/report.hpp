// cohort report: a page to look at, from folders of results.
#pragma once

#include <string>
#include <vector>

namespace cohort::cli {

/// Writes report.html into the first folder, and says where it is. Returns the exit status.
int write_report(const std::vector<std::string>& folders);

}  // namespace cohort::cli
