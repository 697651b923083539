// A text of words and lines, read once from front to back in blocks. Invariant: no word is split
// between two blocks, and a zero follows each block, so that loops over a word need not check for
// the end.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/csr.hpp"
#include "graph/source.hpp"

namespace cohort {

/// Reads numbers and words, and tracks the current line. All errors are Error{bad_file} and name
/// the file, the line and the reason.
class Scanner {
 public:
  static constexpr std::size_t usual_block = std::size_t{256} << 10U;

  /// `name` is the file's name in error messages.
  Scanner(Source& source, std::string name, std::size_t block = usual_block);

  [[noreturn]] void fail(const std::string& why) const;

  /// True at the end of the text. Skips blanks first.
  [[nodiscard]] bool at_end() { return peek() == '\0' && at_ == end_; }
  /// True at the end of a line, or of the text. Skips blanks first.
  [[nodiscard]] bool at_line_end() { return peek() == '\n' || at_end(); }
  /// The next character after blanks; 0 at the end of the text.
  [[nodiscard]] char peek() {
    for (;;) {
      const char* at = at_;
      while (is_blank(*at)) ++at;
      at_ = at;
      if (*at != '\0' || at != end_ || !refill()) return *at_;
    }
  }

  /// Skips the rest of the line.
  void skip_line();
  /// Skips empty lines, and lines that begin with one of `marks`. Returns false if the text ends
  /// there.
  [[nodiscard]] bool skip_comments(std::string_view marks);
  /// Requires that only blanks are left on the line.
  void end_line() {
    if (peek() == '\n') {
      ++at_;
      ++line_;
    } else if (!at_end()) {
      not_the_end();
    }
  }

  /// Takes the next word if it consists of exactly this character.
  [[nodiscard]] bool take(char only) {
    if (peek() != only || only == '\0') return false;
    ++at_;
    if (is_space(*at_)) return true;
    --at_;
    return false;
  }
  /// The next word, valid until the next call. Empty at the end of a line.
  [[nodiscard]] std::string_view word();

  /// A whole number of at most `most`. Errors call it `what`.
  [[nodiscard]] std::uint64_t number(const char* what, std::uint64_t most) {
    (void)peek();
    const char* const start = at_;
    // a copy of the member: otherwise the compiler would have to assume that text overlaps it
    const char* at = start;
    std::uint64_t value = 0;
    for (auto digit = digit_at(at); digit < 10; digit = digit_at(++at)) value = 10 * value + digit;
    at_ = at;
    constexpr std::ptrdiff_t safe_digits = 19;  // 19 digits always fit 64 bits
    if (at == start || at - start > safe_digits || value > most || !is_space(*at))
      bad_number(start, what, most);
    return value;
  }
  /// A decimal number; infinity and NaN are errors.
  [[nodiscard]] double real(const char* what);

  /// An id of one of `nodes` nodes. The file counts from `base`, the result from 0.
  [[nodiscard]] Node node(std::uint64_t base, std::uint64_t nodes) {
    const std::uint64_t id = number("a node", ~std::uint64_t{0});
    if (id - base >= nodes) bad_node(id, base, nodes);
    return static_cast<Node>(id - base);
  }
  [[nodiscard]] Weight weight() { return static_cast<Weight>(number("a weight", ~Weight{0})); }

  [[nodiscard]] std::uint64_t line() const { return line_; }
  /// Fails with the number of an earlier line in the message.
  [[noreturn]] void fail_at(std::uint64_t line, const std::string& why);

  /// Bytes of text read so far.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  static bool is_line_end(char c) { return c == '\n'; }
  /// The zero behind the block counts as a space: words end there.
  [[nodiscard]] bool is_space(char c) const {
    return is_blank(c) || is_line_end(c) || (c == '\0' && at_ == end_);
  }
  static std::uint64_t digit_at(const char* at) {
    return static_cast<std::uint64_t>(static_cast<unsigned char>(*at)) - '0';
  }

  /// Loads the next block when the current one is used up. Returns false if there is none.
  bool refill();
  [[nodiscard]] std::string_view rest_of_word() const;
  [[noreturn]] void not_the_end() const;
  [[noreturn]] void bad_number(const char* start, const char* what, std::uint64_t most);
  [[noreturn]] void bad_node(std::uint64_t id, std::uint64_t base, std::uint64_t nodes) const;

  Source& source_;
  std::string name_;
  std::vector<char> block_;
  const char* at_;
  const char* end_;         // end of the complete words; points to the zero
  std::size_t rest_ = 0;    // bytes after `end_`: the start of an incomplete word
  char first_of_rest_ = 0;  // saved here because the zero overwrites it
  bool finished_ = false;
  std::uint64_t line_ = 1;
  std::uint64_t bytes_ = 0;
};

}  // namespace cohort
