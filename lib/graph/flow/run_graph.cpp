#include "graph/flow/run_graph.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "base/containers.h"
#include "base/text.h"
#include "graph/flow/communication.h"
#include "graph/flow/data_flow.h"
#include "graph/flow/gap_ancestors.h"
#include "graph/op_name.h"
#include "msprobe/names.h"

namespace msdump {

namespace {

// Finds edges of the data flow by tensor contents, for dumps without an IR. An input that equals an earlier output of
// its rank and step was produced there.

// The outputs of a rank and step so far, by their contents.
class Written {
 public:
  struct Output {
    uint64_t contents;
    ExecutionId run;
    TensorId tensor;
    uint32_t occurrence;  // of the run
  };

  // Prefers the output of the reader's own execution: if a step ran twice, both executions may have written equal values.
  [[nodiscard]] const Output* find(uint64_t contents, uint32_t occurrence) const {
    if (contents == 0) return nullptr;
    const uint32_t own = find_in(occurrence, contents);
    const uint32_t found = own == HashSlots::kNone ? find_in(kAny, contents) : own;
    return found == HashSlots::kNone ? nullptr : &outputs_[found];
  }

  // Several outputs may have the same contents. The first is kept, because a module repeats the output of its last
  // operator. An operator that passes values on replaces it.
  void add(const Output& output, bool passes_on) {
    if (output.contents == 0) return;
    for (const uint32_t occurrence : {kAny, output.occurrence}) {
      const auto next = static_cast<uint32_t>(outputs_.size());
      const uint32_t found = by_contents_.find_or_add(hash_of(occurrence, output.contents), next,
                                                      [&](uint32_t i) { return is(i, occurrence, output.contents); });
      if (found == next) {
        outputs_.push_back(output);
        any_.push_back(occurrence == kAny);
      } else if (passes_on) {
        outputs_[found] = output;
      }
      // Most steps have one execution of each operator.
      if (output.occurrence == 0) return;
    }
  }

 private:
  static constexpr uint32_t kAny = UINT32_MAX;

  static uint64_t hash_of(uint32_t occurrence, uint64_t contents) { return mix_hash(contents, occurrence); }
  [[nodiscard]] bool is(uint32_t output, uint32_t occurrence, uint64_t contents) const {
    const bool any = occurrence == kAny;
    return outputs_[output].contents == contents && any_[output] == any &&
           (any || outputs_[output].occurrence == occurrence);
  }
  [[nodiscard]] uint32_t find_in(uint32_t occurrence, uint64_t contents) const {
    return by_contents_.find(hash_of(occurrence, contents), [&](uint32_t i) { return is(i, occurrence, contents); });
  }

  std::vector<Output> outputs_;
  std::vector<bool> any_;  // by output: in the list of all executions
  HashSlots by_contents_;
};

class ContentEdges {
 public:
  ContentEdges(const RunSource& source, std::vector<OpRun>& runs) : source_(source), runs_(runs) {}

  bool add() {
    bool any = false;
    for (ExecutionId i{0}; i < runs_.size(); ++i) {
      if (i == 0 || !same_place(i, ExecutionId(i - 1))) begin_place(i);
      for (RunInput& input : runs_[i].inputs) any = add(input, runs_[i].place.occurrence) || any;
      const bool passes_on = communicates(i);
      for (const TensorId tensor : runs_[i].outputs) {
        const uint32_t occurrence = runs_[i].place.occurrence;
        written_.add({source_.contents[tensor], i, tensor, occurrence}, passes_on);
        other_written_.add({other_contents(tensor), i, tensor, occurrence}, passes_on);
      }
    }
    return any;
  }

 private:
  [[nodiscard]] bool same_place(ExecutionId run, ExecutionId other) const {
    return runs_[run].place.is_beside(runs_[other].place);
  }
  [[nodiscard]] bool communicates(ExecutionId run) const {
    return is_communication(source_.operators[runs_[run].op].type);
  }
  [[nodiscard]] uint64_t other_contents(TensorId tensor) const {
    return source_.other_contents.empty() ? 0 : source_.other_contents[tensor];
  }

  // In a pipeline the sending stage may come later in the order of ranks, so a received value has no producer before
  // it.
  void begin_place(ExecutionId first) {
    written_ = other_written_ = received_ = {};
    if (source_.other_contents.empty()) return;
    for (ExecutionId run = first; run < runs_.size() && same_place(run, first); ++run) {
      if (!runs_[run].inputs.empty() || !communicates(run)) continue;
      for (const TensorId tensor : runs_[run].outputs)
        received_.add({other_contents(tensor), run, tensor, runs_[run].place.occurrence}, false);
    }
  }

  bool add(RunInput& input, uint32_t occurrence) const {
    if (input.from == InputEdge::From::kParameter) return false;
    const uint64_t contents = source_.contents[input.tensor];
    const Written::Output* also = other_written_.find(other_contents(input.tensor), occurrence);
    if (also == nullptr) also = received_.find(other_contents(input.tensor), occurrence);
    if (also != nullptr) {
      input.other_producer = also->run;
      input.other_produced = also->tensor;
    }
    const Written::Output* made = written_.find(contents, occurrence);
    // Among outputs with these contents, the one that also matches in the other dump is preferred.
    if (made == nullptr && (source_.same_flow || contents == 0)) made = also;
    if (made != nullptr && also != nullptr && source_.contents[also->tensor] == contents) made = also;
    if (made == nullptr) return false;
    input.from = InputEdge::From::kOperator;
    input.producer = made->run;
    input.produced = made->tensor;
    return true;
  }

  const RunSource& source_;
  std::vector<OpRun>& runs_;
  Written written_, other_written_;  // by the contents in the one dump and in the other
  Written received_;                 // by those in the other, in all of the place
};

// Fills RunInput::producer, produced and other_producer of all inputs except parameters. Returns false if no input has a
// producer. Costs one look-up per tensor.
bool add_content_edges(const RunSource& source, std::vector<OpRun>& runs) {
  return !source.contents.empty() && ContentEdges(source, runs).add();
}

using From = InputEdge::From;

constexpr uint32_t kNoSlot = UINT32_MAX;
constexpr uint64_t kNoTime = UINT64_MAX;

uint64_t hash_of(OperatorId op, const RunPlace& place) {
  uint64_t hash = mix_hash(mix_hash(op, place.occurrence), place.dump);
  for (const auto& number : {place.rank, place.step}) hash = mix_hash(hash, static_cast<uint64_t>(number.value_or(-1)));
  return hash;
}

uint32_t slot_number(std::string_view slot) { return static_cast<uint32_t>(parse_u64(slot).value_or(kNoSlot)); }

// True for outputs that kernels of this type leave unwritten.
bool may_be_unwritten(std::string_view op_type, uint32_t slot) {
  if (op_type == "BatchNorm") return slot == 1 || slot == 2;
  return is_known_to_update(op_type, 0);
}

bool has_side_effect(const OpGraph& graph, OpId op) {
  const IrGraph& ir = graph.ir(op);
  const auto types = ir.inputs(graph.node(op).host);
  return std::any_of(types.begin(), types.end(), [&](uint32_t type) { return ir.types[type].is_monad; });
}

}  // namespace

bool is_module_parameter(const NameFacts& name) {
  return name.io == Io::kParameter && role_of(name) == TensorRole::kInput;
}

TensorRole role_of(const NameFacts& name) {
  switch (name.io) {
    case Io::kInput: return TensorRole::kInput;
    case Io::kOutput: return name.op_type == "Parameter" ? TensorRole::kParameter : TensorRole::kOutput;
    case Io::kParameter: {
      // msprobe: a module reads its parameters, and produces their gradients.
      const auto entry = parse_msprobe_entry(name.op_name);
      if (!entry) return TensorRole::kParameter;
      if (entry->kind == MsprobeEntryKind::kModule) return TensorRole::kInput;
      return entry->kind == MsprobeEntryKind::kParameterGradients ? TensorRole::kOutput : TensorRole::kParameter;
    }
    case Io::kDebug: return TensorRole::kOutput;  // a variable that the script saved
    default: return TensorRole::kOther;
  }
}

// Collects the executions of the tensors and connects them.
class RunGraph::Builder {
 public:
  Builder(RunSource source, RunGraph& graph) : source_(std::move(source)), graph_(graph) {
    roles_.assign(source_.tensors, TensorRole::kOther);
    run_of_.assign(source_.tensors, kNoId);
    op_readers_.resize(source_.operators.size());
  }

  void build() {
    collect();
    if (source_.graph != nullptr) {
      graph_.flow_ = FlowKind::kIr;
      add_ir_edges();
    } else {
      if (source_.known_types) {
        for (ExecutionId run{0}; run < runs_.size(); ++run) judge_by_type(run);
      }
      if (add_content_edges(source_, runs_)) graph_.flow_ = FlowKind::kValues;
      if (!graph_.module_parameters_.empty()) find_parameters_by_contents();
    }
    for (ExecutionId run{0}; run < runs_.size(); ++run) {
      for (const RunInput& input : runs_[run].inputs) {
        if (input.producer != kNoId) runs_[input.producer].readers.push_back(run);
        const ExecutionId other = source_.same_flow ? ExecutionId() : input.other_producer;
        if (other != kNoId && other != input.producer) runs_[other].readers.push_back(run);
        if (input.updated_by != kNoId) runs_[input.updated_by].later.push_back(run);
        for (const ExecutionId before : graph_.before_gap(input)) runs_[before].later.push_back(run);
      }
    }
  }

 private:
  void collect() {
    std::vector<std::optional<uint64_t>> times;  // of the first tensor of each run
    by_place_ = HashSlots(source_.operators.size());
    runs_.reserve(source_.operators.size());
    for (TensorId i{0}; i < source_.tensors; ++i) {
      const RunTensor tensor = source_.tensor(i);
      roles_[i] = tensor.role;
      slots_[i] = slot_number(tensor.slot);
      if (tensor.role == TensorRole::kParameter)
        graph_.parameters_[parameter_key(tensor.op_name, tensor.place)].file = i;
      if (tensor.role != TensorRole::kInput && tensor.role != TensorRole::kOutput) continue;
      const ExecutionId next(runs_.size());
      const auto is_of = [&](uint32_t run) { return runs_[run].op == tensor.op && runs_[run].place == tensor.place; };
      // Tensors of one run are mostly neighbours.
      const bool of_last = next > 0 && is_of(next - 1);
      const ExecutionId index(of_last ? next - 1
                                      : by_place_.find_or_add(hash_of(tensor.op, tensor.place), next, is_of));
      if (index == next) {
        OpRun& run = runs_.emplace_back();
        run.op = tensor.op;
        run.place = tensor.place;
        run.graph = tensor.graph;
        times.emplace_back();
      }
      OpRun& run = runs_[index];
      if (tensor.time && (!times[index] || *tensor.time < *times[index])) times[index] = tensor.time;
      if (tensor.role == TensorRole::kOutput) {
        run.outputs.push_back(i);
      } else {
        RunInput input;
        input.tensor = i;
        input.slot = slots_[i];
        if (tensor.is_parameter) {
          input.from = From::kParameter;
          input.parameter = graph_.module_parameters_.emplace_back(fmt::format("{}:{}", tensor.op_name, tensor.slot));
          input.is_weight = true;
        }
        run.inputs.push_back(input);
      }
    }
    for (size_t i = 0; i < runs_.size(); ++i)
      runs_[i].ordered = times[i].has_value() || source_.operators[runs_[i].op].ordered;
    if (source_.order == RunSource::Order::kTime) {
      sort_by_time(times);
    } else {
      sort_by_operator();
    }
    index_runs();
  }

  void sort_by_operator() {
    const auto is_before = [](const OpRun& a, const OpRun& b) {
      return std::tie(a.place.rank, a.place.step, a.place.dump, a.op, a.place.occurrence) <
             std::tie(b.place.rank, b.place.step, b.place.dump, b.op, b.place.occurrence);
    };
    if (!std::is_sorted(runs_.begin(), runs_.end(), is_before)) std::sort(runs_.begin(), runs_.end(), is_before);
  }

  // Sorts by step and rank, then by graph in the order of their first tensors, and within a graph by operator. Sorts by
  // time alone if operators ran several times in a step (a loop), or without a data flow if graphs may call each other.
  void sort_by_time(const std::vector<std::optional<uint64_t>>& times) {
    using Step = std::tuple<std::pair<bool, int64_t>, std::pair<bool, int64_t>, uint32_t>;
    const auto step_of = [](const OpRun& run) {
      return Step(known_first(run.place.step), known_first(run.place.rank), run.place.dump);
    };
    std::map<std::pair<Step, std::optional<int64_t>>, uint64_t> graph_times;
    std::map<Step, bool> loops;
    for (ExecutionId i{0}; i < runs_.size(); ++i) {
      uint64_t& time = graph_times.try_emplace({step_of(runs_[i]), runs_[i].graph}, kNoTime).first->second;
      time = std::min(time, times[i].value_or(kNoTime));
      bool& loop = loops[step_of(runs_[i])];
      const bool only_time = source_.graph == nullptr && !source_.operators[runs_[i].op].ordered;
      loop = loop || ((runs_[i].place.occurrence > 0 || only_time) && times[i]);
    }
    using Key = std::tuple<Step, uint64_t, std::pair<bool, int64_t>, uint64_t, OperatorId, uint32_t>;
    std::vector<Key> keys;
    keys.reserve(runs_.size());
    for (ExecutionId i{0}; i < runs_.size(); ++i) {
      const OpRun& run = runs_[i];
      const Step step = step_of(run);
      const bool by_time = loops.at(step);
      keys.emplace_back(step, by_time ? 0 : graph_times.at({step, run.graph}),
                        by_time ? std::pair(false, int64_t{0}) : known_first(run.graph),
                        by_time ? times[i].value_or(kNoTime) : 0, run.op, run.place.occurrence);
    }
    std::vector<ExecutionId> order(runs_.size());
    std::iota(order.begin(), order.end(), ExecutionId(0));
    std::sort(order.begin(), order.end(), [&](ExecutionId a, ExecutionId b) { return keys[a] < keys[b]; });
    std::vector<OpRun> sorted;
    sorted.reserve(runs_.size());
    for (const ExecutionId run : order) sorted.push_back(std::move(runs_[run]));
    runs_ = std::move(sorted);
  }

  void index_runs() {
    by_place_ = HashSlots(source_.graph == nullptr ? 0 : runs_.size());  // edges of the IR alone look runs up
    for (ExecutionId run{0}; run < runs_.size(); ++run) {
      if (source_.graph != nullptr)
        (void)by_place_.find_or_add(hash_of(runs_[run].op, runs_[run].place), run, [](uint32_t) { return false; });
      for (const RunInput& input : runs_[run].inputs) run_of_[input.tensor] = run;
      for (const TensorId tensor : runs_[run].outputs) run_of_[tensor] = run;
    }
  }

  void add_ir_edges() {
    const OpGraph& graph = *source_.graph;
    operator_of_.assign(graph.size(), kNoId);
    for (OperatorId i{0}; i < source_.operators.size(); ++i) {
      if (source_.operators[i].op != kNoId) operator_of_[source_.operators[i].op] = i;
    }
    for (OperatorId i{0}; i < source_.operators.size(); ++i) {
      if (source_.operators[i].op == kNoId) continue;
      for (const InputEdge& edge : inputs_of(graph, source_.operators[i].op)) {
        if (edge.from == From::kOperator && operator_of_[edge.op] != kNoId)
          op_readers_[operator_of_[edge.op]].push_back(i);
      }
    }
    graph_.returned_.resize(source_.operators.size());
    for (OpId op{0}; op < graph.size(); ++op) {
      if (graph.op_type(op) != "Return") continue;
      for (const InputEdge& edge : inputs_of(graph, op)) {
        if (edge.from == From::kOperator && operator_of_[edge.op] != kNoId)
          graph_.returned_[operator_of_[edge.op]] = true;
      }
    }
    for (ExecutionId run{0}; run < runs_.size(); ++run) add_edges_of(run);
    find_gaps();
    const OutputReads reads(graph);
    for (ExecutionId run{0}; run < runs_.size(); ++run) drop_unwritten(run, reads);
  }

  void add_edges_of(ExecutionId index) {
    OpRun& run = runs_[index];
    const OpId op = source_.operators[run.op].op;
    const std::vector<InputEdge> edges = op == kNoId ? std::vector<InputEdge>() : inputs_of(*source_.graph, op);
    if (edges.empty()) {
      if (source_.known_types) judge_by_type(index);
      return;
    }
    std::vector<RunInput> inputs;
    for (const InputEdge& edge : edges) {
      const RunInput input = input_of(edge, index);
      const bool updates = updates_input(*source_.graph, op, edge.slot);
      if (updates && input.is_weight) updates_[parameter_key(input.parameter, run.place)] = index;
      if (ignores_input(source_.operators[run.op].type, edge.slot)) {
        if (input.tensor != kNoId) roles_[input.tensor] = TensorRole::kUnwritten;
      } else if (!updates && !is_updated(input) && !shows_new_value(op, run.place, input)) {
        inputs.push_back(input);
      } else if (input.tensor != kNoId) {
        roles_[input.tensor] = TensorRole::kUpdated;
        run.outputs.push_back(input.tensor);
      }
    }
    run.inputs = std::move(inputs);
  }

  [[nodiscard]] RunInput input_of(const InputEdge& edge, ExecutionId index) {
    const OpRun& run = runs_[index];
    RunInput input;
    input.slot = edge.slot;
    input.from = edge.from;
    const auto dumped =
        std::find_if(run.inputs.begin(), run.inputs.end(), [&](const RunInput& one) { return one.slot == edge.slot; });
    if (dumped != run.inputs.end()) input.tensor = dumped->tensor;
    if (edge.from == From::kParameter) {
      const IrGraph& ir = source_.graph->ir(source_.operators[run.op].op);
      const IrParameter& parameter = ir.parameters[edge.parameter];
      input.parameter = ir.text(parameter.name);
      input.is_weight = is_kept(ir, parameter);
      ParameterUse& use = graph_.parameters_[parameter_key(input.parameter, run.place)];
      use.runs.push_back(index);
      // A step does not change what goes into the network: the file written at its end shows it.
      if (input.tensor == kNoId && !input.is_weight) input.produced = use.file;
    }
    if (edge.from == From::kOperator && operator_of_[edge.op] != kNoId) {
      input.producer = find(operator_of_[edge.op], run.place);
      if (input.producer != kNoId) input.produced = output_of(input.producer, edge.output);
    }
    return input;
  }

  // Only executions of the same step and rank count: an execution that is missing here may not have happened.
  void find_gaps() {
    const OpGraph& graph = *source_.graph;
    std::vector<bool> dumped(graph.size());
    for (const OpRun& run : runs_) {
      if (source_.operators[run.op].op != kNoId) dumped[source_.operators[run.op].op] = true;
    }
    GapAncestors ancestors(graph, std::move(dumped));
    for (OpRun& run : runs_) {
      bool any = false;
      for (RunInput& input : run.inputs) {
        any = any || (input.producer == kNoId && input.from == From::kOperator);
        input.updated_by = updated_before(input, run.place);
      }
      if (!any) continue;
      for (const InputEdge& edge : inputs_of(graph, source_.operators[run.op].op)) {
        const auto input = std::find_if(run.inputs.begin(), run.inputs.end(),
                                        [&](const RunInput& one) { return one.slot == edge.slot; });
        if (edge.from != From::kOperator || input == run.inputs.end() || input->producer != kNoId) continue;
        for (const OpId before : ancestors.of(edge.op)) {
          const ExecutionId found = find(operator_of_[before], run.place);
          if (found != kNoId) graph_.before_gaps_.push_back(found);
        }
        input->gap = static_cast<uint32_t>(graph_.gap_ends_.size());
        graph_.gap_ends_.push_back(graph_.before_gaps_.size());
      }
    }
  }

  [[nodiscard]] ExecutionId updated_before(const RunInput& input, const RunPlace& place) const {
    if (!input.is_weight || updates_.empty()) return kNoId;
    const ParameterKey now = parameter_key(input.parameter, place);
    const auto after = updates_.lower_bound(now);
    if (after == updates_.begin()) return kNoId;
    const auto& [before, run] = *std::prev(after);
    const auto without_step = [](const ParameterKey& key) {
      return std::tie(std::get<0>(key), std::get<1>(key), std::get<2>(key));
    };
    return without_step(before) == without_step(now) ? run : kNoId;
  }

  // True if the contents differ from the output of the producer.
  [[nodiscard]] bool is_updated(const RunInput& input) const {
    return input.from == From::kOperator && input.tensor != kNoId && input.produced != kNoId &&
           differ(input.tensor, input.produced);
  }

  // True for a parameter of an operator with side effects that other operators read with other contents.
  [[nodiscard]] bool shows_new_value(OpId op, const RunPlace& place, const RunInput& input) {
    if (source_.contents.empty() || input.parameter.empty() || input.tensor == kNoId) return false;
    if (is_known_to_update(source_.graph->op_type(op))) return false;  // and not this one
    ParameterUse& use = graph_.parameters_[parameter_key(input.parameter, place)];
    const uint64_t now = contents(input.tensor);
    if (has_side_effect(*source_.graph, op)) return use.contents != 0 && now != 0 && use.contents != now;
    if (use.contents == 0) use.contents = now;
    return false;
  }

  void drop_unwritten(ExecutionId index, const OutputReads& reads) {
    OpRun& run = runs_[index];
    const OpId op = source_.operators[run.op].op;
    if (op == kNoId) return;
    const auto is_read = [&](TensorId tensor) {
      return slots_[tensor] != kNoSlot && reads.is_read(op, slots_[tensor]);
    };
    const auto is_updated = [&](TensorId tensor) { return roles_[tensor] == TensorRole::kUpdated; };
    const auto updated = std::count_if(run.outputs.begin(), run.outputs.end(), is_updated);
    const auto outputs = static_cast<std::ptrdiff_t>(run.outputs.size()) - updated;
    const bool updates = updated > 0 || is_known_to_update(source_.operators[run.op].type);
    const bool any_read = std::any_of(run.outputs.begin(), run.outputs.end(), is_read);
    if (!updates && !(outputs > 1 && any_read)) return;
    std::erase_if(run.outputs, [&](TensorId tensor) {
      if (is_updated(tensor) || is_read(tensor)) return false;
      roles_[tensor] = TensorRole::kUnwritten;
      return true;
    });
  }

  void judge_by_type(ExecutionId index) {
    OpRun& run = runs_[index];
    const std::string_view type = source_.operators[run.op].type;
    std::erase_if(run.outputs, [&](TensorId tensor) {
      if (!may_be_unwritten(type, slots_[tensor] == kNoSlot ? 0 : slots_[tensor])) return false;
      roles_[tensor] = TensorRole::kUnwritten;
      return true;
    });
    std::erase_if(run.inputs, [&](const RunInput& input) {
      if (ignores_input(type, input.slot)) {
        roles_[input.tensor] = TensorRole::kUnwritten;
        return true;
      }
      if (!is_known_to_update(type, input.slot)) return false;
      roles_[input.tensor] = TensorRole::kUpdated;
      run.outputs.push_back(input.tensor);
      return true;
    });
  }

  // A call inside a module receives the module's weight as an input.
  void find_parameters_by_contents() {
    using Key = std::pair<RunPlace::Step, uint64_t>;  // and contents
    std::map<Key, std::string_view> parameters;
    for (const OpRun& run : runs_) {
      for (const RunInput& input : run.inputs) {
        if (input.from == From::kParameter && contents(input.tensor) != 0)
          parameters.try_emplace({run.place.in_step(), contents(input.tensor)}, input.parameter);
      }
    }
    for (OpRun& run : runs_) {
      for (RunInput& input : run.inputs) {
        if (input.from != From::kUnknown || contents(input.tensor) == 0) continue;
        const auto found = parameters.find({run.place.in_step(), contents(input.tensor)});
        if (found == parameters.end()) continue;
        input.from = From::kParameter;
        input.parameter = found->second;
        input.is_weight = true;
      }
    }
  }

  [[nodiscard]] uint64_t contents(TensorId tensor) const {
    return source_.contents.empty() ? 0 : source_.contents[tensor];
  }

  [[nodiscard]] bool differ(TensorId tensor, TensorId other) const {
    return contents(tensor) != 0 && contents(other) != 0 && contents(tensor) != contents(other);
  }

  // Falls back to the first occurrence of the operator.
  [[nodiscard]] ExecutionId find(OperatorId op, RunPlace place) const {
    const ExecutionId found = find_exactly(op, place);
    if (found != kNoId || place.occurrence == 0) return found;
    place.occurrence = 0;
    return find_exactly(op, place);
  }

  [[nodiscard]] ExecutionId find_exactly(OperatorId op, const RunPlace& place) const {
    static_assert(ExecutionId(HashSlots::kNone) == kNoId);
    return ExecutionId(by_place_.find(hash_of(op, place),
                                      [&](uint32_t run) { return runs_[run].op == op && runs_[run].place == place; }));
  }

  [[nodiscard]] TensorId output_of(ExecutionId run, uint32_t slot) const {
    for (const TensorId tensor : runs_[run].outputs) {
      if (roles_[tensor] == TensorRole::kOutput && slots_[tensor] == slot) return tensor;
    }
    return kNoId;
  }

  RunSource source_;
  RunGraph& graph_;
  std::vector<OpRun>& runs_ = graph_.runs_;
  std::vector<TensorRole>& roles_ = graph_.roles_;
  std::vector<ExecutionId>& run_of_ = graph_.run_of_;
  std::vector<std::vector<OperatorId>>& op_readers_ = graph_.op_readers_;
  HashSlots by_place_;
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(source_.tensors, kNoSlot);  // by tensor
  std::vector<OperatorId> operator_of_;                                            // by operator of the graph
  std::map<ParameterKey, ExecutionId> updates_;  // the last run that updated a parameter
};

RunGraph::RunGraph(RunSource source) { Builder(std::move(source), *this).build(); }

std::span<const ExecutionId> RunGraph::before_gap(const RunInput& input) const {
  if (input.gap >= gap_ends_.size()) return {};
  const size_t begin = input.gap == 0 ? 0 : gap_ends_[input.gap - 1];
  return {before_gaps_.data() + begin, gap_ends_[input.gap] - begin};
}

RunGraph::ParameterKey RunGraph::parameter_key(std::string_view name, const RunPlace& place) {
  return {normalised_op_name(name), place.rank, place.dump, place.step};
}

const std::vector<ExecutionId>& RunGraph::readers_of_parameter(std::string_view name, const RunPlace& place) const {
  static const std::vector<ExecutionId> kNobody;
  const auto found = parameters_.find(parameter_key(name, place));
  return found == parameters_.end() ? kNobody : found->second.runs;
}

std::vector<TensorId> RunGraph::stand_ins(ExecutionId run, const std::function<bool(TensorId)>& lost) const {
  std::vector<TensorId> tensors;
  for (const ExecutionId reader : runs_[run].readers) {
    for (const RunInput& input : runs_[reader].inputs) {
      const bool is_all_there_is = input.produced == kNoId || lost(input.produced);
      if (input.producer == run && is_all_there_is && input.tensor != kNoId) tensors.push_back(input.tensor);
    }
  }
  std::sort(tensors.begin(), tensors.end());
  tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
  return tensors;
}

std::vector<FlowEdge> flow_edges(const RunGraph& graph) {
  std::vector<FlowEdge> edges;
  for (ExecutionId run{0}; run < graph.runs().size(); ++run) {
    for (const RunInput& input : graph.runs()[run].inputs) {
      const TensorId tensor = input.tensor != kNoId ? input.tensor : input.produced;
      for (const ExecutionId from : {input.producer, input.updated_by}) {
        if (from != kNoId) edges.push_back({from, run, tensor, false});
      }
      for (const ExecutionId before : graph.before_gap(input)) edges.push_back({before, run, tensor, true});
    }
  }
  return edges;
}

}  // namespace msdump
