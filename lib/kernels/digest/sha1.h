// SHA-1 (FIPS 180); for checksums that formats prescribe, not for security.
//
// We have our own because OpenSSL reads the host's openssl.cnf, which may switch SHA-1 off.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace msdump::kernels {

using Sha1Digest = std::array<std::byte, 20>;

// With the SHA instructions of x86 or aarch64 where the CPU has them and choose_cpu_target() was not "scalar".
[[nodiscard]] Sha1Digest sha1(std::span<const std::byte> bytes);

}  // namespace msdump::kernels
