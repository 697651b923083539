// The threads of a group as fibres (Boost.Context), with the annotations that sanitizers need to
// follow a stack switch.
// Invariant: fibres run one at a time on their worker's thread, and switch only to and from the
// conductor.
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <utility>
#include <vector>

#include "cohort/platform/cpu.hpp"
#include "fibre_notes.hpp"

namespace cohort::cpu {
namespace {

namespace context = boost::context;

// Deep enough for kernels that call the C++ library. Only touched pages use memory, and a guard
// page lies below the stack.
constexpr std::size_t stack_bytes = 256UL * 1024UL;

/// A stack allocator that frees nothing: the team owns the stacks and reuses them after a fibre's
/// end.
struct KeepStack {
  static void deallocate(context::stack_context& /*stack*/) noexcept {}
};

}  // namespace

struct Team::Fibres {
  struct Thread {
    context::stack_context stack;
    context::fiber fibre;      // where this thread of the group continues
    context::fiber conductor;  // where its worker continues
    std::unique_ptr<FibreNotes> notes;
    Handling handling;
    bool done = true;
    protocol::Point point{};
    Act act = nullptr;
    void* context = nullptr;
  };

  explicit Fibres(std::uint32_t count) : threads(count), slots(count) {
    context::protected_fixedsize_stack allocator{stack_bytes};
    try {
      for (auto& thread : threads) thread.stack = allocator.allocate();
    } catch (...) {
      free_stacks();
      throw;
    }
  }
  Fibres(const Fibres&) = delete;
  Fibres& operator=(const Fibres&) = delete;
  ~Fibres() { free_stacks(); }

  void free_stacks() {
    context::protected_fixedsize_stack allocator{stack_bytes};
    for (auto& thread : threads) {
      if (thread.stack.sp != nullptr) allocator.deallocate(thread.stack);
    }
  }

  void begin(std::uint32_t local_id, void (*body)(void*, std::uint32_t), void* with) {
    Thread& thread = threads[local_id];
    thread.done = false;
    thread.handling = {};
    thread.notes = std::make_unique<FibreNotes>();
    thread.notes->begin_on(thread.stack.sp, thread.stack.size);
    thread.fibre = context::fiber{
        std::allocator_arg, context::preallocated{thread.stack.sp, thread.stack.size, thread.stack},
        KeepStack{}, [this, &thread, local_id, body, with](context::fiber&& conductor) {
          thread.notes->after_switch_from(*home);
          thread.conductor = std::move(conductor);
          try {
            body(with, local_id);
          } catch (const Unwind&) {
            unwinding = true;
          } catch (...) {
            if (!thrown) thrown = std::current_exception();
            unwinding = true;
          }
          thread.done = true;
          thread.notes->before_switch_to(*home, true);
          return std::move(thread.conductor);
        }};
  }

  /// Runs one thread of the group until its next meeting or its end.
  void advance(Thread& thread) {
    const Handling mine = std::exchange(Handling::current(), thread.handling);
    home->before_switch_to(*thread.notes);
    thread.fibre = std::move(thread.fibre).resume();
    home->after_switch_from(*thread.notes);
    thread.handling = std::exchange(Handling::current(), mine);
  }

  std::vector<Thread> threads;
  std::vector<void*> slots;
  std::unique_ptr<FibreNotes> home;
  std::exception_ptr thrown;
  bool unwinding = false;  // set: every thread leaves its kernel function at its next turn
};

Team::Team(std::uint32_t local_size) : fibres_(new Fibres(local_size)), local_size_(local_size) {}

Team::~Team() { delete fibres_; }

bool Team::run(void (*body)(void* context, std::uint32_t local_id), void* context) {
  Fibres& all = *fibres_;
  all.home = std::make_unique<FibreNotes>(true);
  all.thrown = nullptr;
  all.unwinding = false;
  for (std::uint32_t i = 0; i < local_size_; ++i) all.begin(i, body, context);

  bool together = true;
  const auto& first = all.threads.front();
  for (;;) {
    std::uint32_t ended = 0;
    bool same = true;
    for (auto& thread : all.threads) {
      if (!thread.done) all.advance(thread);
      ended += thread.done ? 1 : 0;
      same = same && thread.point == first.point;
    }
    if (ended == local_size_) break;
    if (all.unwinding) continue;
    if (ended != 0 || !same) {
      together = false;
      all.unwinding = true;
    } else if (first.act != nullptr) {
      try {
        first.act(first.context, all.slots);
      } catch (...) {
        all.thrown = std::current_exception();
        all.unwinding = true;
      }
    }
  }
  if (all.thrown) std::rethrow_exception(all.thrown);
  if (all.unwinding && together) throw Unwind{};
  return together;
}

void Team::meet(std::uint32_t local_id, protocol::Point point, void* slot, Act act, void* context) {
  Fibres& all = *fibres_;
  Fibres::Thread& thread = all.threads[local_id];
  if (all.unwinding) throw Unwind{};
  thread.point = point;
  thread.act = act;
  thread.context = context;
  all.slots[local_id] = slot;
  thread.notes->before_switch_to(*all.home);
  thread.conductor = std::move(thread.conductor).resume();
  thread.notes->after_switch_from(*all.home);
  if (all.unwinding) throw Unwind{};
}

}  // namespace cohort::cpu
