#include "profiles/msaccucmp/text.h"

#include <cmath>

#include <fmt/format.h>

namespace msdump {

std::string msaccucmp_number(double value, int decimals) {
  if (std::isnan(value)) return "nan";
  return fmt::format("{:.{}f}", value, decimals);
}

std::string all_zero_in(std::string_view path) {
  return fmt::format("Cannot compare by Cosine Similarity. All the data is zero in {}.", path);
}

}  // namespace msdump
