#include "divergence/diff_flow.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "base/hash_slots.h"
#include "base/text.h"
#include "graph/flow/in_place.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

using From = InputEdge::From;

const TensorRecord& record_of(const CompareSide& a, const CompareSide& b, const TensorPair& pair) {
  return pair.b != kNoTensor ? (*b.tensors)[pair.b] : (*a.tensors)[pair.a];
}

// Rank and step of a tensor, of the reference where it has it.
RunPlace place_of(const CompareSide& a, const CompareSide& b, const TensorPair& pair) {
  const CompareSide& side = pair.b != kNoTensor ? b : a;
  const TensorRecord& record = record_of(a, b, pair);
  const FolderIdentity& folder = side.index->folders()[side.index->files()[record.file].folder].identity;
  return {folder.rank, folder.step, record.occurrence};
}

// Runs without edges: who ran when, with what.
class Runs {
 public:
  Runs(const CompareSide& a, const CompareSide& b, const Pairing& pairing) : a_(a), b_(b), pairing_(pairing) {
    collect();
  }

  std::vector<FlowRun> runs;

  // The run of an operator at a place; another occurrence where there is none of that number.
  [[nodiscard]] uint32_t find(uint32_t op, RunPlace place) const {
    const uint32_t found = find_exactly(op, place);
    if (found != kNoRun || place.occurrence == 0) return found;
    place.occurrence = 0;
    return find_exactly(op, place);
  }

  [[nodiscard]] const TensorRecord& record(uint32_t tensor) const {
    return record_of(a_, b_, pairing_.tensors[tensor]);
  }

  [[nodiscard]] uint32_t output(uint32_t run, uint32_t slot) const {
    for (const uint32_t tensor : runs[run].outputs) {
      if (parse_u64(record(tensor).name.slot) == slot) return tensor;
    }
    return kNoTensor;
  }

 private:
  struct Keyed {
    RunPlace place;
    uint32_t op, tensor;
    bool operator<(const Keyed& other) const {
      if (place.rank != other.place.rank) return place.rank < other.place.rank;
      if (place.step != other.place.step) return place.step < other.place.step;
      return op != other.op ? op < other.op : place.occurrence < other.place.occurrence;
    }
  };

  void collect() {
    std::vector<Keyed> order;  // tensors by run
    order.reserve(pairing_.tensors.size());
    for (uint32_t i = 0; i < pairing_.tensors.size(); ++i)
      order.push_back({place_of(a_, b_, pairing_.tensors[i]), pairing_.tensors[i].op, i});
    if (!std::is_sorted(order.begin(), order.end())) std::stable_sort(order.begin(), order.end());
    by_place_ = HashSlots(pairing_.operators.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const Keyed& one = order[i];
      if (i == 0 || order[i - 1] < one) {
        (void)by_place_.find_or_add(hash_of(one.op, one.place), static_cast<uint32_t>(runs.size()),
                                    [](uint32_t) { return false; });
        runs.push_back({one.op, one.place, {}, {}, {}});
      }
      add(runs.back(), one.tensor);
    }
  }

  static uint64_t hash_of(uint32_t op, const RunPlace& place) {
    uint64_t hash = mix_hash(op, place.occurrence);
    for (const auto& number : {place.rank, place.step})
      hash = mix_hash(hash, static_cast<uint64_t>(number.value_or(-1)));
    return hash;
  }

  [[nodiscard]] uint32_t find_exactly(uint32_t op, const RunPlace& place) const {
    static_assert(kNoRun == HashSlots::kNone);
    return by_place_.find(hash_of(op, place),
                          [&](uint32_t run) { return runs[run].op == op && runs[run].place == place; });
  }

  void add(FlowRun& run, uint32_t tensor) const {
    switch (record(tensor).name.io) {
      case Io::kInput: {
        FlowInput input;
        input.tensor = tensor;
        run.inputs.push_back(input);
        break;
      }
      case Io::kOutput: run.outputs.push_back(tensor); break;
      case Io::kParameter: add_parameter(run, tensor); break;
      default: break;  // debug records: no part of the flow
    }
  }

  // Of msprobe a module reads its parameters, and their gradients are made. Those of MindSpore are the values at the end
  // of the step.
  void add_parameter(FlowRun& run, uint32_t tensor) const {
    const auto entry = parse_msprobe_entry(record(tensor).name.op_name);
    if (!entry) return;
    if (entry->kind == MsprobeEntryKind::kModule) {
      FlowInput input;
      input.tensor = tensor;
      run.inputs.push_back(input);
    } else if (entry->kind == MsprobeEntryKind::kParameterGradients) {
      run.outputs.push_back(tensor);
    }
  }

  const CompareSide &a_, &b_;
  const Pairing& pairing_;
  HashSlots by_place_;
};

void connect(std::vector<FlowRun>& runs) {
  for (uint32_t i = 0; i < runs.size(); ++i) {
    for (const FlowInput& input : runs[i].inputs) {
      if (input.made_by != kNoRun) runs[input.made_by].readers.push_back(i);
    }
  }
}

// What a tensor of the reference holds, as one number; 0 when that tells it apart from nothing.
uint64_t value_key(const TensorDiff& diff) {
  const kernels::PairMetrics& metrics = diff.metrics;
  if (diff.checksum_b != 0) return diff.checksum_b;
  if (!metrics.max_b || !metrics.min_b || *metrics.max_b == *metrics.min_b) return 0;
  uint64_t key = 0x9E37'79B9'7F4A'7C15;
  for (const auto& value : {metrics.max_b, metrics.min_b, metrics.mean_b, metrics.std_b}) {
    key = (key ^ std::bit_cast<uint64_t>(value.value_or(0))) * 0xFF51'AFD7'ED55'8CCD;
    key ^= key >> 32;
  }
  return key;
}

// ---- edges of the IR

class IrEdges {
 public:
  IrEdges(const CompareSide& side, bool of_b, const Pairing& pairing, const std::vector<TensorDiff>& diffs, Runs& runs)
      : graph_(*side.graph),
        operators_(of_b ? pairing.b : pairing.a),
        of_b_(of_b),
        pairing_(pairing),
        diffs_(diffs),
        runs_(runs) {
    place_.assign(graph_.size(), kNoOperator);
    for (uint32_t i = 0; i < pairing.operators.size(); ++i) {
      if (const OpId op = op_of(i); op != kNoIndex) place_[op] = i;
    }
  }

  void add() {
    for (uint32_t run = 0; run < runs_.runs.size(); ++run) add_inputs(run);
    for (uint32_t run = 0; run < runs_.runs.size(); ++run) keep_written_outputs(run);
  }

  std::vector<uint32_t> unwritten;

 private:
  [[nodiscard]] OpId op_of(uint32_t pair) const {
    const uint32_t place = of_b_ ? pairing_.operators[pair].b : pairing_.operators[pair].a;
    return place == kNoOperator ? kNoIndex : operators_[place].op;
  }

  void add_inputs(uint32_t index) {
    FlowRun& run = runs_.runs[index];
    const OpId op = op_of(run.op);
    if (op == kNoIndex) return;
    const std::vector<InputEdge> edges = inputs_of(graph_, op);
    if (edges.empty()) return;
    std::map<uint64_t, uint32_t> by_slot;
    for (const FlowInput& input : run.inputs) {
      if (const auto slot = parse_u64(runs_.record(input.tensor).name.slot)) by_slot[*slot] = input.tensor;
    }
    std::vector<FlowInput> inputs;
    for (const InputEdge& edge : edges) {
      FlowInput input = input_of(edge, op, run.place);
      const auto found = by_slot.find(edge.slot);
      if (found != by_slot.end()) input.tensor = found->second;
      if (updates(op, edge.slot, input) || shows_new_value(op, run.place, input)) {
        if (input.tensor != kNoTensor) updated_[index].push_back(input.tensor);
      } else {
        inputs.push_back(std::move(input));
      }
    }
    run.inputs = std::move(inputs);
  }

  FlowInput input_of(const InputEdge& edge, OpId op, const RunPlace& place) {
    FlowInput input;
    input.from = edge.from;
    if (edge.from == From::kParameter) {
      const IrGraph& ir = graph_.ir(op);
      const IrParameter& parameter = ir.parameters[edge.parameter];
      input.parameter = ir.text(parameter.name);
      input.is_weight = is_kept(ir, parameter);
    }
    if (edge.from != From::kOperator) return input;
    read_.emplace(edge.op, edge.output);
    if (place_[edge.op] == kNoOperator) return input;
    input.made_by = runs_.find(place_[edge.op], place);
    if (input.made_by != kNoRun) input.made_as = runs_.output(input.made_by, edge.output);
    return input;
  }

  [[nodiscard]] bool updates(OpId op, uint32_t slot, const FlowInput& input) const {
    if (updates_input(graph_, op, slot)) return true;
    if (input.tensor == kNoTensor || input.made_as == kNoTensor) return false;
    return different(value_key(diffs_[input.tensor]), value_key(diffs_[input.made_as]));
  }

  static bool different(uint64_t key, uint64_t other) { return key != 0 && other != 0 && key != other; }

  // Of an operator with side effects a parameter that others read as something else.
  bool shows_new_value(OpId op, const RunPlace& place, const FlowInput& input) {
    if (input.parameter.empty() || input.tensor == kNoTensor) return false;
    const uint64_t key = value_key(diffs_[input.tensor]);
    if (!has_side_effect(op)) {
      read_as_.try_emplace({place.rank, place.step, input.parameter}, key);
      return false;
    }
    const auto found = read_as_.find({place.rank, place.step, input.parameter});
    return found != read_as_.end() && different(key, found->second);
  }
  [[nodiscard]] bool has_side_effect(OpId op) const {
    const IrGraph& ir = graph_.ir(op);
    const auto types = ir.inputs(graph_.node(op).host);
    return std::any_of(types.begin(), types.end(), [&](uint32_t type) { return ir.types[type].is_monad; });
  }

  void keep_written_outputs(uint32_t index) {
    FlowRun& run = runs_.runs[index];
    const OpId op = op_of(run.op);
    const auto updated = updated_.find(index);
    if (op != kNoIndex) {
      std::vector<uint32_t> read;
      for (const uint32_t tensor : run.outputs) {
        const auto slot = parse_u64(runs_.record(tensor).name.slot);
        if (slot && read_.count({op, static_cast<uint32_t>(*slot)}) > 0) read.push_back(tensor);
      }
      const bool others_count = run.outputs.size() > 1 && !read.empty();
      if (others_count || updated != updated_.end()) {
        for (const uint32_t tensor : run.outputs) {
          if (std::find(read.begin(), read.end(), tensor) == read.end()) unwritten.push_back(tensor);
        }
        run.outputs = std::move(read);
      }
    }
    if (updated != updated_.end())
      run.outputs.insert(run.outputs.end(), updated->second.begin(), updated->second.end());
  }

  const OpGraph& graph_;
  const std::vector<SequencedOp>& operators_;
  const bool of_b_;
  const Pairing& pairing_;
  const std::vector<TensorDiff>& diffs_;
  Runs& runs_;
  std::vector<uint32_t> place_;                        // by operator of the graph: in Pairing::operators
  std::set<std::pair<OpId, uint32_t>> read_;           // outputs that are some operator's input
  std::map<uint32_t, std::vector<uint32_t>> updated_;  // by run: inputs that hold the result
  // What operators without side effects read a parameter as, in one step of one rank.
  std::map<std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::string>, uint64_t> read_as_;
};

// ---- edges by values

bool add_edges_by_values(const std::vector<TensorDiff>& diffs, Runs& runs) {
  struct Made {
    uint64_t key;
    uint32_t run, tensor;
  };
  std::vector<Made> made;  // of one rank and step
  HashSlots by_key;
  const auto same = [&](uint64_t key) { return [&made, key](uint32_t i) { return made[i].key == key; }; };
  bool any = false;
  for (uint32_t i = 0; i < runs.runs.size(); ++i) {
    if (i > 0 && (runs.runs[i].place.rank != runs.runs[i - 1].place.rank ||
                  runs.runs[i].place.step != runs.runs[i - 1].place.step)) {
      made.clear();
      by_key = HashSlots();
    }
    for (FlowInput& input : runs.runs[i].inputs) {
      const uint64_t key = value_key(diffs[input.tensor]);
      const uint32_t found = key == 0 ? HashSlots::kNone : by_key.find(mix_hash(key, 0), same(key));
      if (found == HashSlots::kNone) continue;
      input.from = From::kOperator;
      input.made_by = made[found].run;
      input.made_as = made[found].tensor;
      any = true;
    }
    for (const uint32_t tensor : runs.runs[i].outputs) {
      // The first that wrote it: a module repeats what the last operator inside it wrote.
      const uint64_t key = value_key(diffs[tensor]);
      const auto next = static_cast<uint32_t>(made.size());
      if (key != 0 && by_key.find_or_add(mix_hash(key, 0), next, same(key)) == next) made.push_back({key, i, tensor});
    }
  }
  return any;
}

}  // namespace

DiffFlow flow_of(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                 const std::vector<TensorDiff>& diffs) {
  Runs runs(a, b, pairing);
  DiffFlow flow;
  if (has_flow(a) || has_flow(b)) {
    const bool of_b = has_flow(b);
    IrEdges edges(of_b ? b : a, of_b, pairing, diffs, runs);
    edges.add();
    flow.unwritten = std::move(edges.unwritten);
    flow.kind = FlowKind::kIr;
  } else if (add_edges_by_values(diffs, runs)) {
    flow.kind = FlowKind::kValues;
  }
  connect(runs.runs);
  flow.runs = std::move(runs.runs);
  return flow;
}

}  // namespace msdump
