#include "support/device_net/host_net.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <Eigen/Core>

namespace msdump::test {
namespace {

float rounded(float value) { return static_cast<float>(Eigen::half(value)); }

float at(const Floats& values, size_t i) { return values[i % values.size()]; }

// One output of an operator from the values of one side. Types without a formula mix their inputs.
Floats compute(const HostOp& op, const std::vector<const Floats*>& inputs, uint32_t output, size_t count) {
  const Floats& x = *inputs[0];
  Floats result(count);
  std::mt19937_64 random(op.seed + output);
  std::vector<std::array<uint64_t, 2>> steps;
  for (size_t k = 0; k < inputs.size(); ++k) steps.push_back({1 + 2 * (random() % 50), random() % 1000});
  double mean = 0, square = 0;
  for (const float value : x) mean += value / static_cast<double>(x.size());
  for (const float value : x) square += (value - mean) * (value - mean) / static_cast<double>(x.size());
  for (size_t i = 0; i < count; ++i) {
    if (inputs.size() > 1 && (op.type == "BiasAdd" || op.type == "Add")) {
      result[i] = at(x, i) + at(*inputs[1], i);
    } else if (inputs.size() > 1 && op.type == "Mul") {
      result[i] = at(x, i) * at(*inputs[1], i);
    } else if (op.type == "ReLU") {
      result[i] = std::max(at(x, i), 0.0F);
    } else if (op.type == "Reshape" || op.type == "Cast") {
      result[i] = at(x, i);
    } else if (inputs.size() > 2 && op.type == "BatchNorm" && output == 0) {
      result[i] =
          static_cast<float>((at(x, i) - mean) / std::sqrt(square + 1e-3)) * at(*inputs[1], i) + at(*inputs[2], i);
    } else {
      for (size_t k = 0; k < inputs.size(); ++k)
        result[i] += at(*inputs[k], steps[k][0] * i + steps[k][1]) / std::sqrt(static_cast<float>(inputs.size()));
    }
  }
  return result;
}

class HostNetMaker {
 public:
  HostNetMaker(NetRandom& random, const DeviceNetOptions& options) : random_(random), options_(options) {}

  HostNet make() {
    for (int i = 0; i < 3; ++i) pool_.push_back(parameter({random_.pick({4, 6, 8}), random_.pick({6, 8, 12})}));
    for (uint32_t i = 0; i < options_.scopes; ++i) add_scope(i);
    number_operators();
    return std::move(net_);
  }

 private:
  uint32_t add_value(NetValue value) {
    net_.values.push_back(std::move(value));
    return static_cast<uint32_t>(net_.values.size() - 1);
  }

  uint32_t parameter(const Shape& shape, float mean = 0) {
    NetValue value;
    value.shape = shape;
    value.operand = fmt::format("%para{}_p{}", net_.values.size() + 1, net_.values.size());
    for (int64_t i = 0; i < *element_count(shape); ++i) value.host.push_back(mean + random_.normal());
    for (const float x : value.host) value.device.push_back(rounded(x));
    return add_value(std::move(value));
  }

  uint32_t indices(int64_t count) {
    NetValue value;
    value.shape = {count};
    value.dtype = DType::kInt32;
    value.operand = fmt::format("%para{}_p{}", net_.values.size() + 1, net_.values.size());
    for (int64_t i = 0; i < count; ++i) value.host.push_back(static_cast<float>(random_.number() % 100));
    value.device = value.host;
    return add_value(std::move(value));
  }

  uint32_t attribute() {
    NetValue value;
    value.attribute = true;
    value.dtype = DType::kInt64;
    const double kind = random_.uniform();
    if (kind < 0.2) {
      value.dtype = DType::kBool;
      value.host = {random_.chance(0.5) ? 1.0F : 0.0F};
      value.operand = fmt::format("Bool({})", value.host[0]);
    } else if (kind < 0.3) {
      value.dtype = DType::kFloat32;
      value.host = {0.001F};
      value.operand = "F32(0.001)";
    } else if (kind < 0.6) {
      value.shape = {random_.pick({2, 3, 4})};
      for (int64_t i = 0; i < value.shape[0]; ++i) {
        value.host.push_back(static_cast<float>(random_.number() % 8));
        value.operand += fmt::format("{}I64({})", i == 0 ? "(" : ", ", value.host.back());
      }
      value.operand += ")";
    } else {
      value.host = {static_cast<float>(random_.number() % 4)};
      value.operand = fmt::format("I64({})", value.host[0]);
    }
    return add_value(std::move(value));
  }

  [[nodiscard]] int64_t width(uint32_t value) const { return net_.values[value].shape.back(); }

  void add_output(HostOp& op, const Shape& shape, uint32_t output) {
    NetValue value;
    value.shape = shape;
    const auto count = static_cast<size_t>(*element_count(shape));
    std::vector<const Floats*> host, device;
    for (const uint32_t input : op.inputs) {
      if (net_.values[input].attribute || net_.values[input].dtype != DType::kFloat32) continue;
      host.push_back(&net_.values[input].host);
      device.push_back(&net_.values[input].device);
    }
    value.host = compute(op, host, output, count);
    value.device = compute(op, device, output, count);
    double scale = 0;
    for (const float x : value.host) scale += std::abs(x) / static_cast<double>(count);
    const bool fault = options_.faults && op.type != "Reshape" && random_.chance(0.02), gross = random_.chance(0.5);
    for (float& x : value.device) {
      const float noise = random_.normal() * static_cast<float>(scale);
      x = rounded(fault && gross ? noise : x + noise * (fault ? 0.3F : 1e-3F));
    }
    value.operand = op.outputs.empty() ? fmt::format("%{}", net_.ops.size()) : "";
    op.outputs.push_back(add_value(std::move(value)));
  }

  uint32_t add(HostOp op, const std::vector<Shape>& outputs) {
    op.scope = scope_;
    op.seed = random_.number();
    for (uint32_t i = 0; i < outputs.size(); ++i) add_output(op, outputs[i], i);
    op.in_alone.resize(op.inputs.size());
    op.out_alone.resize(op.outputs.size());
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      if (!op.slots[i]) op.in_alone[i] = {Alone::kAttribute};
    }
    net_.ops.push_back(std::move(op));
    return static_cast<uint32_t>(net_.ops.size() - 1);
  }

  static HostOp made(std::string_view type, std::string_view device_type, DeviceSlots slots,
                     std::vector<uint32_t> inputs) {
    HostOp op;
    op.type = type;
    op.device_type = device_type;
    op.slots = std::move(slots);
    op.inputs = std::move(inputs);
    return op;
  }

  uint32_t from_pool() { return pool_[pool_.size() - 1 - random_.number() % std::min<size_t>(pool_.size(), 6)]; }
  void single(uint32_t op) { net_.chains.push_back({op}); }

  void add_scope(uint32_t index) {
    static constexpr std::array<const char*, 4> kKinds = {"Dense", "Block", "Attention", "SequentialCell"};
    scope_ = fmt::format("Default/network-Net/layer{}-{}", index, random_.one_of(kKinds));
    std::vector<const TypePair*> palette;
    for (int i = 0; i < 4; ++i) palette.push_back(&random_.one_of(type_pairs()));
    const size_t end = net_.ops.size() + options_.operators;
    while (net_.ops.size() < end) {
      const double kind = random_.uniform();
      if (kind < 0.5) {
        add_plain(*random_.one_of(palette));
      } else if (kind < 0.68) {
        add_dense();
      } else if (kind < 0.76) {
        add_scaled();
      } else if (kind < 0.84) {
        add_norm();
      } else if (kind < 0.9) {
        add_relu();
      } else if (kind < 0.96) {
        add_reshape();
      } else {
        const uint32_t x = from_pool(),
                       cast = add(made("Cast", "Cast", {0, {}}, {x, attribute()}), {net_.values[x].shape});
        single(cast);
        pool_.push_back(net_.output_of(cast));
      }
    }
  }

  void add_plain(const TypePair& pair) {
    std::vector<uint32_t> inputs;
    uint32_t x = from_pool();
    bool first = true;
    for (const auto& slot : pair.slots) {
      if (!slot) {
        inputs.push_back(attribute());
      } else if (first) {
        inputs.push_back(x);
        first = false;
      } else if (random_.chance(0.15)) {
        inputs.push_back(indices(random_.pick({4, 7, 12})));
      } else {
        inputs.push_back(random_.chance(0.4) ? unused_from_pool(inputs)
                                             : parameter(random_.chance(0.5) ? Shape{width(x)} : net_.values[x].shape));
      }
    }
    std::vector<Shape> outputs(pair.outputs, net_.values[x].shape);
    for (size_t i = 1; i < outputs.size(); ++i) {
      if (random_.chance(0.5)) outputs[i] = {width(x)};
    }
    const uint32_t op = add(made(pair.host, pair.device, pair.slots, inputs), outputs);
    single(op);
    pool_.push_back(net_.output_of(op));
  }

  // What the operator does not read already: two equal inputs have no order.
  uint32_t unused_from_pool(const std::vector<uint32_t>& used) {
    const uint32_t value = from_pool();
    return std::find(used.begin(), used.end(), value) == used.end() ? value : parameter(net_.values[value].shape);
  }

  // MatMul BiasAdd, ReLU or none.
  void add_dense() {
    const uint32_t x = from_pool();
    const int64_t wide = random_.pick({6, 8, 12});
    const uint32_t product =
        add(made("MatMul", "MatMulV2", {0, 1, {}, {}}, {x, parameter({width(x), wide}), attribute(), attribute()}),
            {{net_.values[x].shape[0], wide}});
    const uint32_t sum =
        add(made("BiasAdd", "BiasAdd", {0, 1, {}}, {net_.output_of(product), parameter({wide}), attribute()}),
            {net_.values[net_.output_of(product)].shape});
    FusibleChain chain = {product, sum};
    if (random_.chance(0.5)) chain.push_back(add_relu_of(net_.output_of(sum)));
    finish(std::move(chain));
  }

  void add_scaled() {
    const uint32_t x = from_pool();
    const uint32_t product = add(made("Mul", "Mul", {0, 1}, {x, parameter({width(x)}, 1)}), {net_.values[x].shape});
    const uint32_t sum =
        add(made("Add", "Add", {0, 1}, {net_.output_of(product), unused_from_pool({})}), {net_.values[x].shape});
    finish({product, sum});
  }

  void add_norm() {
    const uint32_t x = from_pool();
    const Shape narrow = {width(x)};
    std::vector<uint32_t> inputs = {x};
    for (int i = 0; i < 4; ++i) inputs.push_back(parameter(narrow, i % 2 == 0 ? 1.0F : 0.0F));
    for (int i = 0; i < 4; ++i) inputs.push_back(attribute());
    const uint32_t norm = add(made("BatchNorm", "BatchNorm", {0, 1, 2, 3, 4, {}, {}, {}, {}}, inputs),
                              {net_.values[x].shape, narrow, narrow, narrow, narrow});
    FusibleChain chain = {norm};
    if (random_.chance(0.6)) chain.push_back(add_relu_of(net_.output_of(norm)));
    finish(std::move(chain));
  }

  uint32_t add_relu_of(uint32_t x) { return add(made("ReLU", "Relu", {0}, {x}), {net_.values[x].shape}); }
  void add_relu() { finish({add_relu_of(from_pool())}); }

  void add_reshape() {
    const uint32_t x = from_pool();
    const uint32_t op = add(made("Reshape", "", {0, {}}, {x, attribute()}),
                            {{width(x), *element_count(net_.values[x].shape) / width(x)}});
    for (auto& alone : net_.ops[op].in_alone) alone = {Alone::kNoKernel};
    net_.ops[op].in_alone[1].insert(Alone::kAttribute);
    net_.ops[op].out_alone[0] = {Alone::kNoKernel};
    pool_.push_back(net_.output_of(op));
  }

  void finish(FusibleChain chain) {
    pool_.push_back(net_.output_of(chain.back()));
    net_.chains.push_back(std::move(chain));
  }

  // By creation, of which each side has its own order.
  void number_operators() {
    std::vector<uint32_t> order(net_.ops.size());
    std::iota(order.begin(), order.end(), 0U);
    for (const uint32_t op : order) net_.ops[op].number = op;
    std::shuffle(order.begin(), order.end(), random_.engine());
    for (uint32_t i = 0; i < order.size(); ++i) net_.ops[order[i]].device_number = 300 + i;
    net_.next_device_number = 300 + static_cast<uint32_t>(net_.ops.size());
  }

  NetRandom& random_;
  const DeviceNetOptions& options_;
  HostNet net_;
  std::string scope_;
  std::vector<uint32_t> pool_;  // values that operators to come may read
};

}  // namespace

HostNet make_host_net(NetRandom& random, const DeviceNetOptions& options) {
  return HostNetMaker(random, options).make();
}

}  // namespace msdump::test
