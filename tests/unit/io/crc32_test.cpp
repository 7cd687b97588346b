#include "io/zip.h"

#include <string>
#include <string_view>

#include "support/catch.h"

namespace msdump {
namespace {

uint32_t whole(std::string_view text) { return crc32_of(std::as_bytes(std::span(text))); }

// One bit a step.
uint32_t slowly(std::string_view text) {
  uint32_t crc = ~uint32_t{0};
  for (const char c : text) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB8'8320U : 0U);
  }
  return ~crc;
}

}  // namespace

TEST_CASE("CRC-32 of the check string, and of what msprobe writes for zeros and for nothing") {
  CHECK(whole("123456789") == 0xCBF4'3926);
  CHECK(whole(std::string(4, '\0')) == 0x2144'DF1C);
  CHECK(whole("") == 0);
}

TEST_CASE("CRC-32 in pieces of any length is CRC-32 of the whole, one bit a step") {
  std::string text;
  for (int i = 0; i < 67; ++i) text += static_cast<char>(i * 37 + 11);
  for (size_t length = 0; length <= text.size(); ++length) {
    const std::string_view part = std::string_view(text).substr(0, length);
    CHECK(whole(part) == slowly(part));
    const size_t cut = length / 3;
    const uint32_t first = whole(part.substr(0, cut));
    CHECK(crc32_of(std::as_bytes(std::span(part.substr(cut))), first) == slowly(part));
  }
}

}  // namespace msdump
