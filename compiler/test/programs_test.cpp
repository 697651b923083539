// Programs of the dialect, compiled by the test and run while groups join and leave at random. A
// run is correct if the items end up as after a sequential run of the same passes. It counts only
// if groups have joined.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "resized_runs.hpp"

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::uint32_t>;
using Items = Shared<std::uint32_t>;

const std::filesystem::path folder = COHORT_TEST_PROGRAMS;
const bool on_opencl = std::string{engine_name} == "opencl";
constexpr std::uint32_t few_items = 64;
constexpr std::uint32_t rounds = 60;

std::uint32_t stir(std::uint32_t item, std::uint32_t key) {
  return item * 1664525U + key * 2654435761U + 1013904223U;
}

Items first_items(std::uint32_t count = few_items) {
  Items result(count);
  for (std::uint32_t i = 0; i < count; ++i) result[i] = i * 40503U;
  return result;
}

Items after(const Words& keys, std::uint32_t count = few_items) {
  Items result = first_items(count);
  for (const std::uint32_t key : keys) {
    for (std::uint32_t& each : result) each = stir(each, key);
  }
  return result;
}

/// Later attempts have more items, so that they run longer on a device.
std::uint32_t items_for(std::uint32_t attempt) { return few_items << std::min(attempt / 3, 10U); }

const Program& programs(const std::string& file, const std::string& transmit = "annotated") {
  static std::map<std::string, Program> loaded;
  const auto found = loaded.find(file + transmit);
  if (found != loaded.end()) return found->second;
  ProgramOptions options;
  options.engine = engine_name;
  options.transmit = transmit;
  options.optimise = "-O1";
  return loaded.emplace(file + transmit, Program::from_file(folder / file, options)).first->second;
}

Words up_to(std::uint32_t end) {
  Words result;
  for (std::uint32_t i = 0; i < end; ++i) result.push_back(i);
  return result;
}

// ---- programs that make passes over the items

struct PassProgram {
  const char* name;
  Words keys;
  std::vector<std::uint32_t> local_sizes = {1, 3};
  const char* file = "programs.cl";
  const char* transmit = "annotated";
};

// NOLINTNEXTLINE(readability-identifier-naming): gtest's name
void PrintTo(const PassProgram& program, std::ostream* out) { *out << program.name; }

template <class Next>
Words keys_by(std::uint32_t count, Next next) {
  Words result;
  for (std::uint32_t r = 0; r < count; ++r) next(r, result);
  return result;
}

Words vector_keys() {
  std::array<std::uint32_t, 4> v{1, 2, 3, 4};
  return keys_by(rounds, [&](std::uint32_t r, Words& keys) {
    std::array<std::uint32_t, 4> w{v[3] + r, v[2] + r, v[1] + r, v[0] + r};
    w[0] += 1;
    w[1] += 2;
    w[3] = w[0] ^ 5U;
    keys.push_back(w[0] + w[1] * 3 + w[2] * 5 + w[3] * 7);
    v = {w[0] * 3 + v[1], w[1] * 3 + v[2], w[2] * 3 + v[3], w[3] * 3 + v[0]};
  });
}

Words vector_choice_keys() {
  std::array<int, 4> v{-2, -1, 0, 1};
  return keys_by(rounds, [&](std::uint32_t, Words& keys) {
    std::array<int, 4> size{};
    int any = 0;
    int all = 1;
    for (std::size_t i = 0; i < 4; ++i) {
      any |= v[i] < 0 ? 1 : 0;
      all &= v[i] < 0 ? 1 : 0;
      size[i] = std::max(std::abs(v[i]), 1) + (v[i] > 5 ? 10 : 0);
    }
    keys.push_back(static_cast<std::uint32_t>(size[0] + 10 * size[1] + 100 * size[2] +
                                              1000 * size[3] + any + 2 * all));
    v = {v[0] + 1, v[1] - 1, v[2] + 2, v[3] - 2};
  });
}

Words struct_keys() {
  std::array<std::uint8_t, 4> tag{1, 2, 0, 0};
  float weight = 0.5F;
  Words keys;
  for (std::uint32_t first = 3; first < rounds + 3;) {
    keys.push_back(first + static_cast<std::uint32_t>(weight * 4.0F) + tag[first % 4]);
    ++first;
    weight += 0.25F;
    ++tag[first % 4];
  }
  return keys;
}

Words union_keys() {
  std::uint32_t word = 0x01020304U;
  std::uint32_t colour = 1;
  return keys_by(rounds, [&](std::uint32_t r, Words& keys) {
    colour = colour == 1 ? 2 : colour == 2 ? 7 : 1;
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &word, 4);
    bytes[r % 4] = static_cast<std::uint8_t>(bytes[r % 4] + colour);
    std::memcpy(&word, bytes.data(), 4);
    keys.push_back(word + colour);
  });
}

Words anonymous_keys() {
  std::uint32_t low = 2;
  std::uint32_t more = 1;
  return keys_by(rounds, [&](std::uint32_t, Words& keys) {
    low = (low + 3) & 0xffffU;
    ++more;
    keys.push_back((0x10000U | low) + more * 10000 + 8);
  });
}

Words added_keys() {
  std::uint32_t sum = 1;
  std::uint32_t part = 1;
  return keys_by(rounds, [&](std::uint32_t r, Words& keys) {
    sum += r * 3;
    part ^= r * 3;
    keys.insert(keys.end(), {r, r, sum + part});
  });
}

Words name_keys() {
  Words keys{5};
  std::uint32_t phase = 1;
  for (std::uint32_t r = 0; r < rounds; ++r) {
    keys.push_back((r + phase) * 2);
    keys.push_back(9);
    phase *= 3;
  }
  return keys;
}

Words expression_keys() {
  std::uint32_t k = 1;
  return keys_by(rounds, [&](std::uint32_t r, Words& keys) {
    k <<= 1U;
    std::uint32_t a = k ^ r;
    std::uint32_t b = r > 3 ? a++ : ++a;
    b -= r * 2;
    a += b;
    b |= ~a & 0xffU;
    k = (a == 0 ? 1U : 0U) + (a != 0 && b != 0 ? 1U : 0U) + (a < b ? 1U : 0U) + 16U +
        (b % 7 != 0 ? 1U : ~0U) + k;
    const std::int64_t wide = (static_cast<std::int64_t>(a) << 20) | b;
    keys.push_back(k + static_cast<std::uint32_t>(wide >> 10) + 'a');
  });
}

Words integer_keys() {
  std::uint32_t x = 0x12345678U;
  const auto saturate = [](std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, ~0U));
  };
  return keys_by(rounds, [&](std::uint32_t r, Words& keys) {
    const auto s = static_cast<std::int32_t>(x);
    const auto absolute = static_cast<std::uint32_t>(std::abs(static_cast<std::int64_t>(s)));
    x = std::rotl(x, 5) +
        static_cast<std::uint32_t>(std::popcount(x) + std::countl_zero(x) + std::countr_zero(x)) +
        absolute + static_cast<std::uint32_t>((std::uint64_t{x} * 77U) >> 32U) +
        ((r & 255U) * 3 + 1);
    const auto apart = static_cast<std::uint32_t>(std::abs(static_cast<std::int64_t>(s) - 100));
    x ^= saturate(std::uint64_t{x} + 0xf0000000U) + (r < 5 ? 0 : r - 5) + std::clamp(r, 2U, 9U) +
         std::min(r, 3U) + std::max(r, 4U) + apart;
    const int byte = std::clamp(static_cast<int>(r) * 9 - 100, 0, 255);
    x += static_cast<std::uint32_t>((std::uint64_t{x} + 3) / 2) + ((x & ~0xffU) | (r & 0xffU)) +
         (r > 4 ? 2U : 1U) + static_cast<std::uint32_t>(byte);
    keys.push_back(x);
  });
}

Words float_keys() {
  float f = 1.5F;
  return keys_by(rounds, [&](std::uint32_t, Words& keys) {
    const float whole = std::floor(f);
    f = std::sqrt(f * f + 1.0F + 4.0F + whole * whole) * 0.5F +
        std::fmin(std::fabs(-f), 2.0F) * 0.25F;
    keys.push_back(std::bit_cast<std::uint32_t>(f) + static_cast<std::uint32_t>(f * 16.0F));
  });
}

Words switch_keys() {
  return keys_by(rounds, [](std::uint32_t r, Words& keys) {
    switch (r % 4) {
      case 0: keys.insert(keys.end(), {100, 101}); break;
      case 1: keys.push_back(101); break;
      case 2: keys.push_back(2 * r); break;
      default: keys.push_back(103);
    }
  });
}

Words break_keys() {
  Words keys;
  for (std::uint32_t r = 0;;) {
    keys.push_back(r);
    ++r;
    if (r % 2 == 0) continue;
    if (r > rounds) break;
    keys.push_back(1000 + r);
  }
  return keys;
}

Words taken_name_keys() {
  std::uint32_t item = 1;
  std::uint32_t local = 3;
  std::uint32_t flag = 1;
  return keys_by(rounds, [&](std::uint32_t r, Words& keys) {
    keys.push_back(r + (item + 1) + (local + 2) + (1 + 3) + 5 + flag + 0x80000005U);
    flag = (flag + 1) | 4U;
    if (flag > 90) flag = 1;
    local += item++;
  });
}

Words live_array_keys() {
  std::array<std::uint32_t, 3> key{1, 2, 3};
  return keys_by(rounds, [&](std::uint32_t r, Words& keys) {
    const std::uint32_t sum = key[0] + key[1] * key[2];
    keys.push_back(sum);
    key[r % 3] = sum % 1000;
  });
}

Words by_thread_keys(std::uint32_t local_size) {
  return keys_by(rounds, [&](std::uint32_t r, Words& keys) {
    std::uint32_t sum = 0;
    for (std::uint32_t id = 0; id < local_size; ++id) sum += id * 3 + r * (id + 1);
    keys.push_back(sum);
  });
}

Words add(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<PassProgram> pass_programs() {
  const Words plain = up_to(rounds);
  std::vector<PassProgram> all{
      {"while_loop", plain},
      {"for_loop", plain},
      {"do_loop", plain},
      {"nested_loops", plain},
      {"in_if", plain},
      {"both_branches",
       keys_by(rounds,
               [](std::uint32_t r, Words& keys) {
                 keys.insert(keys.end(), {r % 2 == 1 ? r * 2 : r * 3, r % 2 == 1 ? 1U : 2U});
               })},
      {"in_switch", switch_keys()},
      {"two_barriers", keys_by(rounds,
                               [](std::uint32_t r, Words& keys) {
                                 keys.insert(keys.end(), {r, r + 1});
                               })},
      {"in_a_row", keys_by(rounds / 5,
                           [](std::uint32_t, Words& keys) {
                             keys.insert(keys.end(), {1, 2, 3, 4, 5});
                           })},
      {"break_and_continue", break_keys()},
      {"early_return", plain},
      {"in_function", plain},
      {"function_twice", keys_by(rounds,
                                 [](std::uint32_t r, Words& keys) {
                                   keys.insert(keys.end(), {r, 7});
                                 })},
      {"function_value", plain},
      {"function_initialises", keys_by(rounds,
                                       [](std::uint32_t r, Words& keys) {
                                         keys.insert(keys.end(), {r, (r + 1) * 3});
                                       })},
      {"added_to", added_keys()},
      {"function_in_function", keys_by(rounds,
                                       [](std::uint32_t r, Words& keys) {
                                         keys.push_back(r);
                                         if (r % 2 == 0) keys.push_back(50);
                                       })},
      {"function_returns_early", keys_by(rounds,
                                         [](std::uint32_t r, Words& keys) {
                                           keys.push_back(r % 3 == 0 ? 30 : r);
                                           if (r % 3 == 2) keys.push_back(32);
                                         })},
      {"goto_in_function",
       keys_by(rounds, [](std::uint32_t r, Words& keys) { keys.push_back(r * (r + 1) / 2); })},
      {"local_array", plain, {1, 4}},
      {"local_scalar",
       keys_by(rounds, [](std::uint32_t r, Words& keys) { keys.push_back(r * r); }),
       {1, 4}},
      {"group_functions",
       keys_by(rounds, [](std::uint32_t r, Words& keys) { keys.push_back(r + 3); }),
       {1, 4}},
      {"vectors", vector_keys()},
      {"vector_choice", vector_choice_keys()},
      {"struct_state", struct_keys()},
      {"partly_initialised", keys_by(rounds,
                                     [](std::uint32_t r, Words& keys) {
                                       keys.push_back(6 * (r + 1) +
                                                      static_cast<std::uint8_t>(r + 1) + 1);
                                     })},
      {"enums_and_unions", union_keys()},
      {"anonymous_members", anonymous_keys()},
      {"constants", keys_by(rounds,
                            [](std::uint32_t r, Words& keys) {
                              const std::array<std::uint32_t, 8> table{3, 1, 4, 1, 5, 9, 2, 6};
                              const std::array<std::uint32_t, 4> inner{1, 10, 100, 1000};
                              keys.push_back(table[r % 8] + inner[r % 4]);
                            })},
      {"arrays_around_points", keys_by(rounds,
                                       [](std::uint32_t r, Words& keys) {
                                         keys.push_back(r + r + 1 + r * (r + 1) +
                                                        (r % 2 == 0 ? 2 : 4));
                                       })},
      {"names", name_keys()},
      {"taken_names", taken_name_keys(), {1, 4}},
      {"constant_arguments", keys_by(rounds / 4,
                                     [](std::uint32_t, Words& keys) {
                                       keys.insert(keys.end(), {6, 6, 45, 199});
                                     })},
      {"own_parameters", keys_by(rounds,
                                 [](std::uint32_t r, Words& keys) {
                                   keys.insert(keys.end(), {r + 100, r + 7});
                                 })},
      {"expressions", expression_keys()},
      {"integer_functions", integer_keys()},
      {"float_functions", float_keys()},
      {"two_dimensions",
       keys_by(rounds, [](std::uint32_t r, Words& keys) { keys.push_back(r + 2); }),
       {4}},
      {"with_dimension",
       keys_by(rounds, [](std::uint32_t r, Words& keys) { keys.push_back(r + 1); })},
  };
  std::uint32_t total = 0;
  for (std::uint32_t i = 0; i < rounds; ++i) total += i;
  for (const char* transmit : {"live", "all", "per-thread"}) {
    // The OpenCL engine has one State per group.
    if (on_opencl && std::string{transmit} == "per-thread") continue;
    all.push_back({"loop_variables", plain, {1, 3}, "live.cl", transmit});
    all.push_back({"arrays", live_array_keys(), {1, 3}, "live.cl", transmit});
    all.push_back({"in_functions", add(plain, {total}), {1, 3}, "live.cl", transmit});
  }
  if (on_opencl) return all;
  all.push_back({"threads_of_a_group", by_thread_keys(1), {1}, "by_thread.cl", "per-thread"});
  all.push_back({"threads_of_a_group", by_thread_keys(4), {4}, "by_thread.cl", "per-thread"});
  return all;
}

class PassPrograms : public testing::TestWithParam<PassProgram> {};

TEST_P(PassPrograms, GiveTheSequentialResultWhileGroupsComeAndGo) {
  const PassProgram& program = GetParam();
  for (const std::uint32_t local_size : program.local_sizes) {
    SCOPED_TRACE(testing::Message() << "groups of " << local_size);
    repeat_until_joined([&](std::uint32_t attempt) {
      const std::uint32_t items = items_for(attempt);
      Items out = first_items(items);
      ProgramKernel kernel = programs(program.file, program.transmit).kernel(program.name);
      kernel.set("out", out.data()).set("n", items).set("rounds", rounds);
      Report report = run_resizing(kernel, local_size, attempt);
      EXPECT_TRUE(out == after(program.keys, items)) << "with " << items << " items";
      return report;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Dialect, PassPrograms, testing::ValuesIn(pass_programs()),
                         [](const auto& test) {
                           std::string name = std::string{test.param.name} + "_" +
                                              test.param.transmit + "_" +
                                              std::to_string(test.index);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Programs, HandOverPointers) {
  repeat_until_joined([](std::uint32_t attempt) {
    const std::uint32_t items = items_for(attempt);
    Items out = first_items(items);
    Items other(items);
    ProgramKernel kernel = programs("programs.cl").kernel("swapped_pointers");
    kernel.set("out", out.data()).set("other", other.data()).set("n", items).set("rounds", rounds);
    Report report = run_resizing(kernel, 1, attempt);
    EXPECT_TRUE(out == after(up_to(rounds), items));  // after an even number of swaps
    return report;
  });
}

// ---- programs with kill and fork

class QueuePrograms : public testing::TestWithParam<const char*> {};

TEST_P(QueuePrograms, TakeEveryItemOnceWhileGroupsComeAndGo) {
  constexpr std::uint32_t many = 20000;
  const std::string name = GetParam();
  const bool any_size = name != "work_queue";
  const bool leaders_take = name == "work_queue" || name == "atomic_types";
  Items expected = first_items(many);
  for (std::uint32_t i = 0; i < many; ++i) expected[i] = stir(expected[i], i);
  for (const std::uint32_t local_size : any_size ? std::vector{1U, 2U} : std::vector{1U}) {
    SCOPED_TRACE(testing::Message() << "groups of " << local_size);
    repeat_until_joined([&](std::uint32_t attempt) {
      Items out = first_items(many);
      Items next{0};
      ProgramKernel kernel = programs("programs.cl").kernel(GetParam());
      kernel.set("out", out.data()).set("next", next.data()).set("n", many);
      Report report = run_resizing(kernel, local_size, attempt);
      // If every thread takes an item, only the leader's is used, and the other threads' items are
      // skipped.
      const bool all = leaders_take || local_size == 1;
      for (std::uint32_t i = 0; i < many; ++i) {
        if (all && out[i] != expected[i]) ADD_FAILURE() << "item " << i;
        if (out[i] != expected[i] && out[i] != i * 40503U)
          ADD_FAILURE() << "item " << i << " was taken twice";
      }
      return report;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Dialect, QueuePrograms,
                         testing::Values("work_queue", "fork_with_state", "any_order",
                                         "kill_in_function", "atomic_types"),
                         [](const auto& test) { return std::string{test.param}; });

// ---- figure 4

struct Graph {
  const std::int32_t* row;
  const std::int32_t* column;
  std::int32_t* level_of;
};
struct Nodes {
  std::int32_t size;
  std::int32_t* node;
};

TEST(Figure4, FindsTheLevelsOfAGridWhileGroupsComeAndGo) {
  constexpr std::int32_t width = 60;
  constexpr std::size_t nodes = std::size_t{width} * width;
  Shared<std::int32_t> row{0};
  Shared<std::int32_t> column;
  for (std::int32_t node = 0; node < width * width; ++node) {
    const std::int32_t x = node % width;
    const std::int32_t y = node / width;
    if (x > 0) column.push_back(node - 1);
    if (x + 1 < width) column.push_back(node + 1);
    if (y > 0) column.push_back(node - width);
    if (y + 1 < width) column.push_back(node + width);
    row.push_back(static_cast<std::int32_t>(column.size()));
  }
  for (const std::uint32_t local_size : {1U, 4U}) {
    SCOPED_TRACE(testing::Message() << "groups of " << local_size);
    repeat_until_joined([&](std::uint32_t attempt) {
      Shared<std::int32_t> levels(nodes, -1);
      Shared<std::int32_t> first(nodes);
      Shared<std::int32_t> second(nodes);
      levels[0] = 0;
      first[0] = 0;
      Shared<Graph> graph{{row.data(), column.data(), levels.data()}};
      Shared<Nodes> in{{1, first.data()}};
      Shared<Nodes> out{{0, second.data()}};
      ProgramKernel kernel = programs("figure4.cl").kernel("graph_app");
      kernel.set("g", graph.data()).set("n0", in.data()).set("n1", out.data());
      Report report = run_resizing(kernel, local_size, attempt);
      for (std::int32_t node = 0; node < width * width; ++node)
        EXPECT_EQ(levels[static_cast<std::size_t>(node)], node % width + node / width);
      return report;
    });
  }
}

// Helpers with output parameters, a prefix sum in local memory, and worklists swapped by address.
TEST(Frontier, FindsShortestPathsWhileGroupsComeAndGo) {
  constexpr std::int32_t width = 24;
  constexpr std::size_t nodes = std::size_t{width} * width;
  // Room for nodes that are in a list several times.
  constexpr std::size_t room = std::size_t{1} << 16U;
  Shared<std::int32_t> row{0};
  Shared<std::int32_t> target;
  Shared<std::int32_t> weight;
  for (std::int32_t node = 0; node < width * width; ++node) {
    for (const std::int32_t step : {-1, 1, -width, width}) {
      const std::int32_t next = node + step;
      const bool across = std::abs(step) == 1 && next / width != node / width;
      if (next < 0 || next >= width * width || across) continue;
      target.push_back(next);
      weight.push_back(1 + (node * 7 + next * 3) % 4);
    }
    row.push_back(static_cast<std::int32_t>(target.size()));
  }
  std::vector<std::int32_t> expected(nodes, 1 << 30);
  expected[0] = 0;
  for (std::size_t pass = 0; pass < nodes; ++pass) {
    for (std::size_t node = 0; node < nodes; ++node) {
      for (std::int32_t e = row[node]; e < row[node + 1]; ++e) {
        const auto edge = static_cast<std::size_t>(e);
        auto& far = expected[static_cast<std::size_t>(target[edge])];
        far = std::min(far, expected[node] + weight[edge]);
      }
    }
  }
  for (const std::uint32_t local_size : {1U, 4U}) {
    SCOPED_TRACE(testing::Message() << "groups of " << local_size);
    repeat_until_joined([&](std::uint32_t attempt) {
      Shared<std::int32_t> distance(nodes, 1 << 30);
      Shared<std::int32_t> first(room);
      Shared<std::int32_t> second(room);
      Shared<std::int32_t> sizes{1, 0};
      distance[0] = 0;
      first[0] = 0;
      ProgramKernel kernel = programs("frontier.cl").kernel("search");
      kernel.set("row", row.data()).set("target", target.data()).set("weight", weight.data());
      kernel.set("distance", distance.data()).set("list0", first.data());
      kernel.set("list1", second.data()).set("size0", &sizes[0]).set("size1", &sizes[1]);
      Report report = run_resizing(kernel, local_size, attempt);
      for (std::size_t node = 0; node < nodes; ++node) EXPECT_EQ(distance[node], expected[node]);
      return report;
    });
  }
}

TEST(Figure4, CanBeSuspendedAndResumed) {
  int suspended = 0;
  // The run may end before the suspend.
  for (std::uint32_t long_run = 10000; suspended == 0; long_run *= 2) {
    Words keys;
    for (std::uint32_t r = 0; r < long_run; ++r) keys.insert(keys.end(), {r, r + 1});
    Items out = first_items();
    ProgramKernel kernel = programs("programs.cl").kernel("two_barriers");
    kernel.set("out", out.data()).set("n", few_items).set("rounds", long_run);
    const Job job = kernel.launch(engine(), {.max_groups = 4, .local_size = 1});
    while (job.suspend() == Status::suspended) {
      ++suspended;
      job.resume();
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_EQ(job.wait().status, Status::finished);
    ASSERT_EQ(out, after(keys));
  }
}

// ---- the run time

#if !defined(COHORT_TEST_OPENCL) && !defined(COHORT_TEST_CUDA)

TEST(ProgramFile, ThatDoesNotCompileSaysSoWithTheCompilersText) {
  const std::filesystem::path scratch =
      std::filesystem::path{testing::TempDir()} / ("programs" + std::to_string(::getpid()));
  std::filesystem::create_directories(scratch);
  const std::filesystem::path file = scratch / "broken.cl";
  std::ofstream{file} << "kernel void f(global int* p) { p = 0; global_barrier(); }\n";
  try {
    static_cast<void>(Program::from_file(file));
    FAIL() << "it compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_file);
    EXPECT_THAT(error.what(), testing::HasSubstr(
                                  "broken.cl:1:32: error: parameter 'p' of a kernel is immutable"));
  }
  std::filesystem::remove_all(scratch);
}

TEST(ProgramFile, ThatIsNotThereIsNamed) {
  try {
    static_cast<void>(Program::from_file("no/such.cl"));
    FAIL() << "it compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_options);
    EXPECT_THAT(error.what(), testing::HasSubstr("no/such.cl"));
  }
}

TEST(ProgramFile, IsCompiledOnceForEachWayToCompileIt) {
  const std::filesystem::path cache =
      std::filesystem::path{testing::TempDir()} / ("cohort-cache-" + std::to_string(getpid()));
  ProgramOptions options;
  options.cache = cache;
  options.optimise = "-O0";
  const auto compiled = [&] {
    static_cast<void>(Program::from_file(folder / "add.cl", options));
    std::map<std::filesystem::path, std::filesystem::file_time_type> files;
    for (const auto& each : std::filesystem::directory_iterator{cache}) {
      files.emplace(each.path(), each.last_write_time());
    }
    return files;
  };
  const auto first = compiled();
  EXPECT_EQ(first.size(), 1U);
  EXPECT_EQ(compiled(), first);
  options.defines = {"COHORT_UNUSED"};  // generates the same code
  EXPECT_EQ(compiled(), first);
  options.barrier = ResizingBarrier::query;
  EXPECT_EQ(compiled().size(), 2U);
  std::filesystem::remove_all(cache);
}

#endif

TEST(ProgramArguments, AreChecked) {
  Items out(1);
  ProgramKernel kernel = programs("programs.cl").kernel("while_loop");
  EXPECT_THROW(kernel.set("nothing", 1), Error);
  EXPECT_THROW(kernel.set("out", 1), Error);
  EXPECT_THROW(kernel.set("n", 1.0), Error);
  EXPECT_THROW(kernel.set("n", out.data()), Error);
  EXPECT_THROW(static_cast<void>(kernel.set("out", out.data()).launch(engine())), Error)
      << "n and rounds are not set";
  EXPECT_THROW(static_cast<void>(programs("programs.cl").kernel("no_such_kernel")), Error);
  EXPECT_THROW(static_cast<void>(programs("programs.cl").kernel()), Error) << "there are many";
  ProgramKernel shaped = programs("programs.cl").kernel("two_dimensions");
  shaped.set("out", out.data()).set("n", 1U).set("rounds", 1U);
  EXPECT_THROW(static_cast<void>(shaped.launch(engine(), {.local_size = 3})), Error);
  EXPECT_THROW(static_cast<void>(shaped.launch(engine(), {.local_size = 1})), Error);
  EXPECT_EQ(shaped.launch(engine()).wait().status, Status::finished) << "with the size it requires";
}

TEST(ProgramDescription, NamesParametersAndPoints) {
  const KernelInfo& info = programs("figure4.cl").kernel("graph_app").info();
  ASSERT_EQ(info.parameters.size(), 3U);
  EXPECT_EQ(info.parameters[1].name, "n0");
  EXPECT_EQ(info.parameters[1].element_size, sizeof(Nodes));
  EXPECT_EQ(info.points, 2U);
  EXPECT_TRUE(info.suspendable);
}

}  // namespace
}  // namespace cohort::test
