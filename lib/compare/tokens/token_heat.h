// TokenHeat: the errors of the tokens by output, for a picture. It has a row of cells for each output in the order of execution,
// and a column for each token in the common order. Of more outputs or tokens than kMostRows and kMostColumns, several share a
// row or column, and a cell has the largest of their errors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace msdump {

class TokenHeat {
 public:
  static constexpr size_t kMostRows = 128, kMostColumns = 512;

  TokenHeat() = default;
  TokenHeat(size_t outputs, int64_t tokens)
      : outputs_(outputs),
        tokens_(static_cast<size_t>(tokens)),
        rows_(std::min(outputs, kMostRows)),
        columns_(std::min(tokens_, kMostColumns)),
        cells_(rows_ * columns_, -1.0F) {}

  // Infinite for a token that is not finite on one side alone.
  void add(size_t output, int64_t token, double error) {
    float& cell = cells_[row_of(output) * columns_ + column_of(token)];
    cell = std::max(cell, static_cast<float>(error));
  }

  [[nodiscard]] size_t rows() const { return rows_; }
  [[nodiscard]] size_t columns() const { return columns_; }
  // Below 0: no output of the row has one of the tokens.
  [[nodiscard]] float error(size_t row, size_t column) const { return cells_[row * columns_ + column]; }
  [[nodiscard]] size_t row_of(size_t output) const { return output * rows_ / outputs_; }
  [[nodiscard]] size_t column_of(int64_t token) const { return static_cast<size_t>(token) * columns_ / tokens_; }
  // The first, and one behind the last.
  [[nodiscard]] std::pair<size_t, size_t> outputs_of(size_t row) const { return part(row, rows_, outputs_); }
  [[nodiscard]] std::pair<size_t, size_t> tokens_of(size_t column) const { return part(column, columns_, tokens_); }

 private:
  // The items of one of `parts` parts of all: those i with i * parts / all == number.
  static std::pair<size_t, size_t> part(size_t number, size_t parts, size_t all) {
    return {(number * all + parts - 1) / parts, ((number + 1) * all + parts - 1) / parts};
  }

  size_t outputs_ = 0, tokens_ = 0, rows_ = 0, columns_ = 0;
  std::vector<float> cells_;  // row by row
};

}  // namespace msdump
