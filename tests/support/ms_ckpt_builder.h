// Builds checkpoints of MindSpore as python/mindspore/train/serialization.py writes them: protobuf, ccsrc/utils/checkpoint.proto.
// A file is one parameter after the other. Nothing of lib/checkpoint is used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace msdump::test {

[[nodiscard]] inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7) bytes += static_cast<char>((value & 127) | 128);
  return bytes + static_cast<char>(value);
}

[[nodiscard]] inline std::string field(int number, const std::string& content) {
  return static_cast<char>(number << 3 | 2) + varint(content.size()) + content;
}

[[nodiscard]] inline std::string dims_of(const std::vector<uint64_t>& dims) {
  std::string bytes;
  for (const uint64_t dim : dims) bytes += '\x08' + varint(dim);
  return bytes;
}

// Of `type` "Float32", ...
[[nodiscard]] inline std::string parameter(const std::string& name, const std::string& type,
                                           const std::vector<uint64_t>& dims, const std::string& content) {
  return field(1, field(1, name) + field(2, dims_of(dims) + field(2, type) + field(3, content)));
}

}  // namespace msdump::test
