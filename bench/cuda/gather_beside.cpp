#include <algorithm>
#include <map>
#include <optional>
#include <random>

#include "bench/cuda/beside.hpp"
#include "bench/cuda/hold.hpp"
#include "bench/cuda/pairs.hpp"
#include "bench/cuda/words.hpp"
#include "cohort/cuda.hpp"

namespace cohort::bench {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

/// Records the resizing points that a job passes (barriers of all groups, offers of each group),
/// and the departures of groups. Events come in the order of time, by the device's clock.
class Points final : public Tracer {
 public:
  void clock(std::int64_t ahead) noexcept override { ahead_ = ahead; }
  void record(const TraceEvent& event) noexcept override {
    const std::uint64_t time = event.nanoseconds - static_cast<std::uint64_t>(ahead_);
    if (event.what == Trace::kill) gone_.push_back(time);
    if (event.what == Trace::offer) offers_[event.group].push_back(time);
    if (event.what == Trace::pass && (barriers_.empty() || barriers_.back() != time))
      barriers_.push_back(time);
  }

  /// The first time after `asked` at which all active groups from `first` on had passed a resizing
  /// point. Empty if that was not before `held`.
  [[nodiscard]] std::optional<std::uint64_t> next(std::uint64_t asked, std::uint64_t held,
                                                  std::uint32_t first) const {
    std::optional<std::uint64_t> result = next_of(barriers_, asked, held);
    for (auto its = offers_.lower_bound(first); its != offers_.end(); ++its)
      result = std::max(result, next_of(its->second, asked, held));
    return result;
  }
  /// The first time after `asked` at which `wanted` groups had left. Empty if that was not before
  /// `held`.
  [[nodiscard]] std::optional<std::uint64_t> out(std::uint64_t asked, std::uint64_t held,
                                                 std::uint32_t wanted) const {
    const auto first = std::ranges::lower_bound(gone_, asked);
    if (gone_.end() - first < wanted || *(first + wanted - 1) > held) return std::nullopt;
    return *(first + wanted - 1);
  }

 private:
  /// The first element after a time. Also empty while the job was starting.
  static std::optional<std::uint64_t> next_of(const std::vector<std::uint64_t>& points,
                                              std::uint64_t asked, std::uint64_t held) {
    const auto next = std::ranges::upper_bound(points, asked);
    if (next == points.begin() || next == points.end() || *next > held) return std::nullopt;
    return *next;
  }

  std::int64_t ahead_ = 0;
  std::vector<std::uint64_t> gone_;
  std::vector<std::uint64_t> barriers_;
  std::map<std::uint32_t, std::vector<std::uint64_t>> offers_;  // indexed by group
};

/// Requests SMs at random times while an app runs, and compares each wait with the next resizing
/// point of that run.
class Gathers {
 public:
  Gathers(const Variant& variant, cuda::Engine& engine, Holder& holder)
      : variant_(variant), engine_(engine), holder_(holder) {
    const Report alone = variant.run(engine, with_groups(engine.capacity()));
    longest_pause_ = std::min<nanoseconds>(alone.run_time, milliseconds{2});
  }

  struct Samples {
    std::vector<double> out;    ///< the gather time: from the request until the groups have left
    std::vector<double> point;  ///< time from the request until the next resizing point of the run
    std::vector<double> held;   ///< time from the call until the host knows that the SMs are held
  };
  Samples measure(std::uint32_t sms, Checks& checks, const ScenarioOptions& options) {
    Samples samples;
    const std::size_t enough = options.quick ? 5 : 100;
    const auto until = Clock::now() + std::chrono::seconds{4};
    for (bool first = true; samples.held.size() < enough && Clock::now() < until; first = false) {
      if (options.stop.stop_requested()) throw Stopped{};
      run_once(sms, first ? &checks : nullptr, samples);
    }
    return samples;
  }

 private:
  void run_once(std::uint32_t sms, Checks* checks, Samples& samples) {
    Points points;
    std::vector<Holder::Stamped> demands;
    apps::RunOptions how = with_groups(engine_.capacity());
    how.launch.tracer = &points;
    how.drive = [&](const Job& job) {
      std::uniform_int_distribution<nanoseconds::rep> pause{0, longest_pause_.count()};
      while (!job.wait_for(nanoseconds{pause(random_)}))
        demands.push_back(holder_.hold_stamped(sms));
      return job.wait();
    };
    static_cast<void>(variant_.run(engine_, how, checks));
    for (const auto& [held, asked] : demands) {
      const std::uint64_t until = asked + static_cast<std::uint64_t>(held);
      const auto next =
          // The groups with the highest ids leave.
          points.next(asked, until, engine_.capacity() - sms);
      const auto out = points.out(asked, until, sms);
      if (!next || !out) continue;  // the job was starting, had ended, or was not yet whole again
      samples.out.push_back(static_cast<double>(*out - asked));
      samples.point.push_back(static_cast<double>(*next - asked));
      samples.held.push_back(held);
    }
  }

  const Variant& variant_;
  cuda::Engine& engine_;
  Holder& holder_;
  nanoseconds longest_pause_{0};
  std::mt19937_64 random_{1};
};

Json gather_beside(const Variant& variant, cuda::Engine& engine, Holder& holder,
                   const std::map<std::uint32_t, std::vector<double>>& idle,
                   const ScenarioOptions& options) {
  constexpr double allowed = 20'000;
  Gathers gathers{variant, engine, holder};
  Checks checks;
  auto entries = Json::array();
  for (const auto& [wanted, alone] : idle) {
    const auto [out, point, held] = gathers.measure(wanted, checks, options);
    if (held.empty()) continue;  // the runs are too short for a share of this size
    std::vector<double> extras;
    for (std::size_t i = 0; i < out.size(); ++i) extras.push_back(out[i] - point[i]);
    const double extra = median(extras);
    std::cout << "  " << std::setw(3) << wanted << " SMs gathered in " << in_us(median(out))
              << " us, next resizing point in " << in_us(median(point)) << " us (p50 of "
              << out.size() << "): p50 " << in_us(extra) << " us more, p99 "
              << in_us(percentile(extras, 99)) << " us"
              << (extra <= allowed ? "" : ", NOT within 20")
              << "; held, as the host sees it, after " << in_us(median(held)) << " us (idle GPU "
              << in_us(median(alone)) << ")" << std::endl;
    entries.push_back({{"sms", wanted},
                       {"gather", numbers(out)},
                       {"to_resizing_point", numbers(point)},
                       {"extra", numbers(extras)},
                       {"within", extra <= allowed},
                       {"held", numbers(held)},
                       {"idle_held_p50", median(alone)}});
  }
  const std::size_t verified = checks.run();
  // Whether the runs of all shares were right.
  for (Json& each : entries) each["verified"] = verified;
  return entries;
}

}  // namespace

Json gather_beside_apps(const ScenarioOptions& options) {
  cuda::Engine engine;
  Holder holder{engine};
  const std::uint32_t sms = engine.capacity();
  std::map<std::uint32_t, std::vector<double>> idle;  // indexed by number of SMs
  for (const std::uint32_t wanted : {sms / 4, sms / 2, sms - 1}) {
    for (int i = 0; i < 50; ++i) idle[wanted].push_back(holder.hold_stamped(wanted).held);
  }
  Json result;
  for (const Variant& variant : cuda_variants(options.quick, options.only)) {
    std::cout << variant.name() << ", SMs demanded at random" << std::endl;
    result[variant.name()] = gather_beside(variant, engine, holder, idle, options);
  }
  std::cout << std::endl;
  return result;
}

}  // namespace cohort::bench
