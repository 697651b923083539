// Calls of the C API in random order, by several threads, with handles that are good, closed, null
// or of another kind. `c_fuzz CALLS SEED...` makes CALLS calls in each thread for each seed. It
// fails if it crashes or hangs, if a sanitizer reports something, or on a code that no caller
// should see.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cohort/c.h"

namespace {

constexpr std::int64_t millisecond = 1'000'000;
constexpr const char* source =
    "kernel void walk(global int *a, int n) {\n"
    "  transmit int i = 0;\n"
    "  for (; i < n; i++) { if (get_global_id() == 0) a[0]++; resizing_global_barrier(); }\n"
    "}\n";

void work(void* user, std::uint32_t group, std::uint32_t groups) {
  static_cast<volatile std::uint32_t*>(user)[group % 64] = groups;
}

/// All handles of a kind that were made, including closed ones.
template <class Handle>
class Handles {
 public:
  void add(Handle* handle) {
    const std::lock_guard lock{mutex_};
    if (all_.size() < 64)
      all_.push_back(handle);
    else
      all_[next_++ % 64] = handle;
  }
  Handle* any(std::mt19937& random) {
    switch (random() % 16) {
      case 0: return nullptr;
      case 1: return reinterpret_cast<Handle*>(std::uint64_t{random()});
      default: break;
    }
    const std::lock_guard lock{mutex_};
    return all_.empty() ? nullptr : all_[random() % all_.size()];
  }

 private:
  std::mutex mutex_;
  std::vector<Handle*> all_;
  std::size_t next_ = 0;
};

struct World {
  Handles<cohort_engine> engines;
  Handles<cohort_buffer> buffers;
  Handles<cohort_program> programs;
  Handles<cohort_kernel> kernels;
  Handles<cohort_job> jobs;
  Handles<cohort_task> tasks;
  Handles<cohort_graph> graphs;
  Handles<cohort_timeline> timelines;
  Handles<cohort_lease> leases;
  Handles<cohort_tenant> tenants;
};

/// The name that an engine of this process is shared under.
const std::string shared = "fuzz" + std::to_string(::getpid());

alignas(64) volatile std::uint32_t marks[64];
alignas(64) int memory[64];

class Caller {
 public:
  Caller(World& world, unsigned seed) : world_(world), random_(seed) {}

  void call() {
    switch (random_() % 36) {
      case 0: return make_engine();
      case 1: return make_timeline();
      case 2: return submit();
      case 3: return submit();
      case 4: return make_graph();
      case 5: return launch_app();
      case 6: return make_buffer();
      case 7: return make_kernel();
      case 8: return set_arguments();
      case 9: return launch();
      case 10: return launch();
      case 11: return see(cohort_job_wait(world_.jobs.any(random_), timeout(), status()));
      case 12: return see(cohort_task_wait(world_.tasks.any(random_), timeout(), status()));
      case 13: return see(cohort_job_cancel(world_.jobs.any(random_)));
      case 14: return see(cohort_task_cancel(world_.tasks.any(random_)));
      case 15: return see(cohort_job_suspend(world_.jobs.any(random_), status()));
      case 16: return see(cohort_job_resume(world_.jobs.any(random_)));
      case 17: return see(cohort_job_set_target(world_.jobs.any(random_), number(6)));
      case 18: return see(cohort_engine_set_capacity(world_.engines.any(random_), number(6)));
      case 19:
        return text([&](char** to) { return cohort_job_report(world_.jobs.any(random_), to); });
      case 20:
        return text([&](char** to) { return cohort_task_report(world_.tasks.any(random_), to); });
      case 21:
        return text([&](char** to) {
          return cohort_timeline_export(world_.timelines.any(random_),
                                        static_cast<cohort_timeline_format>(random_() % 2), to);
        });
      case 22: return use_buffer();
      case 23: return use_result();
      case 24: return destroy();
      case 25:
        if (random_() % 4 == 0)
          see(cohort_engine_close(world_.engines.any(random_), number(2) * millisecond));
        return;
      case 26: return see(cohort_job_checkpoint(world_.jobs.any(random_), "/dev/null/checkpoint"));
      case 27: return lease();
      case 28: return see(cohort_job_status(world_.jobs.any(random_), status()));
      case 29: return make_tenant();
      case 30:
      case 31: return borrow();
      case 32: return see(cohort_lease_wait(world_.leases.any(random_), timeout()));
      case 33: return see(cohort_tenant_wait_connected(world_.tenants.any(random_), timeout()));
      case 34: return see_shared();
      default: return text([](char** to) { return cohort_about(to); });
    }
  }

 private:
  std::uint32_t number(std::uint32_t most) {
    return static_cast<std::uint32_t>(random_() % (most + 1));
  }
  std::int64_t timeout() { return static_cast<std::int64_t>(random_() % 2) * millisecond; }
  cohort_status* status() { return random_() % 8 == 0 ? nullptr : &status_; }

  static void see(cohort_code code) {
    if (code >= COHORT_OK && code < COHORT_INTERNAL && cohort_message() != nullptr) return;
    std::fprintf(stderr, "c_fuzz: code %d: %s\n", static_cast<int>(code), cohort_message());
    std::abort();
  }

  template <class Make>
  void text(Make make) {
    char* result = nullptr;
    const cohort_code code = make(random_() % 8 == 0 ? nullptr : &result);
    see(code);
    cohort_string_free(result);
  }

  /// Calls `make` and adds the handle that it makes. Sometimes passes null in place of the handle's
  /// address.
  template <class Handle, class Make>
  void add(Handles<Handle>& handles, Make make) {
    Handle* made = nullptr;
    const cohort_code code = make(random_() % 32 == 0 ? nullptr : &made);
    see(code);
    if (code == COHORT_OK) handles.add(made);
  }

  void make_engine() {
    if (random_() % 4 != 0) return;
    const bool cut = random_() % 16 == 0;  // perhaps within a pointer, which is null then
    const cohort_engine_options options{
        .size = cut ? random_() % sizeof options : sizeof options,
        .capacity = number(4),
        .pin_workers = 0,
        .device = nullptr,
        .share = !cut && random_() % 8 == 0 ? shared.c_str() : nullptr};
    add(world_.engines, [&](cohort_engine** to) {
      return cohort_engine_create(random_() % 16 == 0 ? "abacus" : "cpu", &options, to);
    });
  }
  void make_timeline() {
    add(world_.timelines,
        [&](cohort_timeline** to) { return cohort_timeline_create(number(500), to); });
  }
  cohort_timeline* maybe_timeline() {
    return random_() % 4 == 0 ? world_.timelines.any(random_) : nullptr;
  }
  void submit() {
    const cohort_task_options options{.size = sizeof options,
                                      .groups = number(4),
                                      .priority = static_cast<int>(number(3)),
                                      .timeline = maybe_timeline(),
                                      .name = nullptr};
    add(world_.tasks, [&](cohort_task** to) {
      return cohort_task_submit(world_.engines.any(random_), &work,
                                const_cast<std::uint32_t*>(marks), &options, to);
    });
  }
  void make_graph() {
    std::uint32_t offsets[9];
    std::uint32_t targets[16];
    offsets[0] = 0;
    for (std::size_t i = 1; i < std::size(offsets); ++i) offsets[i] = offsets[i - 1] + number(2);
    for (std::uint32_t& each : targets) each = number(random_() % 32 == 0 ? 9 : 7);
    const cohort_csr csr{.size = sizeof csr,
                         .nodes = 8,
                         .edges = offsets[8],
                         .offsets = offsets,
                         .targets = targets,
                         .weights = random_() % 2 == 0 ? targets : nullptr,
                         .offset_bytes = 4,
                         .target_bytes = 4,
                         .weight_bytes = 4};
    add(world_.graphs, [&](cohort_graph** to) { return cohort_graph_create(&csr, to); });
  }
  cohort_launch_options launch_options() {
    return {.size = sizeof(cohort_launch_options),
            .max_groups = number(5),
            .start_groups = number(3),
            .target = number(2),
            .local_size = number(2),
            .weight = number(3),
            .fixed = random_() % 8 == 0,
            .offer_wait_ns = 0,
            .timeline = maybe_timeline(),
            .name = nullptr};
  }
  void launch_app() {
    constexpr const char* names[] = {"bfs",      "color",  "mis",  "p-sssp", "l-sssp", "cc",
                                     "pagerank", "octree", "game", "decode", "unknown"};
    const cohort_launch_options launch = launch_options();
    const cohort_app_options options{.size = sizeof options,
                                     .settings = nullptr,
                                     .input = nullptr,
                                     .launch = &launch,
                                     .movable = random_() % 4 == 0,
                                     .restore = nullptr};
    add(world_.jobs, [&](cohort_job** to) {
      return cohort_app_launch(world_.engines.any(random_), names[random_() % std::size(names)],
                               world_.graphs.any(random_), random_() % 2 == 0 ? &options : nullptr,
                               to);
    });
  }
  void make_buffer() {
    add(world_.buffers, [&](cohort_buffer** to) {
      return cohort_buffer_create(world_.engines.any(random_), 4 * number(64), to);
    });
  }
  void use_buffer() {
    cohort_buffer* const buffer = world_.buffers.any(random_);
    char bytes[256] = {};
    see(cohort_buffer_write(buffer, number(300), bytes, number(256)));
    see(cohort_buffer_read(buffer, number(300), bytes, number(256)));
    void* address = nullptr;
    see(cohort_buffer_address(buffer, &address));
  }
  void make_kernel() {
    if (random_() % 8 == 0) {
      add(world_.programs, [](cohort_program** to) {
        return cohort_program_from_source(source, "walk", nullptr, to);
      });
    }
    add(world_.kernels, [&](cohort_kernel** to) {
      return cohort_kernel_create(world_.programs.any(random_), nullptr, to);
    });
  }
  void set_arguments() {
    cohort_kernel* const kernel = world_.kernels.any(random_);
    const int n = random_() % 8 == 0 ? 1'000'000'000 : static_cast<int>(number(50));
    see(cohort_kernel_set_value(kernel, random_() % 16 == 0 ? "x" : "n", &n,
                                random_() % 16 == 0 ? 8 : 4));
    see(random_() % 2 == 0 ? cohort_kernel_set_memory(kernel, "a", memory, 4 * number(64))
                           : cohort_kernel_set_buffer(kernel, "a", world_.buffers.any(random_)));
    if (random_() % 16 == 0) see(cohort_kernel_set_local(kernel, "a", 4));
    const std::uint32_t sizes[3] = {4, 1, 1};
    if (random_() % 16 == 0) see(cohort_kernel_set_range(kernel, sizes, sizes));
  }
  void launch() {
    const cohort_launch_options options = launch_options();
    add(world_.jobs, [&](cohort_job** to) {
      return cohort_kernel_launch(world_.kernels.any(random_), world_.engines.any(random_),
                                  &options, to);
    });
  }
  void use_result() {
    cohort_job* const job = world_.jobs.any(random_);
    double room[8];
    const char* element = nullptr;
    std::uint64_t count = 0;
    see(cohort_job_result_size(job, &element, &count));
    see(cohort_job_result(job, room, random_() % 2 == 0 ? sizeof room : 8));
    std::int32_t right = 0;
    const cohort_code code = cohort_job_verify(job, &right);
    see(code);
    if (code == COHORT_OK && right == 0) {
      std::fprintf(stderr, "c_fuzz: a wrong result: %s\n", cohort_message());
      std::abort();
    }
  }
  void lease() {
    add(world_.leases, [&](cohort_lease** to) {
      return random_() % 2 == 0
                 ? cohort_engine_lease(world_.engines.any(random_), nullptr, number(3), to)
                 : cohort_engine_lease_stream(world_.engines.any(random_), number(3), to);
    });
    see(cohort_lease_give_back(world_.leases.any(random_)));
  }
  void make_tenant() {
    if (random_() % 4 != 0) return;
    const cohort_tenant_options options{
        .size = sizeof options,
        .engine = random_() % 8 == 0 ? ".bad" : shared.c_str(),
        .name = random_() % 2 == 0 ? "guest" : nullptr,
        .weight = number(random_() % 8 == 0 ? 2000 : 3),
        .priority = static_cast<int>(number(random_() % 8 == 0 ? 200 : 3))};
    add(world_.tenants, [&](cohort_tenant** to) { return cohort_tenant_create(&options, to); });
  }
  void borrow() {
    add(world_.leases, [&](cohort_lease** to) {
      cohort_tenant* const tenant = world_.tenants.any(random_);
      return random_() % 4 == 0 ? cohort_tenant_try_lease(tenant, number(4), to)
                                : cohort_tenant_lease(tenant, number(4), to);
    });
    cohort_lease* const lease = world_.leases.any(random_);
    std::uint32_t numbers[4] = {};
    std::uint32_t count = 0;
    see(cohort_lease_units(lease, &count));
    see(cohort_lease_cpus(lease, numbers, number(4), random_() % 8 == 0 ? nullptr : &count));
    if (random_() % 2 == 0) see(cohort_lease_give_back(world_.leases.any(random_)));
  }
  void see_shared() {
    text([&](char** to) { return cohort_tenant_engine(world_.tenants.any(random_), to); });
    text([](char** to) { return cohort_shared_engines(to); });
    text([](char** to) { return cohort_shared_engine_status(shared.c_str(), to); });
    see(cohort_shared_engine_set_capacity(random_() % 8 == 0 ? "none" : shared.c_str(), number(4)));
  }
  void destroy() {
    switch (random_() % 8) {
      case 0: return see(cohort_buffer_destroy(world_.buffers.any(random_)));
      case 1: return see(cohort_program_destroy(world_.programs.any(random_)));
      case 2: return see(cohort_kernel_destroy(world_.kernels.any(random_)));
      case 3: return see(cohort_job_destroy(world_.jobs.any(random_)));
      case 4: return see(cohort_task_destroy(world_.tasks.any(random_)));
      case 5: return see(cohort_graph_destroy(world_.graphs.any(random_)));
      case 6: return see(cohort_tenant_destroy(world_.tenants.any(random_)));
      default: return see(cohort_timeline_destroy(world_.timelines.any(random_)));
    }
  }

  World& world_;
  std::mt19937 random_;
  cohort_status status_ = COHORT_PENDING;
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "c_fuzz CALLS SEED...\n");
    return 2;
  }
  const long calls = std::atol(arguments[1]);
  for (int i = 2; i < count; ++i) {
    const auto seed = static_cast<unsigned>(std::atol(arguments[i]));
    World world;
    std::vector<cohort_engine*> engines;
    for (std::uint32_t capacity = 1; capacity <= 2; ++capacity) {
      const cohort_engine_options options{.size = sizeof options,
                                          .capacity = capacity,
                                          .pin_workers = 0,
                                          .device = nullptr,
                                          .share = capacity == 2 ? shared.c_str() : nullptr};
      cohort_engine* engine = nullptr;
      if (cohort_engine_create("cpu", &options, &engine) != COHORT_OK) return 1;
      world.engines.add(engine);
    }
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&world, seed, thread, calls] {
        Caller caller{world, seed * 16 + thread};
        for (long call = 0; call < calls; ++call) caller.call();
      });
    }
    for (std::thread& each : threads) each.join();
    // At the end it must be possible to close every engine that is left.
    std::mt19937 random{seed};
    for (int again = 0; again < 1000; ++again) {
      const cohort_code code = cohort_engine_close(world.engines.any(random), COHORT_FOREVER);
      if (code != COHORT_OK && code != COHORT_BAD_HANDLE) return 1;
    }
    std::printf("seed %u: right\n", seed);
  }
  return 0;
}
