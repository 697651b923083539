// Jobs of __global__ functions: their launch, and their order with a stream.
#include "cuda/grids.hpp"

namespace cohort::cuda {
namespace detail {
namespace {

/// A State with the size and alignment of the largest State of any Grid.
struct alignas(max_grid_state_alignment) AnyState {
  std::byte bytes[max_grid_state];
};

}  // namespace

FunctionBody::FunctionBody(std::uint32_t groups)
    : GridBody(groups), states_(sizeof(protocol::States<AnyState>)) {
  box_state_size = sizeof(AnyState);
  local_memory_name = "shared_memory = ";
}

std::string FunctionBody::why_not_suspendable() const {
  return "suspend: this job has to end before its stream goes on; launch it without a stream";
}

StreamOrder::~StreamOrder() {
  if (reached != nullptr) cudaEventDestroy(reached);
}

}  // namespace detail

namespace {

/// Values of the pinned word for which a stream waits while a job runs.
enum Gate : std::uint32_t {
  closed,
  open,    ///< the job has ended
  passed,  ///< the stream has passed the gate, so the word can serve another job
  unused,  ///< the stream does not yet wait for the word
};

void set(std::uint32_t& word, Gate value) {
  std::atomic_ref{word}.store(value, std::memory_order_release);
}

LaunchOptions for_all_engines(const GridOptions& options) {
  return {.max_groups = options.max_groups,
          .start_groups = options.start_groups,
          .target = options.target,
          .local_size = options.local_size,
          .weight = options.weight,
          .resizable = options.resizable,
          .offer_wait = options.offer_wait,
          .stop = options.stop,
          .tracer = options.tracer};
}

}  // namespace

std::uint32_t Engine::checked_groups(const GridOptions& options) const {
  if (options.stress && !options.resizable) {
    throw Error{Errc::bad_options,
                "launch: a static launch (resizable = false) cannot resize: drop stress"};
  }
  return checked(for_all_engines(options), Traits{});
}

Job Engine::start_body(std::unique_ptr<detail::FunctionBody> body, const GridOptions& options) {
  Grids& grids = static_cast<Grids&>(dispatcher().backend());
  body->local_memory = options.shared_memory;
  body->stress = options.stress;
  body->suspendable = options.resizable && options.stream == nullptr;
  const LaunchOptions with = for_all_engines(options);
  if (options.stream == nullptr) return start(std::move(body), with);
  const auto order = body->order = grids.order_after(options.stream);
  std::optional<Job> job;
  try {
    job = start(std::move(body), with);
    grids.hold_up(options.stream, *order);
  } catch (...) {
    grids.let_go(*order);
    if (job) job->cancel();
    throw;
  }
  return *job;
}

// ---- A job in stream order. Before the job starts, the agent polls an event of the stream. While
// the job runs, the stream waits for a word. So the stream's work never queues behind a grid, and
// no grid queues behind the stream's work. The driver may put several streams into one hardware
// queue; then a waiting stream blocks the others. So the job may only use streams that are not
// blocked.

/// Called before the job is launched.
std::shared_ptr<detail::StreamOrder> Grids::order_after(cudaStream_t stream) {
  const OnDevice here{device_};
  if (stream == cudaStreamLegacy) {
    throw Error{
        Errc::bad_options,
        "launch: the legacy default stream would hold up all other streams; use a stream of "
        "your own"};
  }
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &capturing), "launch: the stream");
  if (capturing != cudaStreamCaptureStatusNone) {
    throw Error{Errc::bad_options,
                "launch: the stream is being captured, and a job cannot be part of a CUDA graph; "
                "launch it before or after the capture (a lease can be captured)"};
  }
  auto order = std::make_shared<detail::StreamOrder>();
  check(cudaEventCreateWithFlags(&order->reached, cudaEventDisableTiming), "launch: an event");
  check(cudaEventRecord(order->reached, stream), "launch: the stream");
  const engine::Dispatcher::Locked locked{dispatcher_, "launch"};
  dispatcher_.check_alive("launch");
  const auto passed = std::find_if(gates_.begin(), gates_.end(), [](const std::uint32_t* gate) {
    return seen(*gate) == Gate::passed;
  });
  if (passed == gates_.end()) {
    order->gate = static_cast<std::uint32_t*>(pinned_memory_.take(sizeof(std::uint32_t)));
    gates_.push_back(order->gate);
  } else {
    order->gate = *passed;
  }
  set(*order->gate, Gate::unused);
  return order;
}

/// Called after the job has been launched. Makes later work of the stream wait for the job's end.
void Grids::hold_up(cudaStream_t stream, detail::StreamOrder& order) {
  const OnDevice here{device_};
  const engine::Dispatcher::Locked locked{dispatcher_, "launch"};
  if (order.gate == nullptr) return;  // the job has ended already
  // Waits until the pending writes of the control stream are done.
  static_cast<void>(moves(control_));
  std::uint32_t& gate = *order.gate;
  set(gate, Gate::closed);
  check(stream_wait(stream, &gate, Gate::open), "launch: the stream");
  check(stream_write(stream, &gate, Gate::passed), "launch: the stream");
  if (moves(control_)) return;
  stuck_.emplace_back(&high_streams_, control_);
  control_ = take_stream(high_streams_);
  if (moves(control_)) return;
  throw Error{Errc::unsupported,
              "launch: streams share hardware queues with the engine's control stream; use fewer "
              "streams, or set CUDA_DEVICE_MAX_CONNECTIONS=32"};
}

/// Called when the job has ended, or was not launched. Lets the stream continue.
void Grids::let_go(detail::StreamOrder& order) {
  const engine::Dispatcher::Locked locked{dispatcher_, "launch"};
  open_gate(order);
}

void Grids::ended(JobRecord& job) {
  if (body_of(job).order != nullptr) open_gate(*body_of(job).order);
}

void Grids::open_gate(detail::StreamOrder& order) {
  if (order.gate == nullptr) return;
  set(*order.gate, seen(*order.gate) == Gate::closed ? Gate::open : Gate::passed);
  order.gate = nullptr;
}

/// Whether a write in this stream is done soon, so the stream is not blocked by a waiting one.
bool Grids::moves(cudaStream_t stream) {
  check(stream_write(stream, canary_, 0), "a stream's write");
  const std::uint64_t until = now() + 20'000'000;
  for (;;) {
    const bool late = now() > until;
    const cudaError_t state = cudaStreamQuery(stream);
    if (state != cudaErrorNotReady) check(state, "a stream");
    if (state == cudaSuccess || late) return state == cudaSuccess;
  }
}

bool Grids::gated() const {
  return std::any_of(gates_.begin(), gates_.end(),
                     [](const std::uint32_t* gate) { return seen(*gate) == Gate::closed; });
}

/// Returns a stream for a grid, if possible one that is not blocked.
cudaStream_t Grids::take_stream(Streams& streams) {
  if (!gated()) {
    for (const auto& [kind, stream] : stuck_) kind->give(stream);
    stuck_.clear();
    return streams.take();
  }
  for (;;) {
    cudaStream_t const stream = streams.take();
    if (moves(stream)) return stream;
    stuck_.emplace_back(&streams, stream);
    if (stuck_.size() % most_stuck == 0) return streams.take();
  }
}

bool Grids::may_begin(const JobRecord& job) const {
  if (suspends_for_calls_ && watchdog_->blocked()) return false;
  const auto& order = body_of(job).order;
  if (order == nullptr) return true;
  const OnDevice here{device_};
  return cudaEventQuery(order->reached) != cudaErrorNotReady;
}

}  // namespace cohort::cuda
