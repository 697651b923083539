// Scenario "read": speed of reading graph files, compared with the work that cannot be avoided:
// decompression, and one pass over each byte.
#include "graph/read.hpp"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/harness.hpp"
#include "bench/scenario.hpp"
#include "bench/scratch.hpp"
#include "cohort/error.hpp"
#include "cohort/platform/cpu.hpp"
#include "graph/build.hpp"
#include "graph/cache.hpp"
#include "graph/generators.hpp"
#include "graph/source.hpp"
#include "graph/spec.hpp"
#include "graph/write.hpp"

namespace cohort::bench {
namespace {

namespace fs = std::filesystem;

/// Keeps the compiler from discarding the value.
template <class Value>
void looked_at(const Value& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

std::function<std::vector<double>()> timed(std::function<void()> work) {
  return [work = std::move(work)] {
    const std::uint64_t begin = cpu::now();
    work();
    return std::vector{static_cast<double>(cpu::now() - begin)};
  };
}

/// The lower bound for reading a text: inspects each byte.
void pass_over(const std::string& text) { looked_at(std::count(text.begin(), text.end(), '\n')); }

double megabytes_per_second(std::size_t bytes, const Series& series) {
  return static_cast<double>(bytes) * 1e3 / statistics(series).p50;
}

// ---- text

struct Sample {
  std::string name;
  std::string file;
  std::string text;
};

/// A symmetric matrix of fractions, with each edge once.
std::string symmetric_reals(const Csr& graph) {
  std::string lines;
  const CsrView view = graph.view();
  for (Node node = 0; node < view.num_nodes(); ++node) {
    for (std::uint64_t edge = view.first_edge(node); edge < view.first_edge(node + 1); ++edge) {
      if (view.target(edge) > node) continue;
      const double value = -static_cast<double>(view.weight(edge)) / 7;
      lines += std::to_string(node + 1) + " " + std::to_string(view.target(edge) + 1) + " " +
               nlohmann::json(value).dump() + "\n";
    }
  }
  const std::string nodes = std::to_string(view.num_nodes());
  return "%%MatrixMarket matrix coordinate real symmetric\n" + nodes + " " + nodes + " " +
         std::to_string(view.num_edges() / 2) + "\n" + lines;
}

std::vector<Sample> samples(Node nodes) {
  const Csr weighted = road(nodes);
  Csr plain = weighted;
  plain.weights.clear();
  return {
      {"DIMACS, weights", "w.gr", to_text(weighted, Format::dimacs)},
      {"DIMACS, no weights", "p.gr", to_text(plain, Format::dimacs)},
      {"Matrix Market, pattern", "p.mtx", to_text(plain, Format::matrix_market)},
      {"Matrix Market, integer", "i.mtx", to_text(weighted, Format::matrix_market)},
      {"Matrix Market, real, symmetric", "r.mtx", symmetric_reals(weighted)},
      {"METIS", "p.graph", to_text(plain, Format::metis)},
      {"METIS, weights", "w.graph", to_text(weighted, Format::metis)},
      {"edge list", "p.el", to_text(plain, Format::edge_list)},
      {"edge list, weights", "w.wel", to_text(weighted, Format::weighted_edge_list)},
  };
}

nlohmann::ordered_json measure_text(const Sample& sample, const Scratch& scratch,
                                    const Repetitions& plan) {
  const fs::path file = scratch.path() / sample.file;
  std::ofstream{file, std::ios::binary} << sample.text;
  const Measurement measurement =
      measure(sample.name, "ns",
              {{.name = "read", .measure = timed([&file] { looked_at(read_graph(file)); })},
               {.name = "pass over the text",
                .measure = timed([&sample] { pass_over(sample.text); }),
                .reference = true}},
              plan);
  const double speed = megabytes_per_second(sample.text.size(), measurement.at("read"));
  std::cout << "  " << std::left << std::setw(32) << sample.name << std::right << std::fixed
            << std::setprecision(1) << std::setw(9) << static_cast<double>(sample.text.size()) / 1e6
            << std::setprecision(0) << std::setw(10) << speed << std::setw(12)
            << megabytes_per_second(sample.text.size(), measurement.at("pass over the text"))
            << std::endl;
  nlohmann::ordered_json result{{"bytes", sample.text.size()}, {"mb_per_s", speed}};
  result.update(to_json(measurement));
  return result;
}

// ---- compressed

using Gzip = std::unique_ptr<gzFile_s, decltype(&::gzclose)>;

/// Decompresses a file with zlib's own reader, as zcat does. `take` receives each piece.
template <class Take>
void inflate_alone(const fs::path& file, const Take& take) {
  const Gzip in{::gzopen(file.c_str(), "rb"), ::gzclose};
  if (!in) throw Error{Errc::bad_file, file.string() + ": cannot be read"};
  ::gzbuffer(in.get(), 1U << 17U);
  std::vector<char> buffer(std::size_t{256} << 10U);
  const auto room = static_cast<unsigned>(buffer.size());
  for (int got = 0; (got = ::gzread(in.get(), buffer.data(), room)) > 0;)
    take(std::string_view{buffer.data(), static_cast<std::size_t>(got)});
}

void write_compressed(const fs::path& file, const std::string& text) {
  const Gzip out{::gzopen(file.c_str(), "wb"), ::gzclose};
  if (!out || ::gzwrite(out.get(), text.data(), static_cast<unsigned>(text.size())) <= 0)
    throw Error{Errc::bad_file, file.string() + ": cannot be written"};
}

/// Decompresses any file through the library's own source.
template <class Take>
void decompress_alone(const fs::path& file, const Take& take) {
  if (file.extension() == ".gz") return inflate_alone(file, take);
  const auto source = decompressed(open_file(file));
  std::vector<char> buffer(std::size_t{256} << 10U);
  for (std::size_t got = 0; (got = source->read(buffer.data(), buffer.size())) > 0;)
    take(std::string_view{buffer.data(), got});
}

/// The real graphs in $COHORT_DATA, or a generated road network if there are none.
std::vector<fs::path> compressed_samples(const Scratch& scratch, Node nodes) {
  std::vector<fs::path> files;
  for (const char* name :
       {"USA-road-d.NY.gr.gz", "road-NW.topology.gr.xz", "G3_circuit.graph.xz"}) {
    if (auto file = find_input(name)) files.push_back(*file);
  }
  if (files.empty()) {
    files.push_back(scratch.path() / "road.gr.gz");
    write_compressed(files.back(), to_text(road(nodes), Format::dimacs));
  }
  return files;
}

/// Measures reading of a compressed file. The limit is 1.5 times the time of decompression plus 1.5
/// times that of a pass over the text. Also measures the parser alone, because decompression may
/// take longer.
nlohmann::ordered_json measure_compressed(const fs::path& file, const Scratch& scratch,
                                          const Repetitions& plan) {
  std::string text;
  decompress_alone(file, [&text](std::string_view piece) { text += piece; });
  const CacheOptions cache{.folder = scratch.path() / "cache", .least_bytes = 0};
  const Format format = format_of(file).value();
  const Measurement measurement =
      measure(file.filename(), "ns",
              {{.name = "read", .measure = timed([&file] { looked_at(read_graph(file)); })},
               {.name = "read, from the cache",
                .measure = timed([&] { looked_at(read_cached(file, cache)); })},
               {.name = "decompress alone",
                .measure = timed([&file] { decompress_alone(file, looked_at<std::string_view>); }),
                .reference = true},
               {.name = "parse alone", .measure = timed([&] {
                                         const auto source = open_memory(text);
                                         looked_at(parse_graph(*source, format, file.string()));
                                       })},
               {.name = "pass over the text", .measure = timed([&text] { pass_over(text); })}},
              plan);
  const auto p50 = [&](const char* name) { return statistics(measurement.at(name)).p50; };
  const auto speed = [&](const char* name) {
    return megabytes_per_second(text.size(), measurement.at(name));
  };
  const double limit = 1.5 * p50("decompress alone") + 1.5 * p50("pass over the text");
  print(std::cout, measurement);
  std::cout << std::setprecision(1) << "  1.5 x decompress + 1.5 x pass = " << limit / 1e6
            << " ms; read takes " << p50("read") / 1e6 << " ms\n"
            << std::setprecision(0) << "  MB/s of text: read " << speed("read") << ", decompress "
            << speed("decompress alone") << ", parse " << speed("parse alone") << "\n"
            << std::endl;
  nlohmann::ordered_json result{{"bytes", text.size()},
                                {"mb_per_s", speed("read")},
                                {"decompress_mb_per_s", speed("decompress alone")},
                                {"parse_mb_per_s", speed("parse alone")},
                                {"limit_ns", limit},
                                {"within_limit", p50("read") <= limit}};
  result.update(to_json(measurement));
  return result;
}

nlohmann::ordered_json run_read(const ScenarioOptions& options) {
  const Repetitions plan{.count = options.repetitions, .warm_ups = 1, .stop = options.stop};
  const Node nodes = options.quick ? 30'000 : 264'346;
  const Scratch scratch;
  std::cout << "text of road:" << nodes << "                     MB      MB/s   pass MB/s\n";
  auto texts = nlohmann::ordered_json::array();
  double slowest = std::numeric_limits<double>::max();
  for (const Sample& sample : samples(nodes)) {
    texts.push_back(measure_text(sample, scratch, plan));
    slowest = std::min(slowest, texts.back()["mb_per_s"].get<double>());
  }
  std::cout << '\n';
  auto compressed = nlohmann::ordered_json::array();
  bool within_limits = true;
  for (const fs::path& file : compressed_samples(scratch, nodes)) {
    compressed.push_back(measure_compressed(file, scratch, plan));
    slowest = std::min(slowest, compressed.back()["parse_mb_per_s"].get<double>());
    within_limits = within_limits && compressed.back()["within_limit"].get<bool>();
  }
  std::cout << "slowest parser: " << slowest << " MB/s; " << (within_limits ? "all" : "not all")
            << " files read within the limit\n";
  return {{"nodes", nodes},
          {"summary", {{"slowest_mb_per_s", slowest}, {"within_limits", within_limits}}},
          {"text", std::move(texts)},
          {"compressed", std::move(compressed)}};
}

}  // namespace

const Scenario read_scenario{
    .name = "read",
    .summary = "reading graph files, next to decompression alone and a pass over the text",
    .run = &run_read};

}  // namespace cohort::bench
