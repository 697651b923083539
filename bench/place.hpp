// Where experiments run: an engine with its apps, and matrix products as tasks beside them.
// Invariant: nothing else in the experiments knows which engine it is.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/registry.hpp"
#include "bench/pairs.hpp"
#include "bench/scenario.hpp"
#include "bench/serving.hpp"

namespace cohort::bench {

/// Which place. Everything has a default.
struct PlaceOptions {
  std::string engine = "cpu";
  std::optional<std::uint32_t> capacity = {};
  std::string device = {};         ///< of cuda its number, of opencl that or part of its name
  std::string scheduler = "host";  ///< of opencl: "group" for one of its work-groups
  bool pinned = false;             ///< on the CPU: each worker stays on a CPU of its own
  bool dialect = false;            ///< the apps that cohortc compiles; on opencl they always are
};

/// A pair with one of its algorithms, ready to run in a place.
struct Placed {
  Pair pair;
  std::string algorithm;  ///< "paper", or the name of ours
  /// One run. Throws when the job does not finish.
  std::function<Report(const apps::RunOptions&)> run;

  /// "bfs (paper) on rmat:22".
  [[nodiscard]] std::string name() const {
    return pair.app + " (" + algorithm + ") on " + pair.input;
  }
};

class Place {
 public:
  virtual ~Place() = default;

  [[nodiscard]] virtual std::uint32_t capacity() const = 0;
  /// How many groups of that size suit an app on an input, which may be loaded for it.
  [[nodiscard]] virtual std::uint32_t groups_for(std::string_view /*app*/,
                                                 const std::string& /*input*/,
                                                 std::uint32_t /*local_size*/) const {
    return capacity();
  }
  /// The device, for the head of a record; null for the CPU, which every record has.
  [[nodiscard]] virtual nlohmann::ordered_json device() const { return nullptr; }
  /// Whether groups are threads that take turns where there are more than CPUs.
  [[nodiscard]] virtual bool on_cpus() const { return false; }
  /// Whether tracers see when things happen, and what they call where it does.
  [[nodiscard]] virtual bool traces() const { return false; }
  [[nodiscard]] virtual const char* unit_name() const { return "unit"; }
  [[nodiscard]] virtual bool paper_barriers() const { return false; }
  /// Makes an app ready to run. Throws Error{bad_options} for one that there is not.
  virtual void prepare(std::string_view app) = 0;
  /// Runs one that is ready. Throws Error{bad_options} for what it cannot do.
  virtual apps::Outcome run(std::string_view app, apps::Request& request) = 0;
  /// A product of matrices of that side as a task, to be served again and again; made before what
  /// it is to be beside runs.
  [[nodiscard]] virtual std::function<Load::Served()> product(std::uint32_t side,
                                                              const TaskOptions& options) = 0;
  /// The paper's tasks and a job whose processes the driver gives the device in turns: a row for
  /// each class; null where there is no such thing.
  [[nodiscard]] virtual nlohmann::ordered_json time_slicing(const ScenarioOptions& /*options*/) {
    return nullptr;
  }
  /// A pair as it runs here; nothing where it does not.
  [[nodiscard]] virtual std::optional<Pair> adapt(Pair pair) const { return pair; }
  /// What there is of these pairs, with each of their algorithms.
  [[nodiscard]] virtual std::vector<Placed> variants(const std::vector<Pair>& pairs);
};

/// Throws Error{bad_options} for an engine that this build has not, and what its engine throws.
[[nodiscard]] std::unique_ptr<Place> make_place(const PlaceOptions& options);

/// The side of a product that takes `work` as such a task while nothing else runs there.
[[nodiscard]] std::uint32_t side_for(Place& place, std::chrono::nanoseconds work,
                                     const TaskOptions& options);

/// The pairs of the paper that run in that place.
[[nodiscard]] Pairs pairs_for(const Place& place, bool quick, std::string_view only);

}  // namespace cohort::bench
