#include "graph/opened_graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "dump/layouts/family.h"
#include "graph/op_name.h"

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
  for (const TensorRecord& tensor : opened.catalogue->list.tensors())
    request.add_dumped(place_of(opened.catalogue->index, tensor).step, tensor.name.op_name);
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
  is_whole = !only_line || catalogue;
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
  is_whole = true;
  return {};
}

const OperatorLines& OpenedGraph::operator_lines() {
  if (!lines) lines.emplace(graph());
  return *lines;
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

namespace {

// Completes records from the headers of their files; opens each file once.
class Completer {
 public:
  Completer(const DumpIndex& index, OperatorFiles& files) : index_(index), files_(files) {}

  void add(TensorRecord record, Detail detail) {
    const bool lacks_header = record.shape == nullptr && record.has_elements && !record.broken;
    if (detail == Detail::kHeaders && lacks_header) complete(record);
    files_.tensors.push_back(record);
  }

  // Records point into `shapes`, which has grown.
  void settle() {
    for (const auto& [tensor, shape] : own_shapes_) files_.tensors[tensor].shape = &files_.shapes[shape];
  }

 private:
  void complete(TensorRecord& record) {
    const auto opened = index_.open_tensor(index_.files()[record.file], record.item);
    if (!opened) return files_.failures.push_back(opened.error());
    const StoredTensor& stored = opened->tensors.front();
    record.name.dtype = stored.original_dtype.value_or(stored.request.dtype.value_or(DType::kUndefined));
    record.bytes = stored.bytes;
    if (!stored.request.shape) return;
    own_shapes_.emplace_back(files_.tensors.size(), files_.shapes.size());
    files_.shapes.push_back(*stored.request.shape);
  }

  const DumpIndex& index_;
  OperatorFiles& files_;
  std::vector<std::pair<size_t, size_t>> own_shapes_;
};

}  // namespace

OperatorFiles files_of(const OpenedGraph& opened, OpId op, Detail detail) {
  if (!opened.joined) return {};
  const FileJoin& join = opened.joined->join;
  std::vector<uint32_t> groups;
  for (const JoinPair& pair : join.pairs_of(op)) groups.push_back(pair.group);
  OperatorFiles files = files_of_groups(opened, groups, detail);
  if (!join.pairs_of(op).empty()) {
    files.confidence = join.pairs_of(op).front().confidence;
    files.rule = join.pairs_of(op).front().rule;
  }
  return files;
}

OperatorFiles files_of_groups(const OpenedGraph& opened, const std::vector<uint32_t>& groups, Detail detail) {
  OperatorFiles files;
  const FileJoin& join = opened.joined->join;
  const Catalogue& catalogue = *opened.catalogue;
  std::vector<RecordId> places;
  for (const uint32_t group : groups) {
    for (const RecordId place : join.tensors_of(join.groups()[group])) places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  Completer completer(catalogue.index, files);
  for (const RecordId place : places) {
    const TensorRecord& tensor = catalogue.list.tensors()[place];
    if (opened.selects(tensor)) completer.add(tensor, detail);
  }
  completer.settle();
  return files;
}

void for_each_operator_files(OpenedGraph& opened, const std::vector<OpId>& ops, Detail detail,
                             const RunContext& context, const std::function<bool(size_t, const OperatorFiles&)>& take) {
  constexpr size_t kMostOperators = 64, kMostTensors = 1000;  // of a batch
  constexpr int64_t kMostWaiting = 16;
  std::vector<size_t> begins;  // of the batches
  size_t tensors = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (begins.empty() || i - begins.back() >= kMostOperators || tensors >= kMostTensors) {
      begins.push_back(i);
      tensors = 0;
    }
    if (!opened.joined) continue;
    const FileJoin& join = opened.joined->join;
    for (const JoinPair& pair : join.pairs_of(ops[i])) tensors += join.groups()[pair.group].count;
  }
  begins.push_back(ops.size());
  bool is_done = false;
  context.pool.ordered_for(
      static_cast<int64_t>(begins.size()) - 1,
      [&](int64_t batch) {
        const auto at = static_cast<size_t>(batch);
        std::vector<OperatorFiles> files;
        for (size_t i = begins[at]; i < begins[at + 1] && !context.cancel.cancelled(); ++i)
          files.push_back(files_of(opened, ops[i], detail));
        return files;
      },
      [&](int64_t batch, std::vector<OperatorFiles>&& files) {
        for (size_t i = 0; i < files.size() && !is_done && !context.cancel.cancelled(); ++i) {
          is_done = !take(begins[static_cast<size_t>(batch)] + i, files[i]);
          opened.add_failures(std::move(files[i].failures));
        }
      },
      kMostWaiting);
}

namespace {

// Compares the names as the IR and as the files spell them: in files the same name may be another operator's.
bool matches_name(const OpenedGraph& opened, const std::vector<std::string>& names, OpId op) {
  std::vector<std::string> in_files;
  if (opened.joined) {
    const FileJoin& join = opened.joined->join;
    for (const JoinPair& pair : join.pairs_of(op)) in_files.emplace_back(join.groups()[pair.group].op_name);
  }
  return matches_op_name(names, opened.graph().full_name(op), in_files);
}

// True if an operator that GE fused into this one has one of the names.
bool matches_original(const OpGraph& graph, const std::vector<std::string>& names, OpId op) {
  const IrGraph& ir = graph.ir(op);
  const auto originals = ir.originals(graph.node(op));
  if (!originals) return false;
  return std::any_of(originals->begin(), originals->end(),
                     [&](uint32_t original) { return matches_op_name(names, ir.text(Text{original})); });
}

}  // namespace

std::vector<LineHit> find_operators(OpenedGraph& opened, const OperatorQuestion& question) {
  const OpGraph& graph = opened.graph();
  std::vector<LineHit> hits;
  const auto append = [&](const std::vector<LineHit>& more) { hits.insert(hits.end(), more.begin(), more.end()); };
  for (const LineQuery& query : question.queries) {
    append(find_line(graph, query));
    if (opened.is_whole) append(find_likely_line(graph, opened.operator_lines(), query));
  }
  for (const std::string& code : question.codes) append(find_code(graph, code));
  const auto is_named = [&](OpId op) { return question.names.empty() || matches_name(opened, question.names, op); };
  const auto is_of_named = [&](OpId op) { return matches_original(graph, question.names, op); };
  if (question.by_line()) {
    std::erase_if(hits, [&](const LineHit& hit) { return !is_named(hit.op) && !is_of_named(hit.op); });
  } else {
    for (OpId op{0}; op < graph.size(); ++op) {
      if (!graph.has_kernel(op) || graph.leaf(op).empty()) continue;
      const bool named = is_named(op);
      if (named || is_of_named(op))
        hits.push_back({op, named ? Relation::kDirect : Relation::kFused, nullptr, false, 1});
    }
  }
  std::stable_sort(hits.begin(), hits.end(), is_better);
  std::set<OpId> seen;
  std::erase_if(hits, [&](const LineHit& hit) { return !seen.insert(hit.op).second; });
  return hits;
}

namespace {

// True for each group that is selected, through an operator that it belongs to or by its own name.
std::vector<bool> selected_groups(const OpenedGraph& opened) {
  const FileJoin& join = opened.joined->join;
  std::vector<bool> selected(join.groups().size(), opened.operators.everything());
  if (opened.operators.everything()) return selected;
  for (const JoinPair& pair : join.pairs()) selected[pair.group] = selected[pair.group] || opened.selects(pair.op);
  for (size_t i = 0; i < selected.size(); ++i) {
    const bool alone = join.rule_of(join.groups()[i]) == JoinRule::kUnmatched;
    if (alone) selected[i] = opened.selects(join.groups()[i]);
  }
  return selected;
}

// Counts the selected files; a dump file that holds several tensors counts once.
size_t files_in(const OpenedGraph& opened, const TensorGroup& group) {
  std::vector<FileId> files;
  for (const RecordId place : opened.joined->join.tensors_of(group)) {
    const TensorRecord& tensor = opened.catalogue->list.tensors()[place];
    if (opened.selects(tensor)) files.push_back(tensor.file);
  }
  std::sort(files.begin(), files.end());
  return static_cast<size_t>(std::unique(files.begin(), files.end()) - files.begin());
}

}  // namespace

JoinCounts count_joined(const OpenedGraph& opened) {
  JoinCounts counts;
  if (!opened.joined) return counts;
  const FileJoin& join = opened.joined->join;
  for (OpId op{0}; op < opened.graph().size(); ++op) {
    if (!opened.graph().has_kernel(op) || !opened.selects(op)) continue;
    ++(join.pairs_of(op).empty() ? counts.unmatched_operators : counts.matched_operators);
  }
  const std::vector<bool> selected = selected_groups(opened);
  for (size_t i = 0; i < selected.size(); ++i) {
    if (!selected[i]) continue;
    const TensorGroup& group = join.groups()[i];
    const bool alone = join.rule_of(group) == JoinRule::kUnmatched;
    (alone ? counts.unmatched_files : counts.matched_files) += files_in(opened, group);
    if (alone) counts.unmatched_groups.push_back(static_cast<uint32_t>(i));
  }
  return counts;
}

}  // namespace msdump
