#include "graph/scanner.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "cohort/error.hpp"

namespace cohort {
namespace {

constexpr std::size_t longest_word = std::size_t{1} << 20U;

constexpr std::size_t longest_shown = 24;

/// Quotes text from a file for a message: shortened, with a question mark for each unprintable
/// character.
std::string shown(std::string_view text) {
  std::string result{"'"};
  for (const char c : text.substr(0, longest_shown)) result += c >= ' ' && c <= '~' ? c : '?';
  return result.append(text.size() > longest_shown ? "...'" : "'");
}

}  // namespace

Scanner::Scanner(Source& source, std::string name, std::size_t block)
    : source_(source),
      name_(std::move(name)),
      block_(std::max<std::size_t>(block, 1) + 1),
      at_(block_.data()),
      end_(block_.data()) {}

void Scanner::fail(const std::string& why) const {
  throw Error{Errc::bad_file, name_ + ":" + std::to_string(line_) + ": " + why};
}

void Scanner::fail_at(std::uint64_t line, const std::string& why) {
  line_ = line;
  fail(why);
}

bool Scanner::refill() {
  if (finished_) return false;
  // Move the incomplete word to the front.
  const auto begin = static_cast<std::size_t>(end_ - block_.data());
  if (rest_ > 0) {
    block_[begin] = first_of_rest_;
    std::memmove(block_.data(), block_.data() + begin, rest_);
  }
  std::size_t size = rest_;
  std::size_t cut = 0;
  while (cut == 0 && !finished_) {
    if (size + 1 == block_.size()) {
      if (size > longest_word) fail("a word of more than 1 MiB: this is no graph");
      block_.resize(2 * block_.size());
    }
    std::size_t got = 0;
    try {
      got = source_.read(block_.data() + size, block_.size() - 1 - size);
    } catch (const BadData& error) {
      fail(error.what());
    }
    bytes_ += got;
    finished_ = got == 0;
    cut = size + got;
    if (!finished_) {
      while (cut > size && !is_blank(block_[cut - 1]) && !is_line_end(block_[cut - 1])) --cut;
      if (cut == size) cut = 0;
    }
    size += got;
  }
  at_ = block_.data();
  end_ = block_.data() + cut;
  rest_ = size - cut;
  first_of_rest_ = block_[cut];
  block_[cut] = '\0';
  return cut > 0;
}

void Scanner::skip_line() {
  do {
    const auto* const found =
        static_cast<const char*>(std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_)));
    if (found != nullptr) {
      at_ = found + 1;
      ++line_;
      return;
    }
    at_ = end_;
  } while (refill());
}

bool Scanner::skip_comments(std::string_view marks) {
  for (;;) {
    const char first = peek();
    if (marks.find(first) != std::string_view::npos) {
      skip_line();
    } else if (first == '\n') {
      end_line();
    } else {
      return !at_end();
    }
  }
}

std::string_view Scanner::word() {
  (void)peek();
  const char* const start = at_;
  while (!is_space(*at_)) ++at_;
  return {start, static_cast<std::size_t>(at_ - start)};
}

double Scanner::real(const char* what) {
  const std::string_view text = word();
  const bool plus =
      text.starts_with('+') && !text.starts_with("+-");  // from_chars does not accept a plus sign
  const char* const end = text.data() + text.size();
  double value = 0;
  const auto [stopped, error] = std::from_chars(text.data() + (plus ? 1 : 0), end, value);
  if (error == std::errc::result_out_of_range)
    value = std::strtod(std::string{text}.c_str(), nullptr);
  if (error == std::errc::invalid_argument || stopped != end) {
    fail(text.empty() ? std::string{what} + " is missing"
                      : shown(text) + " is no number for " + what);
  }
  if (!std::isfinite(value)) fail(shown(text) + " for " + what + " is not a finite number");
  return value;
}

std::string_view Scanner::rest_of_word() const {
  const char* last = at_;
  while (!is_blank(*last) && !is_line_end(*last) && last != end_) ++last;
  return {at_, static_cast<std::size_t>(last - at_)};
}

void Scanner::not_the_end() const { fail("the line should end before " + shown(rest_of_word())); }

void Scanner::bad_number(const char* start, const char* what, std::uint64_t most) {
  at_ = start;
  if (at_line_end()) fail(std::string{what} + " is missing");
  const std::string_view text = rest_of_word();
  const bool whole = text.find_first_not_of("0123456789") == std::string_view::npos;
  if (text[0] == '-') fail(shown(text) + " for " + what + " is negative");
  if (whole) fail(shown(text) + " for " + what + " is more than " + std::to_string(most));
  fail(shown(text) + " is no whole number for " + what);
}

void Scanner::bad_node(std::uint64_t id, std::uint64_t base, std::uint64_t nodes) const {
  if (nodes == 0) fail("there is no node " + std::to_string(id) + ": the graph has none");
  fail("there is no node " + std::to_string(id) + ": the graph has " + std::to_string(base) +
       " to " + std::to_string(base + nodes - 1));
}

}  // namespace cohort
