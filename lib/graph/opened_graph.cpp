#include "graph/opened_graph.h"

#include <algorithm>
#include <utility>

namespace msdump {
namespace {

GraphRequest request_for(const OpenedGraph& opened, const std::optional<LineQuery>& only_line) {
  GraphRequest request;
  if (!opened.catalogue) {
    request.only_line = only_line;
    return request;
  }
  std::set<int64_t> graphs;
  for (const IndexedFolder& folder : opened.catalogue->index.folders()) {
    if (folder.identity.graph) graphs.insert(*folder.identity.graph);
  }
  request.dumped_graphs.assign(graphs.begin(), graphs.end());
  const bool of_msprobe = std::any_of(opened.search.files.begin(), opened.search.files.end(),
                                      [](const IrFile& file) { return file.kind == OriginKind::kStackJson; });
  if (!of_msprobe) return request;
  for (const TensorRecord& tensor : opened.catalogue->list.tensors()) request.dumped_ops.insert(tensor.name.op_name);
  return request;
}

}  // namespace

Result<OpenedGraph> OpenedGraph::select(const SelectionOptions& asked) {
  OpenedGraph opened;
  SelectionOptions not_by_operator = asked;
  not_by_operator.op.clear();
  not_by_operator.op_type.clear();
  not_by_operator.regex.clear();
  MSDUMP_TRY(opened.operators, Selection::compile({.op = asked.op, .op_type = asked.op_type, .regex = asked.regex}));
  MSDUMP_TRY(opened.ranks, Selection::compile({.rank = asked.rank}));
  MSDUMP_TRY(opened.graphs, Selection::compile({.graph = asked.graph}));
  MSDUMP_TRY(opened.steps, Selection::compile({.step = asked.step}));
  MSDUMP_TRY(opened.tensors, Selection::compile(not_by_operator));
  return opened;
}

Status OpenedGraph::read(const std::optional<LineQuery>& only_line, const RunContext& context) {
  MSDUMP_TRY(*loaded, load_graph(search.files, request_for(*this, only_line), context));
  if (!catalogue || graph().size() == 0) return {};
  MSDUMP_TRY(Joined made, join_files(catalogue->index, catalogue->list.tensors(), graph(), context));
  add_failures(std::move(made.failures));
  joined.emplace(std::move(made));
  return {};
}

Status OpenedGraph::read_other_lines(const RunContext& context) {
  // Files of other kinds are always read whole.
  if (std::none_of(graph().origins().begin(), graph().origins().end(),
                   [](const Origin& origin) { return origin.kind == OriginKind::kIrText; }))
    return {};
  MSDUMP_TRY(*loaded, load_graph(search.files, {}, context));
  return {};
}

std::vector<ProofTally> OpenedGraph::prove(const RunContext& context) {
  const auto& records = catalogue->list.tensors();
  const ValueComparer comparer(catalogue->index, records);
  std::vector<ProofTally> proofs(graph().size());
  context.pool.parallel_for(static_cast<int64_t>(graph().size()), [&](int64_t index) {
    const auto op = static_cast<OpId>(index);
    if (context.cancel.cancelled() || !graph().has_kernel(op)) return;
    for (const ProofEdge& edge : proof_edges(records, catalogue->index, graph(), joined->join, op))
      proofs[op].count(comparer.compare(edge.input_tensor, edge.output_tensor));
  });
  add_failures(comparer.failures());
  return proofs;
}

void OpenedGraph::add_failures(std::vector<Error>&& failures) {
  for (Error& failure : failures) {
    if (failed_paths.insert(failure.path).second) loaded->failures.push_back(std::move(failure));
  }
}

bool OpenedGraph::selects(const Origin& origin) const {
  Identity identity;
  identity.rank = origin.rank;
  identity.graph = origin.graph_id;
  identity.step = origin.step;
  return (!origin.rank || ranks.matches_folder(identity)) && (!origin.graph_id || graphs.matches_folder(identity)) &&
         (!origin.step || steps.matches_folder(identity));
}

bool OpenedGraph::selects(OpId op) const {
  if (!selects(graph().origin(op))) return false;
  if (operators.everything()) return true;
  const std::string full = graph().full_name(op);
  Identity identity;
  identity.name.op_name = full;
  identity.name.op_type = graph().op_type(op);
  if (operators.matches_file(identity)) return true;
  if (!joined) return false;
  const auto& groups = joined->join.groups();
  const auto pairs = joined->join.pairs_of(op);
  return std::any_of(pairs.begin(), pairs.end(), [&](const JoinPair& pair) {
    identity.name.op_name = groups[pair.group].op_name;
    return operators.matches_file(identity);
  });
}

bool OpenedGraph::selects(const TensorGroup& group) const {
  Identity identity;
  identity.name.op_name = group.op_name;
  identity.name.op_type = group.op_type;
  return operators.matches_file(identity);
}

bool OpenedGraph::selects(const TensorRecord& tensor) const {
  if (tensors.everything()) return true;
  return tensors.matches_file(identity_of(catalogue->index, tensor)) &&
         (tensor.name.slot.empty() || tensors.matches_tensor(tensor.name.io, tensor.name.slot));
}

}  // namespace msdump
