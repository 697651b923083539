// Decoding with a Llama of random weights, host side: input, options, memory, run and verification.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apps/decode/kernel.hpp"
#include "apps/decode/weights.hpp"
#include "apps/inputs.hpp"
#include "apps/registry.hpp"

namespace cohort::apps {

/// A model, described by its shape and the seed of its weights.
struct SeededLlama {
  std::string name;
  Llama shape;
  std::uint64_t seed;
};

/// A model that engines can have in memory, each at most once.
class KnownLlama {
 public:
  explicit KnownLlama(SeededLlama model) : model_(std::move(model)), layout_{model_.shape} {}

  [[nodiscard]] const LlamaLayout& layout() const { return layout_; }
  [[nodiscard]] const Llama& shape() const { return layout_.shape; }
  [[nodiscard]] std::uint64_t seed() const { return model_.seed; }
  [[nodiscard]] std::size_t bytes() const { return layout_.size() * sizeof(Bf16); }
  /// A description: "llama:1b, hidden 2048, 16 layers, 32 heads on 8, ...".
  [[nodiscard]] std::string in_words() const;

  template <class Engine>
  [[nodiscard]] bool is_in(const Engine& engine) const {
    const std::scoped_lock lock{mutex_};
    return residents_.contains(&engine.memory());
  }
  /// The weights in an engine's memory, made there in parallel when they are first needed.
  template <class Engine>
  const Buffer<Bf16>& in_memory(Engine& engine) const {
    const std::scoped_lock lock{mutex_};
    Buffer<Bf16>& weights = residents_[&engine.memory()];
    if (weights.size() > 0) return weights;
    // So that the explorer has no additional schedules.
    if constexpr (std::is_same_v<Engine, explore::Engine>) {
      std::vector<Bf16> made(layout_.size());
      const GenerateWeights generate{layout_, seed(), made.data()};
      for (std::size_t i = 0; i < generate.units(); ++i) generate.make(i);
      weights = engine.upload(made);
    } else {
      auto made = engine.template allocate<Bf16>(layout_.size());
      launch_alone(engine, GenerateWeights{layout_, seed(), made.data()});
      weights = std::move(made);
    }
    return weights;
  }
  /// Runs a kernel on all units, before the job that needs its results.
  template <class Engine, class Kernel>
  static void launch_alone(Engine& engine, const Kernel& kernel) {
    engine
        .launch(kernel, {.max_groups = engine.capacity(), .local_size = default_local_size<Engine>})
        .wait();
  }

 private:
  SeededLlama model_;
  LlamaLayout layout_;
  mutable std::mutex mutex_;
  mutable std::map<const cohort::detail::Memory*, Buffer<Bf16>> residents_;
};

struct DecodeOptions {
  std::uint32_t tokens = 64;    ///< maximum number of tokens of each request
  std::uint32_t context = 128;  ///< number of positions before a request's first token
  std::uint32_t batch = 1;      ///< number of requests that are decoded together
  std::uint32_t requests = 1;
  std::uint32_t stop = 0;  ///< a token divisible by this ends its request; 0: none does
  std::uint64_t chunk = even_chunk;
  /// Instead of decoding, reads all weights this often, to measure the bandwidth for comparison.
  std::uint32_t reads = 0;
};

struct DecodeResult {
  std::vector<std::vector<std::uint32_t>> tokens;  ///< indexed by request
  std::vector<std::vector<float>> token_logits;    ///< the logits of these tokens
  /// All logits of the first turns, by turn, slot and token; there are `logit_slots` slots.
  std::vector<float> logits;
  std::uint32_t logit_slots = 0;
  /// Start of each turn, and end of the last one, in nanoseconds.
  std::vector<std::uint64_t> times;
  Report report;

  static constexpr std::uint32_t no_token = ~0U;

  /// Taken from the kernel's results: tokens by request and index; no_token after the last token of
  /// a request.
  void set_tokens(const std::vector<std::uint32_t>& all, const std::vector<float>& their_logits,
                  std::uint32_t most_tokens);
  [[nodiscard]] std::size_t num_tokens() const;
  /// The duration of each turn, in nanoseconds.
  [[nodiscard]] std::vector<double> turn_times() const;
};

/// The largest difference between a logit and its reference, relative to the root mean square of
/// the turn's logits.
inline constexpr double logit_tolerance = 2e-3;

/// Compares with a plain computation that gets the same tokens as input: each token must be the
/// reference's most likely one, and logits equal the reference's within the tolerance. Describes
/// the first difference, or returns nothing.
[[nodiscard]] std::optional<std::string> check_decode(const KnownLlama& model,
                                                      const DecodeOptions& how,
                                                      const DecodeResult& result);

/// Number of bytes of weights, keys and values that the tokens of a result needed, counted once per
/// turn.
[[nodiscard]] double decoded_bytes(const KnownLlama& model, const DecodeOptions& how,
                                   const DecodeResult& result);

/// The model that `llama:<size>` names. It is made once and shared as long as it has a user.
[[nodiscard]] std::shared_ptr<const KnownLlama> known_llama(const std::string& spec);

/// Number of bytes that this process can allocate without taking memory from other processes.
[[nodiscard]] std::size_t free_memory();

/// Throws Error{bad_options} if a model of this shape, with `batch` slots, cannot be decoded.
void check_llama(const Llama& shape, std::uint32_t batch, std::size_t room);

namespace decode {

/// Greedy decoding of some requests. The tokens are complete only when the job has finished.
struct App {
  static constexpr std::string_view name = "decode";
  static constexpr std::string_view summary =
      "greedy decoding with a Llama of random weights; on llama:SIZE";
  static constexpr std::string_view options =
      "tokens=N context=N batch=N requests=N stop=N chunk=N";
  static constexpr std::string_view algorithm = "phases";
  static constexpr std::string_view paper = "";
  static constexpr std::array<std::string_view, 1> examples{"llama:tiny"};
  using Result = DecodeResult;

  std::shared_ptr<const KnownLlama> model;
  DecodeOptions how = {};

  static App from(const std::string& input, Settings& settings) {
    DecodeOptions how;
    const auto number = [&settings](const char* key, std::uint64_t otherwise, std::uint64_t least,
                                    std::uint64_t most) {
      return static_cast<std::uint32_t>(settings.number(key, otherwise, least, most));
    };
    how.tokens = number("tokens", how.tokens, 1, 1U << 20U);
    how.context = number("context", how.context, 0, 1U << 20U);
    how.batch = number("batch", how.batch, 1, max_batch);
    how.requests = number("requests", how.batch, 1, 1U << 16U);
    how.stop = number("stop", how.stop, 0, 1U << 30U);
    how.chunk = settings.number("chunk", even_chunk);
    settings.check_all_used();
    return {known_llama(input), how};
  }
  /// Two requests of two tokens, which attend to one position each.
  static App tiny() {
    const Llama shape{.hidden = 16,
                      .layers = 1,
                      .heads = 2,
                      .kv_heads = 1,
                      .head_dim = 8,
                      .ffn = 8,
                      .vocabulary = 6,
                      .tied = true};
    return {std::make_shared<const KnownLlama>(SeededLlama{"tiny", shape, 1}),
            {.tokens = 2, .context = 1, .batch = 1, .requests = 1}};
  }

  [[nodiscard]] std::string input() const { return model->in_words(); }
  [[nodiscard]] static std::uint32_t threads_per_sm() { return 256; }

  /// Throws Error{out_of_memory} if the weights, keys and values do not fit, and Error{bad_options}
  /// for groups that the kernel cannot use.
  template <class Engine>
  DecodeResult run(Engine& engine, const RunOptions& run_options) const {
    if (how.reads > 0) return read(engine, run_options);
    if (how.batch == 1) return run_batch<1>(engine, run_options);
    if (how.batch <= 4) return run_batch<4>(engine, run_options);
    return run_batch<8>(engine, run_options);
  }

  [[nodiscard]] Numbers numbers(const DecodeResult& result) const;
  [[nodiscard]] std::optional<std::string> difference(const DecodeResult& result) const {
    return check_decode(*model, how, result);
  }

 private:
  /// The maximum number of logits that are kept for verification.
  static constexpr std::size_t kept_logits = std::size_t{64} << 20U;

  template <class Engine>
  static constexpr bool is_explorer = std::is_same_v<Engine, explore::Engine>;

  template <class Engine>
  DecodeResult read(Engine& engine, const RunOptions& run_options) const {
    const Buffer<Bf16>& weights = model->in_memory(engine);
    const auto sum = engine.template fill<std::uint64_t>(1, 0);
    const ReadMemory kernel{.memory = reinterpret_cast<const ReadMemory::Words*>(weights.data()),
                            .count = model->bytes() / sizeof(ReadMemory::Words),
                            .passes = how.reads,
                            .sum = sum.data()};
    DecodeResult result;
    result.report = apps::run(engine, kernel, run_options);
    return result;
  }

  /// Throws Error{out_of_memory} if less than `bytes` of memory are free. Called before the
  /// allocation.
  template <class Engine>
  static void check_room(std::size_t needed) {
    std::size_t free = free_memory();
#ifdef __CUDACC__
    if constexpr (default_local_size < Engine >> 1) {
      std::size_t total = 0;
      // The allocation will report the reason.
      if (cudaMemGetInfo(&free, &total) != cudaSuccess) return;
    }
#endif
    if (needed <= free) return;
    const auto in_mib = [](std::size_t bytes) { return std::to_string(bytes >> 20U) + " MiB"; };
    throw Error{Errc::out_of_memory, "decode: the weights, keys and values need " + in_mib(needed) +
                                         ", and " + in_mib(free) +
                                         " are free; choose a smaller model, context or batch"};
  }

  template <std::uint32_t batch, class Engine>
  DecodeResult run_batch(Engine& engine, const RunOptions& run_options) const;
};

}  // namespace decode

/// Cosines and sines of the rotary embedding, for `count` positions from `first` on.
[[nodiscard]] std::vector<float> rotations(const Llama& shape, std::uint32_t first,
                                           std::uint32_t count);

template <std::uint32_t batch, class Engine>
DecodeResult decode::App::run_batch(Engine& engine, const RunOptions& run_options) const {
  // Number of floats in a group's local memory. On a GPU with a larger batch: the most that a block
  // can have.
  constexpr std::uint32_t room = is_explorer<Engine> ? 8192 : batch == 1 ? 16384 : 40960;
  using Kernel = Decode<batch, room>;
  const LlamaLayout& layout = model->layout();
  const Llama& shape = layout.shape;
  check_llama(shape, batch, room);
  if constexpr (default_local_size < Engine >> 1) {
    if (const std::uint32_t threads = threads_per_group<Engine>(run_options);
        threads % warp_lanes != 0) {
      throw Error{Errc::bad_options, "decode: groups of " + std::to_string(threads) +
                                         " threads; on a GPU give whole warps: a multiple of 32"};
    }
  }
  const std::uint32_t positions = how.context + how.tokens;
  const std::uint64_t all_turns =
      std::uint64_t{how.tokens} * ((how.requests + how.batch - 1) / how.batch);
  if (all_turns >= std::numeric_limits<std::uint32_t>::max()) {
    throw Error{Errc::bad_options,
                "decode: too many tokens for all requests together; give fewer requests or tokens"};
  }
  const auto turns = static_cast<std::uint32_t>(all_turns);
  const std::size_t cache =
      std::size_t{shape.layers} * how.batch * shape.kv_heads * positions * shape.head_dim;
  const auto kept_turns = static_cast<std::uint32_t>(
      least(turns, kept_logits / (std::size_t{batch} * shape.vocabulary)));

  const std::size_t results = std::size_t{how.requests} * how.tokens * 2 * sizeof(float) +
                              std::size_t{turns} * sizeof(std::uint64_t);
  check_room<Engine>((model->is_in(engine) ? 0 : model->bytes()) + 2 * cache * sizeof(Bf16) +
                     std::size_t{kept_turns} * batch * shape.vocabulary * sizeof(float) + results);
  const Buffer<Bf16>& weights = model->in_memory(engine);
  const auto floats = [&engine](std::size_t count) {
    return engine.template fill<float>(count, 0);
  };
  const auto turned = engine.upload(rotations(shape, how.context, how.tokens));
  GenerateContext generate{.shape = shape,
                           .seed = model->seed(),
                           .slots = how.batch,
                           .positions = positions,
                           .context = how.context,
                           .caches = {}};
  Buffer<Bf16> caches[2];
  if constexpr (is_explorer<Engine>) {
    std::vector<Bf16> made[2] = {std::vector<Bf16>(cache), std::vector<Bf16>(cache)};
    for (const std::size_t i : {0, 1}) generate.caches[i] = made[i].data();
    for (std::size_t i = 0; i < generate.units(); ++i) generate.make(i);
    for (const std::size_t i : {0, 1}) caches[i] = engine.upload(made[i]);
  } else {
    for (const std::size_t i : {0, 1}) {
      caches[i] = engine.template allocate<Bf16>(cache);
      generate.caches[i] = caches[i].data();
    }
    KnownLlama::launch_alone(engine, generate);
  }

  Kernel kernel{};
  kernel.layout = layout;
  kernel.weights = weights.data();
  kernel.rotations = turned.data();
  kernel.keys = caches[0].data();
  kernel.values = caches[1].data();
  kernel.num_slots = how.batch;
  kernel.positions = positions;
  kernel.context = how.context;
  kernel.requests = how.requests;
  kernel.max_tokens = how.tokens;
  kernel.stop = how.stop;
  kernel.kept_turns = kept_turns;
  kernel.max_turns = turns;
  kernel.seed = model->seed();
  kernel.chunk = how.chunk;
  const auto residual = floats(std::size_t{batch} * shape.hidden);
  const auto queries = floats(std::size_t{batch} * shape.attention_width());
  const auto heads = floats(std::size_t{batch} * shape.attention_width());
  const auto expanded = floats(std::size_t{batch} * shape.ffn);
  const auto pieces = floats(kernel.num_pieces() * Kernel::max_queries * shape.head_dim);
  const auto piece_sums = floats(kernel.num_pieces() * 2 * Kernel::max_queries);
  const auto pieces_done =
      engine.template fill<std::uint32_t>(std::size_t{batch} * kernel.bundles(), 0);
  const auto likeliest = engine.template fill<std::uint64_t>(std::size_t{2} * batch, 0);
  const std::size_t most_tokens = std::size_t{how.requests} * how.tokens;
  const auto tokens = engine.template fill<std::uint32_t>(most_tokens, DecodeResult::no_token);
  const auto token_logits = floats(most_tokens);
  const auto logits = floats(std::size_t{kept_turns} * batch * shape.vocabulary);
  const auto times = engine.template fill<std::uint64_t>(std::size_t{turns} + 1, 0);
  kernel.residual = residual.data();
  kernel.queries = queries.data();
  kernel.heads = heads.data();
  kernel.expanded = expanded.data();
  kernel.pieces = pieces.data();
  kernel.piece_sums = piece_sums.data();
  kernel.pieces_done = pieces_done.data();
  kernel.likeliest = likeliest.data();
  kernel.tokens = tokens.data();
  kernel.token_logits = token_logits.data();
  kernel.logits = logits.data();
  kernel.times = times.data();

  DecodeResult result;
  result.report = apps::run(engine, kernel, run_options);
  if (!run_options.results) return result;
  result.set_tokens(tokens.read(), token_logits.read(), how.tokens);
  result.logits = logits.read();
  result.logit_slots = batch;
  result.times = times.read();
  std::erase(result.times, 0);
  return result;
}

}  // namespace cohort::apps
