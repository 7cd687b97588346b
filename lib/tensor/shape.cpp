#include "tensor/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace msdump {

Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

std::string join_dims(const Shape& shape, std::string_view separator) {
  return fmt::format("{}", fmt::join(shape, separator));
}

std::string describe(const Shape& shape) { return shape.empty() ? "scalar" : join_dims(shape, "x"); }

}  // namespace msdump
