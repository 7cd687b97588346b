#include "compare/pair/precision.h"

#include "support/catch.h"

namespace msdump {
namespace {

// Pairs of dtypes, candidate and reference; as many of each as its number says.
struct Count {
  DType a, b;
  uint32_t number = 1;
};

std::optional<DType> coarser(const std::vector<Count>& counts) {
  std::vector<TensorRecord> left, right;
  Pairing pairing;
  for (const Count& count : counts) {
    for (uint32_t i = 0; i < count.number; ++i) {
      const RecordId place(left.size());
      left.emplace_back().name.dtype = count.a;
      right.emplace_back().name.dtype = count.b;
      pairing.tensors.push_back({{place, place}, {}});
    }
  }
  CompareSide a, b;
  a.tensors = &left;
  b.tensors = &right;
  return coarser_throughout(a, b, pairing);
}

constexpr DType kHalf = DType::kFloat16, kSingle = DType::kFloat32, kBrain = DType::kBfloat16, kWhole = DType::kInt32;

}  // namespace

TEST_CASE("a tenth of the floating tensors in a coarser dtype make a side that computes in it") {
  CHECK(coarser({{kHalf, kSingle, 10}, {kSingle, kSingle, 90}}) == kHalf);
  CHECK(coarser({{kHalf, kSingle, 9}, {kSingle, kSingle, 91}}) == std::nullopt);
  CHECK(coarser({{kHalf, kSingle, 1}}) == kHalf);
  CHECK(coarser({}) == std::nullopt);
}

TEST_CASE("whole numbers do not count, a finer dtype on the candidate's side neither") {
  CHECK(coarser({{kHalf, kSingle, 1}, {kSingle, kSingle, 8}, {kWhole, kWhole, 500}}) == kHalf);
  CHECK(coarser({{kSingle, kHalf, 50}}) == std::nullopt);
  CHECK(coarser({{kWhole, kSingle, 50}, {kSingle, kSingle, 5}}) == std::nullopt);
}

TEST_CASE("of two coarser dtypes the coarsest that is common enough counts") {
  CHECK(coarser({{kHalf, kSingle, 40}, {kBrain, kSingle, 40}}) == kBrain);
  CHECK(coarser({{kHalf, kSingle, 95}, {kBrain, kSingle, 5}}) == kHalf);
}

}  // namespace msdump
