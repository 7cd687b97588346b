#include "check/checked_dump.h"

#include <algorithm>
#include <deque>
#include <map>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "ge/operators/operator_properties.h"
#include "graph/op_name.h"

namespace msdump::check {
namespace {

constexpr OperatorId kSeveral(UINT32_MAX - 1);

bool is_dynamic(const IrGraph& ir) {
  return std::any_of(ir.types.begin(), ir.types.end(), [](const IrType& type) {
    return type.shape && std::any_of(type.shape->begin(), type.shape->end(), [](int64_t size) { return size < 0; });
  });
}

}  // namespace

CheckedDump::CheckedDump(const DumpWithGraph& dump)
    : dump_(dump), operators_(operators_of(dump)), op_of_(dump.tensors->size(), kNoId), graph_(build_graph()) {
  collect_parameters();
}

RunGraph CheckedDump::build_graph() {
  collect_operators();
  return RunGraph(source());
}

void CheckedDump::collect_operators() {
  // The counters of gradients of parameters go on from step to step.
  constexpr std::string_view kGradients = ".parameters_grad.";
  std::map<std::tuple<std::optional<int64_t>, std::optional<int64_t>, uint32_t, std::string_view>, uint32_t> gradients;
  std::deque<std::string> texts;
  const auto counted_in_step = [&](const SequencedOp& op) -> std::string_view {
    const size_t at = op.name.view().rfind(kGradients);
    if (at == std::string::npos || op.tensors.empty()) return op.name;
    const std::string_view module = std::string_view(op.name).substr(0, at);
    const auto step = place_of(index(), (*dump_.tensors)[op.tensors.front()]).step;
    const uint32_t number = gradients[{op.rank, step, op.dump, module}]++;
    return texts.emplace_back(fmt::format("{}{}{}", module, kGradients, number));
  };
  using Key = std::tuple<std::optional<int64_t>, std::optional<int64_t>, uint32_t, std::string_view, std::string_view>;
  std::map<Key, OperatorId> first;
  op_of_file_.assign(index().files().size(), kNoId);
  for (OperatorId op{0}; op < operators_.size(); ++op) {
    const SequencedOp& known = operators_[op];
    same_.push_back(
        first.try_emplace({known.rank, known.graph, known.dump, counted_in_step(known), known.type}, op).first->second);
    for (const RecordId tensor : known.tensors) {
      op_of_[tensor] = op;
      OperatorId& of_file = op_of_file_[(*dump_.tensors)[tensor].file];
      if (of_file != op) of_file = of_file == kNoId ? op : kSeveral;
    }
  }
}

RunSource CheckedDump::source() const {
  RunSource source;
  if (msdump::has_flow(dump_)) source.graph = dump_.graph;
  source.operators.reserve(operators_.size());
  for (OperatorId op{0}; op < operators_.size(); ++op) {
    const bool ordered = is_of_msprobe(op) || (source.graph != nullptr && operators_[op].op != kNoId);
    source.operators.push_back({operators_[op].op, operators_[op].type, ordered});
  }
  source.tensors = dump_.tensors->size();
  source.tensor = [this](TensorId index) {
    const TensorRecord& record = this->record(index);
    const FolderIdentity folder = place_of(*dump_.index, record);
    RunTensor tensor;
    tensor.op = op_of_[index];
    tensor.place = {folder.rank, folder.step, record.occurrence, folder.dump};
    tensor.graph = folder.graph;
    tensor.role = tensor.op == kNoId ? TensorRole::kOther : role_of(record.name);
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

bool CheckedDump::is_of_msprobe(OperatorId op) const {
  const SequencedOp& known = operators_[op];
  return !known.tensors.empty() && record(tensor_of(known.tensors.front())).order != kNoOrder;
}

std::optional<uint64_t> CheckedDump::order_of(OperatorId op) const {
  if (is_of_msprobe(op)) return record(tensor_of(operators_[op].tensors.front())).order;
  return operators_[op].op != kNoId && has_flow() ? std::optional<uint64_t>(op) : std::nullopt;
}

bool CheckedDump::has_dynamic_shapes(OperatorId op) const {
  const OpId node = operators_[op].op;
  return node != kNoId && dynamic_[dump_.graph->origin_index(node)];
}

OperatorId CheckedDump::op_of_file(FileId file) const {
  return op_of_file_[file] == kSeveral ? kNoId : op_of_file_[file];
}

TensorId CheckedDump::any_tensor_of(const OpRun& run) const {
  if (!run.outputs.empty()) return run.outputs.front();
  for (const RunInput& input : run.inputs) {
    if (input.tensor != kNoId) return input.tensor;
  }
  return kNoId;
}

const std::vector<ExecutionId>& CheckedDump::readers_of_parameter(TensorId tensor) const {
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
