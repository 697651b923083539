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

Csr parse_graph(Source& text, Format format, const std::string& name, std::size_t block) {
  Scanner scanner{text, name, block};
  switch (format) {
    case Format::dimacs: return detail::read_dimacs(scanner);
    case Format::matrix_market: return detail::read_matrix_market(scanner);
    case Format::metis: return detail::read_metis(scanner);
    case Format::edge_list: return detail::read_edge_list(scanner, false);
    case Format::weighted_edge_list: return detail::read_edge_list(scanner, true);
  }
  throw Error{Errc::bad_options, "no such format"};
}

Csr read_graph(const std::filesystem::path& file) {
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
    return parse_graph(*text, *format, file.string());
  } catch (const BadData& error) {
    throw Error{Errc::bad_file, file.string() + ": " + error.what()};
  }
}

}  // namespace cohort
