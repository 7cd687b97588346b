#include "diff/diff_compare.h"

#include <algorithm>
#include <map>

#include "compare/pair/precision.h"
#include "compare/statistics/record_diff.h"
#include "diff/diff_no_partner.h"
#include "dump/index/host_tensor.h"
#include "msprobe/names.h"

namespace msdump::cli {
namespace {

// What is done with one pair.
class Comparison {
 public:
  Comparison(const RunContext& context, const DiffOptions& options, const DiffRules& rules, const DiffResult& run)
      : context_(context), options_(options), rules_(rules), run_(run), no_partner_(run, context.pool) {
    coarsest_ = coarser_throughout(run.a->side, run.b->side, run.pairing);
  }

  struct Outcome {
    TensorDiff diff;
    RowExtras extras;
  };

  [[nodiscard]] Result<Outcome> compare(uint32_t tensor) const {
    const TensorPair& pair = run_.pairing.tensors[tensor];
    Outcome outcome;
    if (pair.a == kNoTensor || pair.b == kNoTensor) {
      outcome.diff = no_partner_.explain(pair);
      return outcome;
    }
    const ToleranceRule* const rule = rule_for(pair);
    Tolerance tolerance = rule != nullptr ? rule->tolerance : rules_.tolerance;
    tolerance.coarsest = coarsest_;
    MSDUMP_TRY(outcome.diff, compare_pair(pair, tolerance));
    if (!outcome.diff.by_statistics)
      judge_by_limits(rule != nullptr ? rule->limits : rules_.limits, tolerance, outcome.diff);
    if (outcome.diff.verdict != Verdict::kSame && !outcome.diff.by_statistics)
      MSDUMP_CHECK_OK(look_closer(pair, outcome));
    return outcome;
  }

 private:
  [[nodiscard]] const TensorRecord& of_a(const TensorPair& pair) const { return (*run_.a->side.tensors)[pair.a]; }
  [[nodiscard]] const TensorRecord& of_b(const TensorPair& pair) const { return (*run_.b->side.tensors)[pair.b]; }

  [[nodiscard]] const ToleranceRule* rule_for(const TensorPair& pair) const {
    if (!rules_.by_tensor) return nullptr;
    const NameFacts& name = of_b(pair).name;
    return rules_.by_tensor->rule_for(
        {run_.op_name(pair.op), run_.op_type(pair.op), name.io, name.slot, of_a(pair).name.dtype, name.dtype});
  }

  [[nodiscard]] Result<TensorDiff> compare_pair(const TensorPair& pair, const Tolerance& tolerance) const {
    PairOptions more;
    more.kl = rules_.kl;
    // MindSpore dumps an input in the shape of what wrote it; msprobe in the one that the call saw.
    more.any_shape = of_b(pair).name.io == Io::kInput && !parse_msprobe_entry(of_b(pair).name.op_name) &&
                     run_.b->side.graph != nullptr;
    return diff_records({*run_.a->side.index, *run_.a->tables}, of_a(pair), {*run_.b->side.index, *run_.b->tables},
                        of_b(pair), tolerance, {context_.pool, context_.cancel}, more);
  }

  // The worst elements with both values.
  Status look_closer(const TensorPair& pair, Outcome& outcome) const {
    if (!has_metrics(outcome.diff.verdict) || outcome.diff.verdict == Verdict::kEmpty) return {};
    MSDUMP_TRY(HostTensor left, HostTensor::open(*run_.a->side.index, of_a(pair), {}));
    MSDUMP_TRY(HostTensor right, HostTensor::open(*run_.b->side.index, of_b(pair), {}));
    // Where one side alone is NaN or infinite, the metrics know of no worst element.
    const bool mismatch = outcome.diff.verdict == Verdict::kNan;
    if (options_.worst > 0 || options_.by_axis || mismatch) {
      const SecondLookOptions look{std::max<size_t>(options_.worst, mismatch ? 1 : 0), options_.by_axis};
      MSDUMP_TRY(outcome.extras.look, look_again(left, right, outcome.diff, look, context_.cancel));
    }
    std::vector<WorstElement>& worst = outcome.extras.look.worst;
    if (mismatch && !worst.empty()) {
      outcome.extras.worst = worst.front();
      if (options_.worst == 0) worst.clear();
    } else if (outcome.diff.metrics.worst) {
      MSDUMP_TRY(outcome.extras.worst, read_pair_at(left, right, *outcome.diff.metrics.worst));
    }
    return {};
  }

  const RunContext& context_;
  const DiffOptions& options_;
  const DiffRules& rules_;
  const DiffResult& run_;
  const NoPartner no_partner_;
  std::optional<DType> coarsest_;
};

bool has_elements(const DiffSide& side, uint32_t tensor) {
  return tensor != kNoTensor && (*side.side.tensors)[tensor].has_elements;
}

// Tables are read one beside the other, not when the first row of each is wanted.
void read_tables(const RunContext& context, DiffResult& run) {
  struct Wanted {
    StatisticTables* tables;
    const TensorRecord* record;
  };
  std::map<std::pair<const DiffSide*, uint32_t>, Wanted> wanted;
  for (const uint32_t row : run.rows) {
    const TensorPair& pair = run.pairing.tensors[row];
    if (pair.a == kNoTensor || pair.b == kNoTensor) continue;
    for (const auto& [side, tensor] : {std::pair(run.a.get(), pair.a), std::pair(run.b.get(), pair.b)}) {
      const TensorRecord& record = (*side->side.tensors)[tensor];
      if (!record.has_elements) wanted.try_emplace({side, record.table}, Wanted{side->tables.get(), &record});
    }
  }
  std::vector<Wanted> tables;
  for (const auto& [key, one] : wanted) tables.push_back(one);
  context.pool.parallel_for(static_cast<int64_t>(tables.size()), [&](int64_t i) {
    if (context.cancel.cancelled()) return;
    const Wanted& one = tables[static_cast<size_t>(i)];
    one.tables->read_table_of(*one.record);
  });
}

// Rows that one worker compares before it takes others: many of statistics, few of tensors. Where each piece begins, and
// the end.
std::vector<size_t> pieces_of(const DiffResult& run) {
  constexpr uint64_t kBytes = uint64_t{1} << 20;
  constexpr size_t kRows = 64;
  std::vector<size_t> pieces = {0};
  uint64_t bytes = 0;
  for (size_t row = 0; row < run.rows.size(); ++row) {
    const TensorPair& pair = run.pairing.tensors[run.rows[row]];
    if (has_elements(*run.a, pair.a) || has_elements(*run.b, pair.b))
      bytes += std::min(run.record_of(pair).bytes.value_or(kBytes), kBytes);
    if (bytes < kBytes && row + 1 - pieces.back() < kRows && row + 1 < run.rows.size()) continue;
    pieces.push_back(row + 1);
    bytes = 0;
  }
  return pieces;
}

}  // namespace

void compare_all(const RunContext& context, const DiffOptions& options, const DiffRules& rules, DiffResult& run) {
  run.diffs.resize(run.pairing.tensors.size());
  run.extras.resize(run.pairing.tensors.size());
  read_tables(context, run);
  const Comparison comparison(context, options, rules, run);
  const std::vector<size_t> pieces = pieces_of(run);
  const auto compare_piece = [&](int64_t piece) {
    std::vector<Error> failures;
    const auto place = static_cast<size_t>(piece);
    for (size_t row = pieces[place]; row < pieces[place + 1] && !context.cancel.cancelled(); ++row) {
      const uint32_t tensor = run.rows[row];
      Result<Comparison::Outcome> outcome = comparison.compare(tensor);
      if (outcome) {
        run.diffs[tensor] = std::move(outcome->diff);
        run.extras[tensor] = std::move(outcome->extras);
      } else {
        run.diffs[tensor].reason = outcome.error().message;
        failures.push_back(std::move(outcome).error());
      }
    }
    return failures;
  };
  context.pool.ordered_for(static_cast<int64_t>(pieces.size()) - 1, compare_piece,
                           [&](int64_t, std::vector<Error>&& failures) {
                             for (Error& failure : failures) run.failures.push_back(std::move(failure));
                           });
}

}  // namespace msdump::cli
