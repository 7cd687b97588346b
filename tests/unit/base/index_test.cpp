#include "base/index.h"

#include <type_traits>
#include <unordered_set>
#include <vector>

#include "support/catch.h"

namespace msdump {
namespace {

using TensorId = Index<struct TensorTag>;
using OperatorId = Index<struct OperatorTag>;

static_assert(!std::is_convertible_v<uint32_t, TensorId> && std::is_convertible_v<TensorId, uint32_t>);
static_assert(!std::is_constructible_v<TensorId, OperatorId> && !std::is_convertible_v<TensorId, OperatorId>);
static_assert(std::is_convertible_v<None, TensorId> && !std::is_constructible_v<bool, TensorId>);
static_assert(std::equality_comparable<TensorId> && !std::equality_comparable_with<TensorId, OperatorId>);
static_assert(sizeof(TensorId) == sizeof(uint32_t));

TEST_CASE("An index is none until it is given, and none comes after all others") {
  CHECK(TensorId() == kNoId);
  CHECK(TensorId(0) != kNoId);
  CHECK(TensorId(3) < TensorId(4));
  CHECK(TensorId(4) < TensorId());
}

TEST_CASE("An index subscripts a vector, and counts through it") {
  const std::vector<int> squares{0, 1, 4};
  std::unordered_set<TensorId> seen;
  for (TensorId id{0}; id < squares.size(); ++id) {
    CHECK(squares[id] == static_cast<int>(id * id));
    seen.insert(id);
  }
  CHECK(seen.size() == squares.size());
}

}  // namespace
}  // namespace msdump
