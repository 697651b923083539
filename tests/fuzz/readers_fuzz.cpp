// A libFuzzer target for every reader. COHORT_FUZZ selects the reader: the name of a format, or
// "compressed". For any bytes, a reader must either throw an Error that names the place or return a
// valid graph. The result must not depend on how the text is cut into blocks.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "cohort/error.hpp"
#include "graph/build.hpp"
#include "graph/read.hpp"

namespace {

using namespace cohort;

constexpr std::string_view names[] = {"dimacs", "matrix_market", "metis", "edge_list",
                                      "weighted_edge_list"};
constexpr int compressed = -1;
int chosen = compressed;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "readers_fuzz: %s\n", why.c_str());
  std::abort();
}

using Outcome = std::variant<Csr, std::string>;

Outcome outcome(std::string_view text, Format format, std::size_t block) {
  try {
    const auto source = open_memory(text, block);
    return parse_graph(*source, format, "input", block);
  } catch (const Error& error) {
    if (error.code() != Errc::bad_file) give_up("another kind of error");
    return error.what();
  }
}

bool same(const Outcome& one, const Outcome& other) {
  if (one.index() != other.index()) return false;
  if (const auto* const message = std::get_if<std::string>(&one))
    return *message == std::get<std::string>(other);
  const Csr& a = std::get<Csr>(one);
  const Csr& b = std::get<Csr>(other);
  return a.offsets == b.offsets && a.targets == b.targets && a.weights == b.weights;
}

void try_format(std::string_view text, Format format) {
  const Outcome whole = outcome(text, format, 4096);
  if (const auto* const message = std::get_if<std::string>(&whole)) {
    if (!message->starts_with("input:")) give_up("an error without a place: " + *message);
  } else if (const auto why = broken(std::get<Csr>(whole))) {
    give_up("an invalid graph: " + *why);
  }
  if (!same(whole, outcome(text, format, 5))) give_up("blocks make a difference");
}

/// Decompresses up to a limit, in two ways.
std::string unpacked(std::string_view bytes, std::size_t piece) {
  constexpr std::size_t most = std::size_t{1} << 20U;
  std::string text;
  try {
    const auto source = decompressed(open_memory(bytes, piece));
    char buffer[4096];
    while (text.size() < most) {
      const std::size_t got = source->read(buffer, sizeof buffer);
      if (got == 0) return text;
      text.append(buffer, got);
    }
    text.resize(most);
    return text;
  } catch (const BadData&) {
    return "bad";
  }
}

void try_compressed(std::string_view bytes) {
  if (unpacked(bytes, bytes.size() + 1) != unpacked(bytes, 3)) give_up("pieces make a difference");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* const name = std::getenv("COHORT_FUZZ");
  if (name == nullptr) give_up("set COHORT_FUZZ to a format, or to 'compressed'");
  if (name == std::string_view{"compressed"}) return 0;
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (name == names[i]) chosen = static_cast<int>(i);
  }
  if (chosen == compressed) give_up(std::string{"there is no format "} + name);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  if (chosen == compressed) {
    try_compressed(bytes);
  } else {
    try_format(bytes, cohort::formats[static_cast<std::size_t>(chosen)]);
  }
  return 0;
}
