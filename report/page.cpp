#include "cohort/error.hpp"
#include "report/assets.hpp"
#include "report/report.hpp"

namespace cohort::report {
namespace {

/// Replaces `mark` with `text`.
void fill(std::string& page, std::string_view mark, std::string_view text) {
  page.replace(page.find(mark), mark.size(), text);
}

}  // namespace

std::string page_of(std::string data) {
  if (d3().empty()) {
    throw Error{Errc::unsupported,
                "this program was built without D3; install the Debian package node-d3 and build "
                "it again"};
  }
  // `<` occurs only in strings, where it could end the script element ("</script>") or hide its
  // end ("<!--<script>").
  for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos;)
    data.replace(at, 1, "\\u003c");

  std::string page{report::page()};
  // Fill in from the end, because inserted text may contain the next mark.
  fill(page, "@SCRIPT@", script());
  fill(page, "@D3@", d3());
  fill(page, "@DATA@", data);
  fill(page, "@STYLE@", style());
  return page;
}

}  // namespace cohort::report
