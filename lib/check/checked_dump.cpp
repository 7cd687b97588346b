#include "check/checked_dump.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "ge/operators/operator_properties.h"
#include "graph/op_name.h"

namespace msdump::check {
namespace {

constexpr uint32_t kSeveral = kNone - 1;

bool is_dynamic(const IrGraph& ir) {
  return std::any_of(ir.types.begin(), ir.types.end(), [](const IrType& type) {
    return type.shape && std::any_of(type.shape->begin(), type.shape->end(), [](int64_t size) { return size < 0; });
  });
}

}  // namespace

CheckedDump::CheckedDump(const DumpWithGraph& dump)
    : dump_(dump), operators_(operators_of(dump)), op_of_(dump.tensors->size(), kNone), graph_(build_graph()) {
  collect_parameters();
}

RunGraph CheckedDump::build_graph() {
  collect_operators();
  return RunGraph(source());
}

void CheckedDump::collect_operators() {
  using Key = std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::string_view, std::string_view>;
  std::map<Key, uint32_t> first;
  op_of_file_.assign(index().files().size(), kNone);
  for (uint32_t op = 0; op < operators_.size(); ++op) {
    const SequencedOp& known = operators_[op];
    same_.push_back(first.try_emplace({known.rank, known.graph, known.name, known.type}, op).first->second);
    for (const uint32_t tensor : known.tensors) {
      op_of_[tensor] = op;
      uint32_t& of_file = op_of_file_[record(tensor).file];
      if (of_file != op) of_file = of_file == kNone ? op : kSeveral;
    }
  }
}

RunSource CheckedDump::source() const {
  RunSource source;
  if (msdump::has_flow(dump_)) source.graph = dump_.graph;
  source.operators.reserve(operators_.size());
  for (uint32_t op = 0; op < operators_.size(); ++op) {
    const bool ordered = is_of_msprobe(op) || (source.graph != nullptr && operators_[op].op != kNoIndex);
    source.operators.push_back({operators_[op].op, operators_[op].type, ordered});
  }
  source.tensors = dump_.tensors->size();
  source.tensor = [this](uint32_t index) {
    const TensorRecord& record = this->record(index);
    const FolderIdentity folder = place_of(*dump_.index, record);
    RunTensor tensor;
    tensor.op = op_of_[index];
    tensor.place = {folder.rank, folder.step, record.occurrence};
    tensor.graph = folder.graph;
    tensor.role = tensor.op == kNone ? TensorRole::kOther : role_of(record.name);
    tensor.op_name = record.name.op_name;
    tensor.slot = record.name.slot;
    tensor.time = time_of(record.name);
    return tensor;
  };
  source.known_types = true;
  source.order = RunSource::Order::kTime;
  return source;
}

void CheckedDump::collect_parameters() {
  if (dump_.graph == nullptr) return;
  for (const Origin& origin : dump_.graph->origins()) {
    dynamic_.push_back(is_dynamic(origin.graph));
    for (const IrParameter& parameter : origin.graph.parameters)
      parameters_.emplace(normalised_op_name(origin.graph.text(parameter.name)), is_kept(origin.graph, parameter));
  }
}

bool CheckedDump::is_of_msprobe(uint32_t op) const {
  const SequencedOp& known = operators_[op];
  return !known.tensors.empty() && record(known.tensors.front()).order != kNoOrder;
}

std::optional<uint64_t> CheckedDump::order_of(uint32_t op) const {
  if (is_of_msprobe(op)) return record(operators_[op].tensors.front()).order;
  return operators_[op].op != kNoIndex && has_flow() ? std::optional<uint64_t>(op) : std::nullopt;
}

bool CheckedDump::has_dynamic_shapes(uint32_t op) const {
  const OpId node = operators_[op].op;
  return node != kNoIndex && dynamic_[dump_.graph->origin_index(node)];
}

uint32_t CheckedDump::op_of_file(uint32_t file) const {
  return op_of_file_[file] == kSeveral ? kNone : op_of_file_[file];
}

uint32_t CheckedDump::any_tensor_of(const OpRun& run) const {
  if (!run.outputs.empty()) return run.outputs.front();
  for (const RunInput& input : run.inputs) {
    if (input.tensor != kNone) return input.tensor;
  }
  return kNone;
}

const std::vector<uint32_t>& CheckedDump::readers_of_parameter(uint32_t tensor) const {
  const Identity identity = this->identity(tensor);
  return graph_.readers_of_parameter(identity.name.op_name, {identity.rank, identity.step, 0});
}

bool CheckedDump::is_kept_name(std::string_view parameter) const {
  const std::string name = normalised_op_name(parameter);
  const auto found = parameters_.find(name);
  if (found != parameters_.end()) return found->second;
  // The name decides without an IR: inputs have the names of arguments, parameters those of their cell and role.
  return name.find('_') != std::string::npos || name.ends_with("weight") || name.ends_with("bias");
}

bool CheckedDump::is_weight_name(std::string_view parameter) const {
  return is_kept_name(parameter) &&
         !ge::has_property(normalised_op_name(parameter), ge::OperatorProperty::kOptimizerState);
}

}  // namespace msdump::check
