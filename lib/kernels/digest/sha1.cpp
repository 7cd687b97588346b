#include "kernels/digest/sha1.h"

#include <openssl/evp.h>

namespace msdump::kernels {
namespace {

// Looked up once: that costs more than hashing a small slice. Kept for the life of the process.
const EVP_MD* algorithm() {
  static const EVP_MD* const found = EVP_MD_fetch(nullptr, "SHA1", nullptr);
  return found;
}

tl::unexpected<Error> refused() {
  return fail(make_error(ErrorCode::kUsage, "OpenSSL refuses SHA-1 on this host").with_hint("see openssl.cnf"));
}

unsigned char* raw(Sha1Digest& digest) { return reinterpret_cast<unsigned char*>(digest.data()); }

}  // namespace

Result<Sha1Digest> sha1(std::span<const std::byte> bytes) {
  Sha1Digest digest{};
  unsigned int size = 0;
  if (algorithm() == nullptr || EVP_Digest(bytes.data(), bytes.size(), raw(digest), &size, algorithm(), nullptr) != 1 ||
      size != digest.size()) {
    return refused();
  }
  return digest;
}

void Sha1::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha1::Sha1() : context_(EVP_MD_CTX_new()) {
  if (!context_ || algorithm() == nullptr || EVP_DigestInit_ex(context_.get(), algorithm(), nullptr) != 1) {
    context_.reset();
  }
}

void Sha1::update(std::span<const std::byte> bytes) {
  if (context_ && EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1) context_.reset();
}

Result<Sha1Digest> Sha1::finish() {
  Sha1Digest digest{};
  unsigned int size = 0;
  const bool done = context_ && EVP_DigestFinal_ex(context_.get(), raw(digest), &size) == 1 && size == digest.size();
  context_.reset();
  if (!done) return refused();
  return digest;
}

}  // namespace msdump::kernels
