#include "stats/tensor_statistics.h"

#include <cmath>
#include <vector>

#include "support/catch.h"

namespace msdump::stats {
namespace {

using kernels::ChunkStatistics;

// Chunks of so many elements that entered, of ten.
std::vector<ChunkStatistics> chunks_with(const std::vector<double>& sums, uint64_t entered) {
  std::vector<ChunkStatistics> chunks;
  for (const double sum : sums) chunks.push_back({.count = 10, .entered = entered, .sum = sum});
  return chunks;
}

TEST_CASE("the mean of chunks keeps what one addition loses, whichever of the two is larger") {
  CHECK(mean_of_chunks(HostArch::kX86, chunks_with({3, 1e18, -1e18}, 1)) == 1);
  CHECK(mean_of_chunks(HostArch::kX86, chunks_with({1e18, 3, -1e18}, 1)) == 1);
  CHECK(mean_of_chunks(HostArch::kX86, chunks_with({-1e18, -6, 1e18}, 2)) == -1);
  CHECK(mean_of_chunks(HostArch::kX86, chunks_with({3, HUGE_VAL}, 1)) == HUGE_VAL);
  CHECK(std::isnan(mean_of_chunks(HostArch::kX86, chunks_with({HUGE_VAL, -HUGE_VAL, 1}, 1))));
  CHECK_FALSE(std::signbit(mean_of_chunks(HostArch::kX86, chunks_with({NAN, -NAN}, 1))));  // of several NaN the first
}

TEST_CASE("from 2.4 on the number of elements is a quotient in single precision") {
  const Dialect& newest = newest_dialect();
  const Dialect& old = *dialect_from_text("2.3.0").value();
  constexpr int64_t kMany = (int64_t{1} << 25) + 1;  // of 4 bytes: not a float32
  CHECK(analysed_count(newest, DType::kFloat32, 4 * kMany, kMany) == kMany - 1);
  CHECK(analysed_count(old, DType::kFloat32, 4 * kMany, kMany) == kMany);
  CHECK(analysed_count(newest, DType::kInt4, (kMany + 1) / 2, kMany) == kMany);
  CHECK(analysed_count(newest, DType::kUint8, kMany, kMany) == kMany - 1);
  CHECK(analysed_count(newest, DType::kFloat64, 24, 3) == 3);
}

}  // namespace
}  // namespace msdump::stats
