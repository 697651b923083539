// The phases of decoding under the explorer: attention in two pieces, of which one group combines
// both, in groups of several threads, while requests come and go.
#include <gtest/gtest.h>

#include "apps/decode/host.hpp"
#include "cohort/explore.hpp"

namespace cohort::test {
namespace {

constexpr apps::Llama shape{.hidden = 8,
                            .layers = 1,
                            .heads = 2,
                            .kv_heads = 1,
                            .head_dim = 8,
                            .ffn = 8,
                            .vocabulary = 6,
                            .tied = true};

void explore_decode(const apps::DecodeOptions& how, const explore::Options& options) {
  apps::RunOptions run;
  run.launch.local_size = options.local_size;
  const explore::Result result = explore::check_program(
      [&](explore::Engine& engine) -> std::string {
        const apps::decode::App app{
            std::make_shared<const apps::KnownLlama>(apps::SeededLlama{"explored", shape, 1}), how};
        const auto found = solve(engine, app, run);
        return found.report.status == Status::finished ? app.difference(found).value_or("") : "";
      },
      options);
  EXPECT_TRUE(result.ok) << result;
}

TEST(DecodePhases, CombineThePiecesOfAttention) {
  explore_decode({.tokens = 1, .context = 64}, {.schedules = 60,
                                                .capacity = 3,
                                                .local_size = 2,
                                                .start_groups = 3,
                                                .suspends = 1,
                                                .weak_memory = true});
}

TEST(DecodePhases, LetRequestsEndAndOthersBegin) {
  explore_decode({.tokens = 2, .context = 1, .batch = 2, .requests = 3, .stop = 2},
                 {.schedules = 200, .capacity = 3, .suspends = 1, .weak_memory = true});
}

TEST(DecodePhases, MayBeDoneInShortSteps) {
  explore_decode({.tokens = 1, .context = 1, .chunk = 1}, {.schedules = 100, .capacity = 3});
}

}  // namespace
}  // namespace cohort::test
