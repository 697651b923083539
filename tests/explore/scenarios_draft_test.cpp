#include <gtest/gtest.h>
#include <chrono>
#include <iostream>
#include "cohort/explore.hpp"
namespace cohort {
namespace {
using explore::Host;
struct Plain {
  std::uint32_t* slots; std::uint32_t rounds;
  static constexpr Traits traits{.resizes = Resizes::at_barriers};
  struct State { std::uint32_t round = 0; };
  template <class Group> void run(Group& group, State s) const {
    for (; s.round < rounds; ++s.round) {
      group.view(slots)[group.group_id()] = s.round;
      group.global_barrier();
      for (std::uint32_t i = 0; i < group.num_groups(); ++i) (void)static_cast<std::uint32_t>(group.view(slots)[i]);
      group.global_barrier();
    }
  }
};
struct Any : Plain { static constexpr Traits traits{}; };
struct Steps {
  std::uint32_t* slots; std::uint32_t rounds;
  struct State { std::uint32_t round = 0; };
  template <class Group> Next step(Group& group, State& s) const {
    group.view(slots)[group.group_id()] = s.round;
    return ++s.round < rounds ? Next::again : Next::halt;
  }
};
struct Offers {
  std::uint32_t* slots; std::uint32_t rounds;
  struct State { std::uint32_t round = 0; };
  template <class Group> void run(Group& group, State s) const {
    for (; s.round < rounds; ++s.round) {
      group.view(slots)[group.group_id()] = s.round;
      if (group.offer_kill(s)) return;
      group.request_fork(s);
    }
  }
};
template <class K>
void all(const char* what, std::uint32_t groups, std::uint32_t start, std::uint32_t rounds, std::function<void(Host&)> host, std::uint32_t ls = 1, explore::Waiting w = explore::Waiting::polled, std::uint64_t limit = 300000) {
  const auto t0 = std::chrono::steady_clock::now();
  Buffer<std::uint32_t> buffer;
  explore::Options o{.search = explore::Search::exhaustive, .schedules = limit, .capacity = groups, .local_size = ls, .start_groups = start, .visits = 1, .host = host, .waiting = w, .gathered = true};
  const auto result = explore::check([&](explore::Engine& engine) {
    buffer = engine.fill<std::uint32_t>(8, 0);
    return K{buffer.data(), rounds};
  }, [] { return true; }, o);
  const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
  std::cout << what << " " << groups << "/" << start << ": " << result << "  " << s << " s, " << static_cast<double>(result.schedules) / s << "/s\n";
}
TEST(X, Y) {
  all<Plain>("steady barrier", 2, 2, 1, [](Host&) {});
  all<Plain>("steady barrier", 3, 3, 1, [](Host&) {});
  all<Any>("barrier", 2, 2, 1, [](Host&) {});
  all<Any>("barrier", 3, 3, 1, [](Host&) {});
  all<Steps>("shrink", 2, 2, 2, [](Host& h) {h.set_target(1);});
  all<Steps>("shrink", 3, 3, 2, [](Host& h) {h.set_target(1);});
  all<Steps>("grow", 2, 1, 2, [](Host& h) {h.set_target(2);});
  all<Steps>("grow", 3, 1, 2, [](Host& h) {h.set_target(3);});
  all<Steps>("both", 2, 2, 3, [](Host& h) {h.set_target(1); h.set_target(2);});
  all<Offers>("kill/fork", 2, 2, 1, [](Host& h) {h.set_target(1);});
  all<Offers>("kill/fork", 3, 2, 1, [](Host& h) {h.set_target(1); h.set_target(3);});
}
}  // namespace
}  // namespace cohort
