#include "check/ranks/collective_rules.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "check/ranks/collective_call.h"
#include "check/ranks/exchange_judge.h"
#include "check/ranks/rank_values.h"
#include "check/values/value_rules.h"

namespace msdump::check {
namespace {

using VerdictKind = ExchangeVerdict::Kind;

constexpr const char* kHint =
    "look at the link, the device and the library of these ranks first; then whether each rank calls the same "
    "collective, "
    "with the same group, in the same order";

struct Judged {
  size_t exchange = 0;
  ExchangeVerdict verdict;
};

// How many exchanges of the same ranks fit, and how many do not.
using Counts = std::map<std::vector<int64_t>, std::pair<size_t, size_t>>;

bool is_wrong(VerdictKind kind) { return kind == VerdictKind::kApart || kind == VerdictKind::kWrong; }

bool is_confirmed(const Exchange& exchange, const ExchangeVerdict& verdict, const Counts& counts) {
  if (exchange.stated || verdict.proven) return true;
  const auto found = counts.find(exchange.ranks);
  return found != counts.end() && found->second.first > found->second.second;
}

Finding finding_of_exchange(const CheckedDump& dump, const RuleSet& rules, const Exchange& exchange,
                            ExchangeVerdict verdict) {
  Finding finding = finding_of(dump, rules, RuleId::kCollectiveMismatch, verdict.tensor);
  finding.group = exchange.ranks;
  finding.group.insert(finding.group.end(), exchange.missing.begin(), exchange.missing.end());
  std::sort(finding.group.begin(), finding.group.end());
  finding.ranks = verdict.odd;
  finding.value = verdict.value;
  finding.message = fmt::format("over {}: {}", ranks_text(finding.group), verdict.message);
  finding.hint = kHint;
  if (!verdict.only_rounding) return finding;
  finding.severity = Severity::kNote;
  finding.message += "; all are the reduction within the rounding";
  finding.hint.clear();
  return finding;
}

}  // namespace

Status judge_collectives(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules,
                         const RunContext& context, std::vector<Finding>& findings) {
  const std::vector<CollectiveCall> calls = collective_calls(dump);
  const std::vector<Exchange> exchanges = join_calls(calls);
  const ExchangeJudge judge(dump, facts, calls, context.cancel);
  std::vector<Judged> wrong;
  Counts counts;
  context.pool.ordered_for(
      static_cast<int64_t>(exchanges.size()), [&](int64_t i) { return judge.judge(exchanges[static_cast<size_t>(i)]); },
      [&](int64_t i, ExchangeVerdict&& verdict) {
        const auto at = static_cast<size_t>(i);
        if (verdict.kind == VerdictKind::kUnknown) return;
        auto& [fit, unfit] = counts[exchanges[at].ranks];
        ++(is_wrong(verdict.kind) && !verdict.only_rounding ? unfit : fit);
        if (is_wrong(verdict.kind)) wrong.push_back({at, std::move(verdict)});
      });
  MSDUMP_CHECK_OK(context.cancel.check());
  for (Judged& one : wrong) {
    const Exchange& exchange = exchanges[one.exchange];
    if (!is_confirmed(exchange, one.verdict, counts)) continue;
    Finding finding = finding_of_exchange(dump, rules, exchange, std::move(one.verdict));
    if (rules[RuleId::kCollectiveMismatch].takes(finding.op == kNone ? "" : dump.operators()[finding.op].name))
      findings.push_back(std::move(finding));
  }
  return {};
}

}  // namespace msdump::check
