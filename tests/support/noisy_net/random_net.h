// Random nets: a family and its sizes from a seed, the weights and data from the same seed.
#pragma once

#include "support/noisy_net/net.h"

namespace msdump::noisy {

struct NetPlan {
  uint64_t seed = 0;
  bool small = false;   // a few dozen operators on a few dozen elements
  bool smooth = false;  // nothing with a kink or a choice
};

// Even and odd seeds have the same families; about one net in five has no backward pass.
[[nodiscard]] Net random_net(const NetPlan& plan, const Change& change = {});
// Another batch for a further step: the inputs' values, by value.
[[nodiscard]] Numbers batch_of(const Net& net, Ref input, uint64_t seed, int step);

}  // namespace msdump::noisy
