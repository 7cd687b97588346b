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

// Steps: those with less than others, those that ranks lack, those that ran but were not dumped.

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
  StepJudge(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings)
      : input_(input), index_(input.dump.index()), rules_(rules), findings_(findings) {
    for (const IndexedFolder& folder : index_.folders()) {
      const FolderIdentity& identity = folder.identity;
      if (identity.step) steps_of_[{identity.rank, identity.graph}].insert(*identity.step);
    }
  }

  void run() {
    if (!input_.settings.of_overflows() && !input_.settings.of_exceptions()) {
      judge_operators_of_steps();
      judge_counts();
    }
    judge_lacking();
    judge_executed();
  }

 private:
  struct Step {
    std::set<uint32_t> operators;
    uint32_t folder = 0;
  };
  using Graph = std::pair<Number, Number>;  // rank, graph

  [[nodiscard]] uint32_t folder_of(const OpRun& run) const {
    return index_.files()[input_.dump.record(input_.dump.any_tensor_of(run)).file].folder;
  }

  // Operators that most steps have and one lacks.
  void judge_operators_of_steps() {
    std::map<Graph, std::map<int64_t, Step>> graphs;
    for (const OpRun& run : input_.dump.runs()) {
      if (!run.place.step || input_.dump.any_tensor_of(run) == kNone) continue;
      Step& step = graphs[{run.place.rank, run.graph}][*run.place.step];
      if (step.operators.empty()) step.folder = folder_of(run);
      step.operators.insert(input_.dump.same_in_all_steps(run.op));
    }
    add_steps_without_tensors(graphs);
    for (const auto& [graph, steps] : graphs) ++graphs_of_[graph.first];
    for (const auto& [graph, steps] : graphs) {
      if (steps.size() < 2) continue;
      std::map<uint32_t, size_t> how_often;
      for (const auto& [number, step] : steps) {
        for (const uint32_t op : step.operators) ++how_often[op];
      }
      for (const auto& [number, step] : steps) {
        const bool first = number == steps.begin()->first;
        const bool compiled = input_.dump.has_flow() && graphs_of_[graph.first] == 1;
        if (first && !compiled && may_differ(index_.folders()[step.folder].identity, steps.size())) continue;
        judge_step(graph, number, step, how_often, steps.size(), number == steps.rbegin()->first);
      }
    }
  }

  // Steps with a file that could name tensors, but names none.
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

  void judge_step(const Graph& graph, int64_t number, const Step& step, const std::map<uint32_t, size_t>& how_often,
                  size_t steps, bool is_last) {
    std::vector<uint32_t> missing;
    for (const auto& [op, count] : how_often) {
      if (step.operators.count(op) == 0 && count * 2 > steps - 1) missing.push_back(op);
    }
    if (missing.empty()) return;
    const bool ended = missing.size() > 1 && is_last && !step.operators.empty() && is_end(missing, step.operators);
    const RuleId id = ended ? RuleId::kStopped : RuleId::kIncompleteStep;
    reported_.insert(step.folder);
    if (!rules_.on(id)) return;
    const auto name = [&](uint32_t op) { return input_.dump.operators()[op].name; };
    std::vector<std::string> names;
    for (const uint32_t op : missing) names.push_back(name(op));
    const bool one = missing.size() == 1;
    std::string message = fmt::format("{} that other steps have {} not here: {}", plural(missing.size(), "operator"),
                                      one ? "is" : "are", first_names(names));
    if (ended && ++ends_ <= kEndsExplained) {
      std::vector<uint32_t> ops;
      for (uint32_t op = 0; op < input_.dump.operators().size(); ++op) {
        if (step.operators.count(input_.dump.same_in_all_steps(op)) > 0) ops.push_back(op);
      }
      const uint32_t last = last_in_time(input_.dump, ops, number);
      if (last != kNone) message += fmt::format("; the last one dumped is {}", name(last));
    }
    Finding finding = tree_finding(rules_, id, message);
    // Scripts may call more in one step than in another, or take another branch; a single compiled graph cannot.
    const bool of_msprobe = parse_msprobe_entry(name(missing.front())).has_value();
    const bool branches = graphs_of_[graph.first] > 1 && missing.size() * 10 < step.operators.size();
    if (id == RuleId::kIncompleteStep && !step.operators.empty() && (of_msprobe || branches))
      finding.severity = std::min(finding.severity, Severity::kNote);
    set_place(finding, graph, number, index_.folders()[step.folder].relative);
    finding.value = missing.size();
    finding.hint =
        id == RuleId::kStopped
            ? "the process ended or the disk was full while this step was written; it is still being written "
              "if the run goes on"
            : "a branch that this step did not take looks so, too; else files were lost";
    findings_.push_back(std::move(finding));
  }

  // Does everything missing come after everything present: by the data flow, else by the order?
  [[nodiscard]] bool is_end(const std::vector<uint32_t>& missing, const std::set<uint32_t>& there) const {
    if (!input_.dump.has_flow()) return missing.front() > *there.rbegin();
    std::vector<uint32_t> ops;  // of a graph that the IR has, and of any other
    std::vector<bool> unread;
    return std::all_of(missing.begin(), missing.end(), [&](uint32_t op) {
      if (!std::binary_search(ops.begin(), ops.end(), op)) {
        ops = operators_of_same_graph(input_.dump, op);
        unread = unread_of_missing(input_.dump, ops, [&](uint32_t other) { return there.count(other) > 0; });
      }
      return unread[static_cast<size_t>(std::lower_bound(ops.begin(), ops.end(), op) - ops.begin())];
    });
  }

  static void set_place(Finding& finding, const Graph& graph, int64_t step, std::string path) {
    finding.rank = graph.first;
    finding.graph = graph.second;
    finding.step = step;
    finding.path = std::move(path);
  }

  // By numbers of files, if names say nothing.
  void judge_counts() {
    // Which tensors are missing says more than how many.
    const std::set<RankStep> reported_by_tensors =
        places_of(findings_, std::array{RuleId::kMissingSlots, RuleId::kMissingFiles});
    const bool loops = has_loops();
    for (const Oddity& oddity : input_.oddities) {
      const bool empty = oddity.kind == OddityKind::kEmptyStep;
      if ((!empty && oddity.kind != OddityKind::kIncompleteStep) || !rules_.on(RuleId::kIncompleteStep)) continue;
      const FolderIdentity& folder = index_.folders()[oddity.place].identity;
      if (reported_.count(oddity.place) > 0 || !selected(folder) || is_excused(folder)) continue;
      if (folder.step && reported_by_tensors.count({folder.rank, *folder.step}) > 0) continue;
      Finding finding = tree_finding(rules_, RuleId::kIncompleteStep, describe(index_, oddity));
      set_place(finding, {folder.rank, folder.graph}, folder.step.value_or(0), index_.folders()[oddity.place].relative);
      finding.hint = empty
                         ? "the folder of a step is made before its first file: the run ended there, or dumped nothing "
                           "in this step (kernels, iteration, support_device)"
                         : "operators in loops and branches may run more or less often; else files were lost, or the "
                           "run ended";
      // How often a loop runs differs from step to step.
      if (!empty && loops) finding.severity = Severity::kNote;
      findings_.push_back(std::move(finding));
    }
  }

  // The first step may do more than the others, or less: of two steps either may be the normal one, and msprobe misses
  // the first step of an optimizer.
  static bool may_differ(const FolderIdentity& folder, size_t steps) {
    return steps == 2 || folder.layout == Layout::kMsprobe;
  }

  [[nodiscard]] bool is_excused(const FolderIdentity& folder) const {
    const auto found = steps_of_.find({folder.rank, folder.graph});
    if (found == steps_of_.end()) return false;
    const std::set<int64_t>& steps = found->second;
    return steps.size() > 1 && folder.step == *steps.begin() && may_differ(folder, steps.size());
  }

  [[nodiscard]] bool has_loops() const {
    const auto& dump = input_.dump.runs();
    return std::any_of(dump.begin(), dump.end(), [](const OpRun& run) { return run.place.occurrence > 0; });
  }

  [[nodiscard]] bool selected(const FolderIdentity& folder) const {
    return input_.selection.matches_folder({folder.rank, folder.graph, folder.step, {}, 0});
  }

  void judge_lacking() {
    if (!rules_.on(RuleId::kMissingStep)) return;
    for (const Oddity& oddity : input_.oddities) {
      if (oddity.kind != OddityKind::kLackingSteps) continue;
      const FolderIdentity& folder = index_.folders()[oddity.place].identity;
      if (!selected(folder)) continue;
      Finding finding = tree_finding(rules_, RuleId::kMissingStep, oddity.text);
      finding.rank = folder.rank;
      finding.path = path_of(index_, oddity);
      finding.hint = "that process ended earlier, its disk was full, or its configuration has another iteration";
      findings_.push_back(std::move(finding));
    }
  }

  // Steps that ran, by ms_global_execution_order_graph_G.csv, and were to be dumped, but are missing.
  void judge_executed() {
    const DumpSettings& settings = input_.settings;
    if (!rules_.on(RuleId::kMissingStep) || settings.iteration.empty() || settings.op_debug_mode.value_or(0) != 0)
      return;
    const auto wanted = settings.iteration == "all" ? IntRanges() : IntRanges::parse(settings.iteration);
    if (!wanted) return;
    std::map<Number, std::set<int64_t>> dumped;  // by rank
    for (const IndexedFolder& folder : index_.folders()) {
      if (folder.identity.step) dumped[folder.identity.rank].insert(*folder.identity.step);
    }
    for (const auto& [rank, steps] : input_.orders.steps) {
      std::vector<int64_t> lacking;
      for (const int64_t step : steps) {
        const bool asked = wanted->empty() || wanted->contains(step);
        const bool chosen = input_.selection.matches_folder({rank, std::nullopt, step, {}, 0});
        if (asked && chosen && dumped[rank].count(step) == 0) lacking.push_back(step);
      }
      // If nothing is present the folder may belong to another run.
      if (lacking.empty() || dumped[rank].empty()) continue;
      Finding finding = tree_finding(rules_, RuleId::kMissingStep,
                                     fmt::format("not there, although run and to be dumped (iteration \"{}\"): {}",
                                                 settings.iteration, steps_text(lacking)));
      finding.rank = rank;
      finding.value = lacking.size();
      finding.hint = "they were deleted, the disk was full, or the run still goes on";
      findings_.push_back(std::move(finding));
    }
  }

  const CompletenessInput& input_;
  const DumpIndex& index_;
  const RuleSet& rules_;
  std::vector<Finding>& findings_;
  std::set<uint32_t> reported_;                                      // folders of steps
  std::map<std::pair<Number, Number>, std::set<int64_t>> steps_of_;  // by rank and graph
  std::map<Number, size_t> graphs_of_;                               // by rank
  size_t ends_ = 0;
};

}  // namespace

void judge_steps(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings) {
  StepJudge(input, rules, findings).run();
}

// Ranks: those that are not there, those without tensors, and operators that all other ranks have in a step. Ranks of a
// pipeline have operators of their own; they are not compared.

namespace {

using Number = std::optional<int64_t>;

class RankJudge {
 public:
  RankJudge(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings)
      : input_(input), index_(input.dump.index()), rules_(rules), findings_(findings) {}

  void run() {
    if (rules_.on(RuleId::kRankMissing)) judge_numbers();
    if (rules_.on(RuleId::kMissingStep)) judge_ranks_without_tensors();
    if (rules_.on(RuleId::kIncompleteStep) && !input_.settings.of_some_operators()) judge_operators();
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
    const KnownRanks known = known_ranks(input_.dump);
    std::set<int64_t> missing;
    bool named = false;
    const auto note_missing = [&](int64_t rank) {
      const bool asked = input_.selection.matches_folder({rank, std::nullopt, std::nullopt, {}, 0});
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
    Finding finding = tree_finding(rules_, RuleId::kRankMissing, std::move(message));
    // Some ranks may have been chosen to be dumped.
    if (missing.size() >= known.there.size() || known.there.size() < 3)
      finding.severity = std::min(finding.severity, Severity::kNote);
    finding.ranks = ranks;
    finding.group.assign(known.there.begin(), known.there.end());
    finding.group.insert(finding.group.end(), ranks.begin(), ranks.end());
    std::sort(finding.group.begin(), finding.group.end());
    finding.value = ranks.size();
    finding.hint = "their files were not copied, their machines dumped elsewhere, or only some ranks were to be dumped";
    findings_.push_back(std::move(finding));
  }

  void judge_ranks_without_tensors() {
    std::map<int64_t, uint32_t> known;  // rank to one of its folders
    std::set<int64_t> with_tensors;
    for (uint32_t i = 0; i < index_.folders().size(); ++i) {
      const FolderIdentity& folder = index_.folders()[i].identity;
      if (folder.rank && input_.selection.matches_folder({folder.rank, folder.graph, folder.step, {}, 0}))
        known.try_emplace(*folder.rank, i);
    }
    for (uint32_t tensor = 0; tensor < input_.dump.tensors(); ++tensor) {
      if (const Number rank = identity_of(index_, input_.dump.record(tensor)).rank) with_tensors.insert(*rank);
    }
    for (const auto& [rank, folder] : known) {
      if (with_tensors.empty() || with_tensors.count(rank) > 0) continue;
      Finding finding =
          tree_finding(rules_, RuleId::kMissingStep, fmt::format("rank {} has no tensor; others have", rank));
      finding.rank = rank;
      finding.path = index_.folders()[folder].relative;
      finding.hint =
          "that process ended before its first dump, support_device leaves its device out, or its files were "
          "not copied";
      findings_.push_back(std::move(finding));
    }
  }

  void judge_operators() {
    // Such a step was compared with the other steps of its rank and reported.
    const std::set<RankStep> reported = places_of(findings_, std::array{RuleId::kIncompleteStep, RuleId::kStopped});
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

  // By graph and step, then by rank. Names are the same on all ranks, operators are not.
  std::map<Place, std::map<int64_t, Share>> shares() {
    std::map<std::string_view, uint32_t> ids;
    std::map<Place, std::map<int64_t, Share>> shares;
    for (const OpRun& run : input_.dump.runs()) {
      const SequencedOp& op = input_.dump.operators()[run.op];
      const uint32_t tensor = input_.dump.any_tensor_of(run);
      if (!run.place.step || !run.place.rank || tensor == kNone || is_communication(op.type)) continue;
      const auto [found, is_new] = ids.try_emplace(op.name, static_cast<uint32_t>(names_.size()));
      if (is_new) names_.push_back(op.name);
      Share& share = shares[{run.graph, *run.place.step}][*run.place.rank];
      if (share.names.empty()) share.folder = index_.files()[input_.dump.record(tensor).file].folder;
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
    Finding finding = tree_finding(rules_, RuleId::kIncompleteStep, std::move(message));
    finding.rank = graph.first;
    finding.graph = graph.second;
    finding.step = lack.steps.front();
    finding.path = index_.folders()[lack.folder].relative;
    finding.value = names.size();
    finding.hint = "the process of that rank ended, its disk was full, or files were lost on the way";
    findings_.push_back(std::move(finding));
  }

  const CompletenessInput& input_;
  const DumpIndex& index_;
  const RuleSet& rules_;
  std::vector<Finding>& findings_;
  std::vector<std::string_view> names_;
  std::map<std::pair<int64_t, Number>, Lack> lacks_;  // by rank and graph
};

}  // namespace

void judge_ranks(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings) {
  RankJudge(input, rules, findings).run();
}

}  // namespace msdump::check
