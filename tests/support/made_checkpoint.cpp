#include "support/made_checkpoint.h"

#include <fmt/format.h>

#include "support/safetensors_builder.h"

namespace msdump::test {

std::vector<float> unlike_values(size_t count, uint32_t seed) {
  std::vector<float> values;
  uint64_t state = seed * 0x9E37'79B9'7F4A'7C15ULL + 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    values.push_back(static_cast<float>(static_cast<int64_t>(state) >> 40) / static_cast<float>(1 << 23));
  }
  return values;
}

MadeParameter unlike(const std::string& name, const Shape& shape, uint32_t seed) {
  return {name, shape, unlike_values(static_cast<size_t>(*element_count(shape)), seed)};
}

std::vector<float> transposed(const std::vector<float>& values, size_t rows, size_t columns) {
  std::vector<float> result;
  for (size_t column = 0; column < columns; ++column) {
    for (size_t row = 0; row < rows; ++row) result.push_back(values[row * columns + column]);
  }
  return result;
}

std::vector<float> joined(const std::vector<std::vector<float>>& parts) {
  std::vector<float> whole;
  for (const auto& part : parts) whole.insert(whole.end(), part.begin(), part.end());
  return whole;
}

std::string safetensors_of(const MadeCheckpoint& checkpoint) {
  std::string header, data;
  for (const MadeParameter& one : checkpoint) {
    const uint64_t begin = data.size();
    data.append(reinterpret_cast<const char*>(one.values.data()), one.values.size() * sizeof(float));
    const std::string shape = "[" + (one.shape.empty() ? std::string() : join_dims(one.shape, ",")) + "]";
    header += (header.empty() ? "{" : ",") + safetensors_entry(one.name, "F32", shape, begin, data.size());
  }
  return safetensors_file(header + "}", data);
}

}  // namespace msdump::test
