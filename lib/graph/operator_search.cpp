#include "graph/operator_search.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "graph/op_name.h"

namespace msdump {
namespace {

// Names as the IR or as the files spell them: there the same name may be another operator's.
bool matches_name(const OpenedGraph& opened, const std::vector<std::string>& names, OpId op) {
  const OpGraph& graph = opened.graph();
  std::vector<std::string> spellings{graph.full_name(op), std::string(graph.leaf(op))};
  if (opened.joined) {
    const FileJoin& join = opened.joined->join;
    for (const JoinPair& pair : join.pairs_of(op)) spellings.emplace_back(join.groups()[pair.group].op_name);
  }
  if (spellings.size() == 2) spellings.push_back(normalised_op_name(spellings[0]));
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::any_of(spellings.begin(), spellings.end(),
                       [&](const std::string& spelling) { return glob_match(name, spelling); });
  });
}

// The name of an operator that GE fused into this one.
bool matches_original(const OpGraph& graph, const std::vector<std::string>& names, OpId op) {
  const IrGraph& ir = graph.ir(op);
  const auto originals = ir.originals(graph.node(op));
  if (!originals) return false;
  return std::any_of(originals->begin(), originals->end(), [&](uint32_t original) {
    const std::string_view full = ir.text(Text{original});
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return glob_match(name, full) || glob_match(name, full.substr(full.rfind('/') + 1));
    });
  });
}

}  // namespace

std::vector<LineHit> find_operators(const OpenedGraph& opened, const OperatorQuestion& question) {
  const OpGraph& graph = opened.graph();
  std::vector<LineHit> hits;
  const auto append = [&](const std::vector<LineHit>& more) { hits.insert(hits.end(), more.begin(), more.end()); };
  for (const LineQuery& query : question.queries) append(find_line(graph, query));
  for (const std::string& code : question.codes) append(find_code(graph, code));
  const auto is_named = [&](OpId op) { return question.names.empty() || matches_name(opened, question.names, op); };
  const auto is_of_named = [&](OpId op) { return matches_original(graph, question.names, op); };
  if (question.by_line()) {
    std::erase_if(hits, [&](const LineHit& hit) { return !is_named(hit.op) && !is_of_named(hit.op); });
  } else {
    for (OpId op = 0; op < graph.size(); ++op) {
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

}  // namespace msdump
