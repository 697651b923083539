// The C API: engines, memory, programs, jobs, tasks and timelines. Apps are in apps.cpp, leases in
// leases.cpp, tenants in tenants.cpp.
#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "c/objects.hpp"
#include "cohort/c.h"
#include "cohort/version.hpp"
#include "tool/record.hpp"
#ifdef COHORT_C_APPS
#include "report/report.hpp"
#endif

namespace cohort::c {
namespace {

using Json = nlohmann::ordered_json;
using Engine = EngineObject::Use;

/// Converts to text. Strings from users may be invalid UTF-8, which is replaced.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const Report& report) {
  Json sizes = Json::array();
  for (const Report::Size& each : report.sizes) sizes.push_back({each.nanoseconds, each.groups});
  return {{"status", to_string(report.status)},
          {"run_time_ns", report.run_time.count()},
          {"start_groups", report.start_groups},
          {"joins", report.joins},
          {"leaves", report.leaves},
          {"sizes", std::move(sizes)},
          {"gather", tool::to_json(report.gather)},
          {"offers", tool::to_json(report.offers)},
          {"error", report.error}};
}

void give(cohort_status* to, Status status) {
  if (to != nullptr) *to = static_cast<cohort_status>(status);
}

/// A function of the host as a task: the first thread of each group calls it.
struct HostTask {
  cohort_task_function function;
  void* user;
  std::weak_ptr<EngineObject> engine;

  void operator()(auto& group) const {
    if (group.local_id() != 0) return;
    // It has not expired, because the engine waits for this task before it is destroyed.
    const auto its_engine = engine.lock();
    if (its_engine == nullptr) return;
    const EngineObject::InTask in_task{*its_engine};
    function(user, group.group_id(), group.num_groups());
  }
};

// A function of its own, because Clang 14 drops code that is first named in a generic lambda.
std::shared_ptr<TaskObject> submitted_to(cpu::Engine& engine, const HostTask& task,
                                         const TaskOptions& options) {
  return std::make_shared<TaskObject>(engine.submit(task, options));
}

[[noreturn]] void refuse_time() { refuse(COHORT_TIMED_OUT, "wait: not yet at rest"); }

constexpr const char* code_names[] = {"ok",
                                      "bad_options",
                                      "bad_state",
                                      "not_suspendable",
                                      "engine_gone",
                                      "broken_contract",
                                      "bad_file",
                                      "unsupported",
                                      "out_of_memory",
                                      "device_lost",
                                      "bad_handle",
                                      "timed_out",
                                      "kernel_failed",
                                      "internal"};
static_assert(std::size(code_names) == COHORT_INTERNAL + 1, "cohort: one name for each code");
static_assert(static_cast<int>(Status::failed) == COHORT_FAILED,
              "cohort: statuses are those of Status");

#ifdef COHORT_C_PROGRAMS
ProgramOptions program_options(const cohort_program_options* given) {
  const auto options = options_or_default(given, "cohort_program_options");
  ProgramOptions result;
  result.engine = text_or(options.engine, "cpu");
  result.transmit = text_or(options.transmit, result.transmit.c_str());
  if (options.max_local_size != 0) result.max_local_size = options.max_local_size;
  result.defines = list_of(options.defines);
  for (const std::string& each : list_of(options.include_paths))
    result.include_paths.emplace_back(each);
  result.build_options = list_of(options.build_options);
  if (options.cache != nullptr) result.cache = options.cache;
  return result;
}

const Parameter& parameter_of(const ProgramKernel& kernel, const char* name) {
  for (const Parameter& each : kernel.info().parameters) {
    if (each.name == text_or(name, "")) return each;
  }
  std::string known;
  for (const Parameter& each : kernel.info().parameters)
    known += (known.empty() ? "" : ", ") + each.name;
  refuse(COHORT_BAD_OPTIONS, "kernel " + kernel.info().name + " has no parameter '" +
                                 text_or(name, "") + "'; there is " + known);
}

/// Throws unless the `bytes` bytes at `memory` are a valid argument.
void check_memory(const ProgramKernel& kernel, const Parameter& parameter, const void* memory,
                  std::uint64_t bytes) {
  const std::string what = "parameter '" + parameter.name + "' of kernel " + kernel.info().name;
  if (parameter.kind != "global" && parameter.kind != "constant")
    refuse(COHORT_BAD_OPTIONS, what + " is a " + parameter.type + ", which takes no memory");
  if (memory == nullptr) refuse(COHORT_BAD_OPTIONS, what + ": the memory is null");
  const std::uint64_t element = std::max<std::uint64_t>(1, parameter.element_size);
  if (bytes == 0 || bytes % element != 0) {
    refuse(COHORT_BAD_OPTIONS, what + ": " + std::to_string(bytes) +
                                   " bytes are not whole elements of " + std::to_string(element) +
                                   " bytes");
  }
  // A vector type of OpenCL C is aligned to its size, if that is a power of two.
  const std::uint64_t alignment = std::min<std::uint64_t>(element & (~element + 1), 128);
  if (reinterpret_cast<std::uintptr_t>(memory) % alignment != 0) {
    refuse(COHORT_BAD_OPTIONS,
           what + ": the memory is not aligned to " + std::to_string(alignment) + " bytes");
  }
}
#else
[[noreturn]] void refuse_programs() {
  refuse(COHORT_UNSUPPORTED, "this build has no programs; configure with COHORT_COMPILER=ON");
}
#endif

}  // namespace
}  // namespace cohort::c

using namespace cohort;
using namespace cohort::c;

// ---- the library

uint32_t cohort_abi(void) { return COHORT_ABI; }
const char* cohort_version(void) { return COHORT_VERSION; }

cohort_code cohort_about(char** json) {
  return guarded([&] {
    char*& out = checked_out(json, "json");
    Json about{{"version", COHORT_VERSION}, {"abi", COHORT_ABI}, {"commit", tool::commit()}};
    for (const EngineKind& kind : engine_kinds())
      about["engines"].push_back(
          {{"name", kind.name}, {"summary", kind.summary}, {"lacking", kind.lacking()}});
    about["apps"] = Json::array();
#ifdef COHORT_C_APPS
    for (const apps::AppInfo& app : apps::all()) {
      about["apps"].push_back(
          {{"name", app.name}, {"summary", app.summary}, {"settings", app.options}});
    }
#endif
#ifdef COHORT_C_PROGRAMS
    about["programs"] = true;
#else
    about["programs"] = false;
#endif
    about["cuda_architectures"] = COHORT_C_ARCHITECTURES;
    out = returned(text_of(about));
  });
}

const char* cohort_message(void) { return kept_message(); }

const char* cohort_code_name(cohort_code code) {
  const auto index = static_cast<unsigned>(code);
  return index < std::size(code_names) ? code_names[index] : "unknown";
}

const char* cohort_status_name(cohort_status status) {
  return to_string(static_cast<Status>(std::min(static_cast<unsigned>(status), 255U)));
}

void cohort_string_free(char* text) { std::free(text); }

// ---- engines

cohort_code cohort_engine_create(const char* kind, const cohort_engine_options* given,
                                 cohort_engine** engine) {
  return guarded([&] {
    cohort_engine*& out = checked_out(engine, "engine");
    const auto options = options_or_default(given, "cohort_engine_options");
    EngineSpec spec{.engine = text_or(kind, "cpu"),
                    .device = text_or(options.device, ""),
                    .pinned = options.pin_workers != 0,
                    .share = text_or(options.share, "")};
    if (options.capacity != 0) spec.capacity = options.capacity;
    if (spec.engine == "cuda" && std::ranges::none_of(engine_kinds(), [](const EngineKind& each) {
          return each.name == "cuda";
        })) {
      refuse(COHORT_UNSUPPORTED,
             "engine 'cuda': this build has none; configure with COHORT_CUDA=ON");
    }
    const EngineKind& known = engine_kind(spec.engine);
    if (const std::string why = known.lacking(); !why.empty())
      refuse(COHORT_UNSUPPORTED, "engine '" + spec.engine + "': " + why);
    out =
        handle_of<cohort_engine>(std::make_shared<EngineObject>(std::make_unique<AnyEngine>(spec)));
  });
}

cohort_code cohort_engine_capacity(cohort_engine* engine, uint32_t* units) {
  return guarded([&] {
    checked_out(units, "units") = Engine { object_of(engine) } -> capacity();
  });
}

cohort_code cohort_engine_set_capacity(cohort_engine* engine, uint32_t units) {
  return guarded([&] {
    const Engine use{object_of(engine)};
    use->visit([&](auto& its) { its.set_capacity(units); });
  });
}

cohort_code cohort_engine_close(cohort_engine* engine, int64_t timeout_ns) {
  return guarded([&] {
    const auto object = object_of(engine);
    if (EngineObject::InTask::of(*object))
      refuse(COHORT_BAD_STATE,
             "close: a task of the engine cannot close it; return from the task first");
    if (!object->close(deadline_of(timeout_ns)))
      refuse(COHORT_TIMED_OUT, "close: jobs or tasks of the engine have not ended yet");
    const std::lock_guard lock{table_mutex()};
    table().remove(number_of(engine));
  });
}

// ---- memory

cohort_code cohort_buffer_create(cohort_engine* engine, uint64_t bytes, cohort_buffer** buffer) {
  return guarded([&] {
    cohort_buffer*& out = checked_out(buffer, "buffer");
    const Engine use{object_of(engine)};
    auto object = std::make_shared<BufferObject>();
    object->memory =
        use->visit([&](auto& its) { return its.template fill<std::byte>(bytes, std::byte{0}); });
    out = handle_of<cohort_buffer>(std::move(object));
  });
}

cohort_code cohort_buffer_address(cohort_buffer* buffer, void** address) {
  return guarded([&] { checked_out(address, "address") = object_of(buffer)->memory.data(); });
}

namespace cohort::c {
namespace {
void check_part(const BufferObject& buffer, std::uint64_t offset, const void* host,
                std::uint64_t bytes) {
  const std::uint64_t size = buffer.memory.size();
  if (offset > size || bytes > size - offset) {
    refuse(COHORT_BAD_OPTIONS, "buffer: " + std::to_string(bytes) + " bytes from " +
                                   std::to_string(offset) + " on; it has " + std::to_string(size));
  }
  if (host == nullptr && bytes != 0)
    refuse(COHORT_BAD_OPTIONS, "buffer: the host's memory is null");
}
}  // namespace
}  // namespace cohort::c

cohort_code cohort_buffer_read(cohort_buffer* buffer, uint64_t offset, void* to, uint64_t bytes) {
  return guarded([&] {
    const auto object = object_of(buffer);
    check_part(*object, offset, to, bytes);
    object->memory.read(std::span{static_cast<std::byte*>(to), bytes}, offset);
  });
}

cohort_code cohort_buffer_write(cohort_buffer* buffer, uint64_t offset, const void* from,
                                uint64_t bytes) {
  return guarded([&] {
    const auto object = object_of(buffer);
    check_part(*object, offset, from, bytes);
    object->memory.write(std::span{static_cast<const std::byte*>(from), bytes}, offset);
  });
}

cohort_code cohort_buffer_destroy(cohort_buffer* buffer) {
  return guarded([&] { forget(buffer); });
}

// ---- programs

#ifdef COHORT_C_PROGRAMS

cohort_code cohort_program_from_file(const char* file, const cohort_program_options* options,
                                     cohort_program** program) {
  return guarded([&] {
    cohort_program*& out = checked_out(program, "program");
    out = handle_of<cohort_program>(std::make_shared<ProgramObject>(
        Program::from_file(text_or(file, ""), program_options(options))));
  });
}

cohort_code cohort_program_from_source(const char* source, const char* name,
                                       const cohort_program_options* options,
                                       cohort_program** program) {
  return guarded([&] {
    cohort_program*& out = checked_out(program, "program");
    out = handle_of<cohort_program>(std::make_shared<ProgramObject>(Program::from_source(
        text_or(source, ""), text_or(name, "program"), program_options(options))));
  });
}

cohort_code cohort_program_describe(cohort_program* program, char** json) {
  return guarded([&] {
    char*& out = checked_out(json, "json");
    out = returned(object_of(program)->program.description());
  });
}

cohort_code cohort_program_warnings(cohort_program* program, char** text) {
  return guarded([&] {
    char*& out = checked_out(text, "text");
    out = returned(object_of(program)->program.warnings());
  });
}

cohort_code cohort_kernel_create(cohort_program* program, const char* name,
                                 cohort_kernel** kernel) {
  return guarded([&] {
    cohort_kernel*& out = checked_out(kernel, "kernel");
    out = handle_of<cohort_kernel>(
        std::make_shared<KernelObject>(object_of(program)->program.kernel(text_or(name, ""))));
  });
}

cohort_code cohort_kernel_set_memory(cohort_kernel* kernel, const char* parameter, void* memory,
                                     uint64_t bytes) {
  return guarded([&] {
    const auto object = object_of(kernel);
    const std::lock_guard lock{object->mutex};
    const Parameter& known = parameter_of(object->kernel, parameter);
    check_memory(object->kernel, known, memory, bytes);
    object->kernel.set(known.name, memory);
    object->buffers.erase(known.name);
  });
}

cohort_code cohort_kernel_set_buffer(cohort_kernel* kernel, const char* parameter,
                                     cohort_buffer* buffer) {
  return guarded([&] {
    const auto object = object_of(kernel);
    const auto given = object_of(buffer);
    const std::lock_guard lock{object->mutex};
    const Parameter& known = parameter_of(object->kernel, parameter);
    check_memory(object->kernel, known, given->memory.data(), given->memory.size());
    object->kernel.set(known.name, static_cast<void*>(given->memory.data()));
    object->buffers[known.name] = given;
  });
}

cohort_code cohort_kernel_set_value(cohort_kernel* kernel, const char* parameter, const void* value,
                                    uint64_t bytes) {
  return guarded([&] {
    const auto object = object_of(kernel);
    if (value == nullptr)
      refuse(COHORT_BAD_OPTIONS, "value: it is null; pass the address of a variable");
    const std::lock_guard lock{object->mutex};
    object->kernel.set_value(text_or(parameter, ""), value, bytes);
  });
}

cohort_code cohort_kernel_set_local(cohort_kernel* kernel, const char* parameter, uint64_t bytes) {
  return guarded([&] {
    const auto object = object_of(kernel);
    const std::lock_guard lock{object->mutex};
    object->kernel.set_local(text_or(parameter, ""), bytes);
  });
}

cohort_code cohort_kernel_set_range(cohort_kernel* kernel, const uint32_t global[3],
                                    const uint32_t local[3]) {
  return guarded([&] {
    const auto object = object_of(kernel);
    if (global == nullptr || local == nullptr)
      refuse(COHORT_BAD_OPTIONS, "range: a size is null; pass three numbers each");
    const std::lock_guard lock{object->mutex};
    object->kernel.set_range({{global[0], global[1], global[2]}, {local[0], local[1], local[2]}});
  });
}

cohort_code cohort_kernel_launch(cohort_kernel* kernel, cohort_engine* engine,
                                 const cohort_launch_options* options, cohort_job** job) {
  return guarded([&] {
    cohort_job*& out = checked_out(job, "job");
    const auto object = object_of(kernel);
    const Engine use{object_of(engine)};
    std::unique_lock lock{object->mutex};
    const ProgramKernel copy = object->kernel;
    Kept keeps;
    for (const auto& [name, buffer] : object->buffers) keeps.push_back(buffer);
    lock.unlock();
    const LaunchOptions with = launch_options(options, *use, copy.info().name, keeps);
    auto launched =
        std::make_shared<KernelJob>(use->visit([&](auto& its) { return copy.launch(its, with); }));
    use.adds(launched);
    out = handle_of<cohort_job>(std::move(launched));
  });
}

#else

cohort_code cohort_program_from_file(const char*, const cohort_program_options*, cohort_program**) {
  return guarded(refuse_programs);
}
cohort_code cohort_program_from_source(const char*, const char*, const cohort_program_options*,
                                       cohort_program**) {
  return guarded(refuse_programs);
}
cohort_code cohort_program_describe(cohort_program* program, char**) {
  return guarded([&] { object_of(program); });
}
cohort_code cohort_program_warnings(cohort_program* program, char**) {
  return guarded([&] { object_of(program); });
}
cohort_code cohort_kernel_create(cohort_program* program, const char*, cohort_kernel**) {
  return guarded([&] { object_of(program); });
}
cohort_code cohort_kernel_set_memory(cohort_kernel* kernel, const char*, void*, uint64_t) {
  return guarded([&] { object_of(kernel); });
}
cohort_code cohort_kernel_set_buffer(cohort_kernel* kernel, const char*, cohort_buffer*) {
  return guarded([&] { object_of(kernel); });
}
cohort_code cohort_kernel_set_value(cohort_kernel* kernel, const char*, const void*, uint64_t) {
  return guarded([&] { object_of(kernel); });
}
cohort_code cohort_kernel_set_local(cohort_kernel* kernel, const char*, uint64_t) {
  return guarded([&] { object_of(kernel); });
}
cohort_code cohort_kernel_set_range(cohort_kernel* kernel, const uint32_t[3], const uint32_t[3]) {
  return guarded([&] { object_of(kernel); });
}
cohort_code cohort_kernel_launch(cohort_kernel* kernel, cohort_engine*,
                                 const cohort_launch_options*, cohort_job**) {
  return guarded([&] { object_of(kernel); });
}

#endif

cohort_code cohort_program_destroy(cohort_program* program) {
  return guarded([&] { forget(program); });
}
cohort_code cohort_kernel_destroy(cohort_kernel* kernel) {
  return guarded([&] { forget(kernel); });
}

// ---- jobs

cohort_code cohort_job_wait(cohort_job* job, int64_t timeout_ns, cohort_status* status) {
  return guarded(
      [&] {
        const auto object = object_of(job);
        std::optional<Status> found;
        try {
          found = object->wait(deadline_of(timeout_ns));
        } catch (...) {  // the job has failed, or this thread must not wait for it
          give(status, object->report().status);
          throw;
        }
        give(status, found.value_or(Status::running));
        if (!found) refuse_time();
      },
      COHORT_KERNEL_FAILED);
}

cohort_code cohort_job_status(cohort_job* job, cohort_status* status) {
  return guarded([&] {
    checked_out(status, "status");
    give(status, object_of(job)->report().status);
  });
}

cohort_code cohort_job_cancel(cohort_job* job) {
  return guarded([&] { object_of(job)->cancel(); });
}

cohort_code cohort_job_suspend(cohort_job* job, cohort_status* status) {
  return guarded([&] { give(status, object_of(job)->job("suspend").suspend()); });
}

cohort_code cohort_job_resume(cohort_job* job) {
  return guarded([&] { object_of(job)->job("resume").resume(); });
}

cohort_code cohort_job_checkpoint(cohort_job* job, const char* file) {
  return guarded([&] {
    if (file == nullptr) refuse(COHORT_BAD_OPTIONS, "checkpoint: the file's name is null");
    object_of(job)->job("checkpoint").checkpoint(file);
  });
}

cohort_code cohort_job_set_target(cohort_job* job, uint32_t groups) {
  return guarded([&] {
    const Job known = object_of(job)->job("set_target");
    if (groups == 0) {
      known.reset_target();
    } else {
      known.set_target(groups);
    }
  });
}

cohort_code cohort_job_report(cohort_job* job, char** json) {
  return guarded([&] {
    char*& out = checked_out(json, "json");
    const auto object = object_of(job);
    Json report = json_of(object->report());
#ifdef COHORT_C_APPS
    if (report["status"] == "finished") {
      try {
        for (const auto& [name, number] : object->run().numbers()) report["numbers"][name] = number;
      } catch (const Refusal&) {  // the job is not an app's
      }
    }
#endif
    out = returned(text_of(report));
  });
}

cohort_code cohort_job_destroy(cohort_job* job) {
  return guarded([&] { forget(job); });
}

// ---- tasks

cohort_code cohort_task_submit(cohort_engine* engine, cohort_task_function function, void* user,
                               const cohort_task_options* given, cohort_task** task) {
  return guarded([&] {
    cohort_task*& out = checked_out(task, "task");
    if (function == nullptr) refuse(COHORT_BAD_OPTIONS, "submit: the function is null");
    const auto options = options_or_default(given, "cohort_task_options");
    const Engine use{object_of(engine)};
    TaskOptions with;
    if (options.groups != 0) with.groups = options.groups;
    with.priority = options.priority;
    if (options.timeline != nullptr) {
      const auto timeline = object_of(options.timeline);
      timeline->timeline().name_units(use->kind().unit);
      with.tracer = &timeline->task(text_or(options.name, "task"));
      with.keeps = timeline;
    }
    const HostTask run{function, user, use.object()};
    auto submitted = use->visit([&]<class Its>(Its& its) -> std::shared_ptr<TaskObject> {
      if constexpr (std::is_same_v<std::remove_const_t<Its>, cpu::Engine>) {
        return submitted_to(its, run, with);
      } else {
        refuse(COHORT_UNSUPPORTED, "submit: functions of the host run on the engine cpu only");
      }
    });
    use.adds(submitted);
    out = handle_of<cohort_task>(std::move(submitted));
  });
}

cohort_code cohort_task_wait(cohort_task* task, int64_t timeout_ns, cohort_status* status) {
  return guarded(
      [&] {
        const auto object = object_of(task);
        const Deadline deadline = deadline_of(timeout_ns);
        std::optional<TaskReport> report;
        try {
          report = deadline ? object->task().wait_until(*deadline) : object->task().wait();
        } catch (...) {  // the task has failed, or this thread must not wait for it
          give(status, object->task().report().status);
          throw;
        }
        give(status, report ? report->status : Status::running);
        if (!report) refuse_time();
      },
      COHORT_KERNEL_FAILED);
}

cohort_code cohort_task_cancel(cohort_task* task) {
  return guarded([&] { object_of(task)->cancel(); });
}

cohort_code cohort_task_report(cohort_task* task, char** json) {
  return guarded([&] {
    char*& out = checked_out(json, "json");
    const TaskReport report = object_of(task)->task().report();
    out = returned(text_of({{"status", to_string(report.status)},
                            {"gather_ns", report.gather.count()},
                            {"run_time_ns", report.run_time.count()},
                            {"error", report.error}}));
  });
}

cohort_code cohort_task_destroy(cohort_task* task) {
  return guarded([&] { forget(task); });
}

// ---- timelines

cohort_code cohort_timeline_create(uint64_t events, cohort_timeline** timeline) {
  return guarded([&] {
    cohort_timeline*& out = checked_out(timeline, "timeline");
    out = handle_of<cohort_timeline>(
        std::make_shared<TimelineObject>(events == 0 ? tool::Timeline::default_limit : events));
  });
}

cohort_code cohort_timeline_export(cohort_timeline* timeline, cohort_timeline_format format,
                                   char** text) {
  return guarded([&] {
    char*& out = checked_out(text, "text");
    const auto object = object_of(timeline);
    const std::string trace = object->timeline().to_trace_events();
    if (format == COHORT_TIMELINE_PERFETTO) {
      out = returned(trace);
      return;
    }
    const Json data = tool::report_timeline(Json::parse(trace));
    if (format == COHORT_TIMELINE_REPORT) {
      out = returned(text_of(data));
      return;
    }
    if (format != COHORT_TIMELINE_HTML)
      refuse(COHORT_BAD_OPTIONS, "timeline: no format " + std::to_string(static_cast<int>(format)));
#ifdef COHORT_C_APPS
    Json page{{"version", COHORT_VERSION}, {"commit", tool::commit()}, {"time", tool::utc_time()}};
    page["sets"].push_back({{"name", "timeline"}, {"engine", "cpu"}, {"timeline", data}});
    out = returned(report::page_of(text_of(page)));
#else
    refuse(COHORT_UNSUPPORTED, "timeline: this build has no page; configure with COHORT_TOOL=ON");
#endif
  });
}

cohort_code cohort_timeline_dropped(cohort_timeline* timeline, uint64_t* events) {
  return guarded(
      [&] { checked_out(events, "events") = object_of(timeline)->timeline().dropped(); });
}

cohort_code cohort_timeline_destroy(cohort_timeline* timeline) {
  return guarded([&] { forget(timeline); });
}
