#include "kernels/digest/digest.h"

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/evp.h>

#include "support/catch.h"
#include "unit/kernels/each_target.h"

namespace msdump::kernels {
namespace {

std::string sha1_hex(std::string_view text) { return hex(sha1(std::as_bytes(std::span(text)))); }

}  // namespace

TEST_CASE("SHA-1 of the examples of FIPS 180 and RFC 3174") {
  for_each_target([] {
    CHECK(sha1_hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    CHECK(sha1_hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
    CHECK(sha1_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    CHECK(sha1_hex(std::string(1'000'000, 'a')) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
  });
}

TEST_CASE("SHA-1 of every length up to five blocks is that of OpenSSL") {
  std::mt19937 random(1);
  std::vector<std::byte> bytes(320);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  for_each_target([&] {
    for (size_t size = 0; size <= bytes.size(); ++size) {
      Sha1Digest wanted{};
      REQUIRE(EVP_Digest(bytes.data(), size, reinterpret_cast<unsigned char*>(wanted.data()), nullptr, EVP_sha1(),
                         nullptr) == 1);
      if (sha1(std::span(bytes).first(size)) != wanted) FAIL_CHECK(size << " bytes");
    }
  });
}

}  // namespace msdump::kernels
