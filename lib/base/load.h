// Little-endian numbers from memory that is known to be long enough; it need not be aligned. Bytes of a header, whose
// length is in doubt, are read through ByteReader.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace msdump {

static_assert(std::endian::native == std::endian::little, "msdump reads little-endian files on little-endian hosts");

template <class T>
[[nodiscard]] inline T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace msdump
