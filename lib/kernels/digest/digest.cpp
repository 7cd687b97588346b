#include "kernels/digest/digest.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/dispatch.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#define MSDUMP_SHA_TARGET __attribute__((target("sha,sse4.1")))
#elif defined(__aarch64__) && !defined(__clang__)
#include <arm_neon.h>
#include <sys/auxv.h>
#define MSDUMP_SHA_TARGET __attribute__((target("+crypto")))
#endif

namespace msdump::kernels {
namespace {

static_assert(std::endian::native == std::endian::little, "blocks are read as little-endian words");

template <size_t kStep>
[[gnu::always_inline]] inline void step(std::array<uint32_t, 4>& words, const std::array<uint32_t, 16>& message) {
  uint32_t& a = words[md5_word(kStep, 0)];
  const uint32_t b = words[md5_word(kStep, 1)], c = words[md5_word(kStep, 2)], d = words[md5_word(kStep, 3)];
  uint32_t sum = a + message[md5_message(kStep)] + kMd5Sines[kStep];
  if constexpr (kStep < 16) sum += d ^ (b & (c ^ d));
  // Adds the half without b first, because b is available last. The halves have no bit in common, so + is |.
  if constexpr (kStep >= 16 && kStep < 32) sum = sum + (~d & c) + (d & b);
  if constexpr (kStep >= 32 && kStep < 48) sum += b ^ (c ^ d);
  if constexpr (kStep >= 48) sum += c ^ (b | ~d);
  a = b + std::rotl(sum, md5_rotation(kStep));
}

template <size_t... kStep>
[[gnu::always_inline]] inline void all_steps(std::array<uint32_t, 4>& words, const std::array<uint32_t, 16>& message,
                                             std::index_sequence<kStep...> /*steps*/) {
  (step<kStep>(words, message), ...);
}

// A single lane is slower than the scalar form; two are faster on all targets measured.
constexpr size_t kWorthWhile = 2;

// The whole blocks of a job that are not yet in its state.
struct Work {
  Md5State* state;
  const std::byte* at;
  size_t blocks;
};

// Completes the tail of an earlier update and keeps the bytes after the last whole block as the next tail. Returns the
// blocks between.
Work begin_job(const Md5Job& job) {
  Md5State& state = *job.state;
  const auto waiting = static_cast<size_t>(state.bytes % kMd5Block);
  state.bytes += job.size;
  const std::byte* at = job.data;
  size_t left = job.size;
  if (waiting > 0) {
    const size_t taken = std::min(left, kMd5Block - waiting);
    if (taken > 0) std::memcpy(state.tail.data() + waiting, at, taken);
    if (waiting + taken < kMd5Block) return {&state, nullptr, 0};
    md5_compress(state.words, state.tail.data(), 1);
    at += taken;
    left -= taken;
  }
  const size_t blocks = left / kMd5Block, rest = left % kMd5Block;
  if (rest > 0) std::memcpy(state.tail.data(), at + blocks * kMd5Block, rest);
  return {&state, at, blocks};
}

// Advances all lanes by as many blocks as the shortest job has.
void advance(std::span<Work> abreast) {
  Md5Lanes lanes;
  size_t blocks = abreast[0].blocks;
  for (size_t lane = 0; lane < abreast.size(); ++lane) {
    blocks = std::min(blocks, abreast[lane].blocks);
    lanes.at[lane] = abreast[lane].at;
    for (size_t w = 0; w < 4; ++w) lanes.words[w][lane] = abreast[lane].state->words[w];
  }
  md5_compress_lanes(lanes, abreast.size(), blocks);
  for (size_t lane = 0; lane < abreast.size(); ++lane) {
    for (size_t w = 0; w < 4; ++w) abreast[lane].state->words[w] = lanes.words[w][lane];
    abreast[lane].at += blocks * kMd5Block;
    abreast[lane].blocks -= blocks;
  }
}

}  // namespace

void md5_compress(std::array<uint32_t, 4>& words, const std::byte* data, size_t blocks) {
  std::array<uint32_t, 4> now = words;
  for (size_t block = 0; block < blocks; ++block) {
    std::array<uint32_t, 16> message;
    std::memcpy(message.data(), data + block * kMd5Block, kMd5Block);
    const std::array<uint32_t, 4> before = now;
    all_steps(now, message, std::make_index_sequence<64>());
    for (size_t w = 0; w < 4; ++w) now[w] += before[w];
  }
  words = now;
}

void md5_update(std::span<const Md5Job> jobs) {
  std::vector<Work> waiting;
  waiting.reserve(jobs.size());
  for (const Md5Job& job : jobs) {
    const Work work = begin_job(job);
    if (work.blocks > 0) waiting.push_back(work);
  }
  // The longest jobs come first, so that the lanes end at about the same time.
  std::sort(waiting.begin(), waiting.end(), [](const Work& a, const Work& b) { return a.blocks > b.blocks; });
  const size_t lanes = md5_lanes();
  auto next = waiting.begin();
  std::vector<Work> abreast;
  abreast.reserve(lanes);
  while (true) {
    std::erase_if(abreast, [](const Work& work) { return work.blocks == 0; });
    while (abreast.size() < lanes && next != waiting.end()) abreast.push_back(*next++);
    if (abreast.size() < kWorthWhile) break;
    advance(abreast);
  }
  abreast.insert(abreast.end(), next, waiting.end());  // these are all jobs if there are no lanes
  for (const Work& work : abreast) md5_compress(work.state->words, work.at, work.blocks);
}

std::array<std::byte, 16> md5_finish(Md5State state) {
  // 0x80, zeros, and the number of bits as the last 8 bytes of a block: in this block if they fit, or else in one more.
  const auto waiting = static_cast<size_t>(state.bytes % kMd5Block);
  std::array<std::byte, 2 * kMd5Block> padded{};
  std::memcpy(padded.data(), state.tail.data(), waiting);
  padded[waiting] = std::byte{0x80};
  const size_t size = waiting + 9 <= kMd5Block ? kMd5Block : 2 * kMd5Block;
  const uint64_t bits = state.bytes * 8;  // modulo 2^64, as in the RFC
  std::memcpy(padded.data() + size - 8, &bits, sizeof bits);
  md5_compress(state.words, padded.data(), size / kMd5Block);
  return std::bit_cast<std::array<std::byte, 16>>(state.words);
}

std::string hex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<size_t>(byte >> 4)];
    text += kDigits[std::to_integer<size_t>(byte & std::byte{0x0F})];
  }
  return text;
}

}  // namespace msdump::kernels

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
  // The names of the words move after every step instead of the words.
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
