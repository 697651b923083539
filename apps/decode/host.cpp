#include "apps/decode/host.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace cohort::apps {

std::string KnownLlama::in_words() const {
  const Llama& it = shape();
  return "llama:" + model_.name + ", hidden " + std::to_string(it.hidden) + ", " +
         std::to_string(it.layers) + " layers, " + std::to_string(it.heads) + " heads on " +
         std::to_string(it.kv_heads) + ", ffn " + std::to_string(it.ffn) + ", vocabulary " +
         std::to_string(it.vocabulary) + ", " + std::to_string(layout_.size() / 1000) +
         " thousand weights";
}

std::shared_ptr<const KnownLlama> known_llama(const std::string& spec) {
  SpecArguments arguments{spec, llama_spec};
  if (kind_of(spec) != kind_of(llama_spec.syntax)) arguments.refuse("this app takes another input");
  const std::uint64_t seed = arguments.option("seed", 1);
  arguments.finish();
  const auto found = std::ranges::find(llamas, arguments.text(), &NamedLlama::name);
  if (found == llamas.end()) {
    std::string sizes;
    for (const NamedLlama& each : llamas) sizes.append(sizes.empty() ? "" : ", ").append(each.name);
    arguments.refuse("the size should be one of " + sizes);
  }
  return shared_input<KnownLlama>(std::string{found->name} + "," + std::to_string(seed), [&] {
    return SeededLlama{std::string{found->name}, found->shape, seed};
  });
}

void check_llama(const Llama& shape, std::uint32_t batch, std::size_t room) {
  const auto refuse = [](const std::string& why) {
    throw Error{Errc::bad_options, "decode: " + why};
  };
  const std::uint32_t lanes = shape.head_dim / 8;
  if (shape.head_dim % 8 != 0 || lanes == 0 || lanes > warp_lanes || (lanes & (lanes - 1)) != 0)
    refuse("heads of " + std::to_string(shape.head_dim) +
           " dimensions; give 8, 16, 32, 64, 128 or 256");
  if (shape.kv_heads == 0 || shape.heads % shape.kv_heads != 0) {
    refuse(std::to_string(shape.heads) + " heads on " + std::to_string(shape.kv_heads) +
           "; give a multiple");
  }
  if (shape.hidden % 8 != 0 || shape.ffn % 8 != 0 || shape.vocabulary % 2 != 0)
    refuse("the widths of a model are multiples of 8, and its vocabulary is even");
  if (std::size_t{staged_room(shape.hidden)} * batch > room) {
    refuse("vectors of " + std::to_string(shape.hidden) + " elements for a batch of " +
           std::to_string(batch) + " do not fit into a group's local memory; give a smaller batch");
  }
}

std::size_t free_memory() {
  std::size_t result = std::numeric_limits<std::size_t>::max();
  std::ifstream facts{"/proc/meminfo"};
  for (std::string name; facts >> name; facts.ignore(1 << 10, '\n')) {
    if (std::size_t kib = 0; name == "MemAvailable:" && facts >> kib) result = kib << 10U;
  }
  // The memory limit of this process's cgroup. Without a limit, the file contains a word instead of
  // a number.
  std::size_t limit = 0;
  std::size_t used = 0;
  if (std::ifstream{"/sys/fs/cgroup/memory.max"} >> limit &&
      std::ifstream{"/sys/fs/cgroup/memory.current"} >> used)
    result = std::min(result, limit - std::min(limit, used));
  return result;
}

std::vector<float> rotations(const Llama& shape, std::uint32_t first, std::uint32_t count) {
  std::vector<float> result;
  for (std::uint32_t position = first; position < first + count; ++position) {
    for (std::uint32_t pair = 0; pair < shape.head_dim / 2; ++pair) {
      const double angle = position * std::pow(shape.rope_theta, -2.0 * pair / shape.head_dim);
      result.push_back(static_cast<float>(std::cos(angle)));
      result.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  return result;
}

void DecodeResult::set_tokens(const std::vector<std::uint32_t>& all,
                              const std::vector<float>& their_logits, std::uint32_t most_tokens) {
  for (std::size_t begin = 0; begin < all.size(); begin += most_tokens) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = std::find(first, first + most_tokens, no_token);
    tokens.emplace_back(first, last);
    const auto logit = their_logits.begin() + static_cast<std::ptrdiff_t>(begin);
    token_logits.emplace_back(logit, logit + (last - first));
  }
}

std::size_t DecodeResult::num_tokens() const {
  std::size_t sum = 0;
  for (const auto& each : tokens) sum += each.size();
  return sum;
}

std::vector<double> DecodeResult::turn_times() const {
  std::vector<double> result;
  for (std::size_t i = 1; i < times.size(); ++i)
    result.push_back(static_cast<double>(times[i] - times[i - 1]));
  return result;
}

double decoded_bytes(const KnownLlama& model, const DecodeOptions& how,
                     const DecodeResult& result) {
  const Llama& shape = model.shape();
  double bytes = static_cast<double>(result.turn_times().size()) *
                 static_cast<double>(model.layout().read_per_token() * sizeof(Bf16));
  const double per_position = 2.0 * sizeof(Bf16) * shape.layers * shape.kv_heads * shape.head_dim;
  for (const auto& each : result.tokens) {
    for (std::size_t i = 0; i < each.size(); ++i)
      bytes += per_position * static_cast<double>(how.context + i);
  }
  return bytes;
}

Numbers decode::App::numbers(const DecodeResult& result) const {
  std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
  for (const auto& each : result.tokens) {
    for (const std::uint32_t token : each) hash = (hash ^ token) * 0x100000001B3U;
  }
  Numbers numbers{{"tokens", static_cast<std::int64_t>(result.num_tokens())},
                  {"requests", static_cast<std::int64_t>(result.tokens.size())},
                  {"hash", static_cast<std::int64_t>(hash >> 32U)}};
  std::vector<double> turns = result.turn_times();
  if (turns.empty()) return numbers;
  const auto seconds = static_cast<double>(result.times.back() - result.times.front()) / 1e9;
  const auto at = [&turns](double part) {
    const auto index = static_cast<std::ptrdiff_t>(part * static_cast<double>(turns.size() - 1));
    std::ranges::nth_element(turns, turns.begin() + index);
    return std::llround(turns[static_cast<std::size_t>(index)] / 1e3);
  };
  if (seconds > 0) {
    numbers.emplace_back("tokens_per_s",
                         std::llround(static_cast<double>(result.num_tokens()) / seconds));
    numbers.emplace_back("mb_per_s",
                         std::llround(decoded_bytes(*model, how, result) / seconds / 1e6));
  }
  numbers.emplace_back("turn_p50_us", at(0.5));
  numbers.emplace_back("turn_p99_us", at(0.99));
  return numbers;
}

}  // namespace cohort::apps
