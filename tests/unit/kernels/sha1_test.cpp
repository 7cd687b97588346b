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

TEST_CASE("SHA-1 in pieces is SHA-1 of the whole") {
  const std::string text(300, 'x');
  for (size_t at = 0; at <= text.size(); at += 7) {
    Sha1 pieces;
    pieces.update(bytes_of(text).first(at));
    pieces.update(bytes_of(text).subspan(at));
    const auto digest = pieces.finish();
    REQUIRE(digest);
    CHECK(hex(*digest) == whole(text));
  }
}

TEST_CASE("A SHA-1 object that is used up gives an error, not a digest") {
  Sha1 pieces;
  REQUIRE(pieces.finish());
  pieces.update(bytes_of("abc"));
  const auto again = pieces.finish();
  REQUIRE_FALSE(again);
  CHECK(again.error().code == ErrorCode::kUsage);
}

}  // namespace msdump::kernels
