// ByteReader: the only way bytes of a file become numbers. A bounds-checked cursor over borrowed bytes; all numbers are
// little-endian (every format msdump reads is) and unaligned. Reading past the end is an error that names the absolute
// offset in the file, never undefined behaviour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"

namespace msdump {

class ByteReader {
 public:
  // `base_offset` is where `bytes` begins in its file; only messages use it.
  explicit ByteReader(std::span<const std::byte> bytes, uint64_t base_offset = 0)
      : bytes_(bytes), base_offset_(base_offset) {}

  [[nodiscard]] uint64_t offset() const { return base_offset_ + position_; }
  [[nodiscard]] size_t remaining() const { return bytes_.size() - position_; }

  Result<uint32_t> u32();
  Result<int32_t> i32();
  Result<uint64_t> u64();
  Result<std::span<const std::byte>> bytes(uint64_t count);
  Status skip(uint64_t count);
  // A reader of the next `count` bytes, which this reader skips.
  Result<ByteReader> sub(uint64_t count);

 private:
  std::span<const std::byte> bytes_;
  uint64_t base_offset_;
  size_t position_ = 0;
};

}  // namespace msdump
