// The buckets of magnitudes in vectors, for pair_histogram.cpp.
#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pair/pair_buckets.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/pair/pair.h"

HWY_BEFORE_NAMESPACE();
namespace msdump::kernels::HWY_NAMESPACE {
#if MSDUMP_HAS_VECTORS
namespace {
namespace hn = hwy::HWY_NAMESPACE;
}  // namespace

size_t find_buckets_vectors(const double* magnitudes, size_t count, MagnitudeBucket first, uint32_t* buckets) {
  const hn::ScalableTag<double> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  const hn::Rebind<uint32_t, decltype(d)> words;
  const auto lowest = hn::Set(d, lower_end(first));
  const auto base = hn::Set(words, first);
  constexpr size_t kPlaces = hn::MaxLanes(d);
  size_t at = 0, found = 0;
  for (; at + kPlaces <= count; at += kPlaces) {
    const auto magnitude = hn::BitCast(bits, hn::Max(hn::LoadU(d, magnitudes + at), lowest));
    const auto bucket = hn::TruncateTo(words, hn::ShiftRight<52 - kBucketsPerOctaveLog2>(magnitude));
    found += hn::CompressStore(hn::Sub(bucket, base), hn::Ne(bucket, base), words, buckets + found);
  }
  return found + find_buckets_plain(magnitudes + at, count - at, first, buckets + found);
}

#else  // !MSDUMP_HAS_VECTORS

size_t find_buckets_vectors(const double* magnitudes, size_t count, MagnitudeBucket first, uint32_t* buckets) {
  return find_buckets_plain(magnitudes, count, first, buckets);
}

#endif
}  // namespace msdump::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msdump::kernels {

HWY_EXPORT(find_buckets_vectors);

size_t find_buckets(const double* magnitudes, size_t count, MagnitudeBucket first, uint32_t* buckets) {
  return portable_forced() ? find_buckets_plain(magnitudes, count, first, buckets)
                           : HWY_DYNAMIC_DISPATCH(find_buckets_vectors)(magnitudes, count, first, buckets);
}

}  // namespace msdump::kernels
#endif
