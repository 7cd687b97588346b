#include "compare/arguments/graph_arguments.h"

#include <algorithm>
#include <array>

#include "graph/flow/data_flow.h"
#include "ir/text/attributes.h"

namespace msdump {
namespace {

// Of a pair of an operator and files by name.
constexpr double kSureOfOperator = 0.75;

bool is_sure(const DumpWithGraph& dump, const SequencedOp& op) {
  if (op.tensors.empty()) return true;
  for (const JoinPair& pair : dump.join->pairs_of(op.op)) {
    const auto tensors = dump.join->tensors_of(dump.join->groups()[pair.group]);
    if (std::find(tensors.begin(), tensors.end(), op.tensors.front()) != tensors.end())
      return pair.confidence >= kSureOfOperator;
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
    for (const IrAttribute& one : attributes)
      into_.all.push_back({ge::OperatorTable::get().argument(one.key), one.key, std::nullopt, one.value});
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

}  // namespace

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

GraphArguments graph_arguments(const DumpWithGraph& dump, const SequencedOp& op) {
  GraphArguments arguments;
  if (op.op == kNoIndex || dump.graph == nullptr || dump.join == nullptr) return arguments;
  if (dump.graph->origin(op.op).kind == OriginKind::kStackJson || !is_sure(dump, op)) return arguments;
  Collector(*dump.graph, op.op, arguments).run();
  return arguments;
}

}  // namespace msdump
