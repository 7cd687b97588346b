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
#include "parts/facts.h"

namespace msdump::check {

constexpr ExchangeVerdict::Kind last_of(ExchangeVerdict::Kind) { return ExchangeVerdict::Kind::kWrong; }
constexpr ExchangeVerdict::Obstacle last_of(ExchangeVerdict::Obstacle) { return ExchangeVerdict::Obstacle::kUnsaid; }
void fields(auto& visit, FieldsOf<ExchangeVerdict> auto& value) {
  MSDUMP_FIELDS(kind, obstacle, proven, only_rounding, odd, tensor, error, message);
}

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

const char* text_of(ExchangeVerdict::Obstacle obstacle) {
  using Obstacle = ExchangeVerdict::Obstacle;
  switch (obstacle) {
    case Obstacle::kEarly: return "may not have ended when dumped";
    case Obstacle::kOtherAxis: return "cut another dimension than the first";
    case Obstacle::kIncomplete: return "have ranks that are not in the dump";
    case Obstacle::kShared: return "show as input what came out";
    case Obstacle::kUnsaid: return "do not say which rank or which reduction";
    default: return "have values that do not tell";
  }
}

// Which calls were judged, and why the others were not.
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
      if (!run.place.rank || dump.any_tensor_of(run) == kNone || !is_unread_collective(op.name, op.type)) continue;
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

// Verdicts on the exchanges of a dump, in any order and from several threads.
class Verdicts {
 public:
  Verdicts(const JoinedCalls& joined, const CheckedDump& dump, const FactsReader& facts, const RunContext& context)
      : joined_(joined), judge_(dump, facts, joined_.calls, context.cancel), context_(context) {}

  [[nodiscard]] const std::vector<Exchange>& exchanges() const { return joined_.exchanges; }
  [[nodiscard]] const std::vector<CollectiveCall>& calls() const { return joined_.calls; }
  [[nodiscard]] const Exchange& exchange(int64_t number) const { return exchanges()[static_cast<size_t>(number)]; }

  // As it was found out, here or by whoever filled the store; what a store says of other tensors is not believed.
  [[nodiscard]] ExchangeVerdict of(int64_t number) const {
    const auto judge = [&]() -> Result<ExchangeVerdict> {
      ExchangeVerdict verdict = judge_.judge(exchange(number));
      MSDUMP_CHECK_OK(context_.cancel.check());
      return verdict;
    };
    auto verdict =
        recorded<ExchangeVerdict>(context_.facts, {FactKind::kExchange, static_cast<uint32_t>(number)}, judge);
    if (!verdict || (is_wrong(verdict->kind) && !is_of(exchange(number), verdict->tensor))) verdict = judge();
    return verdict ? std::move(*verdict) : ExchangeVerdict();
  }

  [[nodiscard]] bool are_all(const Exchange& exchange, const std::vector<bool>& own) const {
    const std::vector<uint32_t> tensors = joined_.tensors_of(exchange);
    return std::all_of(tensors.begin(), tensors.end(), [&](uint32_t tensor) { return own[tensor]; });
  }

 private:
  [[nodiscard]] bool is_of(const Exchange& exchange, uint32_t tensor) const {
    const std::vector<uint32_t> tensors = joined_.tensors_of(exchange);
    return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
  }

  const JoinedCalls& joined_;
  const ExchangeJudge judge_;
  const RunContext& context_;
};

Result<CollectiveCounts> judge_joined(const JoinedCalls& joined, const CheckedDump& dump, const FactsReader& facts,
                                      const RuleSet& rules, const RunContext& context, std::vector<Finding>& findings) {
  const Verdicts verdicts(joined, dump, facts, context);
  const std::vector<Exchange>& exchanges = verdicts.exchanges();
  CallCounter counter(verdicts.calls());
  std::vector<Judged> wrong;
  Counts counts;
  context.pool.ordered_for(
      static_cast<int64_t>(exchanges.size()), [&](int64_t i) { return verdicts.of(i); },
      [&](int64_t i, ExchangeVerdict&& verdict) {
        const auto at = static_cast<size_t>(i);
        if (verdict.kind == VerdictKind::kUnknown) {
          if (verdict.obstacle == ExchangeVerdict::Obstacle::kConstant) return counter.judged(exchanges[at]);
          return counter.not_judged(exchanges[at], text_of(verdict.obstacle));
        }
        auto& [fit, unfit] = counts[exchanges[at].ranks];
        ++(is_wrong(verdict.kind) && !verdict.only_rounding ? unfit : fit);
        if (!is_wrong(verdict.kind)) return counter.judged(exchanges[at]);
        wrong.push_back({at, std::move(verdict)});
      });
  MSDUMP_CHECK_OK(context.cancel.check());
  for (Judged& one : wrong) {
    const Exchange& exchange = exchanges[one.exchange];
    if (!is_confirmed(exchange, one.verdict, counts)) {
      counter.not_judged(exchange, "do not say their group, and do not fit all ranks");
      continue;
    }
    counter.judged(exchange);
    Finding finding = finding_of_exchange(dump, rules, exchange, std::move(one.verdict));
    if (rules[RuleId::kCollectiveMismatch].takes(finding.op == kNone ? "" : dump.operators()[finding.op].name))
      findings.push_back(std::move(finding));
  }
  return counter.take(dump);
}

}  // namespace

Result<CollectiveCounts> judge_collectives(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules,
                                           const RunContext& context, std::vector<Finding>& findings) {
  if (!facts.has_digests()) return CollectiveCounts();
  return judge_joined(JoinedCalls(dump), dump, facts, rules, context, findings);
}

Status find_exchanges(const CheckedDump& dump, const FactsReader& facts, const std::vector<bool>& own,
                      const RunContext& context) {
  const JoinedCalls joined(dump);
  const Verdicts verdicts(joined, dump, facts, context);
  context.pool.ordered_for(
      static_cast<int64_t>(verdicts.exchanges().size()),
      [&](int64_t i) { return verdicts.are_all(verdicts.exchange(i), own) ? verdicts.of(i) : ExchangeVerdict(); },
      [](int64_t, ExchangeVerdict&&) {});
  return context.cancel.check();
}

Result<std::vector<Finding>> broken_exchanges(const DumpWithGraph& dump, const RunContext& context) {
  const CheckedDump checked(dump);
  FactsReader facts(*dump.index, *dump.tensors, {.digests = true});
  const JoinedCalls joined(checked);
  std::vector<uint32_t> exchanged;
  for (const Exchange& exchange : joined.exchanges) {
    const std::vector<uint32_t> tensors = joined.tensors_of(exchange);
    exchanged.insert(exchanged.end(), tensors.begin(), tensors.end());
  }
  MSDUMP_CHECK_OK(facts.read(exchanged, context));
  std::vector<Finding> findings;
  MSDUMP_CHECK_OK(judge_joined(joined, checked, facts, RuleSet::defaults(), context, findings));
  std::erase_if(findings, [](const Finding& finding) { return finding.severity != Severity::kError; });
  return findings;
}

}  // namespace msdump::check
