#include <algorithm>
#include <array>

#include "apps/game/host.hpp"

namespace cohort::apps {

Board start_board() {
  Board board;
  board = board.play(0, false).play(0, false);             // two stones of o in the first column
  return board.play(1, true).play(3, true).play(4, true);  // makes the lowest row .x.xx..
}

namespace {

/// A board as six strings of x, o and '.', the top row first.
using Rows = std::array<std::string, 6>;

Rows as_rows(const Board& board) {
  Rows rows;
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t column = 0; column < 7; ++column) {
      const std::uint64_t bit = std::uint64_t{1} << (column * 7 + 5 - row);
      rows[row] += (board.x & bit) != 0 ? 'x' : (board.o & bit) != 0 ? 'o' : '.';
    }
  }
  return rows;
}

/// All 25 lines of the board, each as its cells in order.
std::vector<std::vector<std::pair<int, int>>> all_lines() {
  std::vector<std::vector<std::pair<int, int>>> lines;
  const auto add = [&](int row, int column, int down, int right) {
    std::vector<std::pair<int, int>> line;
    for (; row >= 0 && row < 6 && column >= 0 && column < 7; row += down, column += right)
      line.emplace_back(row, column);
    if (line.size() >= 4) lines.push_back(line);
  };
  for (int row = 0; row < 6; ++row) add(row, 0, 0, 1);
  for (int column = 0; column < 7; ++column) add(0, column, 1, 0);
  for (int column = 0; column < 7; ++column) {
    add(0, column, 1, 1);
    add(0, column, 1, -1);
  }
  for (int row = 1; row < 6; ++row) {
    add(row, 0, 1, 1);
    add(row, 6, 1, -1);
  }
  return lines;
}

int score_of(const Rows& rows) {
  static const auto lines = all_lines();
  int sum = 0;
  for (const auto& line : lines) {
    std::string text;
    for (const auto& [row, column] : line)
      text += rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i;
      while (end < text.size() && text[end] == text[i]) ++end;
      const int sign = text[i] == 'x' ? 1 : text[i] == 'o' ? -1 : 0;
      if (sign != 0 && end - i >= 4) return sign * 666;
      if (end - i >= 2) sum += sign;
      i = end;
    }
  }
  return sum;
}

/// NOLINTNEXTLINE(misc-no-recursion)
int plain_minimax(Rows& rows, std::uint32_t level, std::uint32_t depth, std::uint64_t& seen) {
  ++seen;
  const int score = score_of(rows);
  const bool full = rows[0].find('.') == std::string::npos;
  if (level == depth || score == 666 || score == -666 || full) return score;
  const char stone = level % 2 == 0 ? 'x' : 'o';
  std::vector<int> values;
  for (std::size_t column = 0; column < 7; ++column) {
    for (std::size_t row = 6; row-- > 0;) {
      if (rows[row][column] != '.') continue;
      rows[row][column] = stone;
      values.push_back(plain_minimax(rows, level + 1, depth, seen));
      rows[row][column] = '.';
      break;
    }
  }
  return stone == 'x' ? *std::max_element(values.begin(), values.end())
                      : *std::min_element(values.begin(), values.end());
}

}  // namespace

GameResult plain_game(const Board& start, std::uint32_t depth) {
  GameResult result;
  result.values.resize(Board::columns);
  Rows rows = as_rows(start);
  for (std::size_t column = 0; column < Board::columns; ++column) {
    if (rows[0][column] != '.') continue;
    std::size_t row = 5;
    while (rows[row][column] != '.') --row;
    rows[row][column] = 'x';
    result.values[column] = plain_minimax(rows, 1, depth, result.positions);
    rows[row][column] = '.';
  }
  return result;
}

std::optional<std::string> check_game(const GameResult& right, const GameResult& result) {
  for (std::size_t column = 0; column < Board::columns; ++column) {
    const std::string move = "move " + std::to_string(column);
    const auto& value = result.values[column];
    const auto& its = right.values[column];
    if (value && !its) return move + " has a value, but is not possible";
    if (!value && its) return move + " has no value";
    if (value != its) {
      return move + " has the value " + std::to_string(*value) + " instead of " +
             std::to_string(*its);
    }
  }
  if (result.positions != right.positions) {
    return std::to_string(result.positions) + " positions were looked at instead of " +
           std::to_string(right.positions);
  }
  return std::nullopt;
}

}  // namespace cohort::apps
