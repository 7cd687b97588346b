#include "kernels/pair/pair_histogram.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace msdump::kernels {
namespace {

constexpr int kBucketShift = 52 - kBucketsPerOctaveLog2;
constexpr uint32_t kInOctave = kBucketsPerOctave - 1;
constexpr size_t kAtOnce = 256;

}  // namespace

MagnitudeBucket bucket_of(double magnitude) {
  return static_cast<MagnitudeBucket>(std::bit_cast<uint64_t>(magnitude) >> kBucketShift);
}

double lower_end(MagnitudeBucket bucket) {
  return std::bit_cast<double>(static_cast<uint64_t>(bucket) << kBucketShift);
}

MagnitudeCounts::Octave& MagnitudeCounts::octave(uint32_t number) {
  const auto at = std::lower_bound(octaves_.begin(), octaves_.end(), number,
                                   [](const Octave& octave, uint32_t wanted) { return octave.number < wanted; });
  if (at != octaves_.end() && at->number == number) return *at;
  return *octaves_.insert(at, Octave{number, {}});
}

void MagnitudeCounts::add(MagnitudeBucket bucket, uint64_t times) {
  if (bucket != 0 && times != 0) octave(bucket >> kBucketsPerOctaveLog2).counts[bucket & kInOctave] += times;
}

void MagnitudeCounts::add(const MagnitudeCounts& other) {
  for (const Octave& theirs : other.octaves_) {
    Octave& ours = octave(theirs.number);
    for (size_t i = 0; i < kBucketsPerOctave; ++i) ours.counts[i] += theirs.counts[i];
  }
}

std::optional<double> MagnitudeCounts::at_rank(uint64_t rank, uint64_t below) const {
  if (rank < below) return 0;
  rank -= below;
  for (const Octave& octave : octaves_) {
    for (uint32_t i = 0; i < kBucketsPerOctave; ++i) {
      if (rank < octave.counts[i]) return lower_end((octave.number << kBucketsPerOctaveLog2) + i);
      rank -= octave.counts[i];
    }
  }
  return std::nullopt;
}

uint64_t MagnitudeCounts::total() const {
  uint64_t total = 0;
  for (const Octave& octave : octaves_) total = std::accumulate(octave.counts.begin(), octave.counts.end(), total);
  return total;
}

void MagnitudeTally::add(std::span<const double> magnitudes, uint64_t zeros, double max) {
  if (zeros == magnitudes.size()) return;
  if (counters_.empty() || bucket_of(max) >= first_ + kBuckets) cover(max);
  if (counted_ + magnitudes.size() > kMostCounted) empty();
  counted_ += magnitudes.size();
  if (count(magnitudes) + zeros == magnitudes.size()) return;
  // Few numbers lie below the table: they would be at least 58 octaves below the largest.
  for (const double magnitude : magnitudes) {
    if (const MagnitudeBucket bucket = bucket_of(magnitude); bucket <= first_) counts_.add(bucket, 1);
  }
}

// Most pairs of similar tensors are equal, and zeros take no counter.
size_t MagnitudeTally::count(std::span<const double> magnitudes) {
  uint32_t buckets[kAtOnce + kBucketRoom];
  uint32_t* const counters = counters_.data();
  size_t all = 0;
  while (!magnitudes.empty()) {
    const size_t number = std::min(kAtOnce, magnitudes.size());
    const size_t found = find_buckets(magnitudes.data(), number, first_, buckets);
    size_t at = 0;
    for (; at + 2 <= found; at += 2) {
      ++counters[2 * buckets[at]];
      ++counters[2 * buckets[at + 1] + 1];
    }
    if (at < found) ++counters[2 * buckets[at]];
    all += found;
    magnitudes = magnitudes.subspan(number);
  }
  return all;
}

// The table ends a few octaves above `max`: the next blocks will have similar values.
void MagnitudeTally::cover(double max) {
  constexpr MagnitudeBucket kRoom = 5U << kBucketsPerOctaveLog2;
  if (counters_.empty()) {
    counters_.resize(2 * kBuckets);
  } else {
    empty();
  }
  const MagnitudeBucket end = (bucket_of(max) & ~kInOctave) + kRoom;
  first_ = end > kBuckets ? end - kBuckets : 0;
}

void MagnitudeTally::empty() {
  if (counted_ == 0) return;
  counted_ = 0;
  constexpr size_t kCounters = 2 * kBucketsPerOctave;
  for (MagnitudeBucket octave = 0; octave < kBuckets; octave += kBucketsPerOctave) {
    uint32_t* const counters = &counters_[2 * octave];
    if (std::all_of(counters, counters + kCounters, [](uint32_t times) { return times == 0; })) continue;
    for (MagnitudeBucket i = 0; i < kBucketsPerOctave; ++i) {
      counts_.add(first_ + octave + i, uint64_t{counters[2 * i]} + counters[2 * i + 1]);
    }
    std::fill(counters, counters + kCounters, 0U);
  }
}

}  // namespace msdump::kernels
