// Small checkpoints with values that have nothing in common, as .safetensors files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/shape.h"

namespace msdump::test {

struct MadeParameter {
  std::string name;
  Shape shape;
  std::vector<float> values;
};
using MadeCheckpoint = std::vector<MadeParameter>;

// Values between -1 and 1 that follow from the seed.
[[nodiscard]] std::vector<float> unlike_values(size_t count, uint32_t seed);
[[nodiscard]] MadeParameter unlike(const std::string& name, const Shape& shape, uint32_t seed);
[[nodiscard]] std::vector<float> transposed(const std::vector<float>& values, size_t rows, size_t columns);
[[nodiscard]] std::vector<float> joined(const std::vector<std::vector<float>>& parts);

[[nodiscard]] std::string safetensors_of(const MadeCheckpoint& checkpoint);

}  // namespace msdump::test
