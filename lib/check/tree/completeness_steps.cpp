#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "check/ranks/collective_call.h"
#include "check/ranks/rank_values.h"
#include "check/tree/completeness.h"
#include "graph/flow/communication.h"
#include "info/tree_facts.h"
#include "msprobe/names.h"

namespace msdump::check {

// Steps with less than others, steps that ranks lack, and steps that ran but were not dumped.

namespace {

using Number = std::optional<int64_t>;

constexpr size_t kEndsExplained = 10;

std::string steps_text(const std::vector<int64_t>& steps) {
  if (steps.size() == 1) return fmt::format("step {}", steps.front());
  if (steps.size() <= 5) return fmt::format("steps {}", fmt::join(steps, ", "));
  return fmt::format("{} steps from {} to {}", steps.size(), steps.front(), steps.back());
}

class StepJudge {
 public:
  StepJudge(RuleContext& context, const TreeInput& tree)
      : context_(context), dump_(context.dump), tree_(tree), index_(context.dump.index()) {
    for (const IndexedFolder& folder : index_.folders()) {
      const FolderIdentity& identity = folder.identity;
      if (identity.step) steps_of_[{identity.rank, identity.graph}].insert(*identity.step);
    }
  }

  void run() {
    if (!tree_.settings.of_overflows() && !tree_.settings.of_exceptions()) {
      judge_operators_of_steps();
      judge_counts();
    }
    judge_lacking();
    judge_executed();
  }

 private:
  struct Step {
    std::set<OperatorId> operators;
    uint32_t folder = 0;
  };
  using Graph = std::pair<Number, Number>;  // rank, graph

  [[nodiscard]] uint32_t folder_of(const OpRun& run) const {
    return index_.files()[dump_.record(dump_.any_tensor_of(run)).file].folder;
  }

  // Finds operators that most steps have and one lacks.
  void judge_operators_of_steps() {
    std::map<Graph, std::map<int64_t, Step>> graphs;
    for (const OpRun& run : dump_.runs()) {
      if (!run.place.step || dump_.any_tensor_of(run) == kNoId) continue;
      Step& step = graphs[{run.place.rank, run.graph}][*run.place.step];
      if (step.operators.empty()) step.folder = folder_of(run);
      step.operators.insert(dump_.same_in_all_steps(run.op));
    }
    add_steps_without_tensors(graphs);
    for (const auto& [graph, steps] : graphs) ++graphs_of_[graph.first];
    for (const auto& [graph, steps] : graphs) {
      if (steps.size() < 2) continue;
      std::map<OperatorId, size_t> how_often;
      for (const auto& [number, step] : steps) {
        for (const OperatorId op : step.operators) ++how_often[op];
      }
      for (const auto& [number, step] : steps) {
        const bool first = number == steps.begin()->first;
        const bool compiled = dump_.has_flow() && graphs_of_[graph.first] == 1;
        if (first && !compiled && may_differ(index_.folders()[step.folder].identity, steps.size())) continue;
        judge_step(graph, number, step, how_often, steps.size(), number == steps.rbegin()->first);
      }
    }
  }

  // Adds steps with a file that could name tensors but names none.
  void add_steps_without_tensors(std::map<Graph, std::map<int64_t, Step>>& graphs) const {
    for (const IndexedFile& file : index_.files()) {
      const bool could_name =
          file.family != nullptr || file.kind == FileKind::kDumpJson || file.kind == FileKind::kStackJson;
      const FolderIdentity& folder = index_.folders()[file.folder].identity;
      if (!could_name || !folder.step || !selected(folder)) continue;
      const auto found = graphs.find({folder.rank, folder.graph});
      if (found != graphs.end()) found->second.try_emplace(*folder.step, Step{{}, file.folder});
    }
  }

  void judge_step(const Graph& graph, int64_t number, const Step& step, const std::map<OperatorId, size_t>& how_often,
                  size_t steps, bool is_last) {
    std::vector<OperatorId> missing;
    for (const auto& [op, count] : how_often) {
      if (step.operators.count(op) == 0 && count * 2 > steps - 1) missing.push_back(op);
    }
    if (missing.empty()) return;
    const bool ended = missing.size() > 1 && is_last && !step.operators.empty() && is_end(missing, step.operators);
    const RuleId id = ended ? RuleId::kStopped : RuleId::kIncompleteStep;
    reported_.insert(step.folder);
    if (!context_.judges(id)) return;
    const auto name = [&](OperatorId op) { return dump_.operators()[op].name; };
    std::vector<std::string> names;
    for (const OperatorId op : missing) names.push_back(name(op));
    const bool one = missing.size() == 1;
    std::string message = fmt::format("{} that other steps have {} not here: {}", plural(missing.size(), "operator"),
                                      one ? "is" : "are", first_names(names));
    if (ended && ++ends_ <= kEndsExplained) {
      std::vector<OperatorId> ops;
      for (OperatorId op{0}; op < dump_.operators().size(); ++op) {
        if (step.operators.count(dump_.same_in_all_steps(op)) > 0) ops.push_back(op);
      }
      const OperatorId last = last_in_time(dump_, ops, number);
      if (last != kNoId) message += fmt::format("; the last one dumped is {}", name(last));
    }
    Finding& finding = context_.report_place(
        id, {graph.first, graph.second, number, index_.folders()[step.folder].relative}, missing.size(), message);
    // Scripts may call more in one step than in another, or take another branch; a single compiled graph cannot.
    const bool of_msprobe = parse_msprobe_entry(name(missing.front())).has_value();
    const bool branches = graphs_of_[graph.first] > 1 && missing.size() * 10 < step.operators.size();
    if (id == RuleId::kIncompleteStep && !step.operators.empty() && (of_msprobe || branches))
      finding.limit_severity(Severity::kNote);
    finding.hint =
        id == RuleId::kStopped
            ? "the process ended or the disk was full while this step was written; it is still being written "
              "if the run goes on"
            : "either this step took another branch, or files were lost";
  }

  // True if all missing operators come after all that are present: by the data flow, else by their order.
  [[nodiscard]] bool is_end(const std::vector<OperatorId>& missing, const std::set<OperatorId>& there) const {
    if (!dump_.has_flow()) return missing.front() > *there.rbegin();
    std::vector<OperatorId> ops;  // of a graph that the IR has, and of any other
    std::vector<bool> unread;
    return std::all_of(missing.begin(), missing.end(), [&](OperatorId op) {
      if (!std::binary_search(ops.begin(), ops.end(), op)) {
        ops = operators_of_same_graph(dump_, op);
        unread = unread_of_missing(dump_, ops, [&](OperatorId other) { return there.count(other) > 0; });
      }
      return unread[static_cast<size_t>(std::lower_bound(ops.begin(), ops.end(), op) - ops.begin())];
    });
  }

  // Compares numbers of files if names say nothing.
  void judge_counts() {
    // A finding about missing tensors says more than their number.
    const std::set<RankStep> reported_by_tensors =
        places_of(context_.findings, std::array{RuleId::kMissingSlots, RuleId::kMissingFiles});
    const bool loops = has_loops();
    for (const TreeFinding& found : tree_.tree_findings) {
      const bool empty = found.kind == TreeFindingKind::kEmptyStep;
      if ((!empty && found.kind != TreeFindingKind::kIncompleteStep) || !context_.judges(RuleId::kIncompleteStep))
        continue;
      const FolderIdentity& folder = index_.folders()[found.item].identity;
      if (reported_.count(found.item) > 0 || !selected(folder) || is_excused(folder)) continue;
      if (folder.step && reported_by_tensors.count({folder.rank, *folder.step}) > 0) continue;
      Finding& finding = context_.report_place(
          RuleId::kIncompleteStep,
          {folder.rank, folder.graph, folder.step.value_or(0), index_.folders()[found.item].relative}, {}, found.text);
      finding.hint = empty
                         ? "the folder of a step is made before its first file: the run ended there, or dumped nothing "
                           "in this step (kernels, iteration, support_device)"
                         : "operators in loops and branches may run more or less often; else files were lost, or the "
                           "run ended";
      // How often a loop runs differs from step to step.
      if (!empty && loops) finding.severity = Severity::kNote;
    }
  }

  // The first step may do more or less than the others. Of two steps, either may be the normal one; msprobe misses the
  // first step of an optimizer.
  static bool may_differ(const FolderIdentity& folder, size_t steps) {
    return steps == 2 || folder.layout == Layout::kMsprobe || folder.layout == Layout::kPtdbg;
  }

  [[nodiscard]] bool is_excused(const FolderIdentity& folder) const {
    const auto found = steps_of_.find({folder.rank, folder.graph});
    if (found == steps_of_.end()) return false;
    const std::set<int64_t>& steps = found->second;
    return steps.size() > 1 && folder.step == *steps.begin() && may_differ(folder, steps.size());
  }

  [[nodiscard]] bool has_loops() const {
    const auto& dump = dump_.runs();
    return std::any_of(dump.begin(), dump.end(), [](const OpRun& run) { return run.place.occurrence > 0; });
  }

  [[nodiscard]] bool selected(const FolderIdentity& folder) const {
    return tree_.selection.matches_folder({folder.rank, folder.graph, folder.step, {}, 0});
  }

  void judge_lacking() {
    if (!context_.judges(RuleId::kMissingStep)) return;
    for (const TreeFinding& found : tree_.tree_findings) {
      if (found.kind != TreeFindingKind::kLackingSteps) continue;
      const FolderIdentity& folder = index_.folders()[found.item].identity;
      if (!selected(folder)) continue;
      context_.report_place(RuleId::kMissingStep, {.rank = folder.rank, .path = found.path}, {}, found.text).hint =
          "that process ended earlier, its disk was full, or its configuration has another iteration";
    }
  }

  // Finds steps that ran (ms_global_execution_order_graph_G.csv) and were to be dumped, but are missing.
  void judge_executed() {
    const DumpSettings& settings = tree_.settings;
    if (!context_.judges(RuleId::kMissingStep) || settings.iteration.empty() || settings.op_debug_mode.value_or(0) != 0)
      return;
    const auto wanted = settings.iteration == "all" ? IntRanges() : IntRanges::parse(settings.iteration);
    if (!wanted) return;
    std::map<Number, std::set<int64_t>> dumped;  // by rank
    for (const IndexedFolder& folder : index_.folders()) {
      if (folder.identity.step) dumped[folder.identity.rank].insert(*folder.identity.step);
    }
    for (const auto& [rank, steps] : tree_.orders.steps) {
      std::vector<int64_t> lacking;
      for (const int64_t step : steps) {
        const bool asked = wanted->empty() || wanted->contains(step);
        const bool chosen = tree_.selection.matches_folder({rank, std::nullopt, step, {}, 0});
        if (asked && chosen && dumped[rank].count(step) == 0) lacking.push_back(step);
      }
      // If nothing is present the folder may belong to another run.
      if (lacking.empty() || dumped[rank].empty()) continue;
      Finding& finding =
          context_.report_place(RuleId::kMissingStep, {.rank = rank}, lacking.size(),
                                fmt::format("not there, although run and to be dumped (iteration \"{}\"): {}",
                                            settings.iteration, steps_text(lacking)));
      finding.hint = "they were deleted, the disk was full, or the run still goes on";
    }
  }

  RuleContext& context_;
  const CheckedDump& dump_;
  const TreeInput& tree_;
  const DumpIndex& index_;
  std::set<uint32_t> reported_;                                      // folders of steps
  std::map<std::pair<Number, Number>, std::set<int64_t>> steps_of_;  // by rank and graph
  std::map<Number, size_t> graphs_of_;                               // by rank
  size_t ends_ = 0;
};

}  // namespace

void judge_steps(RuleContext& context, const TreeInput& tree) { StepJudge(context, tree).run(); }

// Missing ranks, ranks without tensors, and operators that all other ranks have in a step. Ranks of a pipeline have
// operators of their own and are not compared.

namespace {

using Number = std::optional<int64_t>;

class RankJudge {
 public:
  RankJudge(RuleContext& context, const TreeInput& tree)
      : context_(context), dump_(context.dump), tree_(tree), index_(context.dump.index()) {}

  void run() {
    if (context_.judges(RuleId::kRankMissing)) judge_numbers();
    if (context_.judges(RuleId::kMissingStep)) judge_ranks_without_tensors();
    if (context_.judges(RuleId::kIncompleteStep) && !tree_.settings.of_some_operators()) judge_operators();
  }

 private:
  struct Share {  // what one rank has of a graph in a step
    std::set<uint32_t> names;
    uint32_t folder = 0;
  };
  using Place = std::pair<Number, int64_t>;  // graph, step
  struct Lack {
    std::vector<int64_t> steps;
    std::set<uint32_t> names;
    uint32_t folder = 0;
  };

  void judge_numbers() {
    const KnownRanks known = known_ranks(dump_);
    std::set<int64_t> missing;
    bool named = false;
    const auto note_missing = [&](int64_t rank) {
      const bool asked = tree_.selection.matches_folder({rank, std::nullopt, std::nullopt, {}, 0});
      if (asked) missing.insert(rank);
      return asked;
    };
    for (const int64_t rank : known.holes) note_missing(rank);
    for (const int64_t rank : known.named) named = note_missing(rank) || named;
    if (missing.empty()) return;
    const std::vector<int64_t> ranks(missing.begin(), missing.end());
    std::string message = fmt::format("{} {} not in the dump, which has {}", ranks_text(ranks),
                                      ranks.size() == 1 ? "is" : "are", plural(known.there.size(), "rank"));
    if (named) message += "; collectives name them";
    Finding& finding = context_.report_place(RuleId::kRankMissing, {}, ranks.size(), std::move(message));
    // Some ranks may have been chosen to be dumped.
    if (missing.size() >= known.there.size() || known.there.size() < 3) finding.limit_severity(Severity::kNote);
    finding.ranks = ranks;
    finding.group.assign(known.there.begin(), known.there.end());
    finding.group.insert(finding.group.end(), ranks.begin(), ranks.end());
    std::sort(finding.group.begin(), finding.group.end());
  }

  void judge_ranks_without_tensors() {
    std::map<int64_t, uint32_t> known;  // rank to one of its folders
    std::set<int64_t> with_tensors;
    for (uint32_t i = 0; i < index_.folders().size(); ++i) {
      const FolderIdentity& folder = index_.folders()[i].identity;
      if (folder.rank && tree_.selection.matches_folder({folder.rank, folder.graph, folder.step, {}, 0}))
        known.try_emplace(*folder.rank, i);
    }
    for (TensorId tensor{0}; tensor < dump_.tensors(); ++tensor) {
      if (const Number rank = identity_of(index_, dump_.record(tensor)).rank) with_tensors.insert(*rank);
    }
    for (const auto& [rank, folder] : known) {
      if (with_tensors.empty() || with_tensors.count(rank) > 0) continue;
      Finding& finding =
          context_.report_place(RuleId::kMissingStep, {.rank = rank, .path = index_.folders()[folder].relative}, {},
                                fmt::format("rank {} has no tensor; others have", rank));
      finding.hint =
          "that process ended before its first dump, support_device leaves its device out, or its files were "
          "not copied";
    }
  }

  void judge_operators() {
    // Such a step was compared with the other steps of its rank and reported.
    const std::set<RankStep> reported =
        places_of(context_.findings, std::array{RuleId::kIncompleteStep, RuleId::kStopped});
    for (const auto& [place, ranks] : shares()) {
      if (ranks.size() < 2) continue;
      std::map<uint32_t, size_t> how_often;
      for (const auto& [rank, share] : ranks) {
        for (const uint32_t name : share.names) ++how_often[name];
      }
      for (const auto& [rank, share] : ranks) {
        const bool has_own =
            std::any_of(share.names.begin(), share.names.end(), [&](uint32_t name) { return how_often[name] == 1; });
        if (has_own || reported.count({rank, place.second}) > 0) continue;
        Lack& lack = lacks_[{rank, place.first}];
        const size_t before = lack.names.size();
        size_t here = 0;
        for (const auto& [name, count] : how_often) {
          if (count + 1 != ranks.size() || share.names.count(name) > 0) continue;
          lack.names.insert(name);
          ++here;
        }
        if (here == 0) continue;
        if (before == 0) lack.folder = share.folder;
        lack.steps.push_back(place.second);
      }
    }
    for (const auto& [graph, lack] : lacks_) {
      if (!lack.steps.empty()) add(graph, lack);
    }
  }

  // Shares by graph and step, then by rank. Names are the same on all ranks; operators are not.
  std::map<Place, std::map<int64_t, Share>> shares() {
    std::map<std::string_view, uint32_t> ids;
    std::map<Place, std::map<int64_t, Share>> shares;
    for (const OpRun& run : dump_.runs()) {
      const SequencedOp& op = dump_.operators()[run.op];
      const TensorId tensor = dump_.any_tensor_of(run);
      if (!run.place.step || !run.place.rank || tensor == kNoId || is_communication(op.type)) continue;
      const auto [found, is_new] = ids.try_emplace(op.name, static_cast<uint32_t>(names_.size()));
      if (is_new) names_.push_back(op.name);
      Share& share = shares[{run.graph, *run.place.step}][*run.place.rank];
      if (share.names.empty()) share.folder = index_.files()[dump_.record(tensor).file].folder;
      share.names.insert(found->second);
    }
    return shares;
  }

  void add(const std::pair<int64_t, Number>& graph, const Lack& lack) {
    std::vector<std::string> names;
    for (const uint32_t name : lack.names) names.emplace_back(names_[name]);
    std::string message = fmt::format("{} that all other ranks have {} not here: {}", plural(names.size(), "operator"),
                                      names.size() == 1 ? "is" : "are", first_names(names));
    if (lack.steps.size() > 1)
      message += fmt::format(", in {} steps from {} to {}", lack.steps.size(), lack.steps.front(), lack.steps.back());
    Finding& finding =
        context_.report_place(RuleId::kIncompleteStep,
                              {graph.first, graph.second, lack.steps.front(), index_.folders()[lack.folder].relative},
                              names.size(), std::move(message));
    finding.hint = "the process of that rank ended, its disk was full, or files were lost on the way";
  }

  RuleContext& context_;
  const CheckedDump& dump_;
  const TreeInput& tree_;
  const DumpIndex& index_;
  std::vector<std::string_view> names_;
  std::map<std::pair<int64_t, Number>, Lack> lacks_;  // by rank and graph
};

}  // namespace

void judge_ranks(RuleContext& context, const TreeInput& tree) { RankJudge(context, tree).run(); }

}  // namespace msdump::check
