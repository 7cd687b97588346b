#include "compare/tokens/token_heat.h"

#include <algorithm>

namespace msdump {

TokenHeat::TokenHeat(size_t outputs, int64_t tokens)
    : outputs_(outputs),
      tokens_(static_cast<size_t>(tokens)),
      rows_(std::min(outputs, kMostRows)),
      columns_(std::min(tokens_, kMostColumns)),
      cells_(rows_ * columns_, -1.0F) {}

void TokenHeat::add(size_t output, int64_t token, double error) {
  float& cell = cells_[row_of(output) * columns_ + column_of(token)];
  cell = std::max(cell, static_cast<float>(error));
}

}  // namespace msdump
