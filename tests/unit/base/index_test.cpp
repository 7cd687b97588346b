#include "base/index.h"

#include <type_traits>
#include <unordered_set>

#include "support/catch.h"

namespace msdump {
namespace {

using TensorId = Index<struct TensorTag>;
using OperatorId = Index<struct OperatorTag>;

static_assert(!std::is_convertible_v<uint32_t, TensorId> && !std::is_convertible_v<TensorId, uint32_t>);
static_assert(!std::is_constructible_v<TensorId, OperatorId> && !std::is_convertible_v<TensorId, OperatorId>);
static_assert(sizeof(TensorId) == sizeof(uint32_t));

TEST_CASE("An index is none until it is given, and none comes after all others") {
  CHECK(TensorId().is_none());
  CHECK_FALSE(TensorId(0).is_none());
  CHECK(TensorId(3) < TensorId(4));
  CHECK(TensorId(4) < TensorId());
}

TEST_CASE("The indices of a vector are those of its elements, in order") {
  IndexVector<TensorId, int> squares;
  CHECK(squares.ids().begin() == squares.ids().end());
  for (int i = 0; i < 3; ++i) CHECK(squares.push_back(i * i) == TensorId(i));
  std::unordered_set<TensorId> seen;
  for (const TensorId id : squares.ids()) {
    CHECK(squares[id] == static_cast<int>(id.value() * id.value()));
    seen.insert(id);
  }
  CHECK(seen.size() == squares.size());
  squares[TensorId(1)] = 7;
  CHECK(squares.items() == std::vector<int>{0, 7, 4});
}

TEST_CASE("A vector of flags gives out its references by value") {
  IndexVector<OperatorId, bool> seen(2, false);
  seen[OperatorId(1)] = true;
  CHECK_FALSE(seen[OperatorId(0)]);
  CHECK(seen[OperatorId(1)]);
}

}  // namespace
}  // namespace msdump
