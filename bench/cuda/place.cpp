#include "bench/cuda/place.hpp"

#include <algorithm>
#include <charconv>

#include "apps/choices.hpp"
#include "apps/cuda/registry.hpp"

namespace cohort::bench {
namespace {

int number_of(const std::string& device) {
  int number = 0;
  const char* const end = device.data() + device.size();
  const auto [rest, error] = std::from_chars(device.data(), end, number);
  if (!device.empty() && (error != std::errc{} || rest != end)) {
    throw Error{Errc::bad_options,
                "--device " + device + "; with --engine cuda it is the number of a GPU, e.g. 0"};
  }
  return number;
}

class CudaPlace final : public Place {
 public:
  explicit CudaPlace(const PlaceOptions& options)
      : engine_({.device = number_of(options.device), .capacity = options.capacity}) {}

  [[nodiscard]] std::uint32_t capacity() const override { return engine_.capacity(); }
  void prepare(std::string_view app) override { (void)choose("app", app, apps::all()); }
  apps::Outcome run(std::string_view app, apps::Request& request) override {
    if (request.options.traces != nullptr)
      throw Error{Errc::bad_options, "--check-trace does not work with --engine cuda; drop it"};
    return apps::run_on_cuda(app, engine_, request);
  }
  [[nodiscard]] std::function<Load::Served()> product(std::uint32_t /*side*/,
                                                      const TaskOptions& /*options*/) override {
    throw Error{Errc::bad_options, "--task does not work with --engine cuda; drop it"};
  }
  /// Our algorithms only.
  [[nodiscard]] std::optional<Pair> adapt(Pair pair) const override {
    if (pair.chunked) return {};
    std::erase(pair.settings, "algorithm=paper");
    return pair;
  }

 private:
  cuda::Engine engine_;
};

}  // namespace

std::unique_ptr<Place> make_cuda_place(const PlaceOptions& options) {
  return std::make_unique<CudaPlace>(options);
}

}  // namespace cohort::bench
