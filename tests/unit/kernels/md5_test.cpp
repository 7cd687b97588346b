#include "kernels/digest/digest.h"

#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/evp.h>

#include "support/catch.h"
#include "unit/kernels/each_target.h"

namespace msdump::kernels {
namespace {

using Bytes = std::vector<std::byte>;

std::span<const std::byte> md5_input(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string ours(std::span<const std::byte> bytes) {
  Md5State state;
  const Md5Job job{&state, bytes.data(), bytes.size()};
  md5_update({&job, 1});
  return hex(md5_finish(state));
}

std::string openssl(std::span<const std::byte> bytes) {
  std::array<std::byte, 16> digest{};
  REQUIRE(EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr, EVP_md5(),
                     nullptr) == 1);
  return hex(digest);
}

Bytes random_input(size_t size, std::mt19937& random) {
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// All buffers in one call, each cut at `cut(size)` into two updates; against OpenSSL's digests.
template <class Cut>
void check_abreast(const std::vector<Bytes>& buffers, Cut cut) {
  std::vector<Md5State> states(buffers.size());
  std::vector<Md5Job> first, second;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const size_t at = cut(buffers[i].size());
    first.push_back({&states[i], buffers[i].data(), at});
    second.push_back({&states[i], buffers[i].data() + at, buffers[i].size() - at});
  }
  md5_update(first);
  md5_update(second);
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (hex(md5_finish(states[i])) != openssl(buffers[i])) {
      FAIL_CHECK("buffer " << i << " of " << buffers.size() << ", " << buffers[i].size() << " bytes");
    }
  }
}

}  // namespace

TEST_CASE("MD5 of the test suite of RFC 1321") {
  for_each_target([] {
    CHECK(ours({}) == "d41d8cd98f00b204e9800998ecf8427e");
    CHECK(ours(md5_input("a")) == "0cc175b9c0f1b6a831c399e269772661");
    CHECK(ours(md5_input("abc")) == "900150983cd24fb0d6963f7d28e17f72");
    CHECK(ours(md5_input("message digest")) == "f96b697d7cb7938d525a2f31aaf161d0");
    CHECK(ours(md5_input("abcdefghijklmnopqrstuvwxyz")) == "c3fcd3d76192e4007dfb496cca67e13b");
    CHECK(ours(md5_input("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")) ==
          "d174ab98d277d9f5a5611c2c9f419d9f");
    CHECK(ours(md5_input("12345678901234567890123456789012345678901234567890123456789012345678901234567890")) ==
          "57edf4a22be3c955ac49da2e2107b67a");
  });
}

TEST_CASE("MD5 of every length from 0 to 300, alone and all abreast") {
  std::mt19937 random(1);
  std::vector<Bytes> buffers;
  for (size_t size = 0; size <= 300; ++size) buffers.push_back(random_input(size, random));
  for_each_target([&] {
    for (const Bytes& buffer : buffers) {
      if (ours(buffer) != openssl(buffer)) FAIL_CHECK(buffer.size() << " bytes");
    }
    check_abreast(buffers, [](size_t) { return size_t{0}; });
    check_abreast(buffers, [](size_t size) { return size / 3; });
  });
}

TEST_CASE("MD5 of two updates with the cut at any place") {
  std::mt19937 random(2);
  const Bytes buffer = random_input(200, random);
  for_each_target([&] {
    for (size_t at = 0; at <= buffer.size(); ++at) {
      const std::vector<Bytes> five(5, buffer);
      check_abreast(five, [at](size_t) { return at; });
    }
  });
}

TEST_CASE("MD5 of a byte at a time") {
  std::mt19937 random(3);
  const Bytes buffer = random_input(150, random);
  Md5State state;
  for (const std::byte& byte : buffer) {
    const Md5Job job{&state, &byte, 1};
    md5_update({&job, 1});
  }
  CHECK(state.bytes == 150);
  CHECK(hex(md5_finish(state)) == openssl(buffer));
}

TEST_CASE("MD5 of any number of jobs of unequal sizes") {
  std::mt19937 random(4);
  for_each_target([&] {
    for (unsigned count : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 15U, 16U, 17U, 31U, 32U, 33U, 63U, 64U, 65U, 100U}) {
      std::vector<Bytes> buffers;
      for (unsigned i = 0; i < count; ++i) buffers.push_back(random_input(random() % 5000, random));
      check_abreast(buffers, [&](size_t size) { return size == 0 ? 0 : random() % size; });
    }
  });
}

TEST_CASE("MD5 of one long job among short ones") {
  std::mt19937 random(5);
  std::vector<Bytes> buffers(40, random_input(64, random));
  buffers[17] = random_input(300'000, random);
  for_each_target([&] { check_abreast(buffers, [](size_t size) { return size / 2; }); });
}

TEST_CASE("MD5 of no job, and of jobs without bytes") {
  for_each_target([] {
    md5_update({});
    Md5State state;
    const Md5Job job{&state, nullptr, 0};
    md5_update({&job, 1});
    CHECK(hex(md5_finish(state)) == "d41d8cd98f00b204e9800998ecf8427e");
  });
}

TEST_CASE("MD5 reads no byte outside a job and does not care how it lies in memory") {
  std::mt19937 random(6);
  const Bytes memory = random_input(64 * 200, random);
  std::vector<Bytes> apart;
  std::vector<Md5State> states(64);
  std::vector<Md5Job> jobs;
  for (size_t i = 0; i < states.size(); ++i) {
    const size_t at = i * 199 + i % 3, size = 190 + i % 7;
    apart.emplace_back(memory.begin() + static_cast<std::ptrdiff_t>(at),
                       memory.begin() + static_cast<std::ptrdiff_t>(at + size));
    jobs.push_back({&states[i], memory.data() + at, size});
  }
  for_each_target([&] {
    states.assign(64, {});
    md5_update(jobs);
    for (size_t i = 0; i < states.size(); ++i) CHECK(hex(md5_finish(states[i])) == openssl(apart[i]));
  });
}

TEST_CASE("The bit count of MD5 goes beyond 32 bits") {
  // A state as after 2^29 + 64 bytes: only the count differs from that after 64.
  Md5State state;
  const Bytes block(64);
  const Md5Job job{&state, block.data(), block.size()};
  md5_update({&job, 1});
  const std::string small = hex(md5_finish(state));
  state.bytes += uint64_t{1} << 29;
  std::array<uint32_t, 4> words = state.words;
  Bytes padding(64);
  padding[0] = std::byte{0x80};
  const uint64_t bits = (uint64_t{1} << 32) + 512;
  std::memcpy(padding.data() + 56, &bits, sizeof bits);
  md5_compress(words, padding.data(), 1);
  CHECK(hex(md5_finish(state)) == hex(std::as_bytes(std::span(words))));
  CHECK(hex(md5_finish(state)) != small);
}

TEST_CASE("Hexadecimal digits are lower case, two a byte") {
  const Bytes bytes = {std::byte{0}, std::byte{0x0A}, std::byte{0xF0}, std::byte{0xFF}};
  CHECK(hex(bytes) == "000af0ff");
  CHECK(hex({}).empty());
}

}  // namespace msdump::kernels
