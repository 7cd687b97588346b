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

constexpr const char* kReplicaHint =
    "a gradient that was not reduced over these ranks, an update or a load that one of them missed, or a device that "
    "computes wrong";

// What one root explains: everything later of ranks that are apart already.
struct Reported {
  Departure root;
  size_t further = 0;  // rows
  std::set<std::pair<bool, int64_t>> steps;
  std::string origin;  // of a value of a later step
};

class ReplicaJudge {
 public:
  ReplicaJudge(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules, const RunContext& context)
      : dump_(dump), facts_(facts), rules_(rules), context_(context) {}

  std::optional<FirstApart> run(std::vector<Finding>& findings) {
    const ReplicaTable table(dump_, facts_);
    const DepartureFinder finder(dump_, facts_, table, context_);
    for (Departure& departure : finder.find()) {
      if (context_.cancel.cancelled()) return std::nullopt;
      if (explained(departure) || !finder.is_root(departure)) continue;
      const std::optional<Departure> cause = finder.cause_of(departure);
      reported_.push_back({cause.value_or(departure),
                           cause ? 1U : 0U,
                           {departure.step},
                           cause ? std::string() : origin_of(departure, finder)});
    }
    std::optional<FirstApart> first;
    for (const Reported& one : reported_) {
      Finding finding = finding_of_root(one);
      if (!first && finding.severity > Severity::kNote)
        first =
            FirstApart{one.root.kind, one.root.tensor, one.root.sibling, one.root.odd, one.root.group, finding.message};
      const std::string_view name = finding.op == kNone ? std::string_view() : dump_.operators()[finding.op].name;
      if (rules_[RuleId::kReplicaMismatch].takes(name)) findings.push_back(std::move(finding));
    }
    return first;
  }

 private:
  // By a root of the same ranks before it; counts it there.
  bool explained(const Departure& departure) {
    for (Reported& one : reported_) {
      const std::vector<int64_t>& apart = one.root.odd.empty() ? one.root.group : one.root.odd;
      const std::vector<int64_t>& here = departure.odd.empty() ? departure.group : departure.odd;
      const bool same = std::any_of(here.begin(), here.end(),
                                    [&](int64_t rank) { return std::binary_search(apart.begin(), apart.end(), rank); });
      if (!same) continue;
      ++one.further;
      one.steps.insert(departure.step);
      return true;
    }
    return false;
  }

  [[nodiscard]] std::string reason_of(const Departure& root) const {
    std::vector<int64_t> others;
    std::set_difference(root.group.begin(), root.group.end(), root.odd.begin(), root.odd.end(),
                        std::back_inserter(others));
    const bool before = !root.first_step;
    const std::string who = root.odd.empty() ? fmt::format("{} have different values", ranks_text(root.group))
                                             : fmt::format("{} {} another value than {}", ranks_text(root.odd),
                                                           root.odd.size() == 1 ? "has" : "have", ranks_text(others));
    switch (root.kind) {
      case FirstApart::Kind::kParameter:
        return who + (before ? "; in the first step all had the same" : "; they have most other parameters in common");
      case FirstApart::Kind::kInput:
        return who + (before ? "; in the first step all had the same" : "; they have most other inputs in common");
      default: return who + ", from the same inputs";
    }
  }

  // How the values came to differ, as far as the steps before tell.
  [[nodiscard]] std::string origin_of(const Departure& departure, const DepartureFinder& finder) const {
    const std::vector<int64_t> unchanged = finder.unchanged_ranks(departure);
    if (!unchanged.empty()) {
      return fmt::format("; {} still {} that of the first step", ranks_text(unchanged),
                         unchanged.size() == 1 ? "has" : "have");
    }
    const std::optional<uint32_t> writer = finder.writer_of(departure);
    if (!writer) return {};
    return fmt::format("; {} wrote {} in step {}", dump_.operators()[dump_.op_of(*writer)].name,
                       departure.odd.empty() ? "them" : "it", dump_.identity(*writer).step.value_or(0));
  }

  [[nodiscard]] Finding finding_of_root(const Reported& one) const {
    const Departure& root = one.root;
    Finding finding = finding_of(dump_, rules_, RuleId::kReplicaMismatch, root.tensor);
    finding.ranks = root.odd;
    finding.group = root.group;
    finding.message = reason_of(root);
    finding.hint = kReplicaHint;
    const auto metrics = facts_[root.tensor].from == TensorFacts::From::kElements
                             ? recorded_comparison(dump_, root.tensor, root.sibling, context_)
                             : Result<kernels::PairMetrics>(kernels::PairMetrics());
    if (metrics && metrics->max_abs) {
      finding.value = *metrics->max_abs;
      finding.message += fmt::format(": {} of {} elements differ, by up to {:.3g}", metrics->count - metrics->equal,
                                     metrics->count, *metrics->max_abs);
    }
    finding.message += one.origin;
    if (one.further > 0) {
      finding.message += fmt::format("; then {} more", plural(one.further, "tensor"));
      if (one.steps.size() > 1) finding.message += fmt::format(", up to step {}", one.steps.rbegin()->second);
    }
    if (metrics && differ_by_rounding(*metrics, facts_[root.sibling])) {
      finding.severity = Severity::kNote;
      finding.message += "; no more than rounding";
    }
    return finding;
  }

  const CheckedDump& dump_;
  const FactsReader& facts_;
  const RuleSet& rules_;
  const RunContext& context_;
  std::vector<Reported> reported_;
};

}  // namespace

std::string_view name_of(FirstApart::Kind kind) {
  static constexpr auto kNames = enum_table<FirstApart::Kind, std::string_view>("operator", "parameter", "input");
  return kNames[kind];
}

Result<std::optional<FirstApart>> judge_replicas(const CheckedDump& dump, const FactsReader& facts,
                                                 const RuleSet& rules, const RunContext& context,
                                                 std::vector<Finding>& findings) {
  std::optional<FirstApart> first = ReplicaJudge(dump, facts, rules, context).run(findings);
  MSDUMP_CHECK_OK(context.cancel.check());
  return first;
}

Result<std::optional<FirstApart>> first_apart(const DumpWithGraph& dump, const RunContext& context) {
  const CheckedDump checked(dump);
  FactsReader facts(*dump.index, *dump.tensors, {.digests = true});
  MSDUMP_CHECK_OK(facts.read_all(context));
  std::vector<Finding> findings;
  return judge_replicas(checked, facts, RuleSet::defaults(), context, findings);
}

}  // namespace msdump::check
