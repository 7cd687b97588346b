#include "support/device_net/device_lowering.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace msdump::test {
namespace {

class Lowering {
 public:
  Lowering(HostNet& net, const CompilerStyle& style, bool faults, NetRandom& random)
      : net_(net), style_(style), faults_(faults), random_(random) {}

  std::vector<LoweredOp> run() {
    for (const FusibleChain& chain : net_.chains) lower(chain);
    reorder();
    return std::move(lowered_);
  }

 private:
  [[nodiscard]] std::string device_name(uint32_t op) const {
    const HostOp& one = net_.ops[op];
    return fmt::format("{}/{}-op{}", one.scope, style_.device_types_in_names ? one.device_type : one.type,
                       one.device_number);
  }
  [[nodiscard]] std::string original_name(uint32_t op) const {
    return fmt::format("{}/{}-op{}", net_.ops[op].scope, net_.ops[op].type, net_.ops[op].device_number);
  }
  std::string new_name(uint32_t op, std::string_view type) {
    return fmt::format("{}/{}-op{}", net_.ops[op].scope, type, net_.next_device_number++);
  }

  void lower(const std::vector<uint32_t>& ops) {
    const std::string& type = net_.ops[ops[0]].type;
    if (type == "BatchNorm") return lower_norm(ops);
    if (ops.size() == 1 || random_.chance(0.3)) {
      for (const uint32_t op : ops) lower_one(op);
    } else if (type == "MatMul" && random_.chance(0.3)) {
      // The bias is a third input, and nothing says so.
      fuse({ops[0], ops[1]}, "MatMulV2", random_.chance(0.5) ? device_name(ops[0]) : new_name(ops[0], "MatMulV2"),
           false);
      if (ops.size() > 2) lower_one(ops[2]);
    } else if (type == "Mul" && random_.chance(0.3)) {
      fuse(ops, "FusedMulAdd", new_name(ops[0], "FusedMulAdd"), false);
    } else {
      fuse_by_name(ops);
    }
  }

  void fuse_by_name(const std::vector<uint32_t>& ops) {
    const std::string& type = net_.ops[ops[0]].device_type;
    std::string name;
    switch (random_.number() % 6) {
      case 0:
        for (const uint32_t op : ops) name += device_name(op);
        return fuse(ops, type, name, style_.with_originals);
      case 1:
        for (const uint32_t op : ops) name += device_name(op) + "_";
        return fuse(ops, type, fmt::format("Fused{}_0_{}{}", type, name, random_.number() % 9), style_.with_originals);
      case 2:
        for (const uint32_t op : ops) name += "_" + net_.ops[op].type;
        return fuse(ops, type,
                    fmt::format("{}/FusionOp{}-op{}", net_.ops[ops[0]].scope, name, net_.next_device_number++),
                    style_.with_originals);
      case 3: return fuse(ops, type, device_name(ops.back()), style_.with_originals);
      case 4: return fuse(ops, type, device_name(ops[0]), true);
      default: return fuse(ops, type, fmt::format("{}_NULL_{}", type, net_.next_device_number++), true);
    }
  }

  void lower_one(uint32_t op) {
    const bool renamed = style_.device_types_in_names;
    fuse({op}, net_.ops[op].device_type, renamed ? new_name(op, net_.ops[op].device_type) : device_name(op),
         style_.with_originals);
  }

  [[nodiscard]] LoweredTensor tensor(uint32_t value, HostPlace partner) const {
    LoweredTensor tensor;
    tensor.value = value;
    tensor.partner = partner;
    return tensor;
  }

  // Operators that are one on the device; also a single one.
  void fuse(const std::vector<uint32_t>& ops, std::string_view type, const std::string& name, bool with_original) {
    LoweredOp made;
    made.type = type;
    made.name = name;
    for (size_t i = 0; i < ops.size(); ++i) {
      const bool last = i + 1 == ops.size();
      add_inputs(ops[i], i == 0 ? std::nullopt : std::optional(net_.output_of(ops[i - 1])), ops.size() > 1, made);
      HostOp& op = net_.ops[ops[i]];
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

  void set_original(LoweredTensor& tensor, uint32_t op, uint32_t output) const {
    tensor.original = original_name(op);
    tensor.original_output = output;
  }

  void add_inputs(uint32_t index, std::optional<uint32_t> inner, bool fused, LoweredOp& made) {
    HostOp& op = net_.ops[index];
    std::map<uint32_t, LoweredTensor> by_slot;
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
    HostOp& op = net_.ops[norm];
    const bool with_relu = ops.size() > 1 && random_.chance(0.5), infer = random_.chance(0.25);
    LoweredOp last;
    add_inputs(norm, std::nullopt, true, last);
    last.type = infer ? "BNInfer" : "BNTrainingUpdate";
    last.name = infer ? device_name(norm) : new_name(norm, "BNTrainingUpdate");
    if (!infer) {
      LoweredOp reduce;
      const bool own_number = random_.chance(0.5);
      reduce.type = "BNTrainingReduce";
      reduce.name = own_number ? new_name(norm, reduce.type) : original_name(norm) + "_Reduce";
      if (!own_number) last.name = original_name(norm) + "_UpdateV3";
      reduce.inputs.push_back(last.inputs[0]);
      reduce.inputs[0].alone = last.inputs[0].alone = {Alone::kSplit};
      for (int i = 0; i < 2; ++i) {
        LoweredTensor sum;
        for (const float x : net_.values[op.inputs[1]].device) sum.own.push_back(x * random_.normal());
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
        last.outputs.push_back(tensor(net_.output_of(ops[1]), {ops[1], 0}));
        last.lost_outputs.push_back({ops[1], 0});
        last.lost_inputs.push_back({ops[1], 0});
        net_.ops[ops[1]].in_alone[0] = {Alone::kFused, Alone::kSplit};
        if (style_.with_originals) set_original(last.outputs.back(), ops[1], 0);
      } else if (k == 0 || !infer) {
        last.outputs.push_back(tensor(op.outputs[k], {norm, k}));
        if (style_.with_originals) set_original(last.outputs.back(), norm, k);
      } else {
        op.out_alone[k] = {Alone::kFused, Alone::kNoOutput, Alone::kSplit};
      }
    }
    push(std::move(last));
    if (ops.size() > 1 && !with_relu) lower_one(ops[1]);
  }

  // What is left of a file that is missing, and what the compiler puts after an operator.
  void push(LoweredOp op, bool may_be_missing = true) {
    const LoweredTensor output = op.outputs[0];
    if (random_.chance(0.03)) lowered_.push_back(memory_set(output));
    if (faults_ && may_be_missing && random_.chance(0.03)) {
      for (const HostPlace& place : op.lost_inputs) lose(net_.ops[place.op].in_alone[place.slot], op);
      for (const HostPlace& place : op.lost_outputs) lose(net_.ops[place.op].out_alone[place.slot], op);
    } else {
      lowered_.push_back(std::move(op));
    }
    if (output.value && random_.chance(0.12)) lowered_.push_back(passed_on(output));
  }

  static void lose(std::set<Alone>& alone, const LoweredOp& op) {
    alone.insert(Alone::kUnknown);
    if (op.type == "Cast") alone.insert(Alone::kNoKernel);
    if (op.type == "BNTrainingUpdate") alone.insert({Alone::kSplit, Alone::kFused});  // the other half is there
  }

  LoweredOp memory_set(const LoweredTensor& of) {
    LoweredOp op;
    op.type = "MemSet";
    op.name = fmt::format("atomic_memset0_1{}", net_.next_device_number++);
    LoweredTensor zeros;
    zeros.own.assign(of.value ? net_.values[*of.value].device.size() : of.own.size(), 0.0F);
    zeros.alone = {Alone::kInserted};
    op.outputs = {zeros};
    return op;
  }

  LoweredOp passed_on(const LoweredTensor& from) {
    LoweredOp op;
    const bool cast = random_.chance(0.5);
    op.type = cast ? "Cast" : "TransData";
    op.name = cast && style_.clear_casts ? fmt::format("Default/Cast-op{}", net_.next_device_number++)
                                         : fmt::format("trans_{}_{}", op.type, net_.next_device_number++);
    LoweredTensor one = from;
    one.partner.reset();
    one.alone = {Alone::kInserted};
    if (!style_.originals_of_inserted) one.original.clear();
    op.outputs = {one};
    one.original.clear();
    op.inputs = {one};
    return op;
  }

  // Independent neighbours may be run in another order.
  void reorder() {
    for (size_t i = 1; i < lowered_.size(); ++i) {
      const LoweredOp &one = lowered_[i - 1], &next = lowered_[i];
      const bool independent = std::none_of(next.inputs.begin(), next.inputs.end(), [&](const LoweredTensor& input) {
        return !input.value || std::any_of(one.outputs.begin(), one.outputs.end(),
                                           [&](const LoweredTensor& output) { return output.value == input.value; });
      });
      if (independent && random_.chance(0.15)) std::swap(lowered_[i - 1], lowered_[i]);
    }
  }

  HostNet& net_;
  const CompilerStyle& style_;
  const bool faults_;
  NetRandom& random_;
  std::vector<LoweredOp> lowered_;
};

}  // namespace

CompilerStyle::CompilerStyle(NetRandom& random)
    : device_types_in_names(random.chance(0.25)),
      with_originals(random.chance(0.66) && !device_types_in_names),
      originals_of_inserted(random.chance(0.33)),
      clear_casts(random.chance(0.5)) {}

std::vector<LoweredOp> lower(HostNet& net, const CompilerStyle& style, const DeviceNetOptions& options,
                             NetRandom& random) {
  return Lowering(net, style, options.faults, random).run();
}

}  // namespace msdump::test
