#include <cmath>

#include <fmt/format.h>

#include "support/noisy_net/blocks.h"

namespace msdump::noisy {

Ref Blocks::embedding(int64_t batch, int64_t length, int64_t width, int64_t words) {
  const std::string scope = "net-Net/embedding-Embedding";
  const Place place(net_, scope, 170);
  Numbers ids(static_cast<size_t>(batch * length));
  for (double& id : ids) id = static_cast<double>(below(words));
  const Ref indices = net_.input("ids", {batch * length}, std::move(ids), NumberKind::kInt32);
  const Ref table = weight(scope, "table", {words, width}, 1);
  const Ref rows = net_.op("Gather", {table, indices, net_.scalar(0, NumberKind::kInt64)}, {batch * length, width});
  const Ref position = weight(scope, "position", {length, width}, 0.3);
  return net_.binary("Add", reshape(rows, {batch, length, width}), position);
}

Ref Blocks::attention(Ref x, const std::string& scope, bool masked) {
  const Shape shape = net_.shape(x);
  const int64_t batch = shape[0], length = shape[1], width = shape[2], heads = 2, each = width / heads;
  const Ref joined = dense(x, 3 * width, scope + "/qkv-Dense", 20);
  const Place place(net_, scope, 180);
  const std::vector<Ref> parts =
      net_.node("Split", {joined, net_.scalar(2, NumberKind::kInt64), net_.scalar(3, NumberKind::kInt64)},
                {shape, shape, shape})
          .outputs;
  const auto by_head = [&](Ref part) {
    return net_.op("Transpose", {reshape(part, {batch, length, heads, each}), net_.tuple({0, 2, 1, 3})},
                   {batch, heads, length, each});
  };
  const Ref query = by_head(parts[0]), key = by_head(parts[1]), value = by_head(parts[2]);
  Ref scores = matmul(query, key, false, true, true);
  {
    const Place scale(net_, "Expand/_Muls", net_.line);
    scores = net_.binary("Mul", scores, net_.number(1 / std::sqrt(static_cast<double>(each))));
  }
  net_.line = 195;
  if (masked) {
    if (mask_ == kAbsent) {
      Numbers above(static_cast<size_t>(length * length));
      for (int64_t i = 0; i < length; ++i) {
        for (int64_t j = i + 1; j < length; ++j) above[static_cast<size_t>(i * length + j)] = -10000;
      }
      mask_ = net_.input("mask", {length, length}, std::move(above));
    }
    scores = net_.binary("Add", scores, mask_);
  }
  net_.line = 197;
  const Ref weights = net_.op("Softmax", {scores, net_.tuple({-1})}, net_.shape(scores));
  const Ref mixed = matmul(weights, value, false, false, true);
  const Ref back = net_.op("Transpose", {mixed, net_.tuple({0, 2, 1, 3})}, {batch, length, heads, each});
  return dense(reshape(back, shape), width, scope + "/proj-Dense", 20);
}

Ref Blocks::transformer(Ref x, const std::string& scope, bool masked, bool rms) {
  const Place place(net_, scope, 210);
  const int64_t width = net_.shape(x).back();
  const auto norm = [&](Ref of, const std::string& name) {
    return rms ? root_mean_square(of, scope + "/" + name + "-RMSNorm")
               : layer_norm(of, scope + "/" + name + "-LayerNorm");
  };
  x = net_.binary("Add", x, attention(norm(x, "norm1"), scope + "/attention-Attention", masked));
  Ref y = dense(norm(x, "norm2"), 2 * width, scope + "/mlp-Mlp/fc1-Dense", 20);
  {
    const Place inner(net_, scope + "/mlp-Mlp", 205);
    y = net_.unary("GeLU", y);
  }
  return net_.binary("Add", x, dense(y, width, scope + "/mlp-Mlp/fc2-Dense", 20));
}

// In a net that loops, the operators of all time steps have the names of the first.
Ref Blocks::recurrence(int64_t batch, int64_t steps, int64_t width, bool gated) {
  const std::string scope = "net-Net/cell-Cell";
  const Shape state{batch, width};
  const Ref x = data("data0", {batch, steps, width});
  const Place place(net_, scope, 220);
  std::vector<Shape> slices(static_cast<size_t>(steps), {batch, 1, width});
  const std::vector<Ref> slice =
      net_.node("Split",
                {x, net_.scalar(1, NumberKind::kInt64), net_.scalar(static_cast<double>(steps), NumberKind::kInt64)},
                slices)
          .outputs;
  const double scale = 0.8 / std::sqrt(static_cast<double>(width));
  const Ref wx = weight(scope, "wx", {width, width}, scale), wh = weight(scope, "wh", {width, width}, scale);
  const Ref wz = gated ? weight(scope, "wz", {width, width}, scale) : kAbsent;
  const Ref bias = weight(scope, "bias", {width}, 0.1);
  Ref h = net_.input("state", state, normal(batch * width, 0.5));
  for (int64_t step = 0; step < steps; ++step) {
    net_.loop = net_.net_.loops && step > 0;
    const auto product = [&](Ref of, Ref by, const char* part) {
      const Place inner(net_, scope + part, 222);
      return matmul(of, by, false, true);
    };
    net_.line = 224;
    const Ref input = reshape(slice[static_cast<size_t>(step)], state);
    const Ref left = product(input, wx, "/x-Dense"), right = product(h, wh, "/h-Dense");
    const Ref sum =
        net_.op("BiasAdd", {net_.binary("Add", left, right), bias, net_.scalar(0, NumberKind::kInt64)}, state);
    const Ref next = net_.unary("Tanh", sum);
    if (gated) {
      const Ref open = net_.unary("Sigmoid", product(h, wz, "/z-Dense"));
      h = net_.binary("Add", h, net_.binary("Mul", open, net_.binary("Sub", next, h)));
    } else {
      h = next;
    }
  }
  return h;
}

}  // namespace msdump::noisy
