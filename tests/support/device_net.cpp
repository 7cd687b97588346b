#include "support/device_net.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <Eigen/Core>

#include "base/text.h"
#include "ge/operators/operator_table.h"
#include "ge/operators/tables.h"
#include "graph/op_name.h"
#include "support/dump_builder.h"
#include "support/graph_run.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump::test {

namespace fs = std::filesystem;

namespace {

using Floats = std::vector<float>;
using Slots = std::vector<std::optional<uint32_t>>;  // on the device, by operand; none: an attribute

// ---- Types

struct TypePair {
  std::string_view host, device;
  Slots slots;
  uint32_t outputs = 1;
};

// "0>1;1>attr:axis;2>0": every operand is one tensor or an attribute.
std::optional<Slots> slots_of(std::string_view rule) {
  Slots slots;
  std::vector<uint32_t> used;
  for (const std::string_view item : split(rule, ';')) {
    const size_t arrow = item.find('>');
    if (arrow == std::string_view::npos || item.substr(0, arrow) != std::to_string(slots.size())) return std::nullopt;
    const std::string_view to = item.substr(arrow + 1);
    if (to.starts_with("attr:")) {
      slots.emplace_back();
    } else if (is_digits(to)) {
      used.push_back(static_cast<uint32_t>(std::stoul(std::string(to))));
      slots.emplace_back(used.back());
    } else {
      return std::nullopt;
    }
  }
  // Files number the slots that there are.
  std::sort(used.begin(), used.end());
  if (used.empty() || std::adjacent_find(used.begin(), used.end()) != used.end()) return std::nullopt;
  for (auto& slot : slots) {
    if (slot) slot = static_cast<uint32_t>(std::lower_bound(used.begin(), used.end(), *slot) - used.begin());
  }
  return slots;
}

std::vector<TypePair> read_type_pairs() {
  const ge::OperatorTable& table = ge::OperatorTable::get();
  std::vector<TypePair> pairs;
  for (const std::string_view line : split(ge::kOperatorsCsv, '\n')) {
    const std::vector<std::string_view> cells = split(line, ',');
    if (line.starts_with('#') || cells.size() != 5 || cells[2] == "host") continue;
    if (cells[0].starts_with("BNTraining") || cells[0] == "BNInfer") continue;  // no operators of a host
    if (!table.inserted(cells[0]).empty() || !table.inserted(cells[1]).empty()) continue;
    if (table.family(cells[0]) != table.family(cells[1])) continue;
    const auto inputs = slots_of(cells[3]), outputs = slots_of(cells[4]);
    if (!inputs || !outputs) continue;
    const bool same = std::all_of(outputs->begin(), outputs->end(),
                                  [&, i = 0U](const auto& slot) mutable { return slot && *slot == i++; });
    if (same) pairs.push_back({cells[0], cells[1], *inputs, static_cast<uint32_t>(outputs->size())});
  }
  return pairs;
}

const std::vector<TypePair>& type_pairs() {
  static const std::vector<TypePair> pairs = read_type_pairs();
  return pairs;
}

// ---- The network

constexpr uint32_t kNone = UINT32_MAX;

struct Value {
  Shape shape;
  DType dtype = DType::kFloat32;
  Floats host, device;
  std::string operand;  // in the IR
  bool attribute = false;
};

struct HostOp {
  std::string type, device_type, scope;
  Slots slots;
  std::vector<uint32_t> inputs, outputs;  // values
  uint32_t number = 0, device_number = 0;
  uint64_t seed = 0;
  std::vector<std::set<Alone>> in_alone, out_alone;  // right reasons
};

// Operators that the device may have as one, in order; what is between them nothing else reads.
struct Chain {
  std::vector<uint32_t> ops;
};

struct HostPlace {
  uint32_t op = kNone, slot = 0;
};
struct DeviceTensor {
  uint32_t value = kNone;  // none: `values`, of the shape of one
  Floats values;
  std::optional<HostPlace> partner;
  std::set<Alone> alone;
  std::string original;
  uint32_t original_output = 0;
};
struct DeviceOp {
  std::string type, name;
  std::vector<DeviceTensor> inputs, outputs;
  std::vector<HostPlace> lost_inputs, lost_outputs;  // of the host, when this one's file is missing
};

float rounded(float value) { return static_cast<float>(Eigen::half(value)); }

class NetMaker {
 public:
  NetMaker(uint64_t seed, const fs::path& dir, const DeviceNetOptions& options)
      : random_(seed), dir_(dir), options_(options), with_ir_(seed % 2 == 0), by_time_(seed % 4 < 2) {
    device_types_in_names_ = chance(0.25);  // as MindSpore's own kernel graphs, which know no originals
    with_originals_ = chance(0.66) && !device_types_in_names_;
    originals_of_inserted_ = chance(0.33);
    clear_casts_ = chance(0.5);
  }

  DeviceNet make() {
    for (int i = 0; i < 3; ++i) pool_.push_back(parameter({pick({4, 6, 8}), pick({6, 8, 12})}));
    for (uint32_t i = 0; i < options_.scopes; ++i) add_scope(i);
    number_operators();
    lower();
    reorder();
    write_host();
    write_device();
    return std::move(net_);
  }

 private:
  // ---- Chance

  double uniform() { return std::uniform_real_distribution<>(0, 1)(random_); }
  bool chance(double share) { return uniform() < share; }
  float normal() { return std::normal_distribution<float>(0, 1)(random_); }
  template <class Items>
  const auto& one_of(const Items& items) {
    return items[random_() % items.size()];
  }
  int64_t pick(std::initializer_list<int64_t> items) { return *(items.begin() + random_() % items.size()); }

  // ---- Values

  uint32_t add_value(Value value) {
    values_.push_back(std::move(value));
    return static_cast<uint32_t>(values_.size() - 1);
  }

  uint32_t parameter(const Shape& shape, float mean = 0) {
    Value value;
    value.shape = shape;
    value.operand = fmt::format("%para{}_p{}", values_.size() + 1, values_.size());
    for (int64_t i = 0; i < *element_count(shape); ++i) value.host.push_back(mean + normal());
    for (const float x : value.host) value.device.push_back(rounded(x));
    return add_value(std::move(value));
  }

  uint32_t indices(int64_t count) {
    Value value;
    value.shape = {count};
    value.dtype = DType::kInt32;
    value.operand = fmt::format("%para{}_p{}", values_.size() + 1, values_.size());
    for (int64_t i = 0; i < count; ++i) value.host.push_back(static_cast<float>(random_() % 100));
    value.device = value.host;
    return add_value(std::move(value));
  }

  uint32_t attribute() {
    Value value;
    value.attribute = true;
    value.dtype = DType::kInt64;
    const double kind = uniform();
    if (kind < 0.2) {
      value.dtype = DType::kBool;
      value.host = {chance(0.5) ? 1.0F : 0.0F};
      value.operand = fmt::format("Bool({})", value.host[0]);
    } else if (kind < 0.3) {
      value.dtype = DType::kFloat32;
      value.host = {0.001F};
      value.operand = "F32(0.001)";
    } else if (kind < 0.6) {
      value.shape = {pick({2, 3, 4})};
      for (int64_t i = 0; i < value.shape[0]; ++i) {
        value.host.push_back(static_cast<float>(random_() % 8));
        value.operand += fmt::format("{}I64({})", i == 0 ? "(" : ", ", value.host.back());
      }
      value.operand += ")";
    } else {
      value.host = {static_cast<float>(random_() % 4)};
      value.operand = fmt::format("I64({})", value.host[0]);
    }
    return add_value(std::move(value));
  }

  // ---- Operators of the host

  [[nodiscard]] int64_t width(uint32_t value) const { return values_[value].shape.back(); }

  static float at(const Floats& values, size_t i) { return values[i % values.size()]; }

  // One output of an operator from the values of one side. Types without a formula mix their inputs.
  static Floats compute(const HostOp& op, const std::vector<const Floats*>& inputs, uint32_t output, size_t count) {
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

  void add_output(HostOp& op, const Shape& shape, uint32_t output) {
    Value value;
    value.shape = shape;
    const auto count = static_cast<size_t>(*element_count(shape));
    std::vector<const Floats*> host, device;
    for (const uint32_t input : op.inputs) {
      if (values_[input].attribute || values_[input].dtype != DType::kFloat32) continue;
      host.push_back(&values_[input].host);
      device.push_back(&values_[input].device);
    }
    value.host = compute(op, host, output, count);
    value.device = compute(op, device, output, count);
    double scale = 0;
    for (const float x : value.host) scale += std::abs(x) / static_cast<double>(count);
    const bool fault = options_.faults && op.type != "Reshape" && chance(0.02), gross = chance(0.5);
    for (float& x : value.device) {
      const float noise = normal() * static_cast<float>(scale);
      x = rounded(fault && gross ? noise : x + noise * (fault ? 0.3F : 1e-3F));
    }
    value.operand = op.outputs.empty() ? fmt::format("%{}", ops_.size()) : "";
    op.outputs.push_back(add_value(std::move(value)));
  }

  uint32_t add(HostOp op, const std::vector<Shape>& outputs) {
    op.scope = scope_;
    op.seed = random_();
    for (uint32_t i = 0; i < outputs.size(); ++i) add_output(op, outputs[i], i);
    op.in_alone.resize(op.inputs.size());
    op.out_alone.resize(op.outputs.size());
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      if (!op.slots[i]) op.in_alone[i] = {Alone::kAttribute};
    }
    ops_.push_back(std::move(op));
    return static_cast<uint32_t>(ops_.size() - 1);
  }

  static HostOp made(std::string_view type, std::string_view device_type, Slots slots, std::vector<uint32_t> inputs) {
    HostOp op;
    op.type = type;
    op.device_type = device_type;
    op.slots = std::move(slots);
    op.inputs = std::move(inputs);
    return op;
  }

  [[nodiscard]] uint32_t output_of(uint32_t op) const { return ops_[op].outputs[0]; }
  uint32_t from_pool() { return pool_[pool_.size() - 1 - random_() % std::min<size_t>(pool_.size(), 6)]; }
  void single(uint32_t op) { chains_.push_back({{op}}); }

  void add_scope(uint32_t index) {
    static constexpr std::array<const char*, 4> kKinds = {"Dense", "Block", "Attention", "SequentialCell"};
    scope_ = fmt::format("Default/network-Net/layer{}-{}", index, one_of(kKinds));
    std::vector<const TypePair*> palette;
    for (int i = 0; i < 4; ++i) palette.push_back(&one_of(type_pairs()));
    const size_t end = ops_.size() + options_.operators;
    while (ops_.size() < end) {
      const double kind = uniform();
      if (kind < 0.5) {
        add_plain(*one_of(palette));
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
        const uint32_t x = from_pool(), cast = add(made("Cast", "Cast", {0, {}}, {x, attribute()}), {values_[x].shape});
        single(cast);
        pool_.push_back(output_of(cast));
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
      } else if (chance(0.15)) {
        inputs.push_back(indices(pick({4, 7, 12})));
      } else {
        inputs.push_back(chance(0.4) ? unused_from_pool(inputs)
                                     : parameter(chance(0.5) ? Shape{width(x)} : values_[x].shape));
      }
    }
    std::vector<Shape> outputs(pair.outputs, values_[x].shape);
    for (size_t i = 1; i < outputs.size(); ++i) {
      if (chance(0.5)) outputs[i] = {width(x)};
    }
    const uint32_t op = add(made(pair.host, pair.device, pair.slots, inputs), outputs);
    single(op);
    pool_.push_back(output_of(op));
  }

  // What the operator does not read already: two equal inputs have no order.
  uint32_t unused_from_pool(const std::vector<uint32_t>& used) {
    const uint32_t value = from_pool();
    return std::find(used.begin(), used.end(), value) == used.end() ? value : parameter(values_[value].shape);
  }

  // MatMul BiasAdd, ReLU or none.
  void add_dense() {
    const uint32_t x = from_pool();
    const int64_t wide = pick({6, 8, 12});
    const uint32_t product =
        add(made("MatMul", "MatMulV2", {0, 1, {}, {}}, {x, parameter({width(x), wide}), attribute(), attribute()}),
            {{values_[x].shape[0], wide}});
    const uint32_t sum =
        add(made("BiasAdd", "BiasAdd", {0, 1, {}}, {output_of(product), parameter({wide}), attribute()}),
            {values_[output_of(product)].shape});
    Chain chain{{product, sum}};
    if (chance(0.5)) chain.ops.push_back(add_relu_of(output_of(sum)));
    finish(std::move(chain));
  }

  void add_scaled() {
    const uint32_t x = from_pool();
    const uint32_t product = add(made("Mul", "Mul", {0, 1}, {x, parameter({width(x)}, 1)}), {values_[x].shape});
    const uint32_t sum =
        add(made("Add", "Add", {0, 1}, {output_of(product), unused_from_pool({})}), {values_[x].shape});
    finish({{product, sum}});
  }

  void add_norm() {
    const uint32_t x = from_pool();
    const Shape narrow = {width(x)};
    std::vector<uint32_t> inputs = {x};
    for (int i = 0; i < 4; ++i) inputs.push_back(parameter(narrow, i % 2 == 0 ? 1.0F : 0.0F));
    for (int i = 0; i < 4; ++i) inputs.push_back(attribute());
    const uint32_t norm = add(made("BatchNorm", "BatchNorm", {0, 1, 2, 3, 4, {}, {}, {}, {}}, inputs),
                              {values_[x].shape, narrow, narrow, narrow, narrow});
    Chain chain{{norm}};
    if (chance(0.6)) chain.ops.push_back(add_relu_of(output_of(norm)));
    finish(std::move(chain));
  }

  uint32_t add_relu_of(uint32_t x) { return add(made("ReLU", "Relu", {0}, {x}), {values_[x].shape}); }
  void add_relu() { finish({{add_relu_of(from_pool())}}); }

  void add_reshape() {
    const uint32_t x = from_pool();
    const uint32_t op =
        add(made("Reshape", "", {0, {}}, {x, attribute()}), {{width(x), *element_count(values_[x].shape) / width(x)}});
    for (auto& alone : ops_[op].in_alone) alone = {Alone::kNoKernel};
    ops_[op].in_alone[1].insert(Alone::kAttribute);
    ops_[op].out_alone[0] = {Alone::kNoKernel};
    pool_.push_back(output_of(op));
  }

  void finish(Chain chain) {
    pool_.push_back(output_of(chain.ops.back()));
    chains_.push_back(std::move(chain));
  }

  // By creation, of which each side has its own order.
  void number_operators() {
    std::vector<uint32_t> order(ops_.size());
    std::iota(order.begin(), order.end(), 0U);
    for (const uint32_t op : order) ops_[op].number = op;
    std::shuffle(order.begin(), order.end(), random_);
    for (uint32_t i = 0; i < order.size(); ++i) ops_[order[i]].device_number = 300 + i;
    next_number_ = 300 + static_cast<uint32_t>(ops_.size());
  }

  // ---- Operators of the device

  [[nodiscard]] std::string device_name(uint32_t op) const {
    const HostOp& one = ops_[op];
    return fmt::format("{}/{}-op{}", one.scope, device_types_in_names_ ? one.device_type : one.type, one.device_number);
  }
  [[nodiscard]] std::string original_name(uint32_t op) const {
    return fmt::format("{}/{}-op{}", ops_[op].scope, ops_[op].type, ops_[op].device_number);
  }
  std::string new_name(uint32_t op, std::string_view type) {
    return fmt::format("{}/{}-op{}", ops_[op].scope, type, next_number_++);
  }

  void lower() {
    for (const Chain& chain : chains_) lower(chain.ops);
  }

  void lower(const std::vector<uint32_t>& ops) {
    const std::string& type = ops_[ops[0]].type;
    if (type == "BatchNorm") return lower_norm(ops);
    if (ops.size() == 1 || chance(0.3)) {
      for (const uint32_t op : ops) lower_one(op);
    } else if (type == "MatMul" && chance(0.3)) {
      // The bias is a third input, and nothing says so.
      fuse({ops[0], ops[1]}, "MatMulV2", chance(0.5) ? device_name(ops[0]) : new_name(ops[0], "MatMulV2"), false);
      if (ops.size() > 2) lower_one(ops[2]);
    } else if (type == "Mul" && chance(0.3)) {
      fuse(ops, "FusedMulAdd", new_name(ops[0], "FusedMulAdd"), false);
    } else {
      fuse_by_name(ops);
    }
  }

  void fuse_by_name(const std::vector<uint32_t>& ops) {
    const std::string& type = ops_[ops[0]].device_type;
    std::string name;
    switch (random_() % 6) {
      case 0:
        for (const uint32_t op : ops) name += device_name(op);
        return fuse(ops, type, name, with_originals_);
      case 1:
        for (const uint32_t op : ops) name += device_name(op) + "_";
        return fuse(ops, type, fmt::format("Fused{}_0_{}{}", type, name, random_() % 9), with_originals_);
      case 2:
        for (const uint32_t op : ops) name += "_" + ops_[op].type;
        return fuse(ops, type, fmt::format("{}/FusionOp{}-op{}", ops_[ops[0]].scope, name, next_number_++),
                    with_originals_);
      case 3: return fuse(ops, type, device_name(ops.back()), with_originals_);
      case 4: return fuse(ops, type, device_name(ops[0]), true);
      default: return fuse(ops, type, fmt::format("{}_NULL_{}", type, next_number_++), true);
    }
  }

  void lower_one(uint32_t op) {
    const bool renamed = device_types_in_names_;
    fuse({op}, ops_[op].device_type, renamed ? new_name(op, ops_[op].device_type) : device_name(op), with_originals_);
  }

  [[nodiscard]] DeviceTensor tensor(uint32_t value, HostPlace partner) const {
    DeviceTensor tensor;
    tensor.value = value;
    tensor.partner = partner;
    return tensor;
  }

  // Operators that are one on the device; also a single one.
  void fuse(const std::vector<uint32_t>& ops, std::string_view type, const std::string& name, bool with_original) {
    DeviceOp made;
    made.type = type;
    made.name = name;
    for (size_t i = 0; i < ops.size(); ++i) {
      const bool last = i + 1 == ops.size();
      add_inputs(ops[i], i == 0 ? kNone : output_of(ops[i - 1]), ops.size() > 1, made);
      HostOp& op = ops_[ops[i]];
      for (uint32_t k = 0; k < op.outputs.size(); ++k) {
        made.lost_outputs.push_back({ops[i], k});
        if (!last) {
          op.out_alone[k] = {Alone::kFused};
          continue;
        }
        made.outputs.push_back(tensor(op.outputs[k], {ops[i], k}));
        if (with_original) set_original(made.outputs.back(), ops[i], k);
      }
    }
    push(std::move(made));
  }

  void set_original(DeviceTensor& tensor, uint32_t op, uint32_t output) const {
    tensor.original = original_name(op);
    tensor.original_output = output;
  }

  void add_inputs(uint32_t index, uint32_t inner, bool fused, DeviceOp& made) {
    HostOp& op = ops_[index];
    std::map<uint32_t, DeviceTensor> by_slot;
    for (uint32_t k = 0; k < op.inputs.size(); ++k) {
      made.lost_inputs.push_back({index, k});
      if (op.inputs[k] == inner) {
        op.in_alone[k] = {Alone::kFused};
      } else if (!op.slots[k]) {
        if (fused) op.in_alone[k].insert(Alone::kFused);
      } else {
        by_slot.emplace(*op.slots[k], tensor(op.inputs[k], {index, k}));
      }
    }
    for (auto& [slot, one] : by_slot) made.inputs.push_back(std::move(one));
  }

  // BatchNorm is two operators when it trains and one when it does not; a ReLU after it may be in the last.
  void lower_norm(const std::vector<uint32_t>& ops) {
    const uint32_t norm = ops[0];
    HostOp& op = ops_[norm];
    const bool with_relu = ops.size() > 1 && chance(0.5), infer = chance(0.25);
    DeviceOp last;
    add_inputs(norm, kNone, true, last);
    last.type = infer ? "BNInfer" : "BNTrainingUpdate";
    last.name = infer ? device_name(norm) : new_name(norm, "BNTrainingUpdate");
    if (!infer) {
      DeviceOp reduce;
      const bool own_number = chance(0.5);
      reduce.type = "BNTrainingReduce";
      reduce.name = own_number ? new_name(norm, reduce.type) : original_name(norm) + "_Reduce";
      if (!own_number) last.name = original_name(norm) + "_UpdateV3";
      reduce.inputs.push_back(last.inputs[0]);
      reduce.inputs[0].alone = last.inputs[0].alone = {Alone::kSplit};
      for (int i = 0; i < 2; ++i) {
        DeviceTensor sum;
        for (const float x : values_[op.inputs[1]].device) sum.values.push_back(x * normal());
        sum.alone = {Alone::kSplit};
        reduce.outputs.push_back(sum);
        last.inputs.insert(last.inputs.begin() + 1 + i, sum);
      }
      push(std::move(reduce), false);
    }
    for (uint32_t k = 0; k < op.outputs.size(); ++k) {
      last.lost_outputs.push_back({norm, k});
      if (k == 0 && with_relu) {
        op.out_alone[0] = {Alone::kFused, Alone::kSplit};
        last.name += device_name(ops[1]);
        last.outputs.push_back(tensor(output_of(ops[1]), {ops[1], 0}));
        last.lost_outputs.push_back({ops[1], 0});
        last.lost_inputs.push_back({ops[1], 0});
        ops_[ops[1]].in_alone[0] = {Alone::kFused, Alone::kSplit};
        if (with_originals_) set_original(last.outputs.back(), ops[1], 0);
      } else if (k == 0 || !infer) {
        last.outputs.push_back(tensor(op.outputs[k], {norm, k}));
        if (with_originals_) set_original(last.outputs.back(), norm, k);
      } else {
        op.out_alone[k] = {Alone::kFused, Alone::kNoOutput, Alone::kSplit};
      }
    }
    push(std::move(last));
    if (ops.size() > 1 && !with_relu) lower_one(ops[1]);
  }

  // What is left of a file that is missing, and what the compiler puts after an operator.
  void push(DeviceOp op, bool may_be_missing = true) {
    const DeviceTensor output = op.outputs[0];
    if (chance(0.03)) device_ops_.push_back(memory_set(output));
    if (options_.faults && may_be_missing && chance(0.03)) {
      for (const HostPlace& place : op.lost_inputs) lose(ops_[place.op].in_alone[place.slot], op);
      for (const HostPlace& place : op.lost_outputs) lose(ops_[place.op].out_alone[place.slot], op);
    } else {
      device_ops_.push_back(std::move(op));
    }
    if (output.value != kNone && chance(0.12)) device_ops_.push_back(passed_on(output));
  }

  static void lose(std::set<Alone>& alone, const DeviceOp& op) {
    alone.insert(Alone::kUnknown);
    if (op.type == "Cast") alone.insert(Alone::kNoKernel);
    if (op.type == "BNTrainingUpdate") alone.insert({Alone::kSplit, Alone::kFused});  // the other half is there
  }

  DeviceOp memory_set(const DeviceTensor& of) {
    DeviceOp op;
    op.type = "MemSet";
    op.name = fmt::format("atomic_memset0_1{}", next_number_++);
    DeviceTensor zeros;
    zeros.values.assign(of.value == kNone ? of.values.size() : values_[of.value].device.size(), 0.0F);
    zeros.alone = {Alone::kInserted};
    op.outputs = {zeros};
    return op;
  }

  DeviceOp passed_on(const DeviceTensor& from) {
    DeviceOp op;
    const bool cast = chance(0.5);
    op.type = cast ? "Cast" : "TransData";
    op.name = cast && clear_casts_ ? fmt::format("Default/Cast-op{}", next_number_++)
                                   : fmt::format("trans_{}_{}", op.type, next_number_++);
    DeviceTensor one = from;
    one.partner.reset();
    one.alone = {Alone::kInserted};
    if (!originals_of_inserted_) one.original.clear();
    op.outputs = {one};
    one.original.clear();
    op.inputs = {one};
    return op;
  }

  // Independent neighbours may be run in another order.
  void reorder() {
    for (size_t i = 1; i < device_ops_.size(); ++i) {
      const DeviceOp &one = device_ops_[i - 1], &next = device_ops_[i];
      const bool independent = std::none_of(next.inputs.begin(), next.inputs.end(), [&](const DeviceTensor& input) {
        return input.value == kNone ||
               std::any_of(one.outputs.begin(), one.outputs.end(),
                           [&](const DeviceTensor& output) { return output.value == input.value; });
      });
      if (independent && chance(0.15)) std::swap(device_ops_[i - 1], device_ops_[i]);
    }
  }

  // ---- Files

  [[nodiscard]] static std::string bytes_of(const Value& value) {
    std::string bytes;
    const auto put = [&](auto number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof(number)); };
    for (const float x : value.host) {
      switch (value.dtype) {
        case DType::kInt64: put(static_cast<int64_t>(x)); break;
        case DType::kInt32: put(static_cast<int32_t>(x)); break;
        case DType::kBool: put(static_cast<uint8_t>(x)); break;
        default: put(x);
      }
    }
    return bytes;
  }

  [[nodiscard]] NetTensor host_tensor(HostPlace place, Io io) const {
    const HostOp& op = ops_[place.op];
    const Value& value = values_[(io == Io::kInput ? op.inputs : op.outputs)[place.slot]];
    const char* const dtype = value.dtype == DType::kInt64   ? "Int64"
                              : value.dtype == DType::kInt32 ? "Int32"
                              : value.dtype == DType::kBool  ? "Bool"
                                                             : "Float32";
    return {fmt::format("{}.{}_{}-op{}.0.0.{}.{}.{}.DefaultFormat.{}.npy", op.type, normalised_op_name(op.scope),
                        op.type, op.number, 1'700'000'000'000'000 + place.op, name_of(io), place.slot, dtype),
            io, place.slot};
  }

  void write_host() {
    const fs::path rank = dir_ / "host" / "rank_0", folder = rank / "Net" / "0" / "0";
    fs::create_directories(folder);
    for (uint32_t i = 0; i < ops_.size(); ++i) {
      const HostOp& op = ops_[i];
      for (const Io io : {Io::kInput, Io::kOutput}) {
        const auto& list = io == Io::kInput ? op.inputs : op.outputs;
        for (uint32_t k = 0; k < list.size(); ++k) {
          const Value& value = values_[list[k]];
          const char* const descr = value.dtype == DType::kInt64   ? "<i8"
                                    : value.dtype == DType::kInt32 ? "<i4"
                                    : value.dtype == DType::kBool  ? "|b1"
                                                                   : "<f4";
          const NetTensor tensor = host_tensor({i, k}, io);
          write_bytes(folder / tensor.file, npy_of(descr, value.shape, bytes_of(value)));
          net_.host[tensor] = (io == Io::kInput ? op.in_alone : op.out_alone)[k];
        }
      }
    }
    if (!with_ir_) return;
    fs::create_directories(rank / "graphs");
    fs::create_directories(rank / ".dump_metadata");
    write_bytes(rank / ".dump_metadata" / "config.json", "{\"ms_version\":\"2.10.0\"}");
    write_bytes(rank / "graphs" / "ms_output_trace_code_graph_0.ir", ir());
  }

  [[nodiscard]] std::string ir() const {
    std::string text = "# IR entry: @kernel_graph0\n# Total subgraphs: 1\n\n# Params:\n";
    for (const Value& value : values_) {
      if (value.operand.starts_with("%para"))
        text += fmt::format("{}: <Tensor[Float32], ({})>\n", value.operand, fmt::join(value.shape, ", "));
    }
    text += "\nsubgraph attr:\nsubgraph instance: kernel_graph0 : 0x1\nsubgraph @kernel_graph0() {\n";
    for (size_t i = 0; i < ops_.size(); ++i) {
      std::string operands;
      for (const uint32_t input : ops_[i].inputs) operands += (operands.empty() ? "" : ", ") + values_[input].operand;
      text += node_text(fmt::format("%{}", i), ops_[i].type, operands,
                        fmt::format("{}/{}-op{}", ops_[i].scope, ops_[i].type, ops_[i].number), {});
    }
    return text + "}\n";
  }

  [[nodiscard]] TensorSpec spec_of(const DeviceTensor& tensor, TensorSpec::Part part) const {
    TensorSpec spec;
    spec.part = part;
    DType dtype = DType::kFloat16;
    Shape shape = {static_cast<int64_t>(tensor.values.size())};
    const Floats* values = &tensor.values;
    if (tensor.value != kNone) {
      shape = values_[tensor.value].shape;
      values = &values_[tensor.value].device;
      if (values_[tensor.value].dtype == DType::kInt32) dtype = DType::kInt32;
    }
    spec.dtype = info(dtype).proto_number;
    spec.format = static_cast<int32_t>(Format::kND);
    spec.shape = Dims(shape.begin(), shape.end());
    spec.original_shape = spec.shape;
    for (const float x : *values) {
      if (dtype == DType::kInt32) {
        put_u32(spec.data, static_cast<uint32_t>(x));
      } else {
        put_u16(spec.data, Eigen::numext::bit_cast<uint16_t>(Eigen::half(x)));
      }
    }
    spec.original_op = tensor.original;
    spec.original_output = tensor.original_output;
    return spec;
  }

  void write_device() {
    const fs::path folder = by_time_ ? dir_ / "device" / "20260101000000" / "0" / "Net" / "1" / "0"
                                     : dir_ / "device" / "rank_0" / "Net" / "0" / "0";
    fs::create_directories(folder);
    for (size_t i = 0; i < device_ops_.size(); ++i) {
      const DeviceOp& op = device_ops_[i];
      DumpSpec spec;
      spec.op_name = op.name;
      spec.time_us = 1'700'000'000'000'000 + i;
      const std::string file = fmt::format("{}.{}.{}.0.{}", op.type, normalised_op_name(op.name), i, spec.time_us);
      for (const Io io : {Io::kInput, Io::kOutput}) {
        const auto& list = io == Io::kInput ? op.inputs : op.outputs;
        for (uint32_t k = 0; k < list.size(); ++k) {
          spec.tensors.push_back(spec_of(list[k], io == Io::kInput ? TensorSpec::kInput : TensorSpec::kOutput));
          DeviceNet::Device& truth = net_.device[{file, io, k}];
          if (list[k].partner) truth.partner = host_tensor(*list[k].partner, io);
          truth.alone = list[k].alone;
        }
      }
      write_bytes(folder / file, build_dump(spec));
    }
  }

  std::mt19937_64 random_;
  const fs::path dir_;
  const DeviceNetOptions options_;
  const bool with_ir_, by_time_;
  bool with_originals_ = false, originals_of_inserted_ = false, device_types_in_names_ = false, clear_casts_ = false;
  std::string scope_;
  std::vector<Value> values_;
  std::vector<uint32_t> pool_;
  std::vector<HostOp> ops_;
  std::vector<Chain> chains_;
  std::vector<DeviceOp> device_ops_;
  uint32_t next_number_ = 0;
  DeviceNet net_;
};

}  // namespace

DeviceNet write_device_net(uint64_t seed, const fs::path& dir, const DeviceNetOptions& options) {
  return NetMaker(seed, dir, options).make();
}

}  // namespace msdump::test
