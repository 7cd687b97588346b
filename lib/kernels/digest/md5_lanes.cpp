// MD5 in the lanes of vectors.
//
// Every step of MD5 waits for the step before, so one vector leaves most of the CPU idle. With enough lanes, two vectors are
// computed together.
//
// A block is first copied as one cache line into a small array, and transposed from there. The stride of jobs is often a
// large power of two, so that their lines share a cache set. They would be evicted between four reads of a line.
#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/digest/md5_lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/digest/digest.h"

HWY_BEFORE_NAMESPACE();
namespace msdump::kernels::HWY_NAMESPACE {
#if MSDUMP_HAS_VECTORS
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using WordTag = hn::ScalableTag<uint32_t>;
using Words = hn::Vec<WordTag>;

constexpr size_t kLanes = hn::MaxLanes(WordTag());
constexpr size_t kVectors = 2;
static_assert(kVectors * kLanes <= kMd5MaxLanes, "the lanes have room");

// Words 4 * quarter to 4 * quarter + 3 of the blocks, with block l in lane l. Loads 16 bytes of blocks 0, 4, 8, ... into the
// 16-byte parts of one vector, those of blocks 1, 5, 9, ... into the next, and transposes 4 x 4.
template <class D>
HWY_INLINE hn::Vec<D> load_parts(D d, const std::byte* from) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::BitCast(d, hn::Load(hn::Repartition<uint8_t, D>(), reinterpret_cast<const uint8_t*>(from)));
  } else {
    const hn::Half<D> half;
    const auto lower = load_parts(half, from);
    return hn::Combine(d, load_parts(half, from + hn::MaxLanes(half) * kMd5Block), lower);
  }
}

HWY_INLINE void load_quarter(const std::byte* blocks, size_t quarter, Words* HWY_RESTRICT message) {
  const WordTag d;
  const std::byte* const from = blocks + quarter * 16;
  const Words block0 = load_parts(d, from), block1 = load_parts(d, from + kMd5Block);
  const Words block2 = load_parts(d, from + 2 * kMd5Block), block3 = load_parts(d, from + 3 * kMd5Block);
  const Words even_low = hn::InterleaveLower(d, block0, block2), odd_low = hn::InterleaveLower(d, block1, block3);
  const Words even_high = hn::InterleaveUpper(d, block0, block2), odd_high = hn::InterleaveUpper(d, block1, block3);
  message[4 * quarter + 0] = hn::InterleaveLower(d, even_low, odd_low);
  message[4 * quarter + 1] = hn::InterleaveUpper(d, even_low, odd_low);
  message[4 * quarter + 2] = hn::InterleaveLower(d, even_high, odd_high);
  message[4 * quarter + 3] = hn::InterleaveUpper(d, even_high, odd_high);
}

// Bit by bit, (mask & yes) | (~mask & no). (hn::IfVecThenElse may use the top bit of each byte only.)
HWY_INLINE Words select(Words mask, Words yes, Words no) { return hn::Xor(no, hn::And(mask, hn::Xor(yes, no))); }

template <size_t kStep>
HWY_INLINE Words mix(Words b, Words c, Words d) {
  if constexpr (kStep < 16) return select(b, c, d);
  if constexpr (kStep >= 16 && kStep < 32) return select(d, b, c);
  if constexpr (kStep >= 32 && kStep < 48) return hn::Xor3(b, c, d);
  if constexpr (kStep >= 48) return hn::Xor(c, hn::Or(b, hn::Not(d)));
}

template <size_t kStep>
HWY_INLINE void step(Words* HWY_RESTRICT words, Words message) {
  Words& a = words[md5_word(kStep, 0)];
  const Words b = words[md5_word(kStep, 1)], c = words[md5_word(kStep, 2)], d = words[md5_word(kStep, 3)];
  const Words early = hn::Add(a, hn::Add(message, hn::Set(WordTag(), kMd5Sines[kStep])));
  a = hn::Add(b, hn::RotateRight<32 - md5_rotation(kStep)>(hn::Add(early, mix<kStep>(b, c, d))));
}

template <size_t kUsed>
struct Registers {
  HWY_INLINE Registers() {}  // the implicit one lacks the attribute of the target, and g++ for aarch64 refuses it
  Words words[kUsed][4];
  Words message[kUsed][16];
};

template <size_t kStep, size_t... kVector>
HWY_INLINE void step_all(Registers<sizeof...(kVector)>& r, std::index_sequence<kVector...> /*vectors*/) {
  (step<kStep>(r.words[kVector], r.message[kVector][md5_message(kStep)]), ...);
}

template <size_t... kVector, size_t... kStep>
HWY_INLINE void all_steps(Registers<sizeof...(kVector)>& r, std::index_sequence<kVector...> vectors,
                          std::index_sequence<kStep...> /*steps*/) {
  (step_all<kStep>(r, vectors), ...);
}

template <size_t... kVector>
HWY_INLINE void compress(Md5Lanes& state, size_t blocks, std::index_sequence<kVector...> vectors) {
  const WordTag d;
  constexpr size_t kUsed = sizeof...(kVector);
  alignas(64) std::byte staged[kUsed * kLanes * kMd5Block];
  Registers<kUsed> r;
  for (size_t v = 0; v < kUsed; ++v) {
    for (size_t w = 0; w < 4; ++w) r.words[v][w] = hn::Load(d, &state.words[w][v * kLanes]);
  }
  for (size_t block = 0; block < blocks; ++block) {
    for (size_t lane = 0; lane < kUsed * kLanes; ++lane) {
      std::memcpy(staged + lane * kMd5Block, state.at[lane] + block * kMd5Block, kMd5Block);
    }
    for (size_t quarter = 0; quarter < 4; ++quarter) {
      (load_quarter(staged + kVector * kLanes * kMd5Block, quarter, r.message[kVector]), ...);
    }
    Words before[kUsed][4];
    ((before[kVector][0] = r.words[kVector][0], before[kVector][1] = r.words[kVector][1],
      before[kVector][2] = r.words[kVector][2], before[kVector][3] = r.words[kVector][3]),
     ...);
    all_steps(r, vectors, std::make_index_sequence<64>());
    ((r.words[kVector][0] = hn::Add(r.words[kVector][0], before[kVector][0]),
      r.words[kVector][1] = hn::Add(r.words[kVector][1], before[kVector][1]),
      r.words[kVector][2] = hn::Add(r.words[kVector][2], before[kVector][2]),
      r.words[kVector][3] = hn::Add(r.words[kVector][3], before[kVector][3])),
     ...);
  }
  for (size_t v = 0; v < kUsed; ++v) {
    for (size_t w = 0; w < 4; ++w) hn::Store(r.words[v][w], d, &state.words[w][v * kLanes]);
  }
}

}  // namespace

size_t md5_lanes_here() { return kVectors * kLanes; }

void md5_compress_here(Md5Lanes& state, size_t lanes, size_t blocks) {
  const size_t used = lanes > kLanes ? kVectors * kLanes : kLanes;
  for (size_t lane = lanes; lane < used; ++lane) state.at[lane] = state.at[0];
  if (used == kLanes) {
    compress(state, blocks, std::make_index_sequence<1>());
  } else {
    compress(state, blocks, std::make_index_sequence<kVectors>());
  }
}

#else  // !MSDUMP_HAS_VECTORS: all is left to the scalar form

size_t md5_lanes_here() { return 0; }
void md5_compress_here(Md5Lanes& /*state*/, size_t /*lanes*/, size_t /*blocks*/) {}

#endif
}  // namespace msdump::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msdump::kernels {

HWY_EXPORT(md5_lanes_here);
HWY_EXPORT(md5_compress_here);

size_t md5_lanes() { return portable_forced() ? 0 : HWY_DYNAMIC_DISPATCH(md5_lanes_here)(); }

void md5_compress_lanes(Md5Lanes& state, size_t lanes, size_t blocks) {
  HWY_DYNAMIC_DISPATCH(md5_compress_here)(state, lanes, blocks);
}

}  // namespace msdump::kernels
#endif
