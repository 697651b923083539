// Reads graph files in several formats. Invariant: memory grows with the text read so far, never
// with the sizes that a header promises.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "graph/csr.hpp"
#include "graph/scanner.hpp"
#include "graph/selection.hpp"
#include "graph/source.hpp"

namespace cohort {

/// Text formats of graphs.
enum class Format {
  dimacs,              ///< .gr: DIMACS shortest paths `p sp`, also `p tw` and `p edge`, 1-based
  matrix_market,       ///< .mtx: coordinates; pattern, integer or real; general or symmetric
  metis,               ///< one line of neighbours per node, 1-based
  edge_list,           ///< .el: `from to`, 0-based
  weighted_edge_list,  ///< .wel: `from to weight`, 0-based
};

inline constexpr std::array formats{Format::dimacs, Format::matrix_market, Format::metis,
                                    Format::edge_list, Format::weighted_edge_list};

/// The file name extension of the format, e.g. ".gr".
[[nodiscard]] std::string_view suffix(Format format);

/// The format by the file's extension, with or without .gz or .xz.
[[nodiscard]] std::optional<Format> format_of(const std::filesystem::path& file);

/// Reads a graph from text, `block` bytes at a time. Errors are Error{bad_file}; they contain
/// `name`, the line and the reason.
[[nodiscard]] Csr parse_graph(Source& text, Format format, const std::string& name,
                              std::size_t block = Scanner::usual_block);
/// The same, but keeps only the selected rows. Other rows may have some of their edges.
[[nodiscard]] Csr parse_graph(Source& text, Format format, const std::string& name,
                              std::size_t block, Selection& selection);

/// Reads a graph from a file, which may be compressed. Throws Error{bad_file}.
[[nodiscard]] Csr read_graph(const std::filesystem::path& file);
/// The same, but keeps only the selected rows. Other rows may have some of their edges.
[[nodiscard]] Csr read_rows(const std::filesystem::path& file, Selection& selection);

}  // namespace cohort
