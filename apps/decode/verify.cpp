#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>

#include "apps/decode/host.hpp"

namespace cohort::apps {
namespace {

/// Calls `body(begin, end)` for parts of [0, count), on all CPUs.
void in_parallel(std::size_t count, const std::function<void(std::size_t, std::size_t)>& body) {
  const std::size_t workers = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 64);
  const std::size_t part = std::max<std::size_t>(count / (workers * 4), 1);
  if (part == count) return body(0, count);
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < workers; ++i) {
    threads.emplace_back([&] {
      for (std::size_t begin = next.fetch_add(part); begin < count; begin = next.fetch_add(part))
        body(begin, std::min(begin + part, count));
    });
  }
}

/// A token that the reference gets as input: its position, and the request in its slot.
struct Column {
  std::size_t request;
  std::size_t index;
  std::uint32_t slot;
  std::uint32_t turn;
  std::uint32_t token;
  std::uint32_t chosen;  ///< the token that the kernel chose next
  float its_logit;
};

/// Vectors of equal length, one per column; indexed by element, then by column.
class Columns {
 public:
  Columns(std::size_t length, std::size_t columns)
      : columns_(columns), values_(length * columns, 0) {}
  float* operator[](std::size_t element) { return values_.data() + element * columns_; }
  const float* operator[](std::size_t element) const { return values_.data() + element * columns_; }
  [[nodiscard]] std::size_t length() const { return values_.size() / columns_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }

 private:
  std::size_t columns_;
  std::vector<float> values_;
};

/// Decodes all tokens of a result again, layer by layer. The input for each token is the tokens
/// that the kernel chose before it. Needs the weights of one row at a time.
class Reference {
 public:
  Reference(const KnownLlama& model, const DecodeOptions& how, std::vector<Column> columns)
      : model_(model), shape_(model.shape()), how_(how), columns_(std::move(columns)) {}

  [[nodiscard]] std::optional<std::string> check(const DecodeResult& result) {
    Columns x{shape_.hidden, columns_.size()};
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::vector<float> row = weights(Tensor::embedding, 0, columns_[c].token);
      for (std::size_t i = 0; i < row.size(); ++i) x[i][c] = row[i];
    }
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      attention(layer, x);
      feed_forward(layer, x);
    }
    return compare(normalised(Tensor::final_norm, 0, x), result);
  }

 private:
  /// A row of a tensor. Norms are vectors, so the row is all of the norm.
  [[nodiscard]] std::vector<float> weights(Tensor tensor, std::uint32_t layer,
                                           std::size_t row) const {
    std::size_t length = shape_.hidden;
    if (tensor == Tensor::output) length = std::size_t{shape_.heads} * shape_.head_dim;
    if (tensor == Tensor::down) length = shape_.ffn;
    const TensorValues values{shape_, model_.seed(), tensor, layer};
    std::vector<float> result(length);
    for (std::size_t i = 0; i < length; i += 4) {
      Bf16 four[4];
      values.quad((row * length + i) / 4, four);
      for (std::size_t j = 0; j < 4; ++j) result[i + j] = from_bf16(four[j]);
    }
    return result;
  }

  /// `out` = a row of weights times `x`, for every column. Sums of 64 products are added in double.
  static void multiply(const std::vector<float>& row, const Columns& x, std::vector<float>& out) {
    const std::size_t n = x.columns();
    std::vector<double> sum(n, 0);
    std::vector<float> block(n);
    for (std::size_t k = 0; k < row.size(); k += 64) {
      std::ranges::fill(block, 0.0F);
      for (std::size_t i = k; i < std::min(k + 64, row.size()); ++i) {
        const float* const with = x[i];
        for (std::size_t c = 0; c < n; ++c) block[c] += row[i] * with[c];
      }
      for (std::size_t c = 0; c < n; ++c) sum[c] += static_cast<double>(block[c]);
    }
    out.assign(sum.begin(), sum.end());
  }
  [[nodiscard]] Columns product(Tensor tensor, std::uint32_t layer, std::size_t rows,
                                const Columns& x) const {
    Columns result{rows, columns_.size()};
    in_parallel(rows, [&](std::size_t begin, std::size_t end) {
      std::vector<float> out;
      for (std::size_t row = begin; row < end; ++row) {
        multiply(weights(tensor, layer, row), x, out);
        std::ranges::copy(out, result[row]);
      }
    });
    return result;
  }
  [[nodiscard]] Columns normalised(Tensor tensor, std::uint32_t layer, const Columns& x) const {
    Columns result = x;
    const std::vector<float> scale = weights(tensor, layer, 0);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      double squares = 0;
      for (std::size_t i = 0; i < x.length(); ++i) squares += std::pow(double{x[i][c]}, 2);
      const double rms = std::sqrt(squares / static_cast<double>(x.length()) + 1e-5);
      for (std::size_t i = 0; i < x.length(); ++i)
        result[i][c] = static_cast<float>(x[i][c] / rms * scale[i]);
    }
    return result;
  }
  void rotate(Columns& x, std::size_t heads) const {
    const std::size_t half = shape_.head_dim / 2;
    for (std::size_t i = 0; i < half; ++i) {
      const double frequency =
          1 / std::pow(shape_.rope_theta, static_cast<double>(i) / static_cast<double>(half));
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        const double angle = static_cast<double>(how_.context + columns_[c].index) * frequency;
        for (std::size_t head = 0; head < heads; ++head) {
          float& real = x[head * shape_.head_dim + i][c];
          float& imaginary = x[head * shape_.head_dim + half + i][c];
          const double before = real;
          real = static_cast<float>(before * std::cos(angle) - imaginary * std::sin(angle));
          imaginary = static_cast<float>(imaginary * std::cos(angle) + before * std::sin(angle));
        }
      }
    }
  }

  void attention(std::uint32_t layer, Columns& x) const {
    const Columns in = normalised(Tensor::attention_norm, layer, x);
    const std::size_t dim = shape_.head_dim;
    Columns query = product(Tensor::query, layer, shape_.heads * dim, in);
    Columns key = product(Tensor::key, layer, shape_.kv_heads * dim, in);
    const Columns value = product(Tensor::value, layer, shape_.kv_heads * dim, in);
    rotate(query, shape_.heads);
    rotate(key, shape_.kv_heads);
    const std::vector<float> old[2] = {context(layer, false), context(layer, true)};
    Columns heads{shape_.heads * dim, columns_.size()};
    in_parallel(columns_.size() * shape_.heads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        attend(i / shape_.heads, i % shape_.heads, query, key, value, old, heads);
    });
    add(product(Tensor::output, layer, shape_.hidden, heads), x);
  }
  /// The keys or values of a layer's context, by slot, head, position and dimension.
  [[nodiscard]] std::vector<float> context(std::uint32_t layer, bool values) const {
    const std::size_t of_slot = std::size_t{shape_.kv_heads} * how_.context * shape_.head_dim;
    std::vector<float> result(how_.batch * of_slot);
    in_parallel(how_.batch, [&](std::size_t begin, std::size_t end) {
      for (std::size_t slot = begin; slot < end; ++slot) {
        const CountedRandom random =
            context_values(model_.seed(), values, layer, static_cast<std::uint32_t>(slot));
        for (std::size_t i = 0; i < of_slot; ++i)
          result[slot * of_slot + i] = from_bf16(to_bf16(context_width * random[i]));
      }
    });
    return result;
  }
  /// Attention of one head for one column: over the context, and over the tokens of its request up
  /// to itself.
  void attend(std::size_t c, std::size_t head, const Columns& query, const Columns& key,
              const Columns& value, const std::vector<float> (&old)[2], Columns& out) const {
    const std::size_t dim = shape_.head_dim;
    const std::size_t kv_head = head / (shape_.heads / shape_.kv_heads);
    const std::size_t first = c - columns_[c].index;  // the first column of the same request
    const auto at = [&](const std::vector<float>& before, const Columns& fresh,
                        std::size_t position, std::size_t d) {
      if (position < how_.context) {
        const std::size_t row = columns_[c].slot * shape_.kv_heads + kv_head;
        return before[(row * how_.context + position) * dim + d];
      }
      return from_bf16(to_bf16(fresh[kv_head * dim + d][first + position - how_.context]));
    };
    const std::size_t length = how_.context + columns_[c].index + 1;
    std::vector<double> score(length);
    for (std::size_t p = 0; p < length; ++p) {
      for (std::size_t d = 0; d < dim; ++d)
        score[p] += double{query[head * dim + d][c]} * at(old[0], key, p, d);
      score[p] /= std::sqrt(static_cast<double>(dim));
    }
    const double largest = *std::ranges::max_element(score);
    double total = 0;
    std::vector<double> sum(dim);
    for (std::size_t p = 0; p < length; ++p) {
      const double weight = std::exp(score[p] - largest);
      total += weight;
      for (std::size_t d = 0; d < dim; ++d) sum[d] += weight * at(old[1], value, p, d);
    }
    for (std::size_t d = 0; d < dim; ++d)
      out[head * dim + d][c] = static_cast<float>(sum[d] / total);
  }

  void feed_forward(std::uint32_t layer, Columns& x) const {
    const Columns in = normalised(Tensor::ffn_norm, layer, x);
    Columns gate = product(Tensor::gate, layer, shape_.ffn, in);
    const Columns up = product(Tensor::up, layer, shape_.ffn, in);
    for (std::size_t i = 0; i < shape_.ffn; ++i) {
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        const double it = gate[i][c];
        gate[i][c] = static_cast<float>(it / (1 + std::exp(-it)) * up[i][c]);
      }
    }
    add(product(Tensor::down, layer, shape_.hidden, gate), x);
  }
  static void add(const Columns& more, Columns& x) {
    for (std::size_t i = 0; i < x.length(); ++i) {
      for (std::size_t c = 0; c < x.columns(); ++c) x[i][c] += more[i][c];
    }
  }

  /// The comparison of one column with the kernel's result.
  struct Found {
    double squares = 0;  ///< sum of the squares of the reference's logits
    double largest = -std::numeric_limits<double>::infinity();
    double of_chosen = 0;
    double worst = 0;  ///< largest difference of a logit
  };
  /// Returns the larger number, or NaN if one of them is NaN.
  static double worse(double a, double b) { return std::isnan(a) || a >= b ? a : b; }
  [[nodiscard]] std::optional<std::string> compare(const Columns& x,
                                                   const DecodeResult& result) const {
    const Tensor head = shape_.tied ? Tensor::embedding : Tensor::head;
    const std::size_t turn_size = std::size_t{result.logit_slots} * shape_.vocabulary;
    const std::size_t kept = turn_size == 0 ? 0 : result.logits.size() / turn_size;
    std::vector<Found> found(columns_.size());
    std::mutex mutex;
    in_parallel(shape_.vocabulary, [&](std::size_t begin, std::size_t end) {
      std::vector<Found> mine(columns_.size());
      std::vector<float> logit;
      for (std::size_t token = begin; token < end; ++token) {
        multiply(weights(head, 0, token), x, logit);
        for (std::size_t c = 0; c < columns_.size(); ++c) {
          const Column& column = columns_[c];
          Found& it = mine[c];
          it.squares += double{logit[c]} * logit[c];
          it.largest = std::max(it.largest, double{logit[c]});
          if (token == column.chosen) {
            it.of_chosen = logit[c];
            it.worst = worse(it.worst, std::abs(double{logit[c]} - column.its_logit));
          }
          if (column.turn >= kept) continue;
          const float theirs =
              result.logits[column.turn * turn_size + column.slot * shape_.vocabulary + token];
          it.worst = worse(it.worst, std::abs(double{logit[c]} - theirs));
        }
      }
      const std::scoped_lock lock{mutex};
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        found[c].squares += mine[c].squares;
        found[c].largest = std::max(found[c].largest, mine[c].largest);
        if (columns_[c].chosen >= begin && columns_[c].chosen < end)
          found[c].of_chosen = mine[c].of_chosen;
        found[c].worst = worse(found[c].worst, mine[c].worst);
      }
    });
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const double rms = std::sqrt(found[c].squares / shape_.vocabulary);
      const std::string where = "token " + std::to_string(columns_[c].index) + " of request " +
                                std::to_string(columns_[c].request);
      if (!(found[c].worst <= logit_tolerance * rms)) {
        return where + ": a logit differs by " + std::to_string(found[c].worst) +
               " from the reference, whose root mean square is " + std::to_string(rms);
      }
      if (found[c].of_chosen < found[c].largest - logit_tolerance * rms) {
        return where + " is " + std::to_string(columns_[c].chosen) + " with a logit of " +
               std::to_string(found[c].of_chosen) + ", but the largest is " +
               std::to_string(found[c].largest);
      }
    }
    return std::nullopt;
  }

  const KnownLlama& model_;
  const Llama& shape_;
  const DecodeOptions& how_;
  std::vector<Column> columns_;
};

/// The turn and slot of each token. Slots take requests in order, as soon as they are free.
std::vector<Column> columns_of(const KnownLlama& model, const DecodeOptions& how,
                               const DecodeResult& result) {
  std::vector<Column> columns;
  std::vector<std::uint32_t> free_from(how.batch, 0);  // the turn from which each slot is free
  for (std::size_t request = 0; request < result.tokens.size(); ++request) {
    const auto first = std::ranges::min_element(free_from);
    const auto slot = static_cast<std::uint32_t>(first - free_from.begin());
    std::uint32_t token =
        first_token(model.seed(), static_cast<std::uint32_t>(request), model.shape().vocabulary);
    for (std::size_t i = 0; i < result.tokens[request].size(); ++i) {
      columns.push_back({.request = request,
                         .index = i,
                         .slot = slot,
                         .turn = *first + static_cast<std::uint32_t>(i),
                         .token = token,
                         .chosen = result.tokens[request][i],
                         .its_logit = result.token_logits[request][i]});
      token = result.tokens[request][i];
    }
    *first += static_cast<std::uint32_t>(result.tokens[request].size());
  }
  return columns;
}

}  // namespace

std::optional<std::string> check_decode(const KnownLlama& model, const DecodeOptions& how,
                                        const DecodeResult& result) {
  if (result.tokens.size() != how.requests) {
    return "tokens of " + std::to_string(result.tokens.size()) + " requests instead of " +
           std::to_string(how.requests);
  }
  for (std::size_t request = 0; request < result.tokens.size(); ++request) {
    const auto& tokens = result.tokens[request];
    const std::string name = "request " + std::to_string(request);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i] >= model.shape().vocabulary)
        return name + " has a token " + std::to_string(tokens[i]) + ", which does not exist";
      const bool ends = how.stop != 0 && tokens[i] % how.stop == 0;
      if (ends != (i + 1 == tokens.size()) && i + 1 != how.tokens)
        return name + (ends ? " goes on after a token that ends it" : " ends too early");
    }
    if (tokens.empty()) return name + " has no tokens";
  }
  return Reference{model, how, columns_of(model, how, result)}.check(result);
}

}  // namespace cohort::apps
