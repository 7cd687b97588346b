// Counts |a - b| by magnitude, for the quantiles: 128 counters per octave. The lower end of a counter's interval is
// within 0.8 % of every number in it, and exact for integers up to 256 and for powers of two.
//
// MagnitudeCounts belongs to a state: it has the octaves that occur, in order. MagnitudeTally does the counting of a
// call: a dense table of the 64 octaves in which nearly all numbers of a tensor lie, emptied into the other at the end.
// Counts do not depend on what the table covers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace msdump::kernels {

// The interval a positive double falls into: its exponent's bits and the first 7 of its fraction.
using MagnitudeBucket = uint32_t;
constexpr int kBucketsPerOctaveLog2 = 7;
constexpr size_t kBucketsPerOctave = size_t{1} << kBucketsPerOctaveLog2;

[[nodiscard]] MagnitudeBucket bucket_of(double magnitude);
[[nodiscard]] double lower_end(MagnitudeBucket bucket);

class MagnitudeCounts {
 public:
  void add(MagnitudeBucket bucket, uint64_t times);
  void add(const MagnitudeCounts& other);

  // The lower end of the bucket with the number of that rank, counted from 0; no value when there are not so many. The
  // numbers of bucket 0 (zero, and below 2^-1028) are not counted: they are `below` and come first.
  [[nodiscard]] std::optional<double> at_rank(uint64_t rank, uint64_t below) const;
  [[nodiscard]] uint64_t total() const;

  bool operator==(const MagnitudeCounts&) const = default;

 private:
  struct Octave {
    uint32_t number = 0;
    std::array<uint64_t, kBucketsPerOctave> counts{};

    bool operator==(const Octave&) const = default;
  };

  Octave& octave(uint32_t number);

  std::vector<Octave> octaves_;  // ascending
};

class MagnitudeTally {
 public:
  explicit MagnitudeTally(MagnitudeCounts& counts) : counts_(counts) {}
  ~MagnitudeTally() { empty(); }
  MagnitudeTally(const MagnitudeTally&) = delete;
  MagnitudeTally& operator=(const MagnitudeTally&) = delete;

  // Counts the positive ones; `zeros` is how many are zero, `max` the largest.
  void add(std::span<const double> magnitudes, uint64_t zeros, double max);

 private:
  static constexpr uint32_t kBuckets = 64U << kBucketsPerOctaveLog2;
  static constexpr uint64_t kMostCounted = 1U << 31;  // counters have 32 bits

  void cover(double max);
  [[nodiscard]] size_t count(std::span<const double> magnitudes);
  void empty();

  MagnitudeCounts& counts_;
  // Two for each bucket, used in turns: neighbours are often alike, and an addition would wait for the one before. The
  // first bucket of the table stays empty: its numbers are counted like those below the table.
  std::vector<uint32_t> counters_;
  MagnitudeBucket first_ = 0;
  uint64_t counted_ = 0;
};

// Writes the buckets of the magnitudes that lie above `first`, less `first`, and returns how many those are. Up to
// kBucketRoom places after them are overwritten.
constexpr size_t kBucketRoom = 16;
[[nodiscard]] size_t find_buckets(const double* magnitudes, size_t count, MagnitudeBucket first, uint32_t* buckets);

inline size_t find_buckets_plain(const double* magnitudes, size_t count, MagnitudeBucket first, uint32_t* buckets) {
  size_t found = 0;
  for (size_t at = 0; at < count; ++at) {
    const MagnitudeBucket bucket = bucket_of(magnitudes[at]);
    buckets[found] = bucket - first;
    found += bucket > first ? 1 : 0;
  }
  return found;
}

}  // namespace msdump::kernels
