#include "apps/registry.hpp"

#include <algorithm>

#include "src/choices.hpp"

namespace cohort::apps {

std::span<const AppInfo> all() {
  static const std::array list{
#define COHORT_APP(app) Registered<app::App>::info,
#include "apps/apps.def"
#undef COHORT_APP
  };
  return list;
}

const AppInfo& find_app(std::string_view name) { return choose("app", name, all()); }

std::size_t place_in_list(const AppInfo& app) {
  return static_cast<std::size_t>(&find_app(app.name) - all().data());
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    result.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

Outcome outcome(const AppRun& run, bool verify) {
  Outcome result{.report = run.report, .result = {}, .verified = {}, .difference = {}};
  if (!run.numbers) return result;
  result.result = run.numbers();
  if (verify) {
    const std::optional<std::string> difference = run.difference();
    result.verified = !difference;
    result.difference = difference.value_or("");
  }
  return result;
}

}  // namespace cohort::apps
