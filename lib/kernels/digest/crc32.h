// CRC-32 of bytes (polynomial 0x04C11DB7, reflected; the one of zip, PNG and Python's zlib.crc32), for the checksums of
// msprobe's dump.json. Eight bytes a step through tables; the form of one bit a step is what they are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace msdump::kernels {

// The checksum of everything so far and then `bytes`; `before` is 0 at the beginning.
[[nodiscard]] uint32_t crc32(uint32_t before, std::span<const std::byte> bytes);

}  // namespace msdump::kernels
