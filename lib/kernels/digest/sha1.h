// SHA-1 through OpenSSL; for checksums that a format prescribes, not for security.
//
// OpenSSL may refuse it (how a host is configured decides): that is an error (kUsage), never a wrong digest.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/error.h"

namespace msdump::kernels {

using Sha1Digest = std::array<std::byte, 20>;

[[nodiscard]] Result<Sha1Digest> sha1(std::span<const std::byte> bytes);

}  // namespace msdump::kernels
