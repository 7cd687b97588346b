// Any bytes as a graph of GE in each of its forms, and as torchair's Python: indices are inside their tables, what is left
// out is reported, a file is read as the same bytes in memory, and skipping a message ends where walking it does.
#include <string>
#include <string_view>

#include "fuzz_file.h"
#include "ge/graph/ge_graph.h"
#include "ge/graph/torchair_lines.h"
#include "graph/flow/data_flow.h"

namespace {

using namespace msdump;
using fuzz::require;
using Kind = ProtoText::Kind;

void check_operand(const IrGraph& ir, const IrOperand& operand) {
  using Of = IrOperand::Kind;
  if (operand.kind == Of::kNode) require(operand.value < ir.nodes.size(), "an operand is an operator");
  if (operand.kind == Of::kParameter) require(operand.value < ir.parameters.size(), "an operand is a parameter");
  if (operand.kind == Of::kGraph) require(operand.value < ir.graphs.size(), "an operand is a graph");
}

void check_node(const IrGraph& ir, const IrNode& node) {
  require(node.graph < ir.graphs.size(), "an operator is in a graph");
  require(!ir.text(node.op).empty() && node.leaf != Text::kEmpty, "an operator has a type and a name");
  for (const IrOperand& operand : ir.operands_of(node)) check_operand(ir, operand);
  for (const Signature types : {node.host, node.device}) {
    for (const uint32_t type : ir.inputs(types)) require(type < ir.types.size(), "inputs are types");
    for (const uint32_t type : ir.outputs(types)) require(type < ir.types.size(), "outputs are types");
  }
  if (const auto originals = ir.originals(node)) {
    for (const uint32_t name : *originals) (void)ir.text(Text{name});
  }
  (void)ir.text(ir.origin_output(node, 0).name);
}

void check_graph(IrGraph ir) {
  require(ir.nodes.size() <= ir.expected(), "no more operators than were seen");
  require(ir.facts.node_heads == ir.nodes.size() || ir.problems.count() > 0, "what is left out is reported");
  for (const IrNode& node : ir.nodes) check_node(ir, node);
  for (const IrSubgraph& graph : ir.graphs) {
    require(uint64_t{graph.first_node} + graph.node_count <= ir.nodes.size(), "a graph has its operators");
    require(graph.caller == kNoIndex || graph.caller < ir.nodes.size(), "a caller is an operator");
    require(graph.result == kNoIndex || graph.result < ir.nodes.size(), "a result is an operator");
  }
  for (const IrProblem& problem : ir.problems)
    require(problem.reason.find('\n') == std::string::npos, "a problem is one line");
  Origin origin;
  origin.kind = OriginKind::kGeGraph;
  origin.graph = std::move(ir);
  std::vector<Origin> origins;
  origins.push_back(std::move(origin));
  const OpGraph graph(std::move(origins));
  for (OpId op{0}; op < graph.size(); ++op) (void)inputs_of(graph, op);
  (void)OutputReads(graph);
}

// Items and where they are, without the messages of one name.
std::string walk(ProtoText text, std::string_view skipped) {
  std::string all;
  for (;;) {
    const ProtoText::Item item = text.next();
    all += static_cast<char>('0' + static_cast<int>(item.kind));
    if (item.kind == Kind::kEnd) return all + std::to_string(text.depth());
    all += item.name;
    all += '=';
    all += item.value;
    all += std::to_string(text.line());
    if (item.kind == Kind::kOpen && item.name == skipped) text.skip();
  }
}

void check(Result<IrGraph> graph) {
  if (graph) return check_graph(std::move(*graph));
  require(!graph.error().message.empty(), "an error says something");
  require(graph.error().message.find('\n') == std::string::npos, "an error is one line");
  require(graph.error().code != ErrorCode::kInternal, "no input causes an internal error");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  const fuzz::FuzzFile input(data, size);
  const File file = input.open();
  require(walk(ProtoText(file), "attr") == walk(ProtoText(content), "attr"), "a file is read as its bytes are");
  check(read_ge_graph(file));
  check(read_ge_proto(ProtoText(content)));
  check(read_ge_onnx(ProtoText(content)));
  check(read_ge_json(content));
  check(read_torchair(content));
  return 0;
}
