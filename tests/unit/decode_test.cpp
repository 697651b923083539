// Decoding gives the same bits whatever the number of groups, and the reference's tokens for every
// kind of model, batch and context. Requests end one by one and make room for others.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "apps/decode/host.hpp"
#include "apps_support.hpp"

namespace cohort::apps {
namespace {

using testing::HasSubstr;

constexpr Llama small{.hidden = 48,
                      .layers = 2,
                      .heads = 4,
                      .kv_heads = 2,
                      .head_dim = 16,
                      .ffn = 72,
                      .vocabulary = 130};

decode::App app(const Llama& shape, const DecodeOptions& how, std::uint64_t seed = 1) {
  return {std::make_shared<const KnownLlama>(SeededLlama{"test", shape, seed}), how};
}

RunOptions fixed(std::uint32_t groups, std::uint32_t local_size = 1) {
  RunOptions options;
  options.launch.max_groups = groups;
  options.launch.local_size = local_size;
  options.launch.resizable = false;
  return options;
}

/// Runs the app and expects the reference's result.
DecodeResult right(cpu::Engine& engine, const decode::App& what, const RunOptions& options) {
  DecodeResult result = solve(engine, what, options);
  EXPECT_EQ(result.report.status, Status::finished);
  EXPECT_EQ(what.difference(result), std::nullopt);
  return result;
}

void expect_same_bits(const DecodeResult& one, const DecodeResult& other) {
  EXPECT_EQ(one.tokens, other.tokens);
  EXPECT_EQ(one.token_logits, other.token_logits);
  EXPECT_EQ(one.logits, other.logits);
}

TEST(Decode, GivesTheSameBitsForEveryNumberOfGroupsAndWhileItChanges) {
  cpu::Engine engine{{.capacity = 5}};
  for (const std::uint32_t batch : {1U, 5U}) {
    const decode::App what = app(
        small, {.tokens = 12, .context = 150, .batch = batch, .requests = batch + 2, .stop = 7});
    const DecodeResult expected = right(engine, what, fixed(1));
    for (const std::uint32_t groups : {2U, 5U})
      expect_same_bits(solve(engine, what, fixed(groups)), expected);
    repeat_until_resized(4, [&](std::uint32_t seed) {
      const DecodeResult result = solve(engine, what, resized_at_random(5, seed));
      expect_same_bits(result, expected);
      return result.report;
    });
  }
}

TEST(Decode, InShortStepsGivesTheSameBits) {
  cpu::Engine engine{{.capacity = 3}};
  decode::App what = app(small, {.tokens = 4, .context = 200, .batch = 2, .requests = 3});
  const DecodeResult expected = right(engine, what, fixed(2));
  for (const std::uint64_t chunk : {1U, 5U, 0U}) {
    what.how.chunk = chunk;
    const DecodeResult result = solve(engine, what, resized_at_random(3, 7));
    EXPECT_EQ(result.report.status, Status::finished);
    expect_same_bits(result, expected);
  }
}

TEST(Decode, IsRightForEveryBatch) {
  cpu::Engine engine{{.capacity = 2}};
  for (std::uint32_t batch = 1; batch <= max_batch; ++batch) {
    SCOPED_TRACE(batch);
    right(engine, app(small, {.tokens = 3, .context = 5, .batch = batch, .requests = batch}),
          fixed(2));
  }
}

TEST(Decode, GivesARequestTheSameBitsInEveryBatch) {
  cpu::Engine engine{{.capacity = 2}};
  const auto first = [&](std::uint32_t batch) {
    return solve(engine, app(small, {.tokens = 5, .context = 70, .batch = batch, .requests = 8}),
                 fixed(2))
        .token_logits.front();
  };
  EXPECT_EQ(first(1), first(8));
}

TEST(Decode, IsRightForEveryRatioOfHeads) {
  cpu::Engine engine{{.capacity = 2}};
  for (const auto& [heads, kv_heads] :
       {std::pair{1U, 1U}, {4U, 4U}, {6U, 2U}, {8U, 1U}, {12U, 2U}, {5U, 1U}}) {
    SCOPED_TRACE(std::to_string(heads) + " on " + std::to_string(kv_heads));
    Llama shape = small;
    shape.heads = heads;
    shape.kv_heads = kv_heads;
    shape.head_dim = 8;
    right(engine, app(shape, {.tokens = 2, .context = 90, .batch = 2, .requests = 2}), fixed(2));
  }
}

// A piece of attention has 64 positions at least, a head 16 pieces, and a piece 1024 positions.
TEST(Decode, IsRightWhereTheContextIsCutIntoMorePieces) {
  cpu::Engine engine{{.capacity = 2}};
  Llama shape = small;
  shape.layers = 1;
  for (const std::uint32_t context : {0U, 62U, 126U, 1022U, 16382U}) {
    SCOPED_TRACE(context);
    right(engine, app(shape, {.tokens = 3, .context = context}), fixed(2));
  }
}

TEST(Decode, IsRightForVectorsThatDoNotFitIntoLocalMemory) {
  cpu::Engine engine{{.capacity = 2}};
  Llama shape = small;
  shape.layers = 1;
  shape.ffn = 5128;  // with 8 slots, the vectors are staged in two parts, and the second is short
  const auto logits = [&](std::uint32_t batch) {
    return right(engine, app(shape, {.tokens = 2, .context = 3, .batch = batch, .requests = 8}),
                 fixed(2))
        .token_logits.front();
  };
  EXPECT_EQ(logits(1), logits(8)) << "the order of a sum does not depend on the parts";
}

TEST(Decode, IsRightInGroupsOfSeveralThreads) {
  cpu::Engine engine{{.capacity = 3}};
  const decode::App what = app(small, {.tokens = 3, .context = 140, .batch = 3, .requests = 4});
  for (const std::uint32_t local_size : {2U, 7U, 64U}) {
    SCOPED_TRACE(local_size);
    RunOptions options = resized_at_random(3, local_size);
    options.launch.local_size = local_size;
    const DecodeResult result = right(engine, what, options);
    expect_same_bits(solve(engine, what, fixed(2, local_size)), result);
  }
}

TEST(Decode, EndsRequestsOneByOneAndTakesOthers) {
  cpu::Engine engine{{.capacity = 2}};
  const decode::App what =
      app(small, {.tokens = 9, .context = 4, .batch = 2, .requests = 7, .stop = 3});
  const DecodeResult result = right(engine, what, fixed(2));
  std::set<std::size_t> lengths;
  for (const auto& each : result.tokens) lengths.insert(each.size());
  EXPECT_GT(lengths.size(), 1U);
  EXPECT_LT(result.turn_times().size(), 2 * what.how.tokens);
}

TEST(Decode, GoesOnWhereItWasSuspended) {
  cpu::Engine engine{{.capacity = 2}};
  const decode::App what = app(small, {.tokens = 40, .context = 70, .batch = 2, .requests = 2});
  const DecodeResult expected = right(engine, what, fixed(2));
  RunOptions options = fixed(2);
  options.launch.resizable = true;
  std::uint32_t suspended = 0;
  options.drive = [&suspended](const Job& job) {
    for (;;) {
      if (const auto report = job.wait_for(std::chrono::microseconds{100})) return *report;
      if (job.suspend() != Status::suspended) continue;
      ++suspended;
      job.resume();
    }
  };
  while (suspended == 0)  // a run may be over before it is suspended
    expect_same_bits(solve(engine, what, options), expected);
}

TEST(Decode, NoticesAWrongLogitAndAWrongToken) {
  cpu::Engine engine{{.capacity = 2}};
  const decode::App what = app(small, {.tokens = 3, .context = 4, .batch = 2, .requests = 2});
  const DecodeResult good = right(engine, what, fixed(2));
  DecodeResult bad = good;
  bad.logits[1] += 0.1F;
  EXPECT_THAT(what.difference(bad).value_or(""), HasSubstr("a logit differs"));
  bad = good;
  bad.tokens[1][0] = (bad.tokens[1][0] + 1) % small.vocabulary;
  EXPECT_NE(what.difference(bad), std::nullopt);
  bad = good;
  bad.tokens[0].pop_back();
  bad.token_logits[0].pop_back();
  EXPECT_THAT(what.difference(bad).value_or(""), HasSubstr("ends too early"));
}

TEST(Decode, RefusesShapesThatItCannotCompute) {
  cpu::Engine engine{{.capacity = 1}};
  const auto refusal = [&](const Llama& shape, std::uint32_t batch) -> std::string {
    try {
      (void)solve(engine, app(shape, {.tokens = 1, .context = 0, .batch = batch}), {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  Llama shape = small;
  shape.kv_heads = 3;
  EXPECT_THAT(refusal(shape, 1), HasSubstr("4 heads on 3"));
  shape = small;
  shape.head_dim = 24;
  EXPECT_THAT(refusal(shape, 1), HasSubstr("heads of 24 dimensions"));
  shape = small;
  shape.hidden = 6000;
  EXPECT_THAT(refusal(shape, 8), HasSubstr("a smaller batch"));
  shape = small;
  shape.vocabulary = 1U << 31U;
  shape.hidden = 8192;
  EXPECT_THAT(refusal(shape, 1), HasSubstr("MiB are free"));
}

TEST(Decode, HasWeightsOfTheSameValuesWhereverTheyAreStored) {
  const LlamaLayout layout{small};
  std::vector<Bf16> all(layout.size(), 0xFFFF);  // no weight is a NaN
  const GenerateWeights generate{layout, 3, all.data()};
  for (std::size_t i = 0; i < generate.units(); ++i) generate.make(i);
  EXPECT_EQ(std::ranges::count(all, 0xFFFF), 0);
  // Row 5 of gate in layer 1 is row 10 of gate and up.
  Bf16 expected[4];
  TensorValues{small, 3, Tensor::gate, 1}.quad((5 * small.hidden + 8) / 4, expected);
  EXPECT_EQ(all[layout.gate_up(1) + std::size_t{10} * small.hidden + 8], expected[0]);
  // Dimension 9 of key head 1 is the second half of a pair.
  TensorValues{small, 3, Tensor::key, 0}.quad((std::size_t{16 + 9} * small.hidden) / 4, expected);
  const std::size_t row = ((4 + 1) * 8 + 1) * 2 + 1;
  EXPECT_EQ(all[layout.qkv(0) + row * small.hidden], expected[0]);
}

TEST(Bf16, RoundsToTheNearestAndToEven) {
  EXPECT_EQ(from_bf16(to_bf16(1.0F)), 1.0F);
  EXPECT_EQ(to_bf16(1.0F + 0x1p-8F), to_bf16(1.0F)) << "half way, to even";
  EXPECT_EQ(from_bf16(to_bf16(1.0F + 3 * 0x1p-8F)), 1.0F + 0x1p-6F);
  EXPECT_EQ(from_bf16(to_bf16(-3.14159F)), -3.140625F);
}

TEST(RankedTokens, OrderByLogitAndThenByNumber) {
  const float logits[] = {-INFINITY, -2.5F, -0.5F, 0.0F, 0.25F, 3.0F};
  for (std::size_t i = 0; i + 1 < std::size(logits); ++i)
    EXPECT_LT(ranked_token(logits[i], 0), ranked_token(logits[i + 1], 9));
  EXPECT_GT(ranked_token(1.0F, 4), ranked_token(1.0F, 5));
  EXPECT_EQ(token_of(ranked_token(-1.5F, 77)), 77U);
  EXPECT_EQ(logit_of(ranked_token(-1.5F, 77)), -1.5F);
  EXPECT_EQ(logit_of(ranked_token(2.5F, 77)), 2.5F);
}

}  // namespace
}  // namespace cohort::apps
