// Format of an entry: a header of fixed size, the path of the source file, then offsets, targets
// and weights as in memory. The header starts with a checksum: the CRC-64 of everything after it.
#include "graph/cache.hpp"

#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <string>

#include "graph/build.hpp"
#include "graph/random.hpp"
#include "graph/read.hpp"
#include "src/files.hpp"

namespace cohort {
namespace {

namespace fs = std::filesystem;

/// Increase this number when the layout changes, or when a reader produces a different graph for
/// the same file.
constexpr std::uint64_t version = 1;

struct Head {
  std::uint64_t checksum = 0;
  char magic[8] = {'c', 'o', 'h', 'o', 'r', 't', 'g', '\n'};
  std::uint64_t layout = version;
  std::uint64_t byte_order = 0x0123'4567'89AB'CDEF;
  std::uint64_t source_bytes = 0;
  std::int64_t source_seconds = 0;
  std::int64_t source_nanoseconds = 0;
  std::uint64_t path_bytes = 0;
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  std::uint64_t weighted = 0;
};

std::uint64_t size_of(const Descriptor& file) {
  struct stat status {};
  return ::fstat(file.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

/// The header for the file in its current state; empty if it is not a regular file.
std::optional<Head> head_of(const fs::path& file, const std::string& path) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  Head head;
  head.source_bytes = static_cast<std::uint64_t>(status.st_size);
  head.source_seconds = status.st_mtim.tv_sec;
  head.source_nanoseconds = status.st_mtim.tv_nsec;
  head.path_bytes = path.size();
  return head;
}

bool same_source(const Head& one, const Head& other) {
  return std::memcmp(one.magic, other.magic, sizeof one.magic) == 0 && one.layout == other.layout &&
         one.byte_order == other.byte_order && one.source_bytes == other.source_bytes &&
         one.source_seconds == other.source_seconds &&
         one.source_nanoseconds == other.source_nanoseconds && one.path_bytes == other.path_bytes;
}

template <class Value>
std::size_t bytes_of(const std::vector<Value>& values) {
  return values.size() * sizeof(Value);
}

std::uint64_t checksum(const Head& head, const std::string& path, const Csr& graph) {
  const auto add = [](const void* data, std::size_t size, std::uint64_t sum) {
    return ::lzma_crc64(static_cast<const std::uint8_t*>(data), size, sum);
  };
  std::uint64_t sum = add(&head.magic, sizeof head - offsetof(Head, magic), 0);
  sum = add(path.data(), path.size(), sum);
  sum = add(graph.offsets.data(), bytes_of(graph.offsets), sum);
  sum = add(graph.targets.data(), bytes_of(graph.targets), sum);
  return add(graph.weights.data(), bytes_of(graph.weights), sum);
}

/// Whether the sizes in the header match the entry's size. The sums cannot overflow: each size is
/// first compared with the entry's.
bool fits(const Head& head, std::uint64_t entry_bytes) {
  if (head.nodes >= entry_bytes || head.edges >= entry_bytes || head.weighted > 1) return false;
  return entry_bytes == sizeof(Head) + head.path_bytes + (head.nodes + 1) * sizeof(std::uint64_t) +
                            head.edges * (sizeof(Node) + head.weighted * sizeof(Weight));
}

std::optional<Csr> load(const fs::path& entry, const Head& wanted, const std::string& path) {
  const Descriptor in{::open(entry.c_str(), O_RDONLY | O_CLOEXEC)};
  Head head;
  if (!in.open() || !in.read(&head, sizeof head) || !same_source(head, wanted) ||
      !fits(head, size_of(in)))
    return std::nullopt;
  std::string its_path(path.size(), '\0');
  Csr graph;
  if (!in.read(its_path.data(), its_path.size()) || its_path != path) return std::nullopt;
  graph.offsets.resize(head.nodes + 1);
  graph.targets.resize(head.edges);
  graph.weights.resize(head.weighted == 0 ? 0 : head.edges);
  if (!in.read(graph.offsets.data(), bytes_of(graph.offsets)) ||
      !in.read(graph.targets.data(), bytes_of(graph.targets)) ||
      !in.read(graph.weights.data(), bytes_of(graph.weights)))
    return std::nullopt;
  if (checksum(head, path, graph) != head.checksum || broken(graph)) return std::nullopt;
  return graph;
}

/// Writes to a temporary file and renames it, so that no reader sees half an entry.
void store(const fs::path& entry, Head head, const std::string& path, const Csr& graph) {
  head.nodes = graph.num_nodes();
  head.edges = graph.num_edges();
  head.weighted = graph.weights.empty() ? 0 : 1;
  head.checksum = checksum(head, path, graph);
  std::error_code failed;
  fs::create_directories(entry.parent_path(), failed);
  if (failed) return;
  std::string draft = entry.string() + ".XXXXXX";
  Descriptor out{::mkostemp(draft.data(), O_CLOEXEC)};
  if (!out.open()) return;
  const bool complete = out.write(&head, sizeof head) && out.write(path.data(), path.size()) &&
                        out.write(graph.offsets.data(), bytes_of(graph.offsets)) &&
                        out.write(graph.targets.data(), bytes_of(graph.targets)) &&
                        out.write(graph.weights.data(), bytes_of(graph.weights));
  if (!out.close() || !complete || ::rename(draft.c_str(), entry.c_str()) != 0)
    ::unlink(draft.c_str());
}

std::string whole_path(const fs::path& file) {
  std::error_code failed;
  const fs::path whole = fs::canonical(file, failed);
  return failed ? file.string() : whole.string();
}

}  // namespace

std::optional<fs::path> CacheOptions::usual_folder() {
  const auto variable = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    return value == nullptr ? "" : value;
  };
  if (variable("COHORT_CACHE") == "off") return std::nullopt;
  // The XDG base directory specification requires that relative paths are ignored.
  const fs::path base = variable("XDG_CACHE_HOME");
  if (base.is_absolute()) return base / "cohort";
  const fs::path home = variable("HOME");
  if (home.is_absolute()) return home / ".cache" / "cohort";
  return std::nullopt;
}

fs::path cache_entry(const fs::path& file, const fs::path& folder) {
  std::uint64_t hash = 0;
  for (const char c : whole_path(file)) hash = splitmix64(hash ^ static_cast<unsigned char>(c));
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return folder / (file.filename().string() + "." + digits + ".csr");
}

Csr read_cached(const fs::path& file, const CacheOptions& options) {
  const std::string path = whole_path(file);
  const auto head = options.folder ? head_of(file, path) : std::nullopt;
  if (!head || head->source_bytes < options.least_bytes) return read_graph(file);
  const fs::path entry = cache_entry(file, *options.folder);
  if (auto graph = load(entry, *head, path)) return *std::move(graph);
  Csr graph = read_graph(file);
  const auto after = head_of(file, path);  // the file may have changed while it was read
  if (after && same_source(*head, *after)) store(entry, *head, path, graph);
  return graph;
}

}  // namespace cohort
