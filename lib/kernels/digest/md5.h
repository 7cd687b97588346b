// MD5 (RFC 1321) of many things at once, a digest in each lane of the SIMD registers; for checksums that formats and
// users ask for, not for security.
//
// Our own, because the fast ways differ: one digest cannot be made quicker (every step waits for the one before), but 32
// side by side take hardly longer than one. It also works where OpenSSL has MD5 switched off (FIPS hosts). Every CPU
// target gives the same digests; md5_compress in md5_steps.h is the scalar form that they are tested against.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace msdump::kernels {

// A digest under way; a value-initialised one has seen no byte.
struct Md5State {
  std::array<uint32_t, 4> words{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  uint64_t bytes = 0;                // seen so far
  std::array<std::byte, 64> tail{};  // the last bytes % 64 of them, which wait for their block to fill
};

struct Md5Job {
  Md5State* state = nullptr;  // no other job of the same call has this one
  const std::byte* data = nullptr;
  size_t size = 0;
};

// Takes all bytes of every job into its state. Any number of jobs of any sizes: a lane whose job ends takes the next one.
// Quickest with 32 jobs or more; a lone one goes at the speed of the scalar form.
void md5_update(std::span<const Md5Job> jobs);

[[nodiscard]] std::array<std::byte, 16> md5_finish(Md5State state);

[[nodiscard]] std::string hex(std::span<const std::byte> bytes);  // lower case, two digits a byte

}  // namespace msdump::kernels
