#include "c/objects.hpp"

#include <cxxabi.h>
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace cohort::c {
namespace {

thread_local std::string message;

}  // namespace

std::mutex& table_mutex() {
  static auto& mutex = *[] {
    auto* const made = new std::mutex;
    ::pthread_atfork([] { table_mutex().lock(); }, [] { table_mutex().unlock(); },
                     [] { table_mutex().unlock(); });
    return made;
  }();
  return mutex;
}

Table& table() {
  static auto& all = *new Table;  // leaked, because threads may use it while the process exits
  return all;
}

void keep_message(const char* text) noexcept {
  try {
    message = text;
  } catch (...) {
    message.clear();
  }
}

const char* kept_message() noexcept { return message.c_str(); }

cohort_code code_of_exception(cohort_code foreign) {
  try {
    throw;
  } catch (const Refusal& refusal) {
    keep_message(refusal.message.c_str());
    return refusal.code;
  } catch (const Error& error) {
    keep_message(error.what());
    static_assert(static_cast<int>(Errc::device_lost) + 1 == COHORT_DEVICE_LOST,
                  "cohort: codes are those of Errc, from 1 on");
    return static_cast<cohort_code>(static_cast<int>(error.code()) + 1);
  } catch (const std::bad_alloc&) {
    keep_message("out of memory");
    return COHORT_OUT_OF_MEMORY;
  } catch (const std::exception& exception) {
    keep_message(exception.what());
    return foreign;
  } catch (const abi::__forced_unwind&) {  // the C library is cancelling the thread
    throw;
  } catch (...) {
    keep_message("an exception that is no std::exception");
    return foreign;
  }
}

thread_local const EngineObject::InTask* EngineObject::InTask::innermost = nullptr;

EngineObject::Use::Use(std::shared_ptr<EngineObject> object) : object_(std::move(object)) {
  const std::lock_guard lock{table_mutex()};
  if (object_->closing_) refuse(COHORT_ENGINE_GONE, "the engine is being closed; make another");
  ++object_->uses_;
}

EngineObject::Use::~Use() {
  const std::lock_guard lock{table_mutex()};
  if (--object_->uses_ == 0) object_->unused_.notify_all();
}

void EngineObject::Use::adds(const std::shared_ptr<Work>& work) const {
  std::vector<std::shared_ptr<Work>> all;
  bool late = false;
  {
    const std::lock_guard lock{table_mutex()};
    late = object_->closing_;
    object_->work_.push_back(work);
    if (object_->work_.size() >= object_->forget_at_) all.swap(object_->work_);
  }
  if (late) work->cancel();
  if (all.empty()) return;
  std::erase_if(all, [](const auto& each) { return each->over(); });
  // Close() waits for this call to end before it looks at the list again.
  const std::lock_guard lock{table_mutex()};
  object_->work_.insert(object_->work_.end(), all.begin(), all.end());
  object_->forget_at_ = 2 * object_->work_.size() + 4;
}

/// Cancels all current work and waits for it. Returns false at the deadline.
bool EngineObject::end_work(const Deadline& deadline) {
  // A copy, because another closing thread may wait for the same work.
  std::vector<std::shared_ptr<Work>> all;
  {
    const std::lock_guard lock{table_mutex()};
    closing_ = true;
    all = work_;
  }
  for (const auto& each : all) each->cancel();
  const auto left =
      std::ranges::find_if_not(all, [&](const auto& each) { return each->wait_ended(deadline); });
  std::sort(all.begin(), left);
  const std::lock_guard lock{table_mutex()};  // released before `all` is destroyed
  std::erase_if(work_,
                [&](const auto& each) { return std::binary_search(all.begin(), left, each); });
  return left == all.end();
}

bool EngineObject::close(const Deadline& deadline) {
  if (process_ != ::getpid()) {  // in a child of fork(), which has none of the engine's threads
    static_cast<void>(engine_.release());
    return true;
  }
  for (;;) {
    if (!end_work(deadline)) return false;
    std::unique_lock lock{table_mutex()};
    const auto unused = [this] { return uses_ == 0; };
    if (deadline ? !unused_.wait_until(lock, *deadline, unused)
                 : (unused_.wait(lock, unused), false))
      return false;
    if (!work_.empty()) continue;
    const auto engine = std::move(engine_);  // null if another thread has closed it meanwhile
    lock.unlock();
    return true;
  }
}

Tracer& TimelineObject::task(const std::string& name) {
  const std::lock_guard lock{mutex_};
  Tracer*& track = tasks_[name];
  if (track == nullptr) track = &timeline_.task(name);
  return *track;
}

namespace {

bool is_over(Status status) {
  return status != Status::pending && status != Status::running && status != Status::suspended;
}

/// Waits for a job or task, and ignores how it ended.
template <class Waited>
auto wait_quietly(const Waited& waited, const Deadline& deadline) {
  try {
    if (deadline) {
      static_cast<void>(waited.wait_until(*deadline));
    } else {
      static_cast<void>(waited.wait());
    }
  } catch (...) {
    if (waited.report().status != Status::failed) throw;
  }
  return is_over(waited.report().status);
}

}  // namespace

bool KernelJob::over() { return is_over(job_.status()); }
bool TaskObject::over() { return is_over(task_.report().status); }
bool KernelJob::wait_ended(const Deadline& deadline) { return wait_quietly(job_, deadline); }
bool TaskObject::wait_ended(const Deadline& deadline) { return wait_quietly(task_, deadline); }

std::optional<Status> KernelJob::wait(const Deadline& deadline) {
  if (!deadline) return job_.wait().status;
  const auto report = job_.wait_until(*deadline);
  return report ? std::optional{report->status} : std::nullopt;
}

LaunchOptions launch_options(const cohort_launch_options* given, const AnyEngine& engine,
                             const std::string& name, const Kept& keeps) {
  const auto options = options_or_default(given, "cohort_launch_options");
  LaunchOptions result;
  const auto set = [](auto& option, std::uint32_t value) {
    if (value != 0) option = value;
  };
  set(result.max_groups, options.max_groups);
  set(result.start_groups, options.start_groups);
  set(result.target, options.target);
  set(result.local_size, options.local_size);
  set(result.weight, options.weight);
  result.resizable = options.fixed == 0;
  if (options.offer_wait_ns != 0)
    result.offer_wait = std::chrono::nanoseconds{std::max<std::int64_t>(options.offer_wait_ns, 0)};
  const auto kept = std::make_shared<Kept>(keeps);
  if (options.timeline != nullptr) {
    const auto timeline = object_of(options.timeline);
    timeline->timeline().name_units(engine.kind().unit);
    result.tracer = &timeline->job(text_or(options.name, name.c_str()));
    kept->push_back(timeline);
  }
  result.keeps = kept;
  return result;
}

std::vector<std::string> list_of(const char* const* texts) {
  std::vector<std::string> result;
  for (; texts != nullptr && *texts != nullptr; ++texts) result.emplace_back(*texts);
  return result;
}

char* returned(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc{};
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

#ifdef COHORT_C_APPS
const apps::AppRun& JobObject::run() {
  refuse(COHORT_BAD_STATE,
         "result: this job is no app's; its results are in the memory that its "
         "kernel was given");
}
#endif

}  // namespace cohort::c
