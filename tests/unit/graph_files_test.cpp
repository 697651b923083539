// Graph files: what the readers return, how they reject malformed files, and that the cache never
// changes the result.
#include <gmock/gmock.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cohort/error.hpp"
#include "graph/build.hpp"
#include "graph/cache.hpp"
#include "graph/generators.hpp"
#include "graph/read.hpp"
#include "graph/spec.hpp"
#include "graph/write.hpp"
#include "unit/allocations.hpp"

namespace cohort {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

bool same(const Csr& one, const Csr& other) {
  return one.offsets == other.offsets && one.targets == other.targets &&
         one.weights == other.weights;
}

Csr parse(Format format, std::string_view text, std::size_t block = Scanner::usual_block) {
  const auto source = open_memory(text);
  return parse_graph(*source, format, "file", block);
}

template <class Work>
std::string refusal(const Work& work) {
  try {
    (void)work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_file);
    return error.what();
  }
  return "taken";
}

/// A folder for the files of one test.
class GraphFiles : public testing::Test {
 public:
  GraphFiles(const GraphFiles&) = delete;
  GraphFiles& operator=(const GraphFiles&) = delete;

 protected:
  GraphFiles() { fs::create_directories(folder_); }
  ~GraphFiles() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path write(const std::string& name, std::string_view bytes) const {
    fs::path file = folder_ / name;
    std::ofstream{file, std::ios::binary}.write(bytes.data(),
                                                static_cast<std::streamsize>(bytes.size()));
    return file;
  }

  const fs::path folder_ =
      fs::path{testing::TempDir()} / ("cohort_graph_files_" + std::to_string(::getpid()));
};

// ---- selected rows

TEST(Selection, KeepsTheRowsThatTheWholeGraphHas) {
  struct Text {
    Format format;
    const char* text;
  };
  const std::string banner = "%%MatrixMarket matrix coordinate ";
  const std::string symmetric = banner + "integer symmetric\n4 4 4\n2 1 5\n3 1 6\n3 3 7\n4 3 1\n";
  const std::string reals = banner + "real general\n3 3 3\n1 2 1\n2 1 1.5\n3 1 2\n";
  for (const auto& [format, text] :
       {Text{Format::dimacs, "p sp 4 5\na 1 2 10\na 3 1 0\na 2 1 10\na 2 2 7\na 1 2 3\n"},
        Text{Format::dimacs, "p sp 3 2\na 1 2 4\na 2 1 5\n"},
        Text{Format::dimacs, "p edge 4 3\ne 1 2\ne 3 1\ne 4 2\n"},
        Text{Format::matrix_market, symmetric.c_str()}, Text{Format::matrix_market, reals.c_str()},
        Text{Format::metis, "4 3 001\n2 1 3 5\n1 1 4 2\n1 5\n2 2\n"},
        Text{Format::edge_list, "0 1\n1 0\n5 3\n3 5\n"},
        Text{Format::weighted_edge_list, "0 1 9\n1 2 8\n2 1 8\n"}}) {
    const Csr whole = parse(format, text);
    for (const Node odd : {0U, 1U}) {
      Selection mine{[&](Node node) { return node % 2 == odd; }};
      const auto source = open_memory(text);
      const Csr part = parse_graph(*source, format, "file", Scanner::usual_block, mine);
      ASSERT_EQ(part.num_nodes(), whole.num_nodes()) << text;
      EXPECT_EQ(mine.symmetric(), is_symmetric(whole)) << text;
      for (Node node = odd; node < whole.num_nodes(); node += 2) {
        const auto row = [node](const Csr& graph, const auto& values) {
          return std::vector(values.begin() + static_cast<std::ptrdiff_t>(graph.offsets[node]),
                             values.begin() + static_cast<std::ptrdiff_t>(graph.offsets[node + 1]));
        };
        EXPECT_EQ(row(part, part.targets), row(whole, whole.targets)) << text;
        ASSERT_EQ(part.weights.empty(), whole.weights.empty() || part.targets.empty()) << text;
        if (!part.weights.empty()) {
          EXPECT_EQ(row(part, part.weights), row(whole, whole.weights)) << text;
        }
        const bool counted = node < mine.degrees().size();
        EXPECT_EQ(counted ? mine.degrees()[node] : 0, row(whole, whole.targets).size()) << text;
      }
    }
    Selection none{[](Node) { return false; }};
    const auto source = open_memory(text);
    EXPECT_EQ(parse_graph(*source, format, "file", Scanner::usual_block, none).num_edges(), 0U);
  }
}

TEST(Selection, DoesNotHideErrorsInOtherRows) {
  Selection none{[](Node) { return false; }};
  for (const auto& [format, text, why] :
       {std::tuple{Format::edge_list, "0 1\n1 x\n", "file:2"},
        std::tuple{Format::dimacs, "p sp 2 2\na 1 2 1\n", "truncated"},
        std::tuple{Format::metis, "2 1\n2\n\n", "promised"},
        std::tuple{Format::metis, "3 1\n2\n\n1\n", "not a neighbour"}}) {
    const auto source = open_memory(text);
    EXPECT_THAT(refusal([&source = *source, its_format = format, &none] {
                  return parse_graph(source, its_format, "file", Scanner::usual_block, none);
                }),
                HasSubstr(why));
  }
}

// ---- formats

TEST(Dimacs, HasWeightsAndDirections) {
  const Csr graph = parse(Format::dimacs,
                          "c a comment\n\np sp 3 4\nc another\na 1 2 10\na 1 3 0\n"
                          "a 3 1 4294967295\na 2 2 7\n");
  EXPECT_THAT(graph.offsets, ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(graph.targets, ElementsAre(1, 2, 1, 0));
  EXPECT_THAT(graph.weights, ElementsAre(10, 0, 7, 4294967295));
}

TEST(Dimacs, MayHaveNoWeights) {
  const Csr graph = parse(Format::dimacs, "p sp 3 2\na 1 2\na 3 1\n");
  EXPECT_THAT(graph.targets, ElementsAre(1, 0));
  EXPECT_THAT(graph.weights, IsEmpty());
}

TEST(Dimacs, OfTreewidthAndColouringIsUndirected) {
  for (const char* text :
       {"p tw 3 2\n1 2\n3 1\n", "p edge 3 2\ne 1 2\ne 3 1\n", "c\np col 3 2\ne 1 2\ne 3 1"}) {
    const Csr graph = parse(Format::dimacs, text);
    EXPECT_THAT(graph.offsets, ElementsAre(0, 2, 3, 4)) << text;
    EXPECT_THAT(graph.targets, ElementsAre(1, 2, 0, 0)) << text;
    EXPECT_THAT(graph.weights, IsEmpty()) << text;
  }
}

TEST(MatrixMarket, OfAPatternIsUnweighted) {
  const Csr graph = parse(Format::matrix_market,
                          "%%MatrixMarket matrix coordinate pattern general\n% comment\n"
                          "3 3 3\n1 2\n1 3\n3 3\n");
  EXPECT_THAT(graph.offsets, ElementsAre(0, 2, 2, 3));
  EXPECT_THAT(graph.targets, ElementsAre(1, 2, 2));
  EXPECT_THAT(graph.weights, IsEmpty());
}

TEST(MatrixMarket, OfIntegersHasThemAsWeights) {
  const Csr graph =
      parse(Format::matrix_market,
            "%%matrixmarket MATRIX Coordinate Integer General\n2 2 2\n1 2 7\n2 1 0\n");
  EXPECT_THAT(graph.weights, ElementsAre(7, 0));
}

TEST(MatrixMarket, ThatIsSymmetricListsEachEdgeOnce) {
  const Csr graph = parse(Format::matrix_market,
                          "%%MatrixMarket matrix coordinate integer symmetric\n"
                          "3 3 3\n2 1 5\n3 1 6\n3 3 7\n");
  EXPECT_THAT(graph.offsets, ElementsAre(0, 2, 3, 5));
  EXPECT_THAT(graph.targets, ElementsAre(1, 2, 0, 0, 2));
  EXPECT_THAT(graph.weights, ElementsAre(5, 6, 5, 6, 7));
}

TEST(MatrixMarket, OfRealsHasWeightsIfAllAreWhole) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n2 2 3\n";
  EXPECT_THAT(parse(Format::matrix_market, head + "1 2 3.0\n2 1 +4e2\n2 2 1e-400\n").weights,
              ElementsAre(3, 400, 0));
  for (const char* value : {"-1", "0.5", "1e300", "-2.5e-3", "4294967296"}) {
    const Csr graph = parse(Format::matrix_market, head + "1 2 3\n2 1 " + value + "\n2 2 1\n");
    EXPECT_THAT(graph.targets, ElementsAre(1, 0, 1)) << value;
    EXPECT_THAT(graph.weights, IsEmpty()) << value;
  }
}

TEST(Metis, HasALineForEachNode) {
  const Csr graph = parse(Format::metis, "% comment\n4 2\n2 3\n% another\n1\n1\n\n");
  EXPECT_THAT(graph.offsets, ElementsAre(0, 2, 3, 4, 4));
  EXPECT_THAT(graph.targets, ElementsAre(1, 2, 0, 0));
  EXPECT_THAT(graph.weights, IsEmpty());
}

TEST(Metis, MayHaveWeightsOfNodesAndEdges) {
  EXPECT_THAT(parse(Format::metis, "2 1 1\n2 5\n1 5\n").weights, ElementsAre(5, 5));
  EXPECT_THAT(parse(Format::metis, "2 1 001\n2 5\n1 5\n").weights, ElementsAre(5, 5));
  EXPECT_THAT(parse(Format::metis, "2 1 11 2\n8 9 2 5\n8 9 1 5\n").weights, ElementsAre(5, 5));
  EXPECT_THAT(parse(Format::metis, "2 1 111\n7 8 2 5\n7 8 1 5\n").weights, ElementsAre(5, 5));
  EXPECT_THAT(parse(Format::metis, "2 1 010\n8 2\n8 1\n").targets, ElementsAre(1, 0));
  EXPECT_THAT(parse(Format::metis, "2 1 100\n8 2\n8 1\n").targets, ElementsAre(1, 0));
}

TEST(EdgeList, CountsFromZero) {
  const Csr graph = parse(Format::edge_list, "# comment\n0 2\n\n% comment\n2 1\n0 2");
  EXPECT_THAT(graph.offsets, ElementsAre(0, 2, 2, 3));
  EXPECT_THAT(graph.targets, ElementsAre(2, 2, 1));
  EXPECT_THAT(graph.weights, IsEmpty());
}

TEST(EdgeList, MayHaveWeights) {
  const Csr graph = parse(Format::weighted_edge_list, "0 1 9\n1 0 8\n");
  EXPECT_THAT(graph.weights, ElementsAre(9, 8));
}

TEST(EdgeList, OfNothingIsNothing) {
  EXPECT_EQ(parse(Format::edge_list, "").num_nodes(), 0U);
  EXPECT_EQ(parse(Format::edge_list, "# only this").num_nodes(), 0U);
}

TEST(Readers, TakeTabsCarriageReturnsAndManySpaces) {
  const Csr expected = parse(Format::dimacs, "p sp 2 1\na 1 2 3\n");
  EXPECT_TRUE(same(parse(Format::dimacs, "p sp 2 1\r\na 1 2 3\r\n"), expected));
  EXPECT_TRUE(same(parse(Format::dimacs, "  p\tsp  2 1  \n\t a 1\t\t2   3"), expected));
}

TEST(Readers, ReadWhatTheWritersWriteInBlocksOfAnySize) {
  for (const char* spec : {"rmat:6", "road:60", "star:40", "empty:3", "complete:9"}) {
    const Csr graph = load_graph(spec);
    for (const Format format : formats) {
      const bool list = format == Format::edge_list || format == Format::weighted_edge_list;
      if (list && (graph.num_edges() == 0 || spec == std::string{"rmat:6"})) continue;
      Csr expected = graph;
      if (format == Format::edge_list) expected.weights.clear();
      if (format == Format::weighted_edge_list && graph.weights.empty())
        expected.weights.assign(graph.num_edges(), 1);
      const std::string text = to_text(graph, format);
      for (const std::size_t block : {1U, 2U, 3U, 7U, 64U, 1U << 20U})
        EXPECT_TRUE(same(parse(format, text, block), expected)) << spec << " " << suffix(format);
    }
  }
}

// ---- malformed files

struct Malformed {
  Format format;
  std::string text;
  int line;
  std::string reason;
};

TEST(Readers, NameTheFileTheLineAndTheReason) {
  const std::string mtx = "%%MatrixMarket matrix coordinate integer general\n";
  const std::string pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n";
  const std::string real = "%%MatrixMarket matrix coordinate real general\n";
  const std::vector<Malformed> all{
      {Format::dimacs, "", 1, "header"},
      {Format::dimacs, "c only\n", 2, "header"},
      {Format::dimacs, "a 1 2 3\n", 1, "header"},
      {Format::dimacs, "p max 2 1\na 1 2 3\n", 1, "p sp"},
      {Format::dimacs, "p sp\n", 1, "nodes is missing"},
      {Format::dimacs, "p sp 2\n", 1, "edges is missing"},
      {Format::dimacs, "p sp -2 1\n", 1, "negative"},
      {Format::dimacs, "p sp 2 -1\n", 1, "negative"},
      {Format::dimacs, "p sp 2 1.5\n", 1, "'1.5'"},
      {Format::dimacs, "p sp 4294967296 1\n", 1, "more than 4294967295"},
      {Format::dimacs, "p sp 2 99999999999999999999\n", 1, "more than"},
      {Format::dimacs, "p sp 2 1 1\n", 1, "should end"},
      {Format::dimacs, "p sp 2 1\n", 2, "after 0 of 1 edges"},
      {Format::dimacs, "p sp 2 2\na 1 2 3\n", 3, "after 1 of 2 edges"},
      {Format::dimacs, "p sp 2 1\na 1 2 3\na 2 1 3\n", 3, "promised 1"},
      {Format::dimacs, "p sp 2 1\na 1 3 3\n", 2, "no node 3: the graph has 1 to 2"},
      {Format::dimacs, "p sp 2 1\na 0 1 3\n", 2, "no node 0"},
      {Format::dimacs, "p sp 0 1\na 1 1 3\n", 2, "the graph has none"},
      {Format::dimacs, "p sp 2 1\na -1 2 3\n", 2, "negative"},
      {Format::dimacs, "p sp 2 1\na 1\n", 2, "a node is missing"},
      {Format::dimacs, "p sp 2 1\na 1 x 3\n", 2, "'x'"},
      {Format::dimacs, "p sp 2 1\na 1 2 -3\n", 2, "negative"},
      {Format::dimacs, "p sp 2 1\na 1 2 4294967296\n", 2, "more than"},
      {Format::dimacs, "p sp 2 1\na 1 2 nan\n", 2, "'nan'"},
      {Format::dimacs, "p sp 2 1\na 1 2 3 4\n", 2, "should end"},
      {Format::dimacs, "p sp 2 2\na 1 2 3\na 1 2\n", 3, "a weight is missing"},
      {Format::dimacs, "p sp 2 2\na 1 2\na 1 2 3\n", 3, "should end"},
      {Format::dimacs, "p sp 2 1\ne 1 2\n", 2, "'a'"},
      {Format::dimacs, "p sp 2 1\nabc 1 2\n", 2, "'a'"},
      {Format::dimacs, "p tw 2 1\n1 2 3\n", 2, "should end"},
      {Format::dimacs, std::string{"p sp 2 1\na 1 2\0 3\n", 18}, 2, "'2?'"},
      {Format::dimacs, "p sp 1000000000 0\n", 1, "1000000000 nodes"},
      {Format::dimacs, "p sp 9 1000000000\n", 2, "after 0 of 1000000000"},
      {Format::matrix_market, "", 1, "first line"},
      {Format::matrix_market, "3 3 1\n1 2\n", 1, "first line"},
      {Format::matrix_market, "%%MatrixMarket vector\n", 1, "first line"},
      {Format::matrix_market, "%%MatrixMarket matrix array real general\n", 1, "coordinate"},
      {Format::matrix_market, "%%MatrixMarket matrix coordinate complex general\n", 1, "pattern"},
      {Format::matrix_market, "%%MatrixMarket matrix coordinate real hermitian\n", 1, "symmetric"},
      {Format::matrix_market, mtx, 2, "ends before"},
      {Format::matrix_market, mtx + "2 3 1\n", 2, "as many rows as columns"},
      {Format::matrix_market, mtx + "2 2\n", 2, "entries is missing"},
      {Format::matrix_market, mtx + "2 2 -1\n", 2, "negative"},
      {Format::matrix_market, mtx + "2 2 1000000000\n1 2 1\n", 4, "after 1 of 1000000000"},
      {Format::matrix_market, mtx + "4000000000 4000000000 1\n1 2 1\n", 2, "4000000000 nodes"},
      {Format::matrix_market, mtx + "2 2 1\n1 2\n", 3, "weight is missing"},
      {Format::matrix_market, mtx + "2 2 1\n1 2 -5\n", 3, "negative"},
      {Format::matrix_market, mtx + "2 2 1\n1 2 1.5\n", 3, "'1.5'"},
      {Format::matrix_market, mtx + "2 2 1\n3 2 1\n", 3, "no node 3"},
      {Format::matrix_market, mtx + "2 2 1\n1 2 1\n1 2 1\n", 4, "promised 1"},
      {Format::matrix_market, pattern + "2 2 1\n1 2\n", 3, "diagonal"},
      {Format::matrix_market, pattern + "2 2 1\n2 1 1\n", 3, "should end"},
      {Format::matrix_market, real + "2 2 1\n1 2 nan\n", 3, "'nan'"},
      {Format::matrix_market, real + "2 2 1\n1 2 inf\n", 3, "finite"},
      {Format::matrix_market, real + "2 2 1\n1 2 1e999\n", 3, "finite"},
      {Format::matrix_market, real + "2 2 1\n1 2 1.5x\n", 3, "'1.5x'"},
      {Format::matrix_market, real + "2 2 1\n1 2 +-1\n", 3, "'+-1'"},
      {Format::matrix_market, real + "2 2 1\n1 2\n", 3, "missing"},
      {Format::metis, "", 1, "header"},
      {Format::metis, "\n2 1\n", 1, "header"},
      {Format::metis, "2\n", 1, "edges is missing"},
      {Format::metis, "2 1 2\n", 1, "0 or 1"},
      {Format::metis, "2 1 0001\n", 1, "0 or 1"},
      {Format::metis, "2 1 11 9999\n", 1, "more than 1024"},
      {Format::metis, "3 2\n2 3\n1\n", 4, "after 2 of 3 node lines"},
      {Format::metis, "4000000000 1\n2\n1\n", 4, "after 2 of 4000000000"},
      {Format::metis, "2 1\n2\n1\n1\n", 4, "should end"},
      {Format::metis, "2 1\n2 3\n1\n", 2, "no node 3"},
      {Format::metis, "2 1\n1\n1\n", 2, "its own neighbour"},
      {Format::metis, "% hello\n2 9\n2\n1\n", 2, "promised 9"},
      {Format::metis, "3 1\n2\n3\n\n", 5, "is not one of"},
      {Format::metis, "2 1 1\n2 5\n1 6\n", 4, "another weight"},
      {Format::metis, "2 1 1\n2\n1 6\n", 2, "a weight is missing"},
      {Format::metis, "2 1 10\n\n1\n", 2, "of the node is missing"},
      {Format::edge_list, "0\n", 1, "a node is missing"},
      {Format::edge_list, "0 1\n0 1 5\n", 2, ".wel"},
      {Format::edge_list, "0 1\n-1 0\n", 2, "negative"},
      {Format::edge_list, "0 4294967295\n", 1, "no node 4294967295"},
      {Format::edge_list, "0 1\n0 4294967294\n0 1\n", 2, "4294967295 nodes"},
      {Format::edge_list, "// no\n", 1, "'//'"},
      {Format::weighted_edge_list, "0 1\n", 1, "a weight is missing"},
      {Format::weighted_edge_list, "0 1 NaN\n", 1, "'NaN'"},
      {Format::weighted_edge_list, "0 1 2 3\n", 1, "should end"},
  };
  for (const Malformed& each : all) {
    for (const std::size_t block : {std::size_t{1}, std::size_t{8}, Scanner::usual_block}) {
      EXPECT_THAT(
          refusal([&] { return parse(each.format, each.text, block); }),
          AllOf(StartsWith("file:" + std::to_string(each.line) + ": "), HasSubstr(each.reason)))
          << suffix(each.format) << ": " << each.text;
    }
  }
}

TEST(Readers, AllocateNoMoreThanTheTextIsWorth) {
  for (const auto& [format, text] : std::vector<std::pair<Format, std::string>>{
           {Format::dimacs, "p sp 4000000000 4000000000\na 1 2 3\n"},
           {Format::dimacs, "p tw 9 9000000000000000000\n1 2\n"},
           {Format::matrix_market,
            "%%MatrixMarket matrix coordinate real general\n4000000000 4000000000 "
            "4000000000\n1 2 1\n"},
           {Format::metis, "4000000000 4000000000 11 1000\n1\n"},
           {Format::edge_list, "0 4294967294\n"},
           {Format::weighted_edge_list, "4294967294 4294967294 4294967295\n"}}) {
    test::largest_allocation = 0;
    EXPECT_NE(refusal([&, which = format, &words = text] { return parse(which, words); }), "taken");
    EXPECT_LE(test::largest_allocation.load(), std::size_t{1} << 20U) << text;
  }
}

TEST(Readers, RefuseAWordWithoutEnd) {
  const std::string text = "p sp 2 1\na " + std::string(3U << 20U, '1');
  EXPECT_THAT(refusal([&] { return parse(Format::dimacs, text); }), HasSubstr("file:2: a word"));
}

TEST(Readers, EitherTakeOrRefuseEveryPrefix) {
  const Csr graph = road(40);
  for (const Format format : formats) {
    const std::string text = to_text(graph, format);
    for (std::size_t size = 0; size < text.size(); ++size) {
      try {
        EXPECT_EQ(broken(parse(format, text.substr(0, size), 16)), std::nullopt);
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), StartsWith("file:"));
      }
    }
  }
}

// ---- files

std::string gzipped(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string result(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  result.resize(stream.total_out);
  ::deflateEnd(&stream);
  return result;
}

std::string xzipped(std::string_view text) {
  std::string result(::lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  EXPECT_EQ(::lzma_easy_buffer_encode(
                6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                text.size(), reinterpret_cast<std::uint8_t*>(result.data()), &size, result.size()),
            LZMA_OK);
  result.resize(size);
  return result;
}

TEST_F(GraphFiles, AreDecompressedByWhatTheyAreNotByTheirName) {
  const Csr graph = road(1000);
  const std::string text = to_text(graph, Format::dimacs);
  EXPECT_TRUE(same(read_graph(write("plain.gr", text)), graph));
  EXPECT_TRUE(same(read_graph(write("plain.gr.gz", text)), graph));
  for (const auto& packed : {gzipped(text), xzipped(text)}) {
    EXPECT_LT(packed.size(), text.size());
    for (const char* name : {"a.gr", "a.gr.gz", "a.gr.xz"})
      EXPECT_TRUE(same(read_graph(write(name, packed)), graph)) << name;
  }
}

TEST_F(GraphFiles, MayConsistOfSeveralCompressedStreams) {
  const Csr graph = road(1000);
  const std::string text = to_text(graph, Format::dimacs);
  const std::string front = text.substr(0, 1234);
  const std::string back = text.substr(1234);
  EXPECT_TRUE(same(read_graph(write("a.gr", gzipped(front) + gzipped(back))), graph));
  EXPECT_TRUE(same(read_graph(write("a.gr", xzipped(front) + xzipped(back))), graph));
  EXPECT_TRUE(same(read_graph(write("a.gr", gzipped(text) + std::string(512, '\0'))), graph));
}

TEST_F(GraphFiles, ThatAreLargeAndCompressedAreReadAhead) {
  const Csr graph = road(40'000);
  const std::string text = to_text(graph, Format::dimacs);
  for (const auto& packed : {gzipped(text), xzipped(text)}) {
    const fs::path file = write("large.gr", packed);
    ASSERT_GT(packed.size(), 128U << 10U);
    EXPECT_TRUE(same(read_graph(file), graph));
    // Reads the file with a reader that stops early, and with one that reaches the damage at the
    // end.
    const fs::path wrong = write("wrong.el", packed);
    EXPECT_THAT(refusal([&] { return read_graph(wrong); }), HasSubstr("wrong.el:1: "));
    const fs::path cut = write("cut.gr", std::string_view{packed}.substr(0, packed.size() - 9));
    EXPECT_THAT(refusal([&] { return read_graph(cut); }), HasSubstr("cut.gr:"));
  }
}

TEST_F(GraphFiles, WhoseCompressedDataIsCutOrDamagedAreRefused) {
  const std::string text = to_text(road(50), Format::dimacs);
  for (const auto& packed : {gzipped(text), xzipped(text)}) {
    for (std::size_t size = 0; size < packed.size(); ++size) {
      const fs::path file = write("cut.gr", std::string_view{packed}.substr(0, size));
      EXPECT_THAT(refusal([&] { return read_graph(file); }), HasSubstr("cut.gr:")) << size;
    }
    EXPECT_NE(refusal([&] { return read_graph(write("a.gr", packed + "rubbish")); }), "taken");
    std::string damaged = packed;
    damaged[packed.size() / 2] = static_cast<char>(~damaged[packed.size() / 2]);
    EXPECT_NE(refusal([&] { return read_graph(write("a.gr", damaged)); }), "taken");
  }
}

TEST_F(GraphFiles, ThatCannotBeReadAreRefusedByName) {
  EXPECT_THAT(refusal([&] { return read_graph(folder_ / "none.gr"); }),
              AllOf(HasSubstr("none.gr"), HasSubstr("No such file")));
  fs::create_directories(folder_ / "folder.gr");
  EXPECT_THAT(refusal([&] { return read_graph(folder_ / "folder.gr"); }), HasSubstr("directory"));
  EXPECT_THAT(refusal([&] { return read_graph(write("graph.txt", "0 1\n")); }),
              AllOf(HasSubstr("graph.txt"), HasSubstr(".gr .mtx .graph .el .wel")));
}

TEST_F(GraphFiles, AreInputsByPathOrByNameInTheDataFolder) {
  // NOLINTBEGIN(concurrency-mt-unsafe): there is no other thread
  const char* const data = std::getenv("COHORT_DATA");
  const std::string before = data == nullptr ? "" : data;
  const fs::path file = write("small.el.gz", gzipped("0 1\n1 2\n"));
  EXPECT_EQ(load_graph(file.string()).num_nodes(), 3U);
  ::setenv("COHORT_DATA", folder_.c_str(), 1);
  EXPECT_EQ(load_graph("small.el.gz").num_nodes(), 3U);
  EXPECT_EQ(load_graph("small.el").num_nodes(), 3U) << "the end may be left out";
  EXPECT_EQ(find_input("none.el"), std::nullopt);
  EXPECT_EQ(find_input(""), std::nullopt);
  if (data == nullptr) {
    ::unsetenv("COHORT_DATA");
  } else {
    ::setenv("COHORT_DATA", before.c_str(), 1);
  }
  // NOLINTEND(concurrency-mt-unsafe)
}

// ---- the cache

class Cache : public GraphFiles {
 protected:
  [[nodiscard]] Csr read(const fs::path& file) const { return read_cached(file, options_); }
  [[nodiscard]] fs::path entry(const fs::path& file) const {
    return cache_entry(file, *options_.folder);
  }

  const Csr graph_ = road(30);
  const std::string text_ = to_text(graph_, Format::dimacs);
  const CacheOptions options_{.folder = folder_ / "some" / "cache", .least_bytes = 0};
};

TEST_F(Cache, SparesReadingAgain) {
  const fs::path file = write("a.gr", text_);
  const auto time = fs::last_write_time(file);
  EXPECT_TRUE(same(read(file), graph_));
  ASSERT_TRUE(fs::exists(entry(file)));
  (void)write("a.gr", std::string(text_.size(), 'x'));  // a second read must not see this
  fs::last_write_time(file, time);
  EXPECT_TRUE(same(read(file), graph_));
}

TEST_F(Cache, NoticesThatTheFileChanged) {
  const fs::path file = write("a.gr", text_);
  const auto time = fs::last_write_time(file);
  EXPECT_TRUE(same(read(file), graph_));
  const Csr other = path(7);
  (void)write("a.gr", to_text(other, Format::dimacs));
  fs::last_write_time(file, time);
  EXPECT_TRUE(same(read(file), other)) << "another size";
  std::string text = to_text(other, Format::dimacs);
  text[text.size() - 2] = '7';  // makes the last edge a self loop
  (void)write("a.gr", text);
  fs::last_write_time(file, time + std::chrono::milliseconds{1});
  EXPECT_FALSE(same(read(file), other)) << "another time";
}

TEST_F(Cache, KeepsFilesOfTheSameNameApart) {
  fs::create_directories(folder_ / "b");
  const fs::path one = write("a.gr", text_);
  const fs::path other = write("b/a.gr", to_text(path(3), Format::dimacs));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(same(read(one), graph_));
    EXPECT_TRUE(same(read(other), path(3)));
  }
}

TEST_F(Cache, ThatIsDamagedAnywhereIsAsIfItWereNotThere) {
  const fs::path file = write("a.gr", text_);
  (void)read(file);
  std::ifstream in{entry(file), std::ios::binary};
  const std::string good{std::istreambuf_iterator<char>{in}, {}};
  ASSERT_GT(good.size(), 100U);
  const auto put = [&](const std::string& bytes) {
    std::ofstream{entry(file), std::ios::binary | std::ios::trunc} << bytes;
  };
  for (std::size_t i = 0; i < good.size(); i += i < 120 ? 1 : 7) {  // the header has 88 bytes
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x40);
    put(bad);
    EXPECT_TRUE(same(read(file), graph_)) << "byte " << i;
  }
  for (std::size_t size = 0; size < good.size(); size += 23) {
    put(good.substr(0, size));
    EXPECT_TRUE(same(read(file), graph_)) << "cut to " << size;
  }
  put(good + "x");
  EXPECT_TRUE(same(read(file), graph_));
}

TEST_F(Cache, IsReplacedWhenDamaged) {
  const fs::path file = write("a.gr", text_);
  (void)read(file);
  std::ofstream{entry(file), std::ios::binary | std::ios::trunc} << "rubbish";
  (void)read(file);
  EXPECT_GT(fs::file_size(entry(file)), 100U);
}

TEST_F(Cache, ThatCannotBeWrittenIsNoReasonToFail) {
  const fs::path file = write("a.gr", text_);
  const fs::path in_the_way = write("file", "not a folder");
  EXPECT_TRUE(same(read_cached(file, {.folder = in_the_way / "cache", .least_bytes = 0}), graph_));
  EXPECT_TRUE(same(read_cached(file, {.folder = "/proc/nowhere", .least_bytes = 0}), graph_));
  EXPECT_TRUE(same(read_cached(file, {.folder = std::nullopt, .least_bytes = 0}), graph_));
}

TEST_F(Cache, LeavesSmallFilesAlone) {
  const fs::path file = write("a.gr", text_);
  EXPECT_TRUE(same(read_cached(file, {.folder = folder_ / "cache"}), graph_));
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
}

TEST_F(Cache, DoesNotHideWhatIsWrongWithTheFile) {
  const fs::path file = write("a.gr", "p sp 2 1\n");
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(refusal([&] { return read(file); }), HasSubstr("a.gr:2: "));
}

// ---- real graphs

/// The graph, read from its file without the cache; nothing if there is no such file.
/// known_answers_test checks the results of searches in it.
std::optional<Csr> real_graph(const char* name) {
  const auto file = find_input(name);
  return file ? std::optional{read_graph(*file)} : std::nullopt;
}

TEST(RealGraph, NewYorkIsAsKnown) {
  const auto graph = real_graph("USA-road-d.NY.gr.gz");
  if (!graph) GTEST_SKIP() << "USA-road-d.NY.gr.gz is not in $COHORT_DATA";
  EXPECT_EQ(graph->num_nodes(), 264'346U);
  EXPECT_EQ(graph->num_edges(), 733'846U);
  EXPECT_TRUE(is_symmetric(*graph));
  EXPECT_EQ(symmetrise(*graph).num_edges(), 730'100U);
  EXPECT_EQ(*std::min_element(graph->weights.begin(), graph->weights.end()), 1U);
  EXPECT_EQ(*std::max_element(graph->weights.begin(), graph->weights.end()), 36'946U);
}

TEST(RealGraph, TheNorthWestIsAsKnown) {
  const auto graph = real_graph("road-NW.topology.gr.xz");
  if (!graph) GTEST_SKIP() << "road-NW.topology.gr.xz is not in $COHORT_DATA";
  EXPECT_EQ(graph->num_nodes(), 1'207'945U);
  EXPECT_EQ(graph->num_edges(), 2 * 1'410'387U);
  EXPECT_TRUE(is_symmetric(*graph));
}

TEST(RealGraph, TheCircuitIsAsKnown) {
  const auto graph = real_graph("G3_circuit.graph.xz");
  if (!graph) GTEST_SKIP() << "G3_circuit.graph.xz is not in $COHORT_DATA";
  EXPECT_EQ(graph->num_nodes(), 1'585'478U);
  EXPECT_EQ(graph->num_edges(), 2 * 3'037'674U);
}

}  // namespace
}  // namespace cohort
