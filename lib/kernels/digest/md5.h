// MD5 (RFC 1321) of many things at once, a digest in each lane of the SIMD registers; for checksums that formats and
// users ask for, not for security.
//
// We have our own because one digest cannot be made faster (every step waits for the one before), but 32 side by side
// take little longer than one. It also works where OpenSSL has MD5 switched off (FIPS hosts). Every CPU target gives
// the same digests; md5_compress in md5_steps.h is the scalar form that they are tested against.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace msdump::kernels {

// A digest in progress; a value-initialised one has seen no bytes.
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

// Adds all bytes of every job to its state. Takes any number of jobs of any sizes: a lane whose job ends takes the next
// one. Fastest with 32 jobs or more; a single one runs at the speed of the scalar form.
void md5_update(std::span<const Md5Job> jobs);

[[nodiscard]] std::array<std::byte, 16> md5_finish(Md5State state);

[[nodiscard]] std::string hex(std::span<const std::byte> bytes);  // lower case, two digits per byte

}  // namespace msdump::kernels
