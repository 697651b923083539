// Heat on a ring of cells, on several ranks: each shard is an arc, and tells its neighbours the
// values at its ends. Run it by `mpirun -n 2 build/release/bin/06_ranks`.
#include <cmath>
#include <cohort/cpu.hpp>
#include <cohort/mpi.hpp>
#include <iostream>
#include <vector>

constexpr std::uint32_t arcs = 16;
constexpr std::size_t length = 100;  // number of cells in a shard
constexpr std::uint32_t steps = 200;

struct Heat {
  struct Part {  // a shard: the data that moves to another rank and into a checkpoint
    std::vector<double> cells;
    double before = 0;  // the cells next to this arc
    double after = 0;

    template <class Visit>
    void fields(Visit& visit) {
      visit(cells);
      visit(before);
      visit(after);
    }
  };
  struct Message {
    std::uint32_t shard;
    bool from_before;
    double value;
  };
  enum class Phase : std::uint32_t { tell, hear, update };
  struct State {
    Phase phase = Phase::tell;
    std::uint32_t step = 0;
  };

  cohort::Shards<Part> parts;  // the engine sets this member and the next two
  cohort::Inbox<Message> in;
  cohort::Outbox<Message> out;

  cohort::Next step(auto& group, State& state) const {
    switch (state.phase) {
      case Phase::tell:
        for (const std::size_t i : group.stride(parts.here().size())) {
          const std::uint32_t shard = parts.here()[i];
          tell(group, {(shard + 1) % arcs, true, parts[shard].cells.back()});
          tell(group, {(shard + arcs - 1) % arcs, false, parts[shard].cells.front()});
        }
        state.phase = Phase::hear;
        return cohort::Next::exchange;
      case Phase::hear:
        in.share(group, [&](const Message& message) { hear(message); });
        state.phase = Phase::update;
        return cohort::Next::again;
      case Phase::update: break;
    }
    for (const std::size_t i : group.stride(parts.here().size())) update(parts[parts.here()[i]]);
    state.phase = Phase::tell;
    return ++state.step < steps ? cohort::Next::again : cohort::Next::halt;
  }

 private:
  void tell(auto& group, const Message& message) const {
    if (parts.here(message.shard)) {
      hear(message);
    } else {
      out.send(group, message.shard, message);
    }
  }
  void hear(const Message& message) const {
    Part& part = parts[message.shard];
    (message.from_before ? part.before : part.after) = message.value;
  }
  static void update(Part& part) {
    double left = part.before;
    for (std::size_t i = 0; i < length; ++i) {
      const double right = i + 1 < length ? part.cells[i + 1] : part.after;
      const double old = part.cells[i];
      part.cells[i] = (left + 2 * old + right) / 4;
      left = old;
    }
  }
};

int main() {
  cohort::cpu::Engine local;
  cohort::mpi::Engine engine{local};
  const auto job = engine.launch(Heat{}, {.shards = arcs});
  const auto report = job->run([&](const std::vector<std::uint32_t>& owners) {
    std::vector<Heat::Part> parts;  // the shards of this rank; the first one is hot
    for (std::uint32_t shard = 0; shard < arcs; ++shard) {
      if (owners[shard] != engine.network().rank()) continue;
      parts.push_back({.cells = std::vector<double>(length, shard == 0 ? 1.0 : 0.0)});
    }
    return parts;
  });
  double sum = 0;  // sum on this rank
  job->for_parts([&](std::uint32_t, const Heat::Part& part) {
    for (const double cell : part.cells) sum += cell;
  });
  sum = engine.network().vote({.sum = sum}).sum;  // sum on all ranks
  if (engine.network().rank() == 0)
    std::cout << report.supersteps << " supersteps, heat " << sum << " of " << length << '\n';
  return std::abs(sum - length) < 1e-9 && report.supersteps == steps + 1 ? 0 : 1;
}
