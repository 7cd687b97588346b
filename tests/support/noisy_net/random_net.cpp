#include "support/noisy_net/random_net.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "support/noisy_net/blocks.h"
#include "support/noisy_net/gradients.h"

namespace msdump::noisy {
namespace {

class Family {
 public:
  Family(const NetPlan& plan, bool deep, NetBuilder& net)
      : plan_(plan), deep_(deep), blocks_(net, plan.seed), net_(net) {}

  // The logits, (batch, classes).
  Ref build() {
    switch (plan_.seed / 2 % 5) {
      case 0: return perceptron();
      case 1: return image();
      case 2: return transformer();
      case 3: return recurrent();
      default: return mixture();
    }
  }

  int classes = 10;

 private:
  int64_t pick(std::initializer_list<int64_t> from) { return blocks_.pick(from); }
  int64_t depth(int64_t most) { return plan_.small ? 1 : (1 + blocks_.below(most)) * (deep_ ? 3 : 1); }

  Ref perceptron() {
    const int64_t batch = plan_.small ? 4 : pick({8, 16, 32}), width = plan_.small ? 8 : pick({32, 64});
    Ref x = blocks_.data("data0", {batch, width});
    x = blocks_.dense(x, width, "net-Net/stem-Dense", 20);
    const int64_t layers = depth(9);
    const bool residual = blocks_.chance(2);
    for (int64_t i = 0; i < layers; ++i) {
      const std::string scope = fmt::format("net-Net/layer{}-Layer", i);
      x = residual ? blocks_.residual(x, scope, plan_.smooth) : blocks_.layer(x, scope, plan_.smooth);
    }
    if (blocks_.chance(2)) x = blocks_.gate(x, "net-Net/gate-Gate");
    return blocks_.dense(x, classes, "net-Net/head-Dense", 30);
  }

  Ref image() {
    const int64_t batch = plan_.small ? 2 : pick({2, 4, 8}), side = plan_.small ? 4 : pick({8, 12});
    const int64_t channels = plan_.small ? 2 : pick({4, 8});
    Ref x = blocks_.data("data0", {batch, 3, side, side});
    x = blocks_.convolution(x, channels, "net-Net/stem-Unit", 40, plan_.smooth);
    const int64_t layers = depth(6);
    for (int64_t i = 0; i < layers; ++i)
      x = blocks_.bottleneck(x, fmt::format("net-Net/block{}-Block", i), plan_.smooth);
    if (blocks_.chance(2)) x = blocks_.fork(x, "net-Net/fork-Fork", plan_.smooth);
    if (!plan_.smooth) x = blocks_.pool(x, "net-Net/pool-MaxPool2d");
    x = blocks_.mean(x, {2, 3}, "net-Net");
    return blocks_.dense(x, classes, "net-Net/head-Dense", 30);
  }

  Ref transformer() {
    const int64_t batch = 2, length = plan_.small ? 3 : pick({8, 12, 16}), width = plan_.small ? 8 : pick({16, 32});
    Ref x = blocks_.embedding(batch, length, width, plan_.small ? 8 : 64);
    const int64_t layers = depth(3);
    const bool masked = blocks_.chance(2), root_mean_square = blocks_.chance(3);
    for (int64_t i = 0; i < layers; ++i)
      x = blocks_.transformer(x, fmt::format("net-Net/block{}-Block", i), masked, root_mean_square);
    x = blocks_.mean(x, {1}, "net-Net");
    return blocks_.dense(x, classes, "net-Net/head-Dense", 30);
  }

  Ref recurrent() {
    const int64_t batch = plan_.small ? 2 : pick({4, 8, 16}), width = plan_.small ? 4 : pick({16, 32});
    const int64_t steps = plan_.small ? 2 : pick({5, 7, 10});
    const Ref x = blocks_.recurrence(batch, steps, width, !net_.net_.loops && blocks_.chance(2));
    return blocks_.dense(x, classes, "net-Net/head-Dense", 30);
  }

  // Blocks in a row, each with its own class.
  Ref mixture() {
    const int64_t batch = plan_.small ? 4 : pick({8, 16}), width = plan_.small ? 8 : pick({16, 32, 64});
    Ref x = blocks_.data("data0", {batch, width});
    const int64_t layers = plan_.small ? 3 : (4 + blocks_.below(8)) * (deep_ ? 2 : 1);
    for (int64_t i = 0; i < layers; ++i) {
      const std::string scope = fmt::format("net-Net/part{}-", i);
      switch (blocks_.below(plan_.smooth ? 5 : 8)) {
        case 0: x = blocks_.residual(x, scope + "Residual", plan_.smooth); break;
        case 1: x = blocks_.gate(x, scope + "Gate"); break;
        case 2: x = blocks_.unit_length(x, scope + "Unit"); break;
        case 3: x = blocks_.log_sum(x, scope + "LogSum", plan_.smooth); break;
        case 4: x = blocks_.root_mean_square(x, scope + "RMSNorm"); break;
        case 5: x = blocks_.layer(x, scope + "Layer", false); break;
        case 6: x = blocks_.dropout(x, scope + "Dropout"); break;
        default: x = blocks_.branches(x, scope + "Branches"); break;
      }
    }
    return blocks_.dense(x, classes, "net-Net/head-Dense", 30);
  }

  const NetPlan& plan_;
  const bool deep_;  // without a backward pass
  Blocks blocks_;
  NetBuilder& net_;
};

}  // namespace

Net random_net(const NetPlan& plan, const Change& change) {
  NetBuilder builder(change);
  std::mt19937_64 random(plan.seed * 31 + 7);
  const bool recurrent = plan.seed / 2 % 5 == 3;
  const bool trains = plan.small || random() % 5 != 0;
  builder.net_.loops = recurrent && !trains;
  Family family(plan, !trains, builder);
  const Ref logits = family.build();
  builder.loop = false;
  Blocks ends(builder, plan.seed + 1);
  Ref loss = ends.loss(logits);
  builder.net_.loss = loss;
  if (!trains) return std::move(builder.net_);
  const double scale = change.loss_scale;
  builder.prefix_of_key = "scale";
  if (scale != 1) loss = builder.binary("Mul", loss, builder.number(scale));
  add_training(builder, loss, static_cast<Optimizer>(random() % 3), scale);
  return std::move(builder.net_);
}

Numbers batch_of(const Net& net, Ref input, uint64_t seed, int step) {
  const NetValue& value = net.values[input];
  if (step == 0 || value.name == "mask" || value.name.starts_with("keep")) return value.initial;
  // The same numbers in another order: integers stay valid, and so do labels.
  Numbers result = value.initial;
  std::mt19937_64 random(seed * 1009 + static_cast<uint64_t>(step));
  if (value.shape.size() < 2 || value.name == "labels") {
    const auto row = static_cast<std::ptrdiff_t>(value.shape.size() < 2 ? 1 : value.shape[1]);
    std::rotate(result.begin(), result.begin() + row, result.end());
  } else {
    for (size_t i = result.size(); i-- > 1;) std::swap(result[i], result[random() % (i + 1)]);
  }
  return result;
}

}  // namespace msdump::noisy
