#include "kernels/digest/sha1.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#define MSDUMP_SHA_TARGET __attribute__((target("sha,sse4.1")))
#elif defined(__aarch64__) && !defined(__clang__)
#include <arm_neon.h>
#include <sys/auxv.h>
#define MSDUMP_SHA_TARGET __attribute__((target("+crypto")))
#endif

#include "kernels/dispatch.h"

namespace msdump::kernels {
namespace {

constexpr size_t kSha1Block = 64;
constexpr std::array<uint32_t, 4> kSha1Constants = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};

using Sha1Words = std::array<uint32_t, 5>;
using Compress = void (*)(Sha1Words& state, const std::byte* data, size_t blocks);

uint32_t load_big_endian(const std::byte* from) {
  uint32_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return __builtin_bswap32(word);
}

template <size_t kStep>
inline void sha1_step(Sha1Words& v, uint32_t* w) {
  // The words change places after every step; their names move instead.
  uint32_t& a = v[(80 - kStep) % 5];
  uint32_t& b = v[(81 - kStep) % 5];
  const uint32_t c = v[(82 - kStep) % 5], d = v[(83 - kStep) % 5];
  uint32_t& e = v[(84 - kStep) % 5];
  uint32_t& word = w[kStep % 16];
  if constexpr (kStep >= 16) {
    word = std::rotl(w[(kStep + 13) % 16] ^ w[(kStep + 8) % 16] ^ w[(kStep + 2) % 16] ^ word, 1);
  }
  uint32_t mixed = b ^ c ^ d;
  if constexpr (kStep < 20) mixed = d ^ (b & (c ^ d));
  if constexpr (kStep >= 40 && kStep < 60) mixed = (b & c) | (d & (b | c));
  e += std::rotl(a, 5) + mixed + kSha1Constants[kStep / 20] + word;
  b = std::rotl(b, 30);
}

template <size_t... kStep>
inline void sha1_steps(Sha1Words& v, uint32_t* w, std::index_sequence<kStep...> /*steps*/) {
  (sha1_step<kStep>(v, w), ...);
}

void compress_portable(Sha1Words& state, const std::byte* data, size_t blocks) {
  for (size_t block = 0; block < blocks; ++block, data += kSha1Block) {
    uint32_t w[16];
    for (size_t i = 0; i < 16; ++i) w[i] = load_big_endian(data + 4 * i);
    Sha1Words v = state;
    sha1_steps(v, w, std::make_index_sequence<80>());
    for (size_t i = 0; i < 5; ++i) state[i] += v[i];
  }
}

#if defined(__x86_64__)

// Four steps at a time; `e` is the fifth word, `before` the other four as they were four steps ago.
struct Sha1Vectors {
  __m128i abcd, before;
  __m128i w0, w1, w2, w3;  // the next sixteen words of the schedule
};

// Twenty steps, which share a constant. At the first step of a block, e is not yet that of `before`.
template <int kPhase>
MSDUMP_SHA_TARGET inline void twenty_steps(Sha1Vectors& v, __m128i first_e) {
#pragma GCC unroll 5
  for (int group = 0; group < 5; ++group) {
    const bool first = kPhase == 0 && group == 0;
    const __m128i e = first ? _mm_add_epi32(first_e, v.w0) : _mm_sha1nexte_epu32(v.before, v.w0);
    v.before = v.abcd;
    v.abcd = _mm_sha1rnds4_epu32(v.abcd, e, kPhase);
    const __m128i next = _mm_sha1msg2_epu32(_mm_xor_si128(_mm_sha1msg1_epu32(v.w0, v.w1), v.w2), v.w3);
    v.w0 = v.w1;
    v.w1 = v.w2;
    v.w2 = v.w3;
    v.w3 = next;
  }
}

MSDUMP_SHA_TARGET void compress_sha_instructions(Sha1Words& state, const std::byte* data, size_t blocks) {
  const __m128i reversed = _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
  const auto* from = reinterpret_cast<const __m128i*>(data);
  Sha1Vectors v;
  v.abcd = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state.data())), 0x1b);
  __m128i e = _mm_insert_epi32(_mm_setzero_si128(), static_cast<int>(state[4]), 3);
  for (size_t block = 0; block < blocks; ++block, from += 4) {
    const __m128i abcd = v.abcd;
    v.w0 = _mm_shuffle_epi8(_mm_loadu_si128(from), reversed);
    v.w1 = _mm_shuffle_epi8(_mm_loadu_si128(from + 1), reversed);
    v.w2 = _mm_shuffle_epi8(_mm_loadu_si128(from + 2), reversed);
    v.w3 = _mm_shuffle_epi8(_mm_loadu_si128(from + 3), reversed);
    twenty_steps<0>(v, e);
    twenty_steps<1>(v, e);
    twenty_steps<2>(v, e);
    twenty_steps<3>(v, e);
    e = _mm_sha1nexte_epu32(v.before, e);
    v.abcd = _mm_add_epi32(v.abcd, abcd);
  }
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_shuffle_epi32(v.abcd, 0x1b));
  state[4] = static_cast<uint32_t>(_mm_extract_epi32(e, 3));
}

bool has_sha_instructions() {
  unsigned int a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

#elif defined(MSDUMP_SHA_TARGET)

// Four steps at a time, and the next sixteen words of the schedule.
struct Sha1Vectors {
  uint32x4_t abcd, w0, w1, w2, w3;
  uint32_t e;
};

// Twenty steps, which share a constant.
template <int kPhase>
MSDUMP_SHA_TARGET inline void twenty_steps(Sha1Vectors& v) {
  const uint32x4_t constant = vdupq_n_u32(kSha1Constants[kPhase]);
#pragma GCC unroll 5
  for (int group = 0; group < 5; ++group) {
    const uint32x4_t words = vaddq_u32(v.w0, constant);
    const uint32_t next_e = vsha1h_u32(vgetq_lane_u32(v.abcd, 0));
    if constexpr (kPhase == 0) v.abcd = vsha1cq_u32(v.abcd, v.e, words);
    if constexpr (kPhase == 2) v.abcd = vsha1mq_u32(v.abcd, v.e, words);
    if constexpr (kPhase % 2 == 1) v.abcd = vsha1pq_u32(v.abcd, v.e, words);
    v.e = next_e;
    const uint32x4_t next = vsha1su1q_u32(vsha1su0q_u32(v.w0, v.w1, v.w2), v.w3);
    v.w0 = v.w1;
    v.w1 = v.w2;
    v.w2 = v.w3;
    v.w3 = next;
  }
}

MSDUMP_SHA_TARGET uint32x4_t load_words(const std::byte* from) {
  return vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(reinterpret_cast<const uint8_t*>(from))));
}

MSDUMP_SHA_TARGET void compress_sha_instructions(Sha1Words& state, const std::byte* data, size_t blocks) {
  Sha1Vectors v;
  v.abcd = vld1q_u32(state.data());
  v.e = state[4];
  for (size_t block = 0; block < blocks; ++block, data += kSha1Block) {
    const uint32x4_t abcd = v.abcd;
    const uint32_t e = v.e;
    v.w0 = load_words(data);
    v.w1 = load_words(data + 16);
    v.w2 = load_words(data + 32);
    v.w3 = load_words(data + 48);
    twenty_steps<0>(v);
    twenty_steps<1>(v);
    twenty_steps<2>(v);
    twenty_steps<3>(v);
    v.abcd = vaddq_u32(v.abcd, abcd);
    v.e += e;
  }
  vst1q_u32(state.data(), v.abcd);
  state[4] = v.e;
}

bool has_sha_instructions() { return (getauxval(AT_HWCAP) & HWCAP_SHA1) != 0; }

#endif

Compress best_compress() {
#ifdef MSDUMP_SHA_TARGET
  static const bool fast = has_sha_instructions();
  if (fast && !portable_forced()) return compress_sha_instructions;
#endif
  return compress_portable;
}

}  // namespace

Sha1Digest sha1(std::span<const std::byte> bytes) {
  const Compress compress = best_compress();
  Sha1Words state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const size_t whole = bytes.size() / kSha1Block, rest = bytes.size() % kSha1Block;
  compress(state, bytes.data(), whole);

  // A bit of 1, zeros, and the number of bits in the last eight bytes of one block or of two.
  std::array<std::byte, 2 * kSha1Block> last{};
  if (rest > 0) std::memcpy(last.data(), bytes.data() + whole * kSha1Block, rest);
  last[rest] = std::byte{0x80};
  const size_t blocks = rest < kSha1Block - 8 ? 1 : 2;
  const uint64_t bits = __builtin_bswap64(static_cast<uint64_t>(bytes.size()) * 8);
  std::memcpy(last.data() + blocks * kSha1Block - sizeof bits, &bits, sizeof bits);
  compress(state, last.data(), blocks);

  Sha1Digest digest{};
  for (size_t i = 0; i < state.size(); ++i) {
    const uint32_t word = __builtin_bswap32(state[i]);
    std::memcpy(digest.data() + 4 * i, &word, sizeof word);
  }
  return digest;
}

}  // namespace msdump::kernels
