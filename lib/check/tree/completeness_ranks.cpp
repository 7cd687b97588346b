// Ranks: those that are not there, those without tensors, and operators that all other ranks have in a step. Ranks of a
// pipeline have operators of their own; they are not compared.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "check/ranks/known_ranks.h"
#include "check/ranks/rank_values.h"
#include "check/tree/completeness.h"
#include "graph/flow/communication.h"

namespace msdump::check {
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
