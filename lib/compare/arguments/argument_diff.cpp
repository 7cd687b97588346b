#include "compare/arguments/argument_diff.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/limits.h"
#include "compare/match/device/match_evidence.h"
#include "dump/elements/host_tensor.h"
#include "ge/operators/operator_table.h"
#include "graph/arguments/argument_value.h"
#include "graph/flow/data_flow.h"
#include "graph/join/dump_operators.h"
#include "ir/text/attributes.h"
#include "kernels/pair/pair_dtype.h"

namespace msdump {
namespace {

// An argument of an operator in a graph: an attribute, or an input that is a constant.
struct GraphArgument {
  const ge::Argument* known = nullptr;  // null if arguments.csv does not have it
  std::string_view key;                 // of an attribute, as the graph spells it
  std::optional<uint32_t> slot;         // of a constant: the slot of the input, numbered as in files
  std::string_view value;               // the literal
};

struct GraphArguments {
  bool known = false;    // the graph has the operator, and so its arguments
  bool of_ge = false;    // named as GE does; else as MindSpore does
  bool is_plain = true;  // no tensor of it has a device format
  bool is_fused = false;
  std::string_view type;           // as the graph has it
  uint32_t inputs = 0;             // number of inputs; 0 for GE
  std::optional<int64_t> rank;     // dimensions of the first input
  std::vector<GraphArgument> all;  // without names that have two values

  [[nodiscard]] const GraphArgument* named(std::string_view name) const;
  [[nodiscard]] const GraphArgument* at(uint32_t slot) const;
};

bool is_sure(const DumpWithGraph& dump, const SequencedOp& op) {
  if (op.tensors.empty()) return true;
  for (const JoinPair& pair : dump.join->pairs_of(op.op)) {
    const auto tensors = dump.join->tensors_of(dump.join->groups()[pair.group]);
    if (std::find(tensors.begin(), tensors.end(), op.tensors.front()) != tensors.end())
      return pair.confidence >= kSureJoin;
  }
  return false;
}

bool is_plain_format(std::string_view format) {
  static constexpr std::array<std::string_view, 6> kPlain = {"", "ND", "NCHW", "NCDHW", "NCL", "DefaultFormat"};
  return std::find(kPlain.begin(), kPlain.end(), format) != kPlain.end();
}

class Collector {
 public:
  Collector(const OpGraph& graph, OpId op, GraphArguments& into)
      : graph_(graph), op_(op), ir_(graph.ir(op)), node_(graph.node(op)), into_(into) {}

  void run() {
    into_.known = true;
    into_.of_ge = graph_.origin(op_).kind == OriginKind::kGeGraph;
    into_.type = graph_.op_type(op_);
    const auto originals = ir_.originals(node_);
    into_.is_fused = originals && originals->size() > 1;
    add_types();
    add_attributes();
    if (!into_.of_ge) add_constants();
    drop_twofold();
  }

 private:
  void add_types() {
    for (const Signature signature : {node_.host, node_.device}) {
      for (const auto& types : {ir_.inputs(signature), ir_.outputs(signature)}) {
        for (const uint32_t type : types) into_.is_plain = into_.is_plain && is_plain_format(ir_.types[type].format);
      }
    }
    const auto inputs = ir_.inputs(node_.host);
    if (!inputs.empty() && ir_.types[inputs.front()].shape)
      into_.rank = static_cast<int64_t>(ir_.types[inputs.front()].shape->size());
  }

  void add_attributes() {
    std::vector<IrAttribute> attributes;
    parse_attributes(ir_.text(node_.arguments), attributes);
    for (const IrAttribute& one : attributes) {
      const ge::Argument* const known = ge::OperatorTable::get().argument(one.key);
      if (known != nullptr) into_.all.push_back({known, one.key, std::nullopt, one.value});
    }
  }

  void add_constants() {
    const std::vector<InputEdge> edges = inputs_of(graph_, op_);
    into_.inputs = static_cast<uint32_t>(edges.size());
    for (const InputEdge& edge : edges) {
      if (edge.from != InputEdge::From::kConstant || edge.constant.empty()) continue;
      const ge::Argument* const known = ge::OperatorTable::get().argument_at(into_.type, edge.slot, into_.inputs);
      into_.all.push_back({known, {}, edge.slot, edge.constant});
    }
  }

  void drop_twofold() {
    const auto twofold = [&](const GraphArgument& one) {
      return one.known != nullptr && std::any_of(into_.all.begin(), into_.all.end(), [&](const GraphArgument& other) {
               return other.known != nullptr && other.known->name == one.known->name && other.value != one.value;
             });
    };
    std::vector<GraphArgument> kept;
    std::copy_if(into_.all.begin(), into_.all.end(), std::back_inserter(kept),
                 [&](const GraphArgument& one) { return !twofold(one); });
    into_.all = std::move(kept);
  }

  const OpGraph& graph_;
  const OpId op_;
  const IrGraph& ir_;
  const IrNode& node_;
  GraphArguments& into_;
};

const GraphArgument* GraphArguments::named(std::string_view name) const {
  for (const GraphArgument& one : all) {
    if (one.known != nullptr && one.known->name == name) return &one;
  }
  return nullptr;
}

const GraphArgument* GraphArguments::at(uint32_t slot) const {
  for (const GraphArgument& one : all) {
    if (one.slot == slot) return &one;
  }
  return nullptr;
}

// The arguments of an operator. `known` is false if the operator of the graph is a guess.
GraphArguments graph_arguments(const DumpWithGraph& dump, const SequencedOp& op) {
  GraphArguments arguments;
  if (op.op == kNoId || dump.graph == nullptr || dump.join == nullptr) return arguments;
  if (dump.graph->origin(op.op).kind == OriginKind::kStackJson || !is_sure(dump, op)) return arguments;
  Collector(*dump.graph, op.op, arguments).run();
  return arguments;
}

using ge::ArgumentKind;
using ge::OperatorTable;

std::optional<ArgumentValue> read_argument(const CompareSide& side, const TensorRecord& record) {
  if (!record.has_elements || record.broken) return std::nullopt;
  Result<HostTensor> tensor = HostTensor::open(*side.index, record, {});
  if (!tensor || tensor->count() < 1 || tensor->count() > static_cast<int64_t>(kMostArgumentElements))
    return std::nullopt;
  const auto count = static_cast<size_t>(tensor->count());
  if (kernels::common_dtype(tensor->dtype(), DType::kFloat64) != DType::kFloat64) return std::nullopt;
  std::vector<std::byte> stored(count * tensor->element_bytes());
  if (!tensor->read(0, tensor->count(), stored.data())) return std::nullopt;
  std::vector<double> elements(count);
  kernels::widen_to(tensor->dtype(), DType::kFloat64, stored.data(), tensor->count(),
                    reinterpret_cast<std::byte*>(elements.data()));
  return argument_of(std::move(elements), tensor->original_dtype(), !tensor->shape().empty());
}

// True for flags that a transposed operand may have been folded into, or out of.
bool is_transpose(std::string_view name) { return name == "transpose_a" || name == "transpose_b"; }

// True for types whose axis counts in the output, which has one dimension more.
bool counts_in_output(std::string_view type) {
  static constexpr std::array<std::string_view, 6> kTypes = {"onehot",     "pack",      "stack",
                                                             "expanddims", "unsqueeze", "stackext"};
  const std::string family = OperatorTable::get().family(type);
  return std::any_of(kTypes.begin(), kTypes.end(),
                     [&](std::string_view one) { return family == OperatorTable::get().family(one); });
}

// An operator of a pair, with its arguments and what its files say of its inputs.
struct Partner {
  const CompareSide& side;
  const SequencedOp& op;
  GraphArguments graph;
  bool plain_files = true;
  std::optional<int64_t> file_rank = std::nullopt;  // dimensions of the first input
  uint32_t file_inputs = 0;

  [[nodiscard]] std::optional<int64_t> rank() const { return graph.rank ? graph.rank : file_rank; }
  [[nodiscard]] bool is_plain() const { return graph.is_plain && plain_files; }
  [[nodiscard]] uint32_t inputs() const { return graph.inputs > 0 ? graph.inputs : file_inputs; }
  // The type in the graph, else in the files. Files of a device may name another type than the MindSpore graph beside them.
  [[nodiscard]] std::string_view type() const { return graph.known ? graph.type : op.type; }
};

Partner partner_of(const CompareSide& side, const SequencedOp& op) {
  Partner partner{.side = side, .op = op, .graph = graph_arguments(side, op)};
  for (const RecordId index : op.tensors) {
    const TensorRecord& record = (*side.tensors)[index];
    const auto format = record.name.format;
    if (format && *format != Format::kND && *format != Format::kNCHW) partner.plain_files = false;
    if (record.name.io != Io::kInput) continue;
    const auto slot = parse_u64(record.name.slot);
    if (!slot || *slot >= kNoIndex) continue;
    partner.file_inputs = std::max(partner.file_inputs, static_cast<uint32_t>(*slot) + 1);
    if (*slot == 0 && record.shape != nullptr) partner.file_rank = static_cast<int64_t>(record.shape->size());
  }
  return partner;
}

class PairArguments {
 public:
  PairArguments(const CompareSide& a, const CompareSide& b, const Pairing& pairing, OperatorId op, bool fused)
      : pairing_(pairing),
        place_(op),
        fused_(fused),
        a_(partner_of(a, pairing.a[pairing.operators[op].a])),
        b_(partner_of(b, pairing.b[pairing.operators[op].b])) {}

  // `tensors` are the chosen tensors of the pair, as indices in Pairing::tensors.
  std::vector<ArgumentDiff> run(const std::vector<TensorId>& tensors) {
    if ((!a_.graph.known && !b_.graph.known) || is_doubtful() || inputs_differ_in_size(tensors)) return {};
    for (const TensorId tensor : tensors) look_at(tensor);
    compare_graphs();
    return std::move(result_);
  }

 private:
  // True if the arguments may be those of another operator of a fusion.
  [[nodiscard]] bool is_doubtful() const {
    if (!same_family()) return fused_ || !of_compiler();
    const bool mindspore_graph_of_device = of_compiler() && !(a_.graph.of_ge || b_.graph.of_ge);
    return fused_ && mindspore_graph_of_device;
  }
  // True if paired inputs differ in size. Then the operators are not the same, or their arguments follow from the sizes.
  [[nodiscard]] bool inputs_differ_in_size(const std::vector<TensorId>& tensors) const {
    return std::any_of(tensors.begin(), tensors.end(), [&](TensorId tensor) {
      const TensorPair& pair = pairing_.tensors[tensor];
      if (!pair.is_paired()) return false;
      const TensorRecord &a = (*a_.side.tensors)[pair.a], &b = (*b_.side.tensors)[pair.b];
      return a.name.io == Io::kInput && !same_elements(a, b);
    });
  }
  [[nodiscard]] bool of_compiler() const { return pairing_.operators[place_].how == PairedBy::kCompiler; }
  [[nodiscard]] bool same_family() const {
    return OperatorTable::get().family(a_.type()) == OperatorTable::get().family(b_.type());
  }
  // True if equal slots mean the same argument on both sides.
  [[nodiscard]] bool same_places() const {
    return !a_.graph.of_ge && !b_.graph.of_ge && a_.graph.known && b_.graph.known && a_.graph.type == b_.graph.type;
  }

  // The argument that an input without a partner stands for; null if unknown.
  [[nodiscard]] const ge::Argument* argument_of_slot(const Partner& mine, const Partner& other, uint32_t slot) const {
    const OperatorTable& table = OperatorTable::get();
    if (mine.graph.of_ge || (other.op.type != mine.op.type && table.is_of_device(mine.op.type)))
      return table.argument_on_device(other.type(), mine.op.type, slot);
    return table.argument_at(mine.type(), slot, mine.inputs());
  }

  void look_at(TensorId tensor) {
    const TensorPair& pair = pairing_.tensors[tensor];
    const bool alone = !pair.is_paired();
    if (pair.a != kNoId) look_at(tensor, pair.a, a_, b_, alone);
    if (pair.b != kNoId) look_at(tensor, pair.b, b_, a_, alone);
  }

  void look_at(TensorId tensor, RecordId index, const Partner& mine, const Partner& other, bool alone) {
    const TensorRecord& record = (*mine.side.tensors)[index];
    const auto slot = parse_u64(record.name.slot);
    if (record.name.io != Io::kInput || !slot || *slot >= kNoIndex) return;
    const auto place = static_cast<uint32_t>(*slot);
    const ge::Argument* const known = argument_of_slot(mine, other, place);
    if (known != nullptr) names_in_files_.insert(known->name);
    if (same_places()) places_in_files_.insert(place);
    if (!alone) return;
    const GraphArgument* there = known != nullptr ? other.graph.named(known->name) : nullptr;
    if (there == nullptr && same_places()) there = other.graph.at(place);
    if (there != nullptr) compare_file(tensor, record, mine, known, *there);
  }

  void compare_file(TensorId tensor, const TensorRecord& record, const Partner& mine, const ge::Argument* known,
                    const GraphArgument& there) {
    const auto value = read_argument(mine.side, record);
    const auto other = parse_argument(there.value);
    if (!value || !other) return;
    const bool mine_is_a = &mine == &a_;
    const ArgumentMatch match = mine_is_a ? matched(*value, *other, known) : matched(*other, *value, known);
    if (match == ArgumentMatch::kUnknown) return;
    ArgumentDiff diff;
    diff.op = place_;
    diff.tensor = tensor;
    diff.differs = match == ArgumentMatch::kDiffer;
    diff.name = known != nullptr ? std::string(known->name) : fmt::format("input {}", record.name.slot);
    diff.in_graph = there.slot ? "constant " + diff.name : fmt::format("attribute {}", there.key);
    diff.a = (mine_is_a ? *value : *other).text();
    diff.b = (mine_is_a ? *other : *value).text();
    result_.push_back(std::move(diff));
  }

  void compare_graphs() {
    if (!a_.graph.known || !b_.graph.known) return;
    for (const GraphArgument& one : a_.graph.all) {
      const GraphArgument* other = nullptr;
      if (one.known != nullptr) {
        if (names_in_files_.contains(one.known->name)) continue;
        other = b_.graph.named(one.known->name);
      } else if (one.slot && same_places()) {
        other = b_.graph.at(*one.slot);
      }
      if (other == nullptr || (one.slot && places_in_files_.contains(*one.slot))) continue;
      compare_literals(one, *other);
    }
  }

  void compare_literals(const GraphArgument& one, const GraphArgument& other) {
    if (one.value == other.value) return;
    const auto a = parse_argument(one.value), b = parse_argument(other.value);
    if (!a || !b || matched(*a, *b, one.known) != ArgumentMatch::kDiffer) return;
    ArgumentDiff diff;
    diff.op = place_;
    diff.differs = true;
    diff.name = one.known != nullptr ? std::string(one.known->name) : fmt::format("input {}", *one.slot);
    diff.a = a->text();
    diff.b = b->text();
    result_.push_back(std::move(diff));
  }

  [[nodiscard]] ArgumentMatch matched(const ArgumentValue& a, const ArgumentValue& b, const ge::Argument* known) const {
    ArgumentFacts facts;
    if (known != nullptr) {
      facts.kind = known->kind;
      if (is_transpose(known->name) && (fused_ || a_.graph.is_fused || b_.graph.is_fused))
        return ArgumentMatch::kUnknown;
    } else if (a.is_flag && b.is_flag) {
      facts.kind = ArgumentKind::kFlag;
    } else if (a.is_whole || b.is_whole) {
      // A single number may be a dtype, which may differ by design.
      if (!a.is_list || !b.is_list) return ArgumentMatch::kUnknown;
      facts.kind = ArgumentKind::kShape;
    }
    set_axes(facts);
    const ArgumentMatch match = match_arguments(a, b, facts);
    const bool of_layout = facts.kind == ArgumentKind::kShape && !facts.same_axes;
    return match == ArgumentMatch::kDiffer && of_layout ? ArgumentMatch::kUnknown : match;
  }

  void set_axes(ArgumentFacts& facts) const {
    const auto rank_a = a_.rank(), rank_b = b_.rank();
    const bool same_rank = rank_a && rank_b ? *rank_a == *rank_b : same_places();
    facts.same_axes = a_.is_plain() && b_.is_plain() && same_rank && same_family();
    if (rank_a && rank_b && same_rank && !counts_in_output(a_.type())) facts.rank = rank_a;
  }

  const Pairing& pairing_;
  const OperatorId place_;
  const bool fused_;
  const Partner a_, b_;
  std::set<std::string_view> names_in_files_;
  std::set<uint32_t> places_in_files_;
  std::vector<ArgumentDiff> result_;
};

// True for pairs of a fusion, in which one operator has several partners.
std::vector<bool> fused_pairs(const Pairing& pairing) {
  std::vector<uint8_t> uses_a(pairing.a.size()), uses_b(pairing.b.size());
  const auto count = [](uint8_t& uses) { uses = static_cast<uint8_t>(std::min(uses + 1, 2)); };
  for (const OpPair& pair : pairing.operators) {
    if (!pair.is_paired()) continue;
    count(uses_a[pair.a]);
    count(uses_b[pair.b]);
  }
  std::vector<bool> fused;
  for (const OpPair& pair : pairing.operators) {
    const bool both = pair.is_paired();
    fused.push_back(both && (uses_a[pair.a] > 1 || uses_b[pair.b] > 1));
  }
  return fused;
}

bool is_sure_pair(const OpPair& pair) {
  switch (pair.how) {
    case PairedBy::kName:
    case PairedBy::kNeighbours:
    case PairedBy::kUser:
    case PairedBy::kCompiler: return pair.is_paired();
    case PairedBy::kSequence:
    case PairedBy::kLeftName:
    case PairedBy::kValues:
    case PairedBy::kReplaced:
    case PairedBy::kRenamed:
    case PairedBy::kNothing: break;
  }
  return false;
}

// The name in a message: "eps", or "argument 1" for a position.
std::string called(const ArgumentDiff& diff) {
  return is_digits(diff.name.substr(0, 1)) ? "argument " + diff.name : diff.name;
}

}  // namespace

std::vector<ArgumentDiff> compare_arguments(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                            const std::vector<TensorId>& chosen, const RunContext& context) {
  std::vector<ArgumentDiff> result;
  if (pairing.other_framework || (a.graph == nullptr && b.graph == nullptr)) return result;
  const std::vector<bool> fused = fused_pairs(pairing);
  std::vector<std::vector<TensorId>> tensors(pairing.operators.size());
  for (const TensorId tensor : chosen) {
    const OperatorId op = pairing.tensors[tensor].op;
    if (is_sure_pair(pairing.operators[op])) tensors[op].push_back(tensor);
  }
  const size_t pieces = (tensors.size() + kMostTried - 1) / kMostTried;
  const auto compare_piece = [&](int64_t piece) {
    std::vector<ArgumentDiff> found;
    const size_t first = static_cast<size_t>(piece) * kMostTried, end = std::min(first + kMostTried, tensors.size());
    for (size_t op = first; op < end && !context.cancel.cancelled(); ++op) {
      if (tensors[op].empty()) continue;
      for (ArgumentDiff& diff : PairArguments(a, b, pairing, OperatorId(op), fused[op]).run(tensors[op]))
        found.push_back(std::move(diff));
    }
    return found;
  };
  context.pool.ordered_for(static_cast<int64_t>(pieces), compare_piece,
                           [&](int64_t, std::vector<ArgumentDiff>&& found) {
                             for (ArgumentDiff& diff : found) result.push_back(std::move(diff));
                           });
  return result;
}

std::string reason_of(const ArgumentDiff& diff, const Pairing& pairing) {
  if (diff.of_call && diff.verdict == Verdict::kSkipped)
    return fmt::format("{} is not given in the {}: its default counts there", called(diff),
                       diff.a.empty() ? "candidate" : "reference");
  if (diff.of_call) {
    const auto shown = [](const std::string& value) { return value.empty() ? std::string("None") : value; };
    return fmt::format("{} is {} here, {} in the reference", called(diff), shown(diff.a), shown(diff.b));
  }
  if (diff.tensor == kNoId)
    return fmt::format("{} is {} in the candidate's graph, {} in the reference's", diff.name, diff.a, diff.b);
  const bool file_is_a = pairing.tensors[diff.tensor].a != kNoId;
  const std::string &here = file_is_a ? diff.a : diff.b, &there = file_is_a ? diff.b : diff.a;
  const std::string_view other = file_is_a ? "reference" : "candidate";
  if (!diff.differs) return fmt::format("equal to the {} = {} of the {}", diff.in_graph, there, other);
  return fmt::format("{} is {} here, the {} {} in the {}'s graph", diff.name, here, diff.in_graph, there, other);
}

}  // namespace msdump
