#include "kernels/digest/crc32.h"

#include <array>
#include <cstring>

namespace msdump::kernels {
namespace {

constexpr uint32_t kPolynomial = 0xEDB8'8320;
constexpr size_t kStep = 8;
using Table = std::array<uint32_t, 256>;

// kTables[k][byte]: what a byte does to the checksum k bytes later.
constexpr std::array<Table, kStep> make_tables() {
  std::array<Table, kStep> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < kStep; ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}
constexpr std::array<Table, kStep> kTables = make_tables();

uint32_t step(uint32_t crc, const std::byte* bytes) {
  uint32_t low = 0, high = 0;
  std::memcpy(&low, bytes, sizeof low);
  std::memcpy(&high, bytes + sizeof low, sizeof high);
  low ^= crc;
  return kTables[7][low & 0xFF] ^ kTables[6][low >> 8 & 0xFF] ^ kTables[5][low >> 16 & 0xFF] ^ kTables[4][low >> 24] ^
         kTables[3][high & 0xFF] ^ kTables[2][high >> 8 & 0xFF] ^ kTables[1][high >> 16 & 0xFF] ^
         kTables[0][high >> 24];
}

}  // namespace

uint32_t crc32(uint32_t before, std::span<const std::byte> bytes) {
  uint32_t crc = ~before;
  size_t at = 0;
  for (; at + kStep <= bytes.size(); at += kStep) crc = step(crc, bytes.data() + at);
  for (; at < bytes.size(); ++at) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ std::to_integer<uint32_t>(bytes[at])) & 0xFF];
  }
  return ~crc;
}

}  // namespace msdump::kernels
