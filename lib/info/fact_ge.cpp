// Graphs of GE: the whole file is read, which is as fast as looking for its lines.
#include <algorithm>

#include <fmt/format.h>

#include "ge/graph/ge_graph.h"
#include "info/fact_readers.h"

namespace msdump {
namespace {

struct GeCounts {
  uint64_t edges = 0, originals = 0, fused = 0;
};

GeCounts count_ge(const IrGraph& ir) {
  GeCounts counts;
  for (const IrNode& node : ir.nodes) {
    for (const IrOperand& operand : ir.operands_of(node))
      counts.edges += operand.kind == IrOperand::Kind::kNode ? 1U : 0U;
    const auto originals = ir.originals(node);
    if (!originals) continue;
    counts.originals += originals->size();
    counts.fused += originals->size() > 1 ? 1U : 0U;
  }
  return counts;
}

}  // namespace

void add_ge_facts(const FactSource& source, FileFacts& facts) {
  report::Value form, stage, graphs, operators, edges, originals, fused;
  if (const auto found = ge_form(head_text(source))) form = name_of(*found);
  const auto name = ge_file_name(source.indexed.shown_name());
  if (name && !name->stage.empty()) stage = name->stage;
  const auto ir = read_ge_graph(source.file);
  if (ir) {
    const GeCounts counts = count_ge(*ir);
    graphs = ir->graphs.size();
    operators = ir->nodes.size();
    edges = counts.edges;
    originals = counts.originals;
    fused = counts.fused;
    facts.problems = errors_of(ir->problems, source.file.path());
  } else {
    facts.problems.push_back(ir.error());
  }
  facts.detail.add("form", std::move(form)).add("stage", std::move(stage)).add("graphs", std::move(graphs));
  facts.detail.add("operators", std::move(operators)).add("edges", std::move(edges));
  facts.detail.add("originals", std::move(originals)).add("fused", std::move(fused));
}

}  // namespace msdump
