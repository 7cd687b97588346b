#include "compare/divergence.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "graph/data_flow.h"

namespace msdump {
namespace {

constexpr double kSure = 0.95, kBridged = 0.7, kByOrder = 0.6, kBehindAnother = 0.7;

using From = InputEdge::From;

// Where the value of one input comes from.
struct Source {
  From from = From::kUnknown;
  uint32_t slot = 0;
  uint32_t op = kNoOperator;  // From::kOperator: in Pairing::operators
  uint32_t output = 0;
  std::string parameter;
  bool in_place = false;  // the operator writes into it
};

bool is_in_place(const IrGraph& ir, const IrNode& node, uint32_t slot) {
  const auto types = ir.inputs(node.host);
  if (slot >= types.size()) return false;
  const IrType& type = ir.types[types[slot]];
  return type.is_inplace || !type.ref_key.empty();
}

// What flows where among the pairs of operators.
class Flow {
 public:
  Flow(const CompareSide& side, const Pairing& pairing, bool of_b) : side_(side) {
    sources_.resize(pairing.operators.size());
    consumers_.resize(pairing.operators.size());
    if (side.graph == nullptr) return;
    known_ = true;
    const std::vector<SequencedOp>& operators = of_b ? pairing.b : pairing.a;
    std::vector<uint32_t> place(side.graph->size(), kNoOperator);
    for (uint32_t i = 0; i < pairing.operators.size(); ++i) {
      const uint32_t op = of_b ? pairing.operators[i].b : pairing.operators[i].a;
      if (op != kNoOperator && operators[op].op != kNoIndex) place[operators[op].op] = i;
    }
    for (uint32_t i = 0; i < pairing.operators.size(); ++i) {
      const uint32_t op = of_b ? pairing.operators[i].b : pairing.operators[i].a;
      if (op != kNoOperator && operators[op].op != kNoIndex) add(i, operators[op].op, place);
    }
  }

  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] const std::vector<Source>& sources(uint32_t op) const { return sources_[op]; }
  [[nodiscard]] const std::vector<uint32_t>& consumers(uint32_t op) const { return consumers_[op]; }
  [[nodiscard]] bool is_read(uint32_t op, uint32_t output) const { return read_.count({op, output}) > 0; }

 private:
  void add(uint32_t place, OpId op, const std::vector<uint32_t>& places) {
    const IrGraph& ir = side_.graph->ir(op);
    for (const InputEdge& edge : inputs_of(*side_.graph, op)) {
      Source source;
      source.from = edge.from;
      source.slot = edge.slot;
      if (edge.from == From::kOperator) {
        source.op = places[edge.op];
        source.output = edge.output;
        if (source.op == kNoOperator) {
          source.from = From::kUnknown;
        } else {
          consumers_[source.op].push_back(place);
          read_.emplace(source.op, source.output);
        }
      } else if (edge.from == From::kParameter) {
        source.parameter = ir.text(ir.parameters[edge.parameter].name);
        source.in_place = is_in_place(ir, side_.graph->node(op), edge.slot);
      }
      sources_[place].push_back(std::move(source));
    }
  }

  const CompareSide& side_;
  bool known_ = false;
  std::vector<std::vector<Source>> sources_;
  std::vector<std::vector<uint32_t>> consumers_;
  std::set<std::pair<uint32_t, uint32_t>> read_;
};

class Finder {
 public:
  Finder(const CompareSide& a, const CompareSide& b, const Pairing& pairing, const std::vector<TensorDiff>& diffs)
      : b_side_(b.graph != nullptr),
        side_(b_side_ ? b : a),
        pairing_(pairing),
        diffs_(diffs),
        flow_(side_, pairing, b_side_),
        tensors_a_(*a.tensors),
        tensors_b_(*b.tensors) {
    of_op_.resize(pairing.operators.size());
    for (uint32_t i = 0; i < pairing.tensors.size(); ++i) of_op_[pairing.tensors[i].op].push_back(i);
  }

  std::vector<Divergence> run() {
    behind_.assign(pairing_.operators.size(), false);
    std::vector<Divergence> roots;
    for (uint32_t op = 0; op < pairing_.operators.size(); ++op) look_at(op, roots);
    for (Divergence& root : roots) root.downstream = count_downstream(root);
    return roots;
  }

 private:
  [[nodiscard]] const TensorRecord& record(uint32_t tensor) const {
    const TensorPair& pair = pairing_.tensors[tensor];
    const bool from_b = b_side_ ? pair.b != kNoTensor : pair.a == kNoTensor;
    return from_b ? tensors_b_[pair.b] : tensors_a_[pair.a];
  }

  // Pairs of one slot, all steps and occurrences.
  [[nodiscard]] std::vector<uint32_t> slot(uint32_t op, Io io, uint32_t number) const {
    std::vector<uint32_t> found;
    for (const uint32_t tensor : of_op_[op]) {
      const NameFacts& name = record(tensor).name;
      if (name.io == io && parse_u64(name.slot) == number) found.push_back(tensor);
    }
    return found;
  }

  // Differences of what can be compared; a tensor that only one side has says nothing about values.
  [[nodiscard]] bool differs(uint32_t tensor) const {
    return is_difference(diffs_[tensor].verdict) && diffs_[tensor].verdict != Verdict::kUnmatched;
  }
  [[nodiscard]] bool any_differs(const std::vector<uint32_t>& tensors) const {
    return std::any_of(tensors.begin(), tensors.end(), [&](uint32_t tensor) { return differs(tensor); });
  }
  [[nodiscard]] bool compared(const std::vector<uint32_t>& tensors) const {
    return std::any_of(tensors.begin(), tensors.end(), [&](uint32_t tensor) {
      return diffs_[tensor].verdict != Verdict::kUnmatched && diffs_[tensor].verdict != Verdict::kSkipped;
    });
  }

  struct Inputs {
    std::vector<uint32_t> evidence;
    bool differ = false, all_same = true, bridged = false, unknown = false, behind = false;
    std::vector<const Source*> parameters;  // that differ
  };

  [[nodiscard]] Inputs inputs_by_flow(uint32_t op) const {
    Inputs inputs;
    for (const Source& source : flow_.sources(op)) {
      if (source.from == From::kOperator) inputs.behind = inputs.behind || behind_[source.op];
      if (source.in_place) continue;
      std::vector<uint32_t> tensors = slot(op, Io::kInput, source.slot);
      if (!compared(tensors) && source.from == From::kOperator) {
        tensors = slot(source.op, Io::kOutput, source.output);
        inputs.bridged = true;
      }
      if (!compared(tensors)) {
        inputs.unknown = inputs.unknown || source.from != From::kConstant;
        continue;
      }
      take(tensors, inputs);
      if (any_differs(tensors) && source.from == From::kParameter) inputs.parameters.push_back(&source);
    }
    return inputs;
  }

  [[nodiscard]] Inputs inputs_by_order(uint32_t op) const {
    Inputs inputs;
    inputs.behind = any_before_;
    for (const uint32_t tensor : of_op_[op]) {
      if (record(tensor).name.io == Io::kInput) take({tensor}, inputs);
    }
    inputs.unknown = inputs.evidence.empty();
    return inputs;
  }

  void take(const std::vector<uint32_t>& tensors, Inputs& inputs) const {
    for (const uint32_t tensor : tensors) {
      inputs.evidence.push_back(tensor);
      inputs.differ = inputs.differ || differs(tensor);
      inputs.all_same = inputs.all_same && diffs_[tensor].verdict == Verdict::kSame;
    }
  }

  [[nodiscard]] std::vector<uint32_t> outputs_of(uint32_t op) const {
    std::vector<uint32_t> all, read;
    for (const uint32_t tensor : of_op_[op]) {
      const NameFacts& name = record(tensor).name;
      if (name.io != Io::kOutput) continue;
      all.push_back(tensor);
      const auto number = parse_u64(name.slot);
      if (number && flow_.is_read(op, static_cast<uint32_t>(*number))) read.push_back(tensor);
    }
    // Of an operator with several outputs those that nothing reads may never have been written.
    return all.size() > 1 && !read.empty() ? read : all;
  }

  void look_at(uint32_t op, std::vector<Divergence>& roots) {
    const Inputs inputs = flow_.known() ? inputs_by_flow(op) : inputs_by_order(op);
    const std::vector<uint32_t> outputs = outputs_of(op);
    const bool diverges = any_differs(outputs);
    behind_[op] = inputs.behind || diverges || inputs.differ;
    for (const Source* source : inputs.parameters) add_parameter(op, *source, inputs, roots);
    if (diverges && !inputs.differ) add_root(op, inputs, outputs, roots);
    any_before_ = any_before_ || diverges;
  }

  void add_root(uint32_t op, const Inputs& inputs, const std::vector<uint32_t>& outputs,
                std::vector<Divergence>& roots) {
    if (inputs.behind && !(inputs.all_same && !inputs.unknown && !inputs.evidence.empty())) return;
    Divergence root;
    root.op = op;
    root.kind = kind_of(outputs);
    root.inputs = inputs.evidence;
    root.outputs = outputs;
    root.confidence = flow_.known() ? kSure : kByOrder;
    if (inputs.bridged || inputs.unknown) root.confidence = std::min(root.confidence, kBridged);
    if (inputs.behind) root.confidence = std::min(root.confidence, kBehindAnother);
    root.confidence *= pairing_.operators[op].how == PairedBy::kName ? 1 : pairing_.operators[op].confidence;
    root.amplification = amplification(inputs.evidence, outputs);
    roots.push_back(std::move(root));
  }

  // The first operator that reads it tells; others only repeat it.
  void add_parameter(uint32_t op, const Source& source, const Inputs& inputs, std::vector<Divergence>& roots) {
    if (!told_parameters_.insert(source.parameter).second) return;
    Divergence root;
    root.op = op;
    root.kind = source.parameter.find('.') == std::string::npos ? DivergenceKind::kInput : DivergenceKind::kParameter;
    root.parameter = source.parameter;
    root.inputs = inputs.evidence;
    root.confidence = inputs.behind ? kBehindAnother : kSure;
    roots.push_back(std::move(root));
  }

  [[nodiscard]] DivergenceKind kind_of(const std::vector<uint32_t>& outputs) const {
    const auto any = [&](Verdict verdict) {
      return std::any_of(outputs.begin(), outputs.end(),
                         [&](uint32_t tensor) { return diffs_[tensor].verdict == verdict; });
    };
    if (any(Verdict::kNan)) return DivergenceKind::kNan;
    return any(Verdict::kShape) || any(Verdict::kDtype) ? DivergenceKind::kShape : DivergenceKind::kValue;
  }

  [[nodiscard]] std::optional<double> largest_error(const std::vector<uint32_t>& tensors) const {
    std::optional<double> largest;
    for (const uint32_t tensor : tensors) {
      const auto& error = diffs_[tensor].metrics.relative_l2;
      if (error && (!largest || *error > *largest)) largest = error;
    }
    return largest;
  }

  [[nodiscard]] std::optional<double> amplification(const std::vector<uint32_t>& inputs,
                                                    const std::vector<uint32_t>& outputs) const {
    const auto in = largest_error(inputs), out = largest_error(outputs);
    if (!in || !out || *in == 0) return std::nullopt;
    return *out / *in;
  }

  [[nodiscard]] uint64_t count_downstream(const Divergence& root) const {
    std::set<uint32_t> reached = {root.op};
    std::vector<uint32_t> work = {root.op};
    while (!work.empty()) {
      const uint32_t op = work.back();
      work.pop_back();
      for (const uint32_t consumer : flow_.consumers(op)) {
        if (reached.insert(consumer).second) work.push_back(consumer);
      }
    }
    uint64_t count = 0;
    for (const uint32_t op : reached) {
      for (const uint32_t tensor : of_op_[op])
        if (differs(tensor)) ++count;
    }
    return count;
  }

  const bool b_side_;
  const CompareSide& side_;
  const Pairing& pairing_;
  const std::vector<TensorDiff>& diffs_;
  const Flow flow_;
  const std::vector<TensorRecord>&tensors_a_, &tensors_b_;
  std::vector<std::vector<uint32_t>> of_op_;
  std::vector<bool> behind_;  // by operator: it, or something it is made of, diverges
  std::set<std::string> told_parameters_;
  bool any_before_ = false;
};

}  // namespace

std::string_view name_of(DivergenceKind kind) {
  static constexpr std::array<std::string_view, 6> kNames = {"value", "nan", "shape", "missing", "parameter", "input"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<Divergence> find_divergences(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                         const std::vector<TensorDiff>& diffs) {
  return Finder(a, b, pairing, diffs).run();
}

}  // namespace msdump
