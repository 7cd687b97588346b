// SHA-1 through OpenSSL; for checksums that a format prescribes, not for security.
//
// OpenSSL may refuse it (how a host is configured decides): that is an error (kUsage), never a wrong digest.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "base/error.h"

struct evp_md_ctx_st;

namespace msdump::kernels {

using Sha1Digest = std::array<std::byte, 20>;

[[nodiscard]] Result<Sha1Digest> sha1(std::span<const std::byte> bytes);

// The same for bytes that come in pieces. What fails on the way is told by finish(), after which the object is used up.
class Sha1 {
 public:
  Sha1();
  void update(std::span<const std::byte> bytes);
  [[nodiscard]] Result<Sha1Digest> finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;  // null after a failure and after finish()
};

}  // namespace msdump::kernels
