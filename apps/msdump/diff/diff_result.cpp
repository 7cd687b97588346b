#include "diff/diff_result.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/match/placement/placement_file.h"
#include "compare/tokens/token_texts.h"
#include "compare/tokens/token_view.h"
#include "diff/diff_text.h"
#include "graph/op_name.h"
#include "io/atomic_file.h"
#include "shared/opened_graph.h"
#include "shared/sharding.h"

namespace msdump::cli {
namespace {

using OpenedSide = std::unique_ptr<DiffSide>;

Result<OpenedSide> open_side(const RunContext& context, const DiffOptions& options, const std::string& path,
                             const SelectionOptions& selection) {
  const GraphOptions graph{.dump = {.options = {path}, .positionals = {}}, .ir = options.ir, .selection = selection};
  MSDUMP_TRY(OpenedGraph opened, open_graph(context, graph, {{}, Headers::kAll}));
  return std::make_unique<DiffSide>(std::move(opened));
}

// Both sides at once: one thread reads each table, so that the tables are read in parallel.
Result<std::pair<OpenedSide, OpenedSide>> open_sides(const RunContext& context, const DiffOptions& options) {
  Result<OpenedSide> a, b;
  std::atomic<bool> failed = false;
  context.pool.parallel_for(2, [&](int64_t side) {
    if (side == 0) {
      a = open_side(context, options, options.paths.front(), selection_of(options, options.rank_a, options.step_a));
      failed = !a;
    } else if (!failed) {
      b = open_reference(context, options, options.paths.back());
    }
  });
  // If both fail, the candidate's error is returned, whichever came first.
  MSDUMP_TRY(OpenedSide candidate, std::move(a));
  MSDUMP_TRY(OpenedSide reference, std::move(b));
  return std::pair(std::move(candidate), std::move(reference));
}

// Names listed in the map that the candidate does not have.
void note_unknown_names(Session& session, const NameMap& map, const CompareSide& side) {
  std::set<std::string> known;
  for (const TensorRecord& tensor : *side.tensors) known.insert(normalised_op_name(tensor.name.op_name));
  for (const NamePair& pair : map.operators()) {
    if (known.count(normalised_op_name(pair.candidate)) > 0) continue;
    session.messages.warning(
        fmt::format("--map, line {}: the candidate has no operator '{}'", pair.line, excerpt(pair.candidate)));
  }
}

// A map that changes nothing is probably of other dumps.
void warn_without_effect(Session& session, const NameMap& map, const DiffResult& run) {
  const auto by_user = [](const OpPair& pair) { return pair.how == PairedBy::kUser; };
  const auto renamed = [&](const SequencedOp& one) { return map.path_renamed(one.name) != one.name; };
  const std::vector<OpPair>& pairs = run.pairing.operators;
  const std::vector<SequencedOp>& candidate = run.pairing.a;
  const bool effect = map.renames() ? std::any_of(candidate.begin(), candidate.end(), renamed)
                                    : std::any_of(pairs.begin(), pairs.end(), by_user);
  const bool says_none = std::any_of(map.operators().begin(), map.operators().end(),
                                     [](const NamePair& pair) { return pair.reference.empty(); });
  if (effect || says_none) return;
  session.messages.warning(fmt::format("--map ({}) has no effect: {}", name_of(map.kind()),
                                       map.renames() ? "no operator of the candidate has such a part in its name"
                                                     : "no operator of the candidate goes to one of the reference"));
}

struct OpenedDiff {
  OpenedSide a, b;
  std::optional<NameMap> map;
  std::optional<PlacementRules> layouts;
  std::shared_ptr<const TokenTexts> token_texts;
};

Result<OpenedDiff> open_diff(Session& session, const DiffOptions& options) {
  OpenedDiff opened;
  MSDUMP_TRY(auto sides, open_sides(session.context, options));
  std::tie(opened.a, opened.b) = std::move(sides);
  MSDUMP_CHECK_OK(check_inputs(session, {&opened.a->catalogue().index, &opened.b->catalogue().index}));
  if (!options.layout_file.empty()) {
    MSDUMP_TRY(opened.layouts, option_file(PlacementRules::read(options.layout_file)));
  }
  if (!options.tokenizer_file.empty()) {
    MSDUMP_TRY(TokenTexts texts, option_file(TokenTexts::read(options.tokenizer_file)));
    opened.token_texts = std::make_shared<const TokenTexts>(std::move(texts));
  }
  if (options.map.empty()) return opened;
  MSDUMP_TRY(opened.map, option_file(NameMap::read(options.map, {dump_jsons(*opened.a, *opened.b)})));
  note_unknown_names(session, *opened.map, opened.a->side);
  return opened;
}

// Only JSON prints all of them; what is not printed is not kept.
size_t worst_kept(const DiffOptions& options) {
  const bool all = is_nested(options.form);
  return all ? options.worst : std::min<size_t>(options.worst, kElementsShown);
}

constexpr double kSure = 0.8;  // confidence

// The layouts of one side's tensors. `compared` are those of a checkpoint with the parts and views that pairs may have: a
// layout is that of the parameter, whose local tensors the ranks hold.
class FoundLayouts {
 public:
  FoundLayouts(const ShardedSide& side, const std::vector<TensorRecord>& compared, bool of_reference)
      : side_(side), compared_(compared), of_reference_(of_reference) {
    for (RecordId tensor{0}; tensor < side.size(); ++tensor)
      if (const TensorPieces* const pieces = side.tensors()[tensor].pieces()) parameters_.emplace(pieces, tensor);
  }

  void add(RecordId tensor, const Placement& layout, double confidence, std::vector<FoundPlacement>& found) const {
    if (tensor == kNoId) return;
    const RecordId whole = parameter_of(tensor);
    if (whole == kNoId) return;
    const NameFacts& name = side_.tensors()[whole].name;
    const std::vector<int64_t>& ranks = side_.ranks(whole);
    if (ranks.size() < 2) return;
    found.push_back({{name.op_name, name.io, name.slot, ranks, of_reference_}, &layout, confidence >= kSure});
  }

 private:
  // The parameter over ranks that a part or view belongs to. kNoId if it lies on one rank.
  [[nodiscard]] RecordId parameter_of(RecordId tensor) const {
    if (tensor < side_.size()) return tensor;
    const auto found = parameters_.find(compared_[tensor].pieces());
    return found == parameters_.end() ? RecordId(kNoId) : found->second;
  }

  const ShardedSide& side_;
  const std::vector<TensorRecord>& compared_;
  const bool of_reference_;
  std::map<const TensorPieces*, RecordId> parameters_;
};

size_t count_ranks(const ShardedSide& side) {
  std::set<int64_t> ranks;
  for (RecordId tensor{0}; tensor < side.size(); ++tensor)
    ranks.insert(side.ranks(tensor).begin(), side.ranks(tensor).end());
  return ranks.size();
}

}  // namespace

SelectionOptions selection_of(const DiffOptions& options, const std::string& rank, const std::string& step) {
  SelectionOptions selection = options.selection;
  if (!rank.empty()) selection.rank = rank;
  if (!step.empty()) selection.step = step;
  return selection;
}

Result<std::unique_ptr<DiffSide>> open_reference(const RunContext& context, const DiffOptions& options,
                                                 const std::string& path) {
  return open_side(context, options, path, selection_of(options, options.rank_b, options.step_b));
}

namespace {

constexpr std::string_view kListsOperators = "msdump ls lists all operators";  // the hint of operators_named()

// For an --explain that names no operator: the operators with this name but for their number; empty if there are none.
std::string hint_for_explain(const DiffOptions& options, const DumpIndex& candidate) {
  if (options.explain.empty()) return {};
  SelectionOptions typed;
  typed.op = {options.explain};
  const std::string near = near_miss(candidate, typed);
  constexpr std::string_view kOption = "--op ";
  const size_t at = near.find(kOption);
  return at == std::string::npos ? std::string() : std::string(near).replace(at, kOption.size(), "--explain ");
}

// The full name of the operator that --explain names as its files do, which have '_' for '/' and may be numbered otherwise; else
// what was typed.
std::string operator_to_explain(const DiffOptions& options, const OpenedDiff& opened) {
  for (const DiffSide* const side : {opened.a.get(), opened.b.get()}) {
    if (options.explain.empty() || !side->opened.joined) continue;
    const FileJoin& join = side->opened.joined->join;
    for (OpId op{0}; op < side->opened.graph().size(); ++op) {
      for (const JoinPair& pair : join.pairs_of(op)) {
        if (join.groups()[pair.group].op_name == options.explain) return side->opened.graph().full_name(op);
      }
    }
  }
  return options.explain;
}

}  // namespace

Result<DiffResult> compute_diff(Session& session, const DiffOptions& options, DiffRules& rules) {
  MSDUMP_TRY(OpenedDiff opened, open_diff(session, options));
  const std::string near = hint_for_explain(options, opened.a->catalogue().index);
  const std::string explain = operator_to_explain(options, opened);
  const NameMap* const map = opened.map ? &*opened.map : nullptr;
  const PlacementRules* const layouts = opened.layouts ? &*opened.layouts : nullptr;
  Result<DiffResult> compared = diff_dumps(
      std::move(opened.a), std::move(opened.b), map, rules, {worst_kept(options), options.by_axis}, session.context,
      {explain, !options.report.empty() || is_for_people(options.form), layouts,
       options.no_recompute ? recompute::Extent::kNever : options.recompute, options.tokens, options.weights});
  if (!compared && compared.error().hint == kListsOperators && !near.empty()) compared.error().hint = near;
  MSDUMP_TRY(DiffResult run, std::move(compared));
  if (run.computed.too_much > 0)
    session.messages.note(fmt::format("{} of tensors were not computed again; --recompute does that",
                                      human_bytes(run.computed.too_much)));
  if (map != nullptr) warn_without_effect(session, *map, run);
  if (run.tokens != nullptr) run.tokens->texts = opened.token_texts;
  if (opened.token_texts != nullptr && run.tokens == nullptr)
    session.messages.warning("--tokenizer has no effect: the two runs are not compared token by token");
  if (layouts != nullptr && run.placements.empty())
    session.messages.warning("--layout has no effect: the two runs are not cut differently over their ranks");
  return run;
}

Result<ExitCode> write_diff_part(Session& session, const DiffOptions& options, const DiffRules& rules,
                                 const std::string& path) {
  MSDUMP_TRY(OpenedDiff opened, open_diff(session, options));
  PartRun part(session, options.sharding, path, {&opened.a->catalogue().index, &opened.b->catalogue().index});
  if (part.is_done()) return ExitCode::kOk;
  const NameMap* const map = opened.map ? &*opened.map : nullptr;
  DiffDetails details;
  details.layouts = opened.layouts ? &*opened.layouts : nullptr;
  details.tokens = options.tokens;
  details.parameters_alone = options.weights;
  MSDUMP_TRY(DiffResult run, pair_dumps(std::move(opened.a), std::move(opened.b), map, session.context, details));
  const std::vector<bool> is_own = part.take(bytes_of_rows(run));
  std::vector<TensorId> own;
  for (size_t i = 0; i < is_own.size(); ++i) {
    if (is_own[i]) own.push_back(run.rows[i]);
  }
  MSDUMP_CHECK_OK(compare_pairs(run, own, rules, {options.worst, options.by_axis}, part.context()));
  return part.finish("pair");
}

Status write_layouts(Session& session, const DiffResult& run, const std::string& path) {
  std::vector<FoundPlacement> found;
  if (!run.placements.empty()) {
    const FoundLayouts of_a(*run.sharded_a, run.a->tensors, false), of_b(*run.sharded_b, run.b->tensors, true);
    for (const TensorId row : run.rows) {
      const PlacementNote& note = run.placements[row];
      if (note.confidence == 0 || !note.problem.empty()) continue;
      of_a.add(run.pairing.tensors[row].a, note.a, note.confidence, found);
      of_b.add(run.pairing.tensors[row].b, note.b, note.confidence, found);
    }
  }
  if (found.empty()) session.messages.note("no layouts to write: no tensor lies on several ranks in parts");
  return write_named_file(path, placement_file_text(found));
}

std::string placements_text(const DiffResult& run) {
  if (run.placements.empty()) return {};
  size_t paired = 0, together = 0;
  for (const TensorId row : run.rows) {
    const TensorPair& pair = run.pairing.tensors[row];
    if (pair.a == kNoId || pair.b == kNoId) continue;
    ++paired;
    if (run.placements[row].confidence > 0 && run.placements[row].problem.empty()) ++together;
  }
  return fmt::format("candidate: {}, reference: {}; {} of {} put together", plural(count_ranks(*run.sharded_a), "rank"),
                     count_ranks(*run.sharded_b), together, plural(paired, "tensor"));
}

}  // namespace msdump::cli
