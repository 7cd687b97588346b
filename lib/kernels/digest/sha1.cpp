#include "kernels/digest/sha1.h"

#include <openssl/evp.h>

namespace msdump::kernels {
namespace {

// Looked up once, because a look-up costs more than hashing a small slice. Kept for the life of the process.
const EVP_MD* algorithm() {
  static const EVP_MD* const found = EVP_MD_fetch(nullptr, "SHA1", nullptr);
  return found;
}

}  // namespace

Result<Sha1Digest> sha1(std::span<const std::byte> bytes) {
  Sha1Digest digest{};
  unsigned int size = 0;
  auto* const into = reinterpret_cast<unsigned char*>(digest.data());
  if (algorithm() == nullptr || EVP_Digest(bytes.data(), bytes.size(), into, &size, algorithm(), nullptr) != 1 ||
      size != digest.size()) {
    return fail(make_error(ErrorCode::kUsage, "OpenSSL refuses SHA-1 on this host").with_hint("see openssl.cnf"));
  }
  return digest;
}

}  // namespace msdump::kernels
