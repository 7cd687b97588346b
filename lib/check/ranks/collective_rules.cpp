#include "check/ranks/collective_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "check/ranks/exchange_judge.h"
#include "check/ranks/rank_values.h"
#include "check/tree/completeness.h"
#include "check/values/value_rules.h"

namespace msdump::check {

namespace {

using VerdictKind = ExchangeVerdict::Kind;

struct Judged {
  size_t exchange = 0;
  ExchangeVerdict verdict;
};

// How many exchanges of the same ranks fit, and how many do not.
using Counts = std::map<std::vector<int64_t>, std::pair<size_t, size_t>>;

bool is_wrong(VerdictKind kind) { return kind == VerdictKind::kDiverged || kind == VerdictKind::kWrong; }

bool is_confirmed(const Exchange& exchange, const ExchangeVerdict& verdict, const Counts& counts) {
  if (exchange.stated || verdict.proven) return true;
  const auto found = counts.find(exchange.ranks);
  return found != counts.end() && found->second.first > found->second.second;
}

void report_exchange(RuleContext& context, const Exchange& exchange, const ExchangeVerdict& verdict) {
  if (!context.judges(RuleId::kCollectiveMismatch, verdict.tensor)) return;
  std::vector<int64_t> group = exchange.ranks;
  group.insert(group.end(), exchange.missing.begin(), exchange.missing.end());
  std::sort(group.begin(), group.end());
  Finding& finding = context.report(RuleId::kCollectiveMismatch, verdict.tensor, verdict.value,
                                    fmt::format("over {}: {}", ranks_text(group), verdict.message));
  finding.group = std::move(group);
  finding.ranks = verdict.faulty_ranks;
  if (!verdict.only_rounding) return;
  finding.severity = Severity::kNote;
  finding.message += "; all are the reduction within the rounding";
  finding.hint.clear();
}

const char* text_of(ExchangeVerdict::Obstacle obstacle) {
  using Obstacle = ExchangeVerdict::Obstacle;
  switch (obstacle) {
    case Obstacle::kEarly: return "may not have ended when dumped";
    case Obstacle::kOtherAxis: return "cut another dimension than the first";
    case Obstacle::kIncomplete: return "have ranks that are not in the dump";
    case Obstacle::kSharedMemory: return "show as input what came out";
    case Obstacle::kUnspecified: return "do not say which rank or which reduction";
    default: return "have values that do not tell";
  }
}

// Counts the calls that were judged, and the others by reason.
class CallCounter {
 public:
  explicit CallCounter(const std::vector<CollectiveCall>& calls) : calls_(calls), joined_(calls.size(), false) {}

  void judged(const Exchange& exchange) {
    note_joined(exchange);
    counts_.judged += exchange.members.size();
  }
  void not_judged(const Exchange& exchange, const std::string& why) {
    note_joined(exchange);
    reasons_[why] += exchange.members.size();
  }

  CollectiveCounts take(const CheckedDump& dump) {
    for (const CollectiveCall& call : calls_) ranks_.insert(call.rank);
    counts_.calls = calls_.size();
    const auto alone = static_cast<size_t>(std::count(joined_.begin(), joined_.end(), false));
    if (alone > 0) reasons_["have no counterpart on the other ranks"] += alone;
    count_unread(dump);
    if (ranks_.size() < 2) return {};  // nobody can judge what one rank exchanges
    counts_.not_judged.assign(reasons_.begin(), reasons_.end());
    std::stable_sort(counts_.not_judged.begin(), counts_.not_judged.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return std::move(counts_);
  }

 private:
  void note_joined(const Exchange& exchange) {
    for (const size_t member : exchange.members) joined_[member] = true;
  }

  // Operators that exchange values in a way that nobody reads, NeighborExchange for example.
  void count_unread(const CheckedDump& dump) {
    std::set<std::string_view> types;
    size_t unread = 0;
    for (const OpRun& run : dump.runs()) {
      const SequencedOp& op = dump.operators()[run.op];
      if (!run.place.rank || dump.any_tensor_of(run) == kNoId || !is_unread_collective(op.name, op.type)) continue;
      ranks_.insert(*run.place.rank);
      types.insert(op.type);
      ++unread;
    }
    if (unread == 0) return;
    counts_.calls += unread;
    const std::vector<std::string> names(types.begin(), types.end());
    reasons_[fmt::format("are of a kind that is not read ({})", first_names(names))] += unread;
  }

  const std::vector<CollectiveCall>& calls_;
  std::vector<bool> joined_;  // by call
  std::set<int64_t> ranks_;
  CollectiveCounts counts_;
  std::map<std::string, size_t> reasons_;
};

Result<CollectiveCounts> judge_joined(const JoinedCalls& joined, RuleContext& context) {
  const ExchangeJudge judge(context, joined.calls);
  const std::vector<Exchange>& exchanges = joined.exchanges;
  CallCounter counter(joined.calls);
  std::vector<Judged> wrong;
  Counts counts;
  context.run.pool.ordered_for(
      static_cast<int64_t>(exchanges.size()), [&](int64_t i) { return judge.judge(exchanges[static_cast<size_t>(i)]); },
      [&](int64_t i, ExchangeVerdict&& verdict) {
        const auto at = static_cast<size_t>(i);
        if (verdict.kind == VerdictKind::kUnknown) {
          if (verdict.obstacle == ExchangeVerdict::Obstacle::kInconclusive) return counter.judged(exchanges[at]);
          return counter.not_judged(exchanges[at], text_of(verdict.obstacle));
        }
        auto& [fit, unfit] = counts[exchanges[at].ranks];
        ++(is_wrong(verdict.kind) && !verdict.only_rounding ? unfit : fit);
        if (!is_wrong(verdict.kind)) return counter.judged(exchanges[at]);
        wrong.push_back({at, std::move(verdict)});
      });
  MSDUMP_CHECK_OK(context.run.cancel.check());
  for (const Judged& one : wrong) {
    const Exchange& exchange = exchanges[one.exchange];
    if (!is_confirmed(exchange, one.verdict, counts)) {
      counter.not_judged(exchange, "do not say their group, and do not fit all ranks");
      continue;
    }
    counter.judged(exchange);
    report_exchange(context, exchange, one.verdict);
  }
  return counter.take(context.dump);
}

}  // namespace

Result<CollectiveCounts> judge_collectives(RuleContext& context) {
  if (!context.facts.has_digests()) return CollectiveCounts();
  return judge_joined(JoinedCalls(context.dump), context);
}

Result<std::vector<Finding>> broken_exchanges(const DumpWithGraph& dump, const RunContext& run) {
  const CheckedDump checked(dump);
  FactsReader facts(*dump.index, *dump.tensors, {.digests = true});
  const JoinedCalls joined(checked);
  std::vector<TensorId> exchanged;
  for (const Exchange& exchange : joined.exchanges) {
    const std::vector<TensorId> tensors = joined.tensors_of(exchange);
    exchanged.insert(exchanged.end(), tensors.begin(), tensors.end());
  }
  MSDUMP_CHECK_OK(facts.read(exchanged, run));
  const RuleSet rules = RuleSet::defaults();
  RuleContext context(checked, facts, rules, run);
  MSDUMP_CHECK_OK(judge_joined(joined, context));
  std::erase_if(context.findings, [](const Finding& finding) { return finding.severity != Severity::kError; });
  return std::move(context.findings);
}

}  // namespace msdump::check
