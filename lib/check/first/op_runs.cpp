#include "check/first/op_runs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "base/order.h"
#include "base/text.h"
#include "graph/flow/in_place.h"
#include "graph/op_name.h"
#include "msprobe/names.h"

namespace msdump::check {
namespace {

using From = InputEdge::From;

constexpr uint64_t kNoTime = UINT64_MAX;
constexpr uint32_t kSeveral = kNone - 1;

// Of msprobe a module reads its parameters, and their gradients are made; those of MindSpore are values at the end of a
// step.
Role role_of(const TensorRecord& tensor) {
  switch (tensor.name.io) {
    case Io::kInput: return Role::kInput;
    case Io::kOutput: return tensor.name.op_type == "Parameter" ? Role::kParameter : Role::kOutput;
    case Io::kParameter: {
      const auto entry = parse_msprobe_entry(tensor.name.op_name);
      if (!entry) return Role::kParameter;
      if (entry->kind == MsprobeEntryKind::kModule) return Role::kInput;
      return entry->kind == MsprobeEntryKind::kParameterGradients ? Role::kOutput : Role::kParameter;
    }
    case Io::kDebug: return Role::kOutput;  // a variable that the script saved
    default: return Role::kOther;
  }
}

// What an optimizer keeps beside the weights, and settings that are parameters for the framework only.
bool is_state_name(std::string_view name) {
  const std::string lower = to_lower(name);
  for (const std::string_view word :
       {"moment", "accum", "stat_", "velocity", "global_step", "learning_rate", "beta1_power", "beta2_power", "moving_",
        "running_", "scale_sense", "loss_scale", "lr_"}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  return false;
}

// Outputs that kernels of a type are known to leave alone, where no IR tells which are read.
bool may_be_unwritten(std::string_view op_type, uint64_t slot) {
  if (op_type == "BatchNorm") return slot == 1 || slot == 2;
  return is_known_to_update(op_type, 0);
}

}  // namespace

OpRuns::OpRuns(const CompareSide& side)
    : side_(side),
      operators_(operators_of(side)),
      roles_(side.tensors->size(), Role::kOther),
      run_of_(side.tensors->size(), kNone),
      op_of_(side.tensors->size(), kNone),
      has_flow_(msdump::has_flow(side)) {
  find_same();
  collect_parameters();
  collect();
  for (uint32_t run = 0; run < runs_.size(); ++run) {
    const OpRun& one = runs_[run];
    by_place_.emplace(Place{one.op, one.rank, one.step, one.occurrence}, run);
  }
  op_of_file_.assign(side.index->files().size(), kNone);
  for (uint32_t tensor = 0; tensor < tensors(); ++tensor) {
    uint32_t& op = op_of_file_[record(tensor).file];
    if (op_of_[tensor] != kNone && op != op_of_[tensor]) op = op == kNone ? op_of_[tensor] : kSeveral;
  }
  readers_.resize(runs_.size());
  op_readers_.resize(operators_.size());
  if (has_flow_) {
    add_edges();
  } else {
    for (uint32_t run = 0; run < runs_.size(); ++run) judge_by_type(run);
  }
}

void OpRuns::collect_parameters() {
  if (side_.graph == nullptr) return;
  std::set<const IrGraph*> seen;
  for (OpId op = 0; op < side_.graph->size(); ++op) {
    const IrGraph& ir = side_.graph->ir(op);
    if (!seen.insert(&ir).second) continue;
    for (const IrParameter& parameter : ir.parameters)
      parameters_.emplace(normalised_op_name(ir.text(parameter.name)), is_kept(ir, parameter));
  }
}

bool OpRuns::is_kept_name(std::string_view parameter) const {
  const std::string name = normalised_op_name(parameter);
  const auto found = parameters_.find(name);
  if (found != parameters_.end()) return found->second;
  // Without an IR: inputs have the names of arguments, what a network keeps that of its cell and role.
  return name.find('_') != std::string::npos || name.ends_with("weight") || name.ends_with("bias");
}

bool OpRuns::is_weight_name(std::string_view parameter) const {
  return is_kept_name(parameter) && !is_state_name(normalised_op_name(parameter));
}

void OpRuns::find_same() {
  using Key = std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::string_view, std::string_view>;
  std::map<Key, uint32_t> first;
  for (uint32_t op = 0; op < operators_.size(); ++op) {
    const SequencedOp& one = operators_[op];
    same_.push_back(first.try_emplace({one.rank, one.graph, one.name, one.type}, op).first->second);
  }
}

void OpRuns::collect() {
  std::map<Place, uint32_t> known;
  std::vector<uint64_t> first_times;
  for (uint32_t op = 0; op < operators_.size(); ++op) {
    for (const uint32_t tensor : operators_[op].tensors) {
      const TensorRecord& one = record(tensor);
      op_of_[tensor] = op;
      roles_[tensor] = role_of(one);
      const FolderIdentity& folder = side_.index->folders()[side_.index->files()[one.file].folder].identity;
      if (roles_[tensor] == Role::kParameter)
        parameter_uses_[{normalised_op_name(one.name.op_name), folder.rank, folder.step}].file = tensor;
      if (roles_[tensor] == Role::kParameter || roles_[tensor] == Role::kOther) continue;
      const auto [at, added] =
          known.try_emplace({op, folder.rank, folder.step, one.occurrence}, static_cast<uint32_t>(runs_.size()));
      if (added) {
        runs_.push_back({op, folder.rank, folder.graph, folder.step, one.occurrence, true, {}, {}});
        first_times.push_back(kNoTime);
      }
      OpRun& run = runs_[at->second];
      uint64_t& time = first_times[at->second];
      time = std::min(time, parse_u64(one.name.timestamp).value_or(kNoTime));
      if (roles_[tensor] == Role::kOutput) {
        run.outputs.push_back(tensor);
      } else {
        RunInput input;
        input.tensor = tensor;
        input.slot = static_cast<uint32_t>(parse_u64(one.name.slot).value_or(kNone));
        run.inputs.push_back(input);
      }
    }
  }
  for (size_t i = 0; i < runs_.size(); ++i)
    runs_[i].ordered = first_times[i] != kNoTime || order_of(runs_[i].op).has_value();
  sort_runs(std::move(first_times));
  for (uint32_t run = 0; run < runs_.size(); ++run) {
    for (const RunInput& input : runs_[run].inputs) run_of_[input.tensor] = run;
    for (const uint32_t tensor : runs_[run].outputs) run_of_[tensor] = run;
  }
}

void OpRuns::sort_runs(std::vector<uint64_t> first_times) {
  using Step = std::tuple<std::pair<bool, int64_t>, std::pair<bool, int64_t>>;
  const auto step_of = [](const OpRun& run) { return Step(known_first(run.step), known_first(run.rank)); };
  std::map<std::pair<Step, std::optional<int64_t>>, uint64_t> graph_times;
  std::map<Step, bool> loops;
  for (uint32_t i = 0; i < runs_.size(); ++i) {
    uint64_t& time = graph_times.try_emplace({step_of(runs_[i]), runs_[i].graph}, kNoTime).first->second;
    time = std::min(time, first_times[i]);
    bool& loop = loops[step_of(runs_[i])];
    // Without an IR graphs may call each other, and only time tells.
    const bool only_time = !has_flow_ && !order_of(runs_[i].op);
    loop = loop || ((runs_[i].occurrence > 0 || only_time) && first_times[i] != kNoTime);
  }
  using Key = std::tuple<Step, uint64_t, std::pair<bool, int64_t>, uint64_t, uint32_t, uint32_t>;
  std::vector<Key> keys;
  for (uint32_t i = 0; i < runs_.size(); ++i) {
    const OpRun& run = runs_[i];
    const Step step = step_of(run);
    const bool by_time = loops.at(step);
    keys.emplace_back(step, by_time ? 0 : graph_times.at({step, run.graph}),
                      by_time ? std::pair(false, int64_t{0}) : known_first(run.graph), by_time ? first_times[i] : 0,
                      run.op, run.occurrence);
  }
  std::vector<uint32_t> order(runs_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
  std::vector<OpRun> sorted;
  sorted.reserve(runs_.size());
  for (const uint32_t run : order) sorted.push_back(std::move(runs_[run]));
  runs_ = std::move(sorted);
}

// Of another occurrence the first, where there is none of that number.
uint32_t OpRuns::find_run(uint32_t op, const OpRun& near) const {
  auto found = by_place_.find({op, near.rank, near.step, near.occurrence});
  if (found == by_place_.end()) found = by_place_.find({op, near.rank, near.step, 0});
  return found == by_place_.end() ? kNone : found->second;
}

uint32_t OpRuns::output_of(uint32_t run, uint32_t slot) const {
  for (const uint32_t tensor : runs_[run].outputs) {
    if (roles_[tensor] == Role::kOutput && parse_u64(record(tensor).name.slot) == slot) return tensor;
  }
  return kNone;
}

const std::vector<uint32_t>& OpRuns::readers_of_parameter(uint32_t tensor) const {
  static const std::vector<uint32_t> kNobody;
  const Identity identity = identity_of(*side_.index, record(tensor));
  const auto found = parameter_uses_.find({normalised_op_name(identity.name.op_name), identity.rank, identity.step});
  return found == parameter_uses_.end() ? kNobody : found->second.runs;
}

void OpRuns::add_edges() {
  place_.assign(side_.graph->size(), kNone);
  read_slots_.resize(operators_.size());
  for (uint32_t i = 0; i < operators_.size(); ++i) {
    if (operators_[i].op != kNoIndex) place_[operators_[i].op] = i;
  }
  for (uint32_t i = 0; i < operators_.size(); ++i) {
    if (operators_[i].op == kNoIndex) continue;
    for (const InputEdge& edge : inputs_of(*side_.graph, operators_[i].op)) {
      if (edge.from != From::kOperator || place_[edge.op] == kNone) continue;
      read_slots_[place_[edge.op]].push_back(edge.output);
      op_readers_[place_[edge.op]].push_back(i);
    }
  }
  for (uint32_t run = 0; run < runs_.size(); ++run) add_edges_of(run);
  for (uint32_t run = 0; run < runs_.size(); ++run) keep_written_outputs(run);
}

void OpRuns::add_edges_of(uint32_t index) {
  OpRun& run = runs_[index];
  const OpId op = operators_[run.op].op;
  const std::vector<InputEdge> edges = op == kNoIndex ? std::vector<InputEdge>() : inputs_of(*side_.graph, op);
  if (edges.empty()) return judge_by_type(index);
  std::vector<RunInput> inputs;
  const IrGraph& ir = side_.graph->ir(op);
  for (const InputEdge& edge : edges) {
    RunInput input;
    input.slot = edge.slot;
    input.from = edge.from;
    const auto dumped =
        std::find_if(run.inputs.begin(), run.inputs.end(), [&](const RunInput& one) { return one.slot == edge.slot; });
    if (dumped != run.inputs.end()) input.tensor = dumped->tensor;
    if (edge.from == From::kParameter) {
      const IrParameter& parameter = ir.parameters[edge.parameter];
      input.parameter = ir.text(parameter.name);
      input.is_weight = is_kept(ir, parameter);
      ParameterUse& use = parameter_uses_[{normalised_op_name(input.parameter), run.rank, run.step}];
      use.runs.push_back(index);
      // The step does not change what went into the network, so that the file written at its end shows it.
      if (input.tensor == kNone && !input.is_weight) input.made_as = use.file;
    }
    if (edge.from == From::kOperator && place_[edge.op] != kNone) {
      input.made_by = find_run(place_[edge.op], run);
      if (input.made_by != kNone) {
        input.made_as = output_of(input.made_by, edge.output);
        readers_[input.made_by].push_back(index);
      }
    }
    if (updates_input(*side_.graph, op, edge.slot)) {
      if (input.tensor == kNone) continue;
      roles_[input.tensor] = Role::kUpdated;
      run.outputs.push_back(input.tensor);
    } else {
      inputs.push_back(input);
    }
  }
  run.inputs = std::move(inputs);
}

// By what reads them.
void OpRuns::keep_written_outputs(uint32_t index) {
  OpRun& run = runs_[index];
  if (operators_[run.op].op == kNoIndex) return;
  const std::vector<uint32_t>& read = read_slots_[run.op];
  const auto is_read = [&](uint32_t tensor) {
    const auto slot = parse_u64(record(tensor).name.slot);
    return slot && std::find(read.begin(), read.end(), *slot) != read.end();
  };
  const auto updated = std::count_if(run.outputs.begin(), run.outputs.end(),
                                     [&](uint32_t tensor) { return roles_[tensor] == Role::kUpdated; });
  const auto outputs = static_cast<std::ptrdiff_t>(run.outputs.size()) - updated;
  const bool any_read = std::any_of(run.outputs.begin(), run.outputs.end(), is_read);
  if (updated == 0 && !(outputs > 1 && any_read)) return;
  std::erase_if(run.outputs, [&](uint32_t tensor) {
    if (roles_[tensor] == Role::kUpdated || is_read(tensor)) return false;
    roles_[tensor] = Role::kUnwritten;
    return true;
  });
}

// Without an IR: by what operators of the type are known to do.
void OpRuns::judge_by_type(uint32_t index) {
  OpRun& run = runs_[index];
  const std::string_view type = operators_[run.op].type;
  std::erase_if(run.outputs, [&](uint32_t tensor) {
    if (!may_be_unwritten(type, parse_u64(record(tensor).name.slot).value_or(0))) return false;
    roles_[tensor] = Role::kUnwritten;
    return true;
  });
  std::erase_if(run.inputs, [&](const RunInput& input) {
    if (!is_known_to_update(type, input.slot)) return false;
    roles_[input.tensor] = Role::kUpdated;
    run.outputs.push_back(input.tensor);
    return true;
  });
}

std::vector<uint32_t> OpRuns::stand_ins(uint32_t run, const std::function<bool(uint32_t)>& lost) const {
  std::vector<uint32_t> tensors;
  for (const uint32_t reader : readers_[run]) {
    for (const RunInput& input : runs_[reader].inputs) {
      const bool is_all_there_is = input.made_as == kNone || lost(input.made_as);
      if (input.made_by == run && is_all_there_is && input.tensor != kNone) tensors.push_back(input.tensor);
    }
  }
  std::sort(tensors.begin(), tensors.end());
  tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
  return tensors;
}

uint32_t OpRuns::op_of_file(uint32_t file) const { return op_of_file_[file] == kSeveral ? kNone : op_of_file_[file]; }

uint32_t OpRuns::any_tensor_of(const OpRun& run) const {
  if (!run.outputs.empty()) return run.outputs.front();
  for (const RunInput& input : run.inputs) {
    if (input.tensor != kNone) return input.tensor;
  }
  return kNone;
}

std::optional<uint64_t> OpRuns::order_of(uint32_t op) const {
  const SequencedOp& one = operators_[op];
  const bool of_msprobe = !one.tensors.empty() && record(one.tensors.front()).order != kNoOrder;
  if (of_msprobe) return record(one.tensors.front()).order;
  return one.op != kNoIndex && has_flow_ ? std::optional<uint64_t>(op) : std::nullopt;
}

}  // namespace msdump::check
