// Inputs that stay in memory, for whoever runs on the same ones again and again.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <typeinfo>

namespace cohort::apps {

/// While there is one, the inputs that were used last are not loaded again.
class KeepInput {
 public:
  /// So many; where there are several keepers, the most that one of them asked for.
  explicit KeepInput(std::size_t inputs = 1);
  KeepInput(const KeepInput&) = delete;
  KeepInput& operator=(const KeepInput&) = delete;
  ~KeepInput();
};

namespace detail {

using Loaded = std::shared_ptr<const void>;
Loaded kept(const std::string& key, const std::function<Loaded()>& load);

}  // namespace detail

/// The `T` that is kept under `key`, or else what `load()` makes.
template <class T, class Load>
std::shared_ptr<const T> kept(const std::string& key, Load load) {
  return std::static_pointer_cast<const T>(
      detail::kept(key + " of " + typeid(T).name(),
                   [&]() -> detail::Loaded { return std::make_shared<const T>(load()); }));
}

}  // namespace cohort::apps
