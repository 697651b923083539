// The C API: graphs, and apps by name. An app runs on a thread of its own, which prepares the
// input, launches the job and reads the result. The handle of the job exists from the beginning.
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <thread>

#include "c/objects.hpp"
#include "cohort/c.h"
#ifdef COHORT_C_APPS
#include "apps/known_graph.hpp"
#include "apps/run.hpp"
#include "graph/build.hpp"
#endif

namespace cohort::c {

#ifdef COHORT_C_APPS

struct GraphObject final : Object {
  explicit GraphObject(Csr csr) : graph(std::move(csr)) {}
  apps::NamedGraph graph;
};

namespace {

/// `count` integers of `bytes` bytes each, as Ts.
template <class T>
std::vector<T> integers(const char* what, const void* from, std::uint32_t bytes,
                        std::uint64_t count) {
  const auto refuse_it = [&](const std::string& why) {
    refuse(COHORT_BAD_OPTIONS, std::string{"graph: "} + what + ": " + why);
  };
  if (bytes != 4 && bytes != 8)
    refuse_it("integers of " + std::to_string(bytes) + " bytes; they have 4 or 8");
  if (from == nullptr && count != 0) refuse_it("it is null");
  const std::size_t room = std::vector<T>{}.max_size();
  if (count > room / 2)
    refuse(COHORT_OUT_OF_MEMORY, "graph: no room for " + std::to_string(count) + " " + what);
  std::vector<T> result(count);
  const auto* const start = static_cast<const unsigned char*>(from);
  const auto copy = [&]<class Given>(Given) {
    for (std::uint64_t i = 0; i < count; ++i) {
      Given value{};
      std::memcpy(&value, start + i * sizeof value, sizeof value);
      if (value > std::numeric_limits<T>::max())
        refuse_it("number " + std::to_string(i) + " is " + std::to_string(value) +
                  ", which is negative or too large");
      result[i] = static_cast<T>(value);
    }
  };
  // A negative number of four bytes turns into a large one, which is no valid offset or node.
  bytes == 4 ? copy(std::uint32_t{}) : copy(std::uint64_t{});
  return result;
}

Csr checked_graph(const cohort_csr& given) {
  constexpr std::uint64_t most = std::numeric_limits<Node>::max();
  if (given.nodes >= most) {
    refuse(COHORT_BAD_OPTIONS,
           "graph: " + std::to_string(given.nodes) + " nodes; at most " + std::to_string(most - 1));
  }
  Csr result;
  result.offsets =
      integers<std::uint64_t>("offsets", given.offsets, given.offset_bytes, given.nodes + 1);
  if (result.offsets.back() != given.edges) {
    refuse(COHORT_BAD_OPTIONS, "graph: the last offset is " +
                                   std::to_string(result.offsets.back()) + ", but there are " +
                                   std::to_string(given.edges) + " edges");
  }
  result.targets = integers<Node>("targets", given.targets, given.target_bytes, given.edges);
  if (given.weights != nullptr)
    result.weights = integers<Weight>("weights", given.weights, given.weight_bytes, given.edges);
  if (const auto why = broken(result)) refuse(COHORT_BAD_OPTIONS, "graph: " + *why);
  return result;
}

/// Whether an engine has the apps' kernels.
template <class Engine>
constexpr bool has_apps = std::is_same_v<Engine, cpu::Engine>;
#ifdef COHORT_WITH_CUDA_APPS
template <>
constexpr bool has_apps<cuda::Engine> = true;
#endif

class AppJob final : public JobObject {
 public:
  /// Runs the app on the calling thread. The thread does not access the engine afterwards.
  void live(const apps::AppInfo& info, const std::string& input, const apps::Settings& settings,
            apps::RunOptions options, const AnyEngine& engine) {
    options.drive = [this](const Job& job) { return drive(job); };
    apps::AppRun run;
    std::exception_ptr thrown;
    try {
      const apps::Ready ready = info.prepare(input, settings);
      {
        const std::lock_guard lock{mutex_};
        if (cancelled_) throw Cancelled{};
      }
      run = engine.visit([&]<class Engine>(Engine& its) -> apps::AppRun {
        if constexpr (has_apps<std::remove_const_t<Engine>>) {
          return apps::run_app(ready, its, options);
        } else {
          refuse(COHORT_UNSUPPORTED,
                 "this build has no apps for the engine; configure with COHORT_CUDA_APPS=ON");
        }
      });
    } catch (const Cancelled&) {
      run.report.status = Status::cancelled;
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock{mutex_};
    run_ = std::move(run);
    thrown_ = thrown;
    done_ = true;
    changed_.notify_all();
  }

  void cancel() override {
    std::optional<Job> its;
    {
      const std::lock_guard lock{mutex_};
      cancelled_ = true;
      its = job_;
      changed_.notify_all();
    }
    if (its) its->cancel();
  }

  bool over() override {
    const std::lock_guard lock{mutex_};
    return done_;
  }

  bool wait_ended(const Deadline& deadline) override {
    std::unique_lock lock{mutex_};
    return wait_for(lock, deadline, [this] { return done_; });
  }

  std::optional<Status> wait(const Deadline& deadline) override {
    std::unique_lock lock{mutex_};
    if (!wait_for(lock, deadline, [this] { return done_ || job_; })) return std::nullopt;
    if (!done_) {
      // Waiting on the job lets the engine check whether this thread may wait for it.
      const Job its = *job_;
      lock.unlock();
      std::optional<Report> report;
      try {
        report = deadline ? its.wait_until(*deadline) : std::optional{its.wait()};
      } catch (...) {
        if (its.status() != Status::failed) throw;
      }
      if (report && report->status == Status::suspended) return Status::suspended;
      if (!report && its.status() != Status::failed) return std::nullopt;
      lock.lock();
      if (!wait_for(lock, deadline, [this] { return done_; })) return std::nullopt;
    }
    if (thrown_) std::rethrow_exception(thrown_);
    return run_.report.status;
  }

  Report report() override {
    const std::lock_guard lock{mutex_};
    if (!done_) {
      Report report = job_ ? job_->report() : Report{};
      // Report `finished` only when the result has been read.
      if (job_ && report.status == Status::finished) report.status = Status::running;
      return report;
    }
    if (!thrown_) return run_.report;
    Report report = job_ ? job_->report() : Report{};
    report.status = Status::failed;
    try {
      std::rethrow_exception(thrown_);
    } catch (const Refusal& refusal) {
      report.error = refusal.message;
    } catch (const std::exception& exception) {
      report.error = exception.what();
    } catch (...) {
      report.error = "not a std::exception";
    }
    return report;
  }

  Job job(const char* call) override {
    const std::lock_guard lock{mutex_};
    if (job_) return *job_;
    refuse(COHORT_BAD_STATE,
           std::string{call} + (done_ ? ": the app has launched no job"
                                      : ": the app has not launched its job yet"));
  }

  const apps::AppRun& run() override {
    const std::lock_guard lock{mutex_};
    if (!done_ || !run_.numbers) {
      refuse(COHORT_BAD_STATE, "result: the app has not finished");
    }
    return run_;
  }

 private:
  struct Cancelled {};

  template <class Done>
  bool wait_for(std::unique_lock<std::mutex>& lock, const Deadline& deadline, Done done) {
    if (deadline) return changed_.wait_until(lock, *deadline, done);
    changed_.wait(lock, done);
    return true;
  }

  /// Waits for the job's end. A suspended job ends only after it has been resumed or cancelled.
  Report drive(const Job& job) {
    bool late = false;
    {
      const std::lock_guard lock{mutex_};
      job_ = job;
      late = cancelled_;
      changed_.notify_all();
    }
    if (late) job.cancel();
    for (;;) {
      const Report report = job.wait();
      if (report.status != Status::suspended) return report;
      std::unique_lock lock{mutex_};
      changed_.wait_for(lock, std::chrono::milliseconds{2});  // a resume does not notify, so poll
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Job> job_;
  bool cancelled_ = false;
  bool done_ = false;
  std::exception_ptr thrown_;
  apps::AppRun run_;
};

/// The result of an app for each node. Throws if the job has no such result.
apps::NodeValues result_of(JobObject& job) {
  const auto& values = job.run().values;
  if (!values) refuse(COHORT_UNSUPPORTED, "result: this app has no result by node; see its report");
  return values();
}

}  // namespace

#endif

}  // namespace cohort::c

using namespace cohort;
using namespace cohort::c;

#ifdef COHORT_C_APPS

cohort_code cohort_graph_create(const cohort_csr* csr, cohort_graph** graph) {
  return guarded([&] {
    cohort_graph*& out = checked_out(graph, "graph");
    if (csr == nullptr) refuse(COHORT_BAD_OPTIONS, "graph: csr is null");
    out = handle_of<cohort_graph>(
        std::make_shared<GraphObject>(checked_graph(options_or_default(csr, "cohort_csr"))));
  });
}

cohort_code cohort_app_launch(cohort_engine* engine, const char* app, cohort_graph* graph,
                              const cohort_app_options* given, cohort_job** job) {
  return guarded([&] {
    cohort_job*& out = checked_out(job, "job");
    const auto options = options_or_default(given, "cohort_app_options");
    const EngineObject::Use use{object_of(engine)};
    const apps::AppInfo& info = apps::find_app(text_or(app, ""));
    const apps::Settings settings{list_of(options.settings)};
    std::string input = text_or(options.input, "");
    Kept keeps;
    if (graph != nullptr) {
      if (!input.empty()) refuse(COHORT_BAD_OPTIONS, "app: give it a graph or an input, not both");
      const auto its_graph = object_of(graph);
      input = its_graph->graph.spec();
      keeps.push_back(its_graph);
    } else if (input.empty()) {
      refuse(COHORT_BAD_OPTIONS, "app: it has neither a graph nor an input");
    }
    apps::RunOptions run;
    run.launch = launch_options(options.launch, *use, std::string{info.name}, keeps);
    run.movable = options.movable != 0;
    run.restore = text_or(options.restore, "");
    const auto launched = std::make_shared<AppJob>();
    // The engine waits for this job before it is destroyed, so the thread can use the engine
    // without counting as a call.
    use.adds(launched);
    try {
      std::thread{[launched, &info, input, settings, run, keeps, &its = *use] {
        launched->live(info, input, settings, run, its);
      }}.detach();
    } catch (...) {
      launched->cancel();
      launched->live(info, input, settings, run, *use);  // ends at once
      throw;
    }
    out = handle_of<cohort_job>(launched);
  });
}

cohort_code cohort_job_result_size(cohort_job* job, const char** element, uint64_t* count) {
  return guarded([&] {
    const auto object = object_of(job);
    const apps::NodeValues found = result_of(*object);
    const std::size_t size = found.element == "uint32" ? 4 : 8;
    if (element != nullptr) *element = found.element.data();
    if (count != nullptr) *count = found.bytes.size() / size;
  });
}

cohort_code cohort_job_result(cohort_job* job, void* to, uint64_t bytes) {
  return guarded([&] {
    const auto object = object_of(job);
    const apps::NodeValues found = result_of(*object);
    if (bytes < found.bytes.size()) {
      refuse(COHORT_BAD_OPTIONS, "result: room for " + std::to_string(bytes) + " bytes; it has " +
                                     std::to_string(found.bytes.size()));
    }
    if (to == nullptr && !found.bytes.empty())
      refuse(COHORT_BAD_OPTIONS, "result: the memory is null");
    if (!found.bytes.empty()) std::memcpy(to, found.bytes.data(), found.bytes.size());
  });
}

cohort_code cohort_job_verify(cohort_job* job, int32_t* right) {
  return guarded([&] {
    int32_t& out = checked_out(right, "right");
    const auto object = object_of(job);
    const auto difference = object->run().difference();
    if (difference) keep_message(difference->c_str());
    out = difference ? 0 : 1;
  });
}

#else

namespace {
[[noreturn]] void refuse_apps() {
  refuse(COHORT_UNSUPPORTED, "this build has no apps; configure with COHORT_TOOL=ON");
}
}  // namespace

cohort_code cohort_graph_create(const cohort_csr*, cohort_graph**) { return guarded(refuse_apps); }
cohort_code cohort_app_launch(cohort_engine*, const char*, cohort_graph*, const cohort_app_options*,
                              cohort_job**) {
  return guarded(refuse_apps);
}
cohort_code cohort_job_result_size(cohort_job* job, const char**, uint64_t*) {
  return guarded([&] { object_of(job), refuse_apps(); });
}
cohort_code cohort_job_result(cohort_job* job, void*, uint64_t) {
  return guarded([&] { object_of(job), refuse_apps(); });
}
cohort_code cohort_job_verify(cohort_job* job, int32_t*) {
  return guarded([&] { object_of(job), refuse_apps(); });
}

#endif

cohort_code cohort_graph_destroy(cohort_graph* graph) {
  return guarded([&] { forget(graph); });
}
