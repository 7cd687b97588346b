#include "graph/join/dump_operators.h"

#include <algorithm>
#include <map>
#include <span>

#include "base/containers.h"
#include "base/text.h"

namespace msdump {
namespace {

const FolderIdentity& folder_of(const DumpWithGraph& dump, RecordId tensor) {
  return dump.index->folders()[dump.index->files()[(*dump.tensors)[tensor].file].folder].identity;
}

void add_from_graph(const DumpWithGraph& dump, std::vector<SequencedOp>& operators, std::vector<bool>& taken) {
  const OpGraph& graph = *dump.graph;
  const bool flow = has_flow(dump);
  std::map<std::string_view, uint32_t> dump_of_home;
  for (const TensorGroup& group : dump.join->groups()) {
    if (!group.home.empty())
      dump_of_home.try_emplace(group.home, folder_of(dump, dump.join->tensors_of(group).front()).dump);
  }
  for (OpId op{0}; op < graph.size(); ++op) {
    if (!graph.has_kernel(op)) continue;
    if (!flow && dump.join->pairs_of(op).empty()) continue;
    const Origin& origin = graph.origin(op);
    SequencedOp& one = operators.emplace_back(
        SequencedOp{origin.rank, origin.graph_id, origin.step, 0, op, graph.full_name(op), graph.op_type(op), {}});
    for (const JoinPair& pair : dump.join->pairs_of(op)) {
      if (taken[pair.group]) continue;
      taken[pair.group] = true;
      const auto tensors = dump.join->tensors_of(dump.join->groups()[pair.group]);
      one.tensors.insert(one.tensors.end(), tensors.begin(), tensors.end());
    }
    const auto home = dump_of_home.find(origin.home);
    if (!one.tensors.empty()) one.dump = folder_of(dump, one.tensors.front()).dump;
    if (one.tensors.empty() && home != dump_of_home.end()) one.dump = home->second;
  }
}

void sort_by_first_tensor(std::vector<SequencedOp>& operators) {
  const auto first = [](const SequencedOp& one) {
    return one.tensors.empty() ? RecordId() : *std::min_element(one.tensors.begin(), one.tensors.end());
  };
  std::stable_sort(operators.begin(), operators.end(),
                   [&](const SequencedOp& left, const SequencedOp& right) { return first(left) < first(right); });
}

// Collects operators from tensor names alone: an operator is a name and a type in one graph of one rank of one
// dump.
class NameCollector {
 public:
  explicit NameCollector(const DumpWithGraph& dump) : dump_(dump), by_name_(dump.tensors->size() / 4) {}

  std::vector<SequencedOp> run() {
    const auto& tensors = *dump_.tensors;
    std::vector<SequencedOpId> op_of(tensors.size());
    std::vector<uint32_t> count;
    for (RecordId i{0}; i < tensors.size(); ++i) {
      op_of[i] = operator_of(tensors[i]);
      if (op_of[i] == count.size()) count.push_back(0);
      ++count[op_of[i]];
    }
    operators_.shrink_to_fit();  // of a thousand ranks there are many
    for (size_t i = 0; i < count.size(); ++i) operators_[i].tensors.reserve(count[i]);
    for (RecordId i{0}; i < tensors.size(); ++i) operators_[op_of[i]].tensors.push_back(i);
    return std::move(operators_);
  }

 private:
  SequencedOpId operator_of(const TensorRecord& tensor) {
    const FolderIdentity& folder = dump_.index->folders()[dump_.index->files()[tensor.file].folder].identity;
    const auto same = [&](uint32_t op) {
      const SequencedOp& one = operators_[op];
      return one.name == tensor.name.op_name && one.type == tensor.name.op_type && one.rank == folder.rank &&
             one.graph == folder.graph && one.dump == folder.dump;
    };
    // Tensors of an operator mostly follow each other.
    if (!operators_.empty() && same(last_)) return last_;
    uint64_t hash = mix_hash(text_hash(tensor.name.op_name), text_hash(tensor.name.op_type));
    for (const auto& number : {folder.rank, folder.graph})
      hash = mix_hash(hash, static_cast<uint64_t>(number.value_or(-1)));
    hash = mix_hash(hash, folder.dump);
    last_ = SequencedOpId(by_name_.find_or_add(hash, static_cast<uint32_t>(operators_.size()), same));
    if (last_ < operators_.size()) return last_;
    operators_.push_back({folder.rank,
                          folder.graph,
                          {},
                          folder.dump,
                          kNoId,
                          SharedText::of(tensor.name.op_name),
                          tensor.name.op_type,
                          {}});
    return last_;
  }

  const DumpWithGraph& dump_;
  std::vector<SequencedOp> operators_;
  HashSlots by_name_;
  SequencedOpId last_{0};
};

}  // namespace

bool has_flow(const DumpWithGraph& dump) {
  return dump.graph != nullptr && dump.join != nullptr &&
         std::any_of(dump.graph->origins().begin(), dump.graph->origins().end(),
                     [](const Origin& origin) { return origin.kind != OriginKind::kStackJson; });
}

std::vector<SequencedOp> operators_of(const DumpWithGraph& dump) {
  if (dump.operators != nullptr) return *dump.operators;
  std::vector<SequencedOp> operators;
  if (dump.join != nullptr) {
    std::vector<bool> taken(dump.join->groups().size(), false);
    add_from_graph(dump, operators, taken);
    for (size_t i = 0; i < taken.size(); ++i) {
      if (taken[i]) continue;
      const TensorGroup& group = dump.join->groups()[i];
      const auto tensors = dump.join->tensors_of(group);
      operators.push_back({group.rank,
                           group.graph,
                           group.step,
                           folder_of(dump, tensors.front()).dump,
                           kNoId,
                           SharedText::of(group.op_name),
                           group.op_type,
                           {tensors.begin(), tensors.end()}});
    }
    if (!has_flow(dump)) sort_by_first_tensor(operators);
    return operators;
  }
  return NameCollector(dump).run();
}

std::vector<SequencedOp> operators_by_file(const DumpWithGraph& dump) {
  std::vector<SequencedOp> operators = NameCollector(dump).run();
  if (dump.join == nullptr) return operators;
  std::vector<const JoinPair*> best(dump.tensors->size(), nullptr);  // by the first tensor of a group
  for (const JoinPair& pair : dump.join->pairs()) {
    const JoinPair*& known = best[dump.join->tensors_of(dump.join->groups()[pair.group]).front()];
    if (known == nullptr || pair.confidence > known->confidence) known = &pair;
  }
  for (SequencedOp& one : operators) {
    for (const RecordId tensor : one.tensors) {
      if (best[tensor] != nullptr) one.op = best[tensor]->op;
    }
  }
  return operators;
}

namespace {

// The types of all inputs or outputs; a tuple stands for its elements.
std::vector<uint32_t> unfolded(const IrGraph& ir, std::span<const uint32_t> types) {
  if (types.size() == 1 && ir.types[types.front()].is_tuple) return ir.types[types.front()].elements;
  return {types.begin(), types.end()};
}

}  // namespace

std::vector<bool> float32_on_device(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators) {
  std::vector<bool> found(dump.tensors->size(), false);
  for (const SequencedOp& op : operators) {
    if (op.op == kNoId || op.tensors.empty()) continue;
    const IrGraph& ir = dump.graph->ir(op.op);
    const IrNode& node = dump.graph->node(op.op);
    if (node.device == List::kEmpty) continue;
    const auto has_type = [&](const std::vector<uint32_t>& types, uint64_t slot, DType dtype) {
      return slot < types.size() && ir.types[types[slot]].known_dtype() == dtype;
    };
    const std::vector<uint32_t> host_inputs = unfolded(ir, ir.inputs(node.host));
    const std::vector<uint32_t> host_outputs = unfolded(ir, ir.outputs(node.host));
    const std::vector<uint32_t> device_inputs = unfolded(ir, ir.inputs(node.device));
    const std::vector<uint32_t> device_outputs = unfolded(ir, ir.outputs(node.device));
    for (const RecordId tensor : op.tensors) {
      const NameFacts& name = (*dump.tensors)[tensor].name;
      const auto slot = parse_u64(name.slot);
      if (!slot || (name.io != Io::kInput && name.io != Io::kOutput)) continue;
      const bool input = name.io == Io::kInput;
      found[tensor] = has_type(input ? host_inputs : host_outputs, *slot, DType::kFloat16) &&
                      has_type(input ? device_inputs : device_outputs, *slot, DType::kFloat32);
    }
  }
  return found;
}

}  // namespace msdump
