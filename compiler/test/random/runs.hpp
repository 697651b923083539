// Runs files of random kernels while groups join and leave, and checks the results.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "on_engine.hpp"
#include "random/kernel.hpp"

namespace cohort::test {

/// Resizes a job from its groups' own offers, on engines that report events as they happen.
class Shake final : public Tracer {
 public:
  explicit Shake(std::uint64_t seed) : seed_(seed) {}

  void attach(const Job& job) {
    job_ = job;
    attached_.store(true, std::memory_order_release);  // pairs with the load in record()
  }
  void record(const TraceEvent& event) noexcept override {
    if (event.what != Trace::offer) return;
    for (int i = 0; i < 100 && !attached_.load(std::memory_order_acquire); ++i)
      std::this_thread::yield();
    std::mt19937_64 random{seed_ + offers_.fetch_add(1, std::memory_order_relaxed)};
    random.discard(1);
    const std::uint64_t what = random();
    if (what % 2 == 0 && attached_.load(std::memory_order_acquire)) {
      try {
        job_->set_target(1 + static_cast<std::uint32_t>(what / 2 % 6));
      } catch (const Error&) {  // the job has just ended
      }
    }
    if (what / 16 % 2 == 0)  // long enough for a group to join
      std::this_thread::sleep_for(std::chrono::microseconds{what / 32 % 40});
  }

 private:
  std::uint64_t seed_;
  std::optional<Job> job_;
  std::atomic<bool> attached_{false};
  std::atomic<std::uint64_t> offers_{0};
};

/// PoCL miscompiles barriers under a condition in groups of more than one thread: docs/opencl.md.
inline const std::uint32_t larger_groups = std::string{engine_name} == "opencl" ? 1 : 3;

/// Runs the kernel, with one group at first, and sets random targets until it ends.
inline Report run_shaken(const ProgramKernel& kernel, std::uint32_t local_size,
                         std::uint64_t seed) {
  LaunchOptions options{.max_groups = 6, .start_groups = 1, .local_size = local_size};
  if constexpr (std::is_same_v<TestEngine, cpu::Engine>) {
    Shake shake{seed};
    options.tracer = &shake;
    const Job job = kernel.launch(engine(), options);
    shake.attach(job);
    return job.wait();
  } else {
    const Job job = kernel.launch(engine(), options);
    std::mt19937_64 random{seed};
    while (!job.wait_for(std::chrono::microseconds{random() % 100})) {
      try {
        job.set_target(1 + static_cast<std::uint32_t>(random() % 6));
      } catch (const Error&) {  // the job has just ended
      }
    }
    return job.wait();
  }
}

/// Kernels that are compiled together. All use the same --transmit mode.
struct RandomFile {
  std::vector<RandomKernel> kernels;
  const char* transmit = "annotated";

  [[nodiscard]] std::string text() const {
    std::string result =
        std::string{engine_name} == "opencl" ? "#define LIKE_POCL\n" : std::string{};
    result += random_prelude;
    for (const RandomKernel& each : kernels) result += "\n" + each.text;
    return result;
  }
};

/// The seed of the i-th kernel of a file.
inline std::uint64_t seed_in_file(std::uint64_t first, std::uint64_t i) {
  return first + random_modes * i;
}

/// The kernels k0, k1, ... of a file.
inline RandomFile random_file(std::uint64_t first, std::uint32_t count) {
  RandomFile file;
  file.transmit = style_of(first).transmit;
  for (std::uint32_t i = 0; i < count; ++i)
    file.kernels.push_back(*random_kernel(seed_in_file(first, i), "k" + std::to_string(i)));
  return file;
}

/// Stores the file and compiles it for the engine. Throws the same errors as Program::from_file.
inline Program compiled(const RandomFile& file, const std::filesystem::path& at,
                        const std::string& optimise) {
  std::ofstream{at} << file.text();
  return Program::from_file(
      at, {.engine = engine_name, .transmit = file.transmit, .optimise = optimise});
}

/// Describes how memory differs from the expected contents; empty if it does not.
template <class Marks, class Items>
std::string difference(const RandomKernel& kernel, const Marks& marks, const Items& items) {
  std::ostringstream text;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i] != kernel.marks[i])
      text << "  mark " << i / 2 << (i % 2 == 0 ? ", largest: " : ", smallest: ") << marks[i]
           << " instead of " << kernel.marks[i] << '\n';
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i] != kernel.items[i])
      text << "  item " << i << ": " << items[i] << " instead of " << kernel.items[i] << '\n';
  }
  return text.str();
}

/// A range of 30 work-items, in groups of one or more.
inline NDRange range_of(std::uint32_t dimensions, bool groups) {
  if (dimensions == 1) return {.global = {30, 1, 1}, .local = {groups ? 3U : 1U, 1, 1}};
  if (dimensions == 2) return {.global = {6, 5, 1}, .local = {groups ? 2U : 1U, 1, 1}};
  return {.global = {3, 5, 2}, .local = {groups ? 3U : 1U, 1, groups ? 2U : 1U}};
}

struct RandomRun {
  std::string wrong;  ///< how the result differs from the expected one
  std::uint64_t joins = 0;
  std::uint64_t leaves = 0;
};

/// Runs a kernel of the program while groups join and leave.
inline RandomRun run(const Program& program, const RandomKernel& kernel, std::uint64_t seed) {
  const std::vector<std::uint32_t> words = table_words();
  Shared<std::uint32_t> table(words.begin(), words.end());
  const std::vector<std::uint32_t> marks_before = first_marks();
  Shared<std::uint32_t> marks(marks_before.begin(), marks_before.end());
  const std::vector<std::uint32_t> items_before = first_items();
  Shared<std::uint32_t> items(items_before.begin(), items_before.end());
  ProgramKernel launched = program.kernel(kernel.name);
  const std::uint32_t* const table_data = table.data();
  launched.set("marks", marks.data()).set("items", items.data()).set("table", table_data);
  launched.set("n", random_items).set("a", kernel.a).set("b", kernel.b).set("c", kernel.c);
  launched.set("f", kernel.f).set_local("room", random_room);
  std::uint32_t threads = seed % 3 == 0 ? larger_groups : 1;
  if (kernel.dimensions != 0) {
    const NDRange range = range_of(kernel.dimensions, threads > 1);
    launched.set_range(range);
    threads = range.local[0] * range.local[1] * range.local[2];
  }
  const Report report = run_shaken(launched, threads, seed);
  return {difference(kernel, marks, items), report.joins, report.leaves};
}

}  // namespace cohort::test
