// The part of an engine's handle that is the same for all engines: checks the options and passes
// them to the dispatcher.
#include "cohort/engine.hpp"

#include "engine/dispatcher.hpp"
#include "engine/options.hpp"

namespace cohort::detail {

std::string JobBody::why_not_suspendable() const {
  return "suspend: this kernel declares suspendable = false, so its state cannot be kept; offer "
         "with offer_kill(state) and drop that trait";
}

EngineBase::EngineBase(std::shared_ptr<engine::Dispatcher> dispatcher)
    : BufferFactory(dispatcher->memory()), dispatcher_(std::move(dispatcher)) {}

EngineBase::~EngineBase() { dispatcher_->stop(); }

std::uint32_t EngineBase::capacity() const { return dispatcher_->capacity(); }

void EngineBase::set_capacity(std::uint32_t units) { dispatcher_->set_capacity(units); }

std::uint32_t EngineBase::checked(const LaunchOptions& options, const Traits& traits) const {
  return cohort::checked(options, capacity(), traits);
}

std::uint32_t EngineBase::checked(const TaskOptions& options) const {
  const std::uint32_t most = cohort::checked(options, capacity());
  return options.kind.empty()
             ? most
             : dispatcher_->choose_groups(options.kind, most, options.finish_within);
}

Job EngineBase::start(std::unique_ptr<JobBody> body, const LaunchOptions& options) {
  body->name = options.name;
  return Job{dispatcher_->launch(std::move(body), options, {}, false)};
}

Job EngineBase::start_from(const std::filesystem::path& file, std::unique_ptr<JobBody> body,
                           const LaunchOptions& options) {
  if (!options.resizable) {
    throw Error{Errc::bad_options,
                "restore: a static launch (resizable = false) cannot be continued"};
  }
  body->name = options.name;
  read_checkpoint(file, *body->checkpoint_parts(), *dispatcher_->memory());
  return Job{dispatcher_->launch(std::move(body), options, {}, true)};
}

Task EngineBase::start(std::unique_ptr<JobBody> body, const TaskOptions& options) {
  const LaunchOptions with{.max_groups = body->max_groups,
                           .local_size = options.local_size,
                           .resizable = false,
                           .stop = options.stop,
                           .tracer = options.tracer,
                           .keeps = options.keeps};
  return Task{dispatcher_->launch(std::move(body), with, options.priority, false,
                                  {.kind = options.kind, .start_within = options.start_within})};
}

}  // namespace cohort::detail
