// Any bytes as IR text: indices are inside their tables, what is counted is there or reported, and an operator found
// by a needle is the one found without.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_file.h"
#include "ir/model/source_frame.h"
#include "ir/model/types.h"
#include "ir/text/attributes.h"
#include "ir/text/ir_text.h"
#include "ir/text/node_text.h"

namespace {

using namespace msdump;
using fuzz::require;

void check_types(const IrGraph& ir) {
  for (const IrType& type : ir.types) {
    for (const uint32_t element : type.elements) require(element < ir.types.size(), "elements are types");
    require(!type.shape || type.shape->size() <= kMaxRank, "the rank is limited");
  }
}

void check_signature(const IrGraph& ir, Signature signature) {
  for (const uint32_t type : ir.inputs(signature)) require(type < ir.types.size(), "inputs are types");
  for (const uint32_t type : ir.outputs(signature)) require(type < ir.types.size(), "outputs are types");
}

void check_operand(const IrGraph& ir, const IrOperand& operand) {
  using Kind = IrOperand::Kind;
  if (operand.kind == Kind::kNode) require(operand.value < ir.nodes.size(), "an operand is an operator");
  if (operand.kind == Kind::kParameter) require(operand.value < ir.parameters.size(), "an operand is a parameter");
  if (operand.kind == Kind::kGraph) require(operand.value < ir.graphs.size(), "an operand is a graph");
}

void check_stack(const IrGraph& ir, const IrNode& node) {
  bool first = true;
  for (const uint32_t index : ir.stack(node)) {
    require(index < ir.frames.size(), "a stack is of frames");
    require(!first || ir.frames[index].begins_chain, "a stack begins with a chain");
    first = false;
  }
}

void check_graph(const IrGraph& ir, std::string_view content) {
  require(ir.nodes.size() <= ir.expected(), "no more operators than were seen");
  require(ir.facts.node_heads == ir.nodes.size() || ir.problems.count() > 0, "what is left out is reported");
  uint64_t lines = 1 + static_cast<uint64_t>(std::count(content.begin(), content.end(), '\n'));
  uint32_t line = 0;
  for (const IrNode& node : ir.nodes) {
    require(node.line > line && node.line <= lines, "operators are in the order of the file");
    line = node.line;
    require(node.graph == kNoIndex || node.graph < ir.graphs.size(), "an operator is in a graph");
    require(!ir.text(node.op).empty(), "an operator is one");
    for (const IrOperand& operand : ir.operands_of(node)) check_operand(ir, operand);
    for (const Signature signature : {node.host, node.device}) check_signature(ir, signature);
    check_stack(ir, node);
    std::vector<IrAttribute> attributes;
    parse_attributes(ir.text(node.attributes), attributes);
    (void)ir.full_name(node);
  }
  for (const IrProblem& problem : ir.problems) {
    require(problem.line <= lines, "a problem is on a line of the file");
    require(problem.reason.find('\n') == std::string::npos, "a problem is one line");
  }
  for (const IrSubgraph& graph : ir.graphs) {
    require(uint64_t{graph.first_node} + graph.node_count <= ir.nodes.size(), "a graph has its operators");
    require(graph.parent == kNoIndex || graph.parent < ir.graphs.size(), "a parent is a graph");
  }
}

// The operators whose text holds the needle, and the same of them.
void check_needle(const File& file, const IrGraph& whole) {
  IrTextOptions options;
  options.needle.text = "a";
  const auto some = read_ir_text(file, options);
  require(some.has_value(), "a needle makes no error");
  require(some->facts.node_heads == whole.facts.node_heads, "a needle changes no count");
  size_t at = 0;
  for (const IrNode& node : some->nodes) {
    while (at < whole.nodes.size() && whole.nodes[at].line < node.line) ++at;
    require(at < whole.nodes.size() && whole.nodes[at].line == node.line, "what a needle finds is there without it");
    const IrNode& same = whole.nodes[at];
    require(some->text(node.op) == whole.text(same.op) && some->full_name(node) == whole.full_name(same),
            "it is the same operator");
    require(some->graph_name(node) == whole.graph_name(same), "in the same graph");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  const fuzz::FuzzFile input(data, size);
  const File file = input.open();
  IrTextOptions options;
  if (size % 2 == 0) options.attributes = {"a"};
  const auto ir = read_ir_text(file, options);
  if (!ir) {
    fuzz::require_good_error(ir.error());
    require(ir.error().code == ErrorCode::kBadIr, "text that is not IR is bad_ir");
    return 0;
  }
  check_types(*ir);
  check_graph(*ir, content);
  check_needle(file, *ir);
  return 0;
}
