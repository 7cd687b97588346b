// MD5 (RFC 1321) of many inputs at once, and SHA-1 (FIPS 180): checksums that formats prescribe and users ask for, not for
// security.
//
// OpenSSL is not used, because FIPS hosts switch MD5 off and openssl.cnf may switch SHA-1 off. One MD5 cannot be made faster
// (every step waits for the one before), but 32 side by side take little longer than one. Digests are the same on every CPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace msdump::kernels {

// A digest in progress.
struct Md5State {
  std::array<uint32_t, 4> words{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  uint64_t bytes = 0;                // seen so far
  std::array<std::byte, 64> tail{};  // the last bytes % 64 of them, an incomplete block
};

struct Md5Job {
  Md5State* state = nullptr;  // no other job of the same call has this one
  const std::byte* data = nullptr;
  size_t size = 0;
};

// Adds all bytes of every job to its state, a job in each lane of the SIMD registers. Fastest with 32 jobs or more; a single
// one runs at the speed of the scalar form.
void md5_update(std::span<const Md5Job> jobs);

[[nodiscard]] std::array<std::byte, 16> md5_finish(Md5State state);

[[nodiscard]] std::string hex(std::span<const std::byte> bytes);  // lower case, two digits per byte

using Sha1Digest = std::array<std::byte, 20>;

// Uses the SHA instructions of x86 or aarch64 if the CPU has them and "scalar" is not forced.
[[nodiscard]] Sha1Digest sha1(std::span<const std::byte> bytes);

// Internal to lib/kernels: the 64 steps of an MD5 block as tables. Step i of RFC 1321, section 3.4, renames the four words of
// the state instead of moving them:
//
//     a = b + rotl(a + f(b, c, d) + message[md5_message(i)] + kMd5Sines[i], md5_rotation(i))
//
//     i      0..15              16..31             32..47         48..63
//     f      (b&c) | (~b&d)     (d&b) | (~d&c)     b ^ c ^ d      c ^ (b | ~d)
constexpr size_t kMd5Block = 64;

// floor(2^32 * |sin(i + 1)|)
constexpr std::array<uint32_t, 64> kMd5Sines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

constexpr int kMd5Rotations[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

constexpr int md5_rotation(size_t step) { return kMd5Rotations[step / 16][step % 4]; }

// The word of the block (0..15) that the step adds.
constexpr size_t md5_message(size_t step) {
  constexpr size_t kFactor[4] = {1, 5, 3, 7}, kStart[4] = {0, 1, 5, 0};
  return (kFactor[step / 16] * step + kStart[step / 16]) % 16;
}

// The word of the state that is a, b, c or d (0..3) in the step.
constexpr size_t md5_word(size_t step, size_t which) { return (which + 64 - step) % 4; }

// The definition: adds `blocks` blocks of 64 bytes to the state.
void md5_compress(std::array<uint32_t, 4>& words, const std::byte* data, size_t blocks);

// Several MD5 digests side by side, one in each 32-bit lane (md5_lanes.cpp).
constexpr size_t kMd5MaxLanes = 32;  // two vectors of AVX-512

// The next block of every lane. words[w][l] is word w of the state of lane l.
struct Md5Lanes {
  const std::byte* at[kMd5MaxLanes];
  alignas(64) uint32_t words[4][kMd5MaxLanes];
};

// The number of lanes; 0 if the CPU has no vectors or "scalar" is forced.
[[nodiscard]] size_t md5_lanes();

// Adds `blocks` blocks of the first `lanes` lanes (1 to md5_lanes()) to their states. Overwrites the other lanes; does not
// change `at`.
void md5_compress_lanes(Md5Lanes& state, size_t lanes, size_t blocks);

}  // namespace msdump::kernels
