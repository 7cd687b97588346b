// Tensors cut into the pieces that ranks have of them, element by element, by the definition at the head of
// compare/match/placement/placement.h and without its code: the slowest dimension of the mesh cuts first.
//
//   const test::MadeLocals made(test::shard_tensor({{{2, PlacementRole::kConcat, 1}}}, {4, 6}, test::numbers(24)));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/match/placement/placement.h"
#include "compare/match/placement/placement_samples.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump::test {

// The roles, in short.
namespace roles {
inline constexpr auto kCopy = PlacementRole::kCopy, kSum = PlacementRole::kSum, kAverage = PlacementRole::kMean,
                      kLargest = PlacementRole::kMax, kConcat = PlacementRole::kConcat,
                      kZigzag = PlacementRole::kZigzag, kGathered = PlacementRole::kGathered;
}  // namespace roles

struct MadeLocal {
  Shape shape;
  std::vector<float> values;
};

// Numbers that depend on `seed` alone, between -1 and 1, no two alike.
[[nodiscard]] std::vector<float> numbers(int64_t count, uint64_t seed = 1);
// The same numbers, each times 1 + noise x a number between -1 and 1.
[[nodiscard]] std::vector<float> with_noise(std::vector<float> values, double noise);

// One piece a rank. The extents of `whole` are multiples of what they are cut into. Terms of a sum are of the size of the
// tensor; of maxima one rank has the tensor's, another one for each element, and the others less.
[[nodiscard]] std::vector<MadeLocal> shard_tensor(const Placement& layout, const Shape& whole,
                                                  const std::vector<float>& values);
// Zeros behind the tensor along an axis, up to `extent`.
[[nodiscard]] MadeLocal padded(const MadeLocal& tensor, uint32_t axis, int64_t extent);
// Elements [from, from + size) along an axis.
[[nodiscard]] MadeLocal part_of(const MadeLocal& tensor, uint32_t axis, int64_t from, int64_t size);

// Pieces as float32 arrays, listed. Must not move.
class MadeLocals {
 public:
  explicit MadeLocals(const std::vector<MadeLocal>& pieces);
  struct Stored {
    std::string descr, data;
    Shape shape;
  };
  explicit MadeLocals(const std::vector<Stored>& pieces);
  MadeLocals(const MadeLocals&) = delete;
  MadeLocals& operator=(const MadeLocals&) = delete;

  [[nodiscard]] const DumpIndex& index() const { return dump_.index; }
  [[nodiscard]] const std::vector<const TensorRecord*>& records() const { return records_; }
  [[nodiscard]] const ScratchDir& scratch() const { return scratch_; }
  [[nodiscard]] LocalValues values() const { return LocalValues(dump_.index, records_); }

 private:
  const ScratchDir scratch_;
  ListedDump dump_;
  std::vector<const TensorRecord*> records_;
};

}  // namespace msdump::test
