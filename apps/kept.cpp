#include "apps/kept.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

namespace cohort::apps {
namespace {

struct Shelf {
  std::mutex mutex;
  int keepers = 0;
  std::size_t most = 0;
  std::deque<std::pair<std::string, detail::Loaded>> inputs;  // the one used last is in front
};

Shelf& shelf() {
  static Shelf instance;
  return instance;
}

}  // namespace

KeepInput::KeepInput(std::size_t inputs) {
  const std::lock_guard lock{shelf().mutex};
  ++shelf().keepers;
  shelf().most = std::max(shelf().most, inputs);
}

KeepInput::~KeepInput() {
  const std::lock_guard lock{shelf().mutex};
  if (--shelf().keepers > 0) return;
  shelf().most = 0;
  shelf().inputs.clear();
}

detail::Loaded detail::kept(const std::string& key, const std::function<Loaded()>& load) {
  const std::lock_guard lock{shelf().mutex};
  if (shelf().most == 0) return load();
  auto& inputs = shelf().inputs;
  const auto found =
      std::ranges::find_if(inputs, [&](const auto& each) { return each.first == key; });
  if (found == inputs.end()) {
    // Before the next is made: one more may not fit.
    if (inputs.size() == shelf().most) inputs.pop_back();
    inputs.emplace_front(key, load());
  } else {
    std::rotate(inputs.begin(), found, found + 1);
  }
  return inputs.front().second;
}

}  // namespace cohort::apps
