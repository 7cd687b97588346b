#include "check/ranks/replica_rules.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/containers.h"
#include "base/text.h"
#include "check/ranks/rank_values.h"
#include "check/ranks/replica_divergence.h"
#include "check/values/value_rules.h"

namespace msdump::check {
namespace {

// A root cause, and the later divergences of the same ranks, which it explains.
struct Reported {
  ReplicaDivergence root;
  size_t followers = 0;  // tensors that diverged later
  std::set<std::pair<bool, int64_t>> steps;
  std::string origin;  // of a value of a later step
};

class ReplicaJudge {
 public:
  explicit ReplicaJudge(RuleContext& context) : context_(context), dump_(context.dump), facts_(context.facts) {}

  std::optional<FirstDivergence> run() {
    const ReplicaTable table(dump_, facts_);
    const DivergenceFinder finder(context_, table);
    for (ReplicaDivergence& divergence : finder.find_divergences()) {
      if (context_.run.cancel.cancelled()) return std::nullopt;
      if (follows_from_reported(divergence) || !finder.is_root_cause(divergence)) continue;
      const std::optional<ReplicaDivergence> cause = finder.find_cause(divergence);
      reported_.push_back({cause.value_or(divergence),
                           cause ? 1U : 0U,
                           {divergence.step},
                           cause ? std::string() : origin_of(divergence, finder)});
    }
    std::optional<FirstDivergence> first;
    for (const Reported& one : reported_) {
      const ReplicaDivergence& root = one.root;
      const Difference difference = difference_of(one);
      if (!first && !difference.only_rounding && context_.rules[kRule].severity > Severity::kNote)
        first = FirstDivergence{root.kind, root.tensor, root.sibling, root.diverged, root.group, difference.message};
      if (!context_.judges(kRule, root.tensor)) continue;
      Finding& finding = context_.report(kRule, root.tensor, difference.largest, difference.message);
      finding.ranks = root.diverged;
      finding.group = root.group;
      if (difference.only_rounding) finding.severity = Severity::kNote;
    }
    return first;
  }

 private:
  static constexpr RuleId kRule = RuleId::kReplicaMismatch;

  // Counts a divergence as a follower of an earlier root cause of the same ranks; false if there is none.
  bool follows_from_reported(const ReplicaDivergence& divergence) {
    for (Reported& one : reported_) {
      const std::vector<int64_t>& before = one.root.diverged_or_all();
      const std::vector<int64_t>& here = divergence.diverged_or_all();
      const bool same = std::any_of(here.begin(), here.end(), [&](int64_t rank) {
        return std::binary_search(before.begin(), before.end(), rank);
      });
      if (!same) continue;
      ++one.followers;
      one.steps.insert(divergence.step);
      return true;
    }
    return false;
  }

  [[nodiscard]] static std::string reason_of(const ReplicaDivergence& root) {
    std::vector<int64_t> others;
    std::set_difference(root.group.begin(), root.group.end(), root.diverged.begin(), root.diverged.end(),
                        std::back_inserter(others));
    const bool before = !root.since_first_step;
    const std::string who = root.diverged.empty()
                                ? fmt::format("{} have different values", ranks_text(root.group))
                                : fmt::format("{} {} another value than {}", ranks_text(root.diverged),
                                              root.diverged.size() == 1 ? "has" : "have", ranks_text(others));
    switch (root.kind) {
      case FirstDivergence::Kind::kParameter:
        return who + (before ? "; in the first step all had the same" : "; they have most other parameters in common");
      case FirstDivergence::Kind::kInput:
        return who + (before ? "; in the first step all had the same" : "; they have most other inputs in common");
      default: return who + ", from the same inputs";
    }
  }

  // How the values came to differ, as far as earlier steps show it.
  [[nodiscard]] std::string origin_of(const ReplicaDivergence& divergence, const DivergenceFinder& finder) const {
    const std::vector<int64_t> unchanged = finder.unchanged_ranks(divergence);
    if (!unchanged.empty()) {
      return fmt::format("; {} still {} that of the first step", ranks_text(unchanged),
                         unchanged.size() == 1 ? "has" : "have");
    }
    const std::optional<TensorId> producer = finder.find_producer(divergence);
    if (!producer) return {};
    return fmt::format("; {} wrote {} in step {}", dump_.operators()[dump_.op_of(*producer)].name,
                       divergence.diverged.empty() ? "them" : "it", dump_.identity(*producer).step.value_or(0));
  }

  struct Difference {
    std::string message;
    report::Value largest;  // absolute difference
    bool only_rounding = false;
  };

  [[nodiscard]] Difference difference_of(const Reported& one) const {
    const ReplicaDivergence& root = one.root;
    Difference difference{reason_of(root), {}, false};
    const auto metrics = facts_[root.tensor].from == TensorFacts::From::kElements
                             ? compare_elements(dump_, root.tensor, root.sibling, context_.run.cancel)
                             : Result<kernels::PairMetrics>(kernels::PairMetrics());
    if (metrics && metrics->max_abs) {
      difference.largest = *metrics->max_abs;
      difference.message += fmt::format(": {} of {} elements differ, by up to {:.3g}", metrics->count - metrics->equal,
                                        metrics->count, *metrics->max_abs);
    }
    difference.message += one.origin;
    if (one.followers > 0) {
      difference.message += fmt::format("; then {} more", plural(one.followers, "tensor"));
      if (one.steps.size() > 1) difference.message += fmt::format(", up to step {}", one.steps.rbegin()->second);
    }
    difference.only_rounding = metrics && differ_by_rounding(*metrics, facts_[root.sibling]);
    if (difference.only_rounding) difference.message += "; no more than rounding";
    return difference;
  }

  RuleContext& context_;
  const CheckedDump& dump_;
  const FactsReader& facts_;
  std::vector<Reported> reported_;
};

}  // namespace

std::string_view name_of(FirstDivergence::Kind kind) {
  static constexpr auto kNames = enum_table<FirstDivergence::Kind, std::string_view>("operator", "parameter", "input");
  return kNames[kind];
}

Result<std::optional<FirstDivergence>> judge_replicas(RuleContext& context) {
  std::optional<FirstDivergence> first = ReplicaJudge(context).run();
  MSDUMP_CHECK_OK(context.run.cancel.check());
  return first;
}

Result<std::optional<FirstDivergence>> find_first_divergence(const DumpWithGraph& dump, const RunContext& run) {
  const CheckedDump checked(dump);
  FactsReader facts(*dump.index, *dump.tensors, {.digests = true});
  MSDUMP_CHECK_OK(facts.read_all(run));
  const RuleSet rules = RuleSet::defaults();
  RuleContext context(checked, facts, rules, run);
  return judge_replicas(context);
}

}  // namespace msdump::check
