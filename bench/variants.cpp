#include "bench/variants.hpp"

#include <future>

namespace cohort::bench {

std::size_t Checks::run() {
  std::vector<std::future<std::optional<std::string>>> differences;
  for (Check& each : all_)
    differences.push_back(std::async(std::launch::async, std::move(each.difference)));
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (const auto difference = differences[i].get())
      throw std::runtime_error{all_[i].whose + ": " + *difference};
  }
  all_.clear();
  return differences.size();
}

std::vector<Variant> variants_of(const std::vector<Pair>& pairs, bool chunked) {
  std::vector<Variant> result;
  for (const Pair& pair : pairs) {
    if (pair.chunked && !chunked) continue;
    const apps::AppInfo& app = apps::find_app(pair.app);
    const auto add = [&](std::string_view algorithm, std::vector<std::string> settings) {
      if (pair.chunked)
        settings.emplace_back(pair.style == Style::barriers ? "chunk=1024" : "chunk=16384");
      result.push_back(
          {pair, std::string{algorithm}, app.prepare(pair.input, apps::Settings{settings})});
    };
    if (!app.paper.empty()) add("paper", apps::words(app.paper));
    add(app.algorithm, {});
  }
  return result;
}

}  // namespace cohort::bench
