#include "graph/read.hpp"

#include "cohort/error.hpp"
#include "graph/formats.hpp"

namespace cohort {

std::string_view suffix(Format format) {
  switch (format) {
    case Format::dimacs: return ".gr";
    case Format::matrix_market: return ".mtx";
    case Format::metis: return ".graph";
    case Format::edge_list: return ".el";
    case Format::weighted_edge_list: return ".wel";
  }
  return "";
}

std::optional<Format> format_of(const std::filesystem::path& file) {
  auto end = file.extension();
  if (end == ".gz" || end == ".xz") end = file.stem().extension();
  for (const Format format : formats) {
    if (end == suffix(format)) return format;
  }
  return std::nullopt;
}

Csr parse_graph(Source& text, Format format, const std::string& name, std::size_t block,
                Selection& selection) {
  Scanner scanner{text, name, block};
  switch (format) {
    case Format::dimacs: return detail::read_dimacs(scanner, selection);
    case Format::matrix_market: return detail::read_matrix_market(scanner, selection);
    case Format::metis: return detail::read_metis(scanner, selection);
    case Format::edge_list: return detail::read_edge_list(scanner, false, selection);
    case Format::weighted_edge_list: return detail::read_edge_list(scanner, true, selection);
  }
  throw Error{Errc::bad_options, "no such format"};
}

Csr parse_graph(Source& text, Format format, const std::string& name, std::size_t block) {
  Selection all;
  return parse_graph(text, format, name, block, all);
}

Csr read_graph(const std::filesystem::path& file) {
  Selection all;
  return read_rows(file, all);
}

Csr read_rows(const std::filesystem::path& file, Selection& selection) {
  const auto format = format_of(file);
  if (!format) {
    std::string known;
    for (const Format each : formats) known.append(" ").append(suffix(each));
    throw Error{Errc::bad_file, file.string() +
                                    ": the name tells no format; it should end with one of" +
                                    known + ", then perhaps .gz or .xz"};
  }
  try {
    const auto text = open_text(file);
    return parse_graph(*text, *format, file.string(), Scanner::usual_block, selection);
  } catch (const BadData& error) {
    throw Error{Errc::bad_file, file.string() + ": " + error.what()};
  }
}

}  // namespace cohort
