// The backward pass as MindSpore builds it, and the optimizer: operators appended to a net.
#pragma once

#include "support/noisy_net/net.h"

namespace msdump::noisy {

enum class Optimizer : uint8_t { kMomentum, kAdam, kAdamWeightDecay };

// From the loss, a number. With a loss scale the gradients are divided by it before they are applied.
void add_training(NetBuilder& net, Ref loss, Optimizer optimizer, double loss_scale);

}  // namespace msdump::noisy
