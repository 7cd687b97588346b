#include "kernels/digest/sha1.h"

#include <string>
#include <string_view>

#include "kernels/digest/md5.h"
#include "support/catch.h"

namespace msdump::kernels {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string whole(std::string_view text) {
  const auto digest = sha1(bytes_of(text));
  REQUIRE(digest);
  return hex(*digest);
}

}  // namespace

TEST_CASE("SHA-1 of the examples of FIPS 180 and RFC 3174") {
  CHECK(whole("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  CHECK(whole("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
  CHECK(whole("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  CHECK(whole(std::string(1'000'000, 'a')) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

}  // namespace msdump::kernels
