// TokenUse: whether the rows of two runs are compared by the tokens that they are of (token_view.h).
#pragma once

#include <cstdint>

namespace msdump {

enum class TokenUse : uint8_t {
  // If the ids of both sides have other shapes, and at least half of the tokens are the same. Not for two trainings over ranks.
  kWhereNeeded,
  kAlways,
  kNever
};

}  // namespace msdump
