#include "compare/dumps/compare_dumps.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/dumps/unpaired_tensors.h"
#include "compare/limits.h"
#include "compare/match/parameters/parameter_views.h"
#include "compare/pair/pair_reader.h"
#include "compare/pair/precision.h"
#include "compare/statistics/statistic_diff.h"
#include "dump/elements/host_tensor.h"
#include "ge/operators/operator_properties.h"
#include "graph/join/dump_operators.h"
#include "msprobe/names.h"
#include "parts/facts.h"

namespace msdump {
namespace {

// Relative L2 error up to which two parameters are related. Another order is looked for only beyond it.
constexpr double kRelated = 0.5;

bool has_rows(const TensorRecord& record) {
  return record.shape != nullptr && record.view == nullptr && record.has_elements && !record.broken &&
         !record.shape->empty() && element_count(*record.shape).value_or(0) > 0;
}

TensorRecord rows_of(const TensorRecord& record, const TensorView& view) {
  TensorRecord rows = record;
  rows.view = &view;
  rows.shape = &view.shape;
  return rows;
}

Result<bool> is_all_zero(const DumpIndex& index, const TensorRecord& record, const CancelToken& cancel) {
  MSDUMP_TRY(HostTensor tensor, HostTensor::open(index, record, {}));
  bool zero = true;
  MSDUMP_CHECK_OK(for_each_slab(tensor, cancel, [&](std::span<const std::byte> bytes, int64_t) {
    zero = std::all_of(bytes.begin(), bytes.end(), [](std::byte one) { return one == std::byte{0}; });
    return zero;
  }));
  return zero;
}

Status explain_rows(const DumpSide& a, const TensorRecord& record_a, const DumpSide& b, const TensorRecord& record_b,
                    const Tolerance& tolerance, const RunContext& context, TensorDiff& diff) {
  const Shape &shape_a = *record_a.shape, &shape_b = *record_b.shape;
  const int64_t common = std::min(shape_a[0], shape_b[0]);
  const TensorView first_a = first_rows(shape_a, 0, common), first_b = first_rows(shape_b, 0, common);
  MSDUMP_TRY(const TensorDiff rows,
             diff_records(a, rows_of(record_a, first_a), b, rows_of(record_b, first_b), tolerance, context));
  const bool more_in_a = shape_a[0] > common;
  const TensorRecord& longer = more_in_a ? record_a : record_b;
  const int64_t more = (*longer.shape)[0] - common;
  const TensorView further = first_rows(*longer.shape, common, more);
  MSDUMP_TRY(const bool zero, is_all_zero((more_in_a ? a : b).index, rows_of(longer, further), context.cancel));
  std::string reason = *diff.reason;
  reason += fmt::format("; {} in the {}{}; the first {}: {}", plural(static_cast<uint64_t>(more), "more row"),
                        more_in_a ? "candidate" : "reference", zero ? ", all 0" : "", common, name_of(rows.verdict));
  if (const auto error = rows.error(); error && is_difference(rows.verdict))
    reason += fmt::format(" (relative error {:.3g})", *error);
  diff.reason = std::move(reason);
  return {};
}

Status explain_order(const DumpSide& a, const TensorRecord& record_a, const DumpSide& b, const TensorRecord& record_b,
                     TensorDiff& diff) {
  const std::vector<TensorRecord> of_a = {record_a}, of_b = {record_b};
  TensorSamples values_a(a.index, of_a), values_b(b.index, of_b);
  for (const auto views_of : {&permuted_views, &regrouped_views}) {
    const std::vector<NamedView> views = views_of(*record_a.shape, *record_b.shape);
    const auto found = nearest_view({values_a, RecordId(0)}, {values_b, RecordId(0)}, views);
    for (TensorSamples* const values : {&values_a, &values_b}) {
      if (const std::vector<Error> failures = values->failures().all(); !failures.empty())
        return fail(failures.front());
    }
    if (!found) continue;
    diff.reason = fmt::format("{}{}the values are those of the reference {}", *diff.reason,
                              diff.reason->empty() ? "" : "; ", views[found->place].text);
    break;
  }
  return {};
}

}  // namespace

Status explain_parameters(const DumpSide& a, const TensorRecord& record_a, const DumpSide& b,
                          const TensorRecord& record_b, const Tolerance& tolerance, const RunContext& context,
                          TensorDiff& diff) {
  if (!has_rows(record_a) || !has_rows(record_b)) return {};
  const Shape &shape_a = *record_a.shape, &shape_b = *record_b.shape;
  const bool other_rows = shape_a.size() == shape_b.size() &&
                          std::equal(shape_a.begin() + 1, shape_a.end(), shape_b.begin() + 1) &&
                          std::max(shape_a[0], shape_b[0]) < 2 * std::min(shape_a[0], shape_b[0]);
  if (diff.verdict == Verdict::kShape && other_rows)
    return explain_rows(a, record_a, b, record_b, tolerance, context, diff);
  if (diff.verdict == Verdict::kDiffer && !diff.by_statistics && diff.metrics->relative_l2.value_or(0) > kRelated)
    return explain_order(a, record_a, b, record_b, diff);
  return {};
}

namespace {

struct Outcome {
  TensorDiff diff;
  PairDetails details;
};
void fields(auto& visit, FieldsOf<Outcome> auto& value) { MSDUMP_FIELDS(diff, details); }

bool has_written_statistics(const TensorRecord& record) { return record.table != kNoId && record.order != kNoOrder; }

// A hash of what msprobe wrote of a tensor; 0 if that proves nothing, because many tensors have it.
uint64_t written_contents(const TensorNumbers& numbers) {
  const auto known = [&](Extremum which) {
    const auto& number = numbers.number(which);
    return number && std::isfinite(number->value) ? std::optional(number->value) : std::nullopt;
  };
  const auto max = known(Extremum::kMax), min = known(Extremum::kMin);
  const auto elements = numbers.elements();
  if (!are_telling(max, min, elements) || (!known(Extremum::kMean) && !known(Extremum::kNorm))) return 0;
  uint64_t hash = mix_hash(1, static_cast<uint64_t>(elements.value_or(0)));
  for (const auto& value : {max, min}) hash = mix_hash(hash, std::bit_cast<uint64_t>(value.value_or(0) + 0.0));
  const double largest = std::max(std::fabs(max.value_or(0)), std::fabs(min.value_or(0)));
  // A view adds its elements up in another order.
  for (const Extremum which : {Extremum::kMean, Extremum::kNorm})
    hash = mix_hash(hash, static_cast<uint64_t>(std::llround(known(which).value_or(0) / largest * kFourDigits)));
  return hash;
}

// True if the operator changes the shape of its input and nothing else.
bool changes_shape(std::string_view type) { return ge::has_property(type, ge::OperatorProperty::kChangesShape); }

class Comparison {
 public:
  Comparison(const Sides<ComparedDump>& dumps, const Pairing& pairing, const DiffRules& rules,
             const SecondLookOptions& look, const RunContext& context)
      : dumps_(dumps),
        pairing_(pairing),
        rules_(rules),
        look_(look),
        context_(context),
        unpaired_({{dumps.a.side, dumps.a.failures}, {dumps.b.side, dumps.b.failures}}, pairing, context.pool),
        coarsest_(coarser_throughout(dumps.a.side, dumps.b.side, pairing)) {
    for (const Side side : kBothSides)
      float32_on_device_[side] = float32_on_device(dumps[side].side, pairing.operators_of(side));
  }

  [[nodiscard]] Result<Outcome> compare(TensorId tensor) const {
    const TensorPair& pair = pairing_.tensors[tensor];
    Result<Outcome> outcome = Outcome();
    if (pair.is_paired()) {
      outcome = recorded<Outcome>(context_.facts, {FactKind::kPair, tensor}, [&] { return compare(tensor, pair); });
    } else {
      outcome->diff = unpaired_.explain(pair);
      add_note(tensor, outcome->diff);
    }
    if (outcome) {
      share_shape(pair, outcome->diff);
      PairHashes hashes = outcome->diff.hashes;
      hashes.written_a = written(Side::kCandidate, pair);
      hashes.written_b = written(Side::kReference, pair);
      if (hashes.written_a != 0 || hashes.written_b != 0) outcome->diff.hashes = hashes;
    }
    return outcome;
  }

 private:
  [[nodiscard]] Result<Outcome> compare(TensorId tensor, const TensorPair& pair) const {
    Outcome outcome;
    const ToleranceRule* const rule = rule_for(pair);
    Tolerance tolerance = rule != nullptr ? rule->tolerance : rules_.tolerance;
    tolerance.coarsest = coarsest_;
    std::optional<HostPair> opened;
    MSDUMP_TRY(outcome.diff, compare_pair(pair, tolerance, opened));
    outcome.diff.mislabelled = is_half(pair);
    if (outcome.diff.mislabelled && outcome.diff.verdict != Verdict::kSame) {
      outcome.diff = TensorDiff();
      outcome.diff.mislabelled = true;
      outcome.diff.reason = std::string("the file says float16 and holds the first half of a float32 buffer");
      return outcome;
    }
    if (pairing_.of_parameters) {
      MSDUMP_CHECK_OK(explain_parameters(source_of(Side::kCandidate), of_a(pair), source_of(Side::kReference),
                                         of_b(pair), tolerance, context_, outcome.diff));
      add_note(tensor, outcome.diff);
    }
    if (!outcome.diff.by_statistics)
      judge_by_limits(rule != nullptr ? rule->limits : rules_.limits, tolerance, outcome.diff);
    if (rule == nullptr && rules_.require_rule) reject_without_rule(outcome.diff);
    if (outcome.diff.by_statistics) return outcome;
    const bool has_elements = has_metrics(outcome.diff.verdict) && outcome.diff.verdict != Verdict::kEmpty;
    if (has_elements && outcome.diff.verdict != Verdict::kSame) MSDUMP_CHECK_OK(add_details(*opened, outcome));
    return outcome;
  }

  // A NaN on one side says more than a missing rule.
  static void reject_without_rule(TensorDiff& diff) {
    if (!has_metrics(diff.verdict)) return;
    diff.without_rule = true;
    if (diff.verdict != Verdict::kNan) diff.verdict = Verdict::kDiffer;
    diff.reason = *diff.reason + (diff.reason->empty() ? "" : "; ") + "no rule is for it";
  }

  [[nodiscard]] const TensorRecord& record_of(Side side, const TensorPair& pair) const {
    return (*dumps_[side].side.tensors)[pair[side]];
  }
  [[nodiscard]] const TensorRecord& of_a(const TensorPair& pair) const { return record_of(Side::kCandidate, pair); }
  [[nodiscard]] const TensorRecord& of_b(const TensorPair& pair) const { return record_of(Side::kReference, pair); }
  [[nodiscard]] DumpSide source_of(Side side) const { return {*dumps_[side].side.index, dumps_[side].tables}; }

  [[nodiscard]] uint64_t written(Side side, const TensorPair& pair) const {
    if (pair[side] == kNoId) return 0;
    const TensorRecord& record = record_of(side, pair);
    if (!has_written_statistics(record)) return 0;
    const Result<TensorNumbers> numbers = dumps_[side].tables.values_of(record);
    return numbers ? written_contents(*numbers) : 0;
  }

  // Most pairs have the shape of the candidate's record, which outlives them.
  void share_shape(const TensorPair& pair, TensorDiff& diff) const {
    if (pair.a == kNoId) return;
    const Shape* const shape = of_a(pair).shape;
    if (shape != nullptr && diff.shape == *shape) diff.shape = Shared<Shape>::of(*shape);
  }

  // Prepends how two parameters are related.
  void add_note(TensorId tensor, TensorDiff& diff) const {
    if (pairing_.notes.empty() || pairing_.notes[tensor].empty()) return;
    diff.reason = pairing_.notes[tensor] + (diff.reason->empty() ? "" : "; " + *diff.reason);
  }

  [[nodiscard]] bool is_half(const TensorPair& pair) const {
    return std::any_of(kBothSides.begin(), kBothSides.end(), [&](Side side) {
      return float32_on_device_[side][pair[side]] && record_of(side, pair).name.dtype == DType::kFloat16;
    });
  }

  [[nodiscard]] const ToleranceRule* rule_for(const TensorPair& pair) const {
    if (!rules_.by_tensor) return nullptr;
    const NameFacts& name = of_b(pair).name;
    return rules_.by_tensor->rule_for(
        {pairing_.op_name(pair.op), pairing_.op_type(pair.op), name.io, name.slot, of_a(pair).name.dtype, name.dtype});
  }

  [[nodiscard]] Result<TensorDiff> compare_pair(const TensorPair& pair, const Tolerance& tolerance,
                                                std::optional<HostPair>& opened) const {
    PairOptions more;
    more.on_request = rules_.on_request;
    // MindSpore dumps an input in the shape of its producer, msprobe in that of the call.
    more.any_shape = of_b(pair).name.io == Io::kInput && !parse_msprobe_entry(of_b(pair).name.op_name) &&
                     dumps_.b.side.graph != nullptr;
    more.any_shape = more.any_shape || is_in_shape_of_input(pair);
    return diff_records(source_of(Side::kCandidate), of_a(pair), source_of(Side::kReference), of_b(pair), tolerance,
                        context_, more, &opened);
  }

  // Releases of MindSpore differ in whether they dump the output of a Reshape in the shape of its input.
  [[nodiscard]] bool is_in_shape_of_input(const TensorPair& pair) const {
    const OpPair& op = pairing_.operators[pair.op];
    if (of_b(pair).name.io != Io::kOutput || !op.is_paired()) return false;
    const auto op_of = [&](Side side) -> const SequencedOp& { return pairing_.operators_of(side)[op[side]]; };
    return std::all_of(kBothSides.begin(), kBothSides.end(),
                       [&](Side side) { return changes_shape(op_of(side).type); }) &&
           std::any_of(kBothSides.begin(), kBothSides.end(), [&](Side side) {
             return is_in_shape_of_input(*dumps_[side].side.tensors, op_of(side), record_of(side, pair));
           });
  }
  [[nodiscard]] static bool is_in_shape_of_input(const std::vector<TensorRecord>& tensors, const SequencedOp& op,
                                                 const TensorRecord& output) {
    return std::any_of(op.tensors.begin(), op.tensors.end(), [&](RecordId tensor) {
      const TensorRecord& input = tensors[tensor];
      return input.name.io == Io::kInput && input.name.slot == "0" && input.shape != nullptr &&
             output.shape != nullptr && *input.shape == *output.shape;
    });
  }

  // Adds the worst elements with both values.
  Status add_details(HostPair& opened, Outcome& outcome) const {
    HostTensor &left = opened.left, &right = opened.right;
    // If one side alone is NaN or infinite, the metrics have no worst element.
    const bool mismatch = outcome.diff.verdict == Verdict::kNan;
    const SecondLookOptions look{std::max<size_t>(look_.worst, mismatch ? 1 : 0), look_.by_axis};
    MSDUMP_TRY(outcome.details.look, look_again(left, right, outcome.diff, look, context_.cancel));
    std::vector<WorstElement>& worst = outcome.details.look.worst;
    if (mismatch && !worst.empty()) {
      outcome.details.worst = worst.front();
      if (look_.worst == 0) worst.clear();
    } else if (const auto at = outcome.diff.metrics->worst) {
      MSDUMP_TRY(outcome.details.worst, read_pair_at(left, right, *at));
    }
    return {};
  }

  const Sides<ComparedDump>& dumps_;
  const Pairing& pairing_;
  const DiffRules& rules_;
  const SecondLookOptions& look_;
  const RunContext& context_;
  const UnpairedReasons unpaired_;
  const std::optional<DType> coarsest_;
  Sides<std::vector<bool>> float32_on_device_;  // by tensor
};

// Reads the tables in parallel. If they were read on first use, threads would wait for each other.
void read_tables(const Sides<ComparedDump>& dumps, const Pairing& pairing, const std::vector<TensorId>& chosen,
                 const RunContext& context) {
  struct Wanted {
    StatisticTables* tables;
    const TensorRecord* record;
  };
  std::map<std::pair<Side, FileId>, Wanted> wanted;
  for (const TensorId tensor : chosen) {
    const TensorPair& pair = pairing.tensors[tensor];
    for (const Side side : kBothSides) {
      if (pair[side] == kNoId) continue;
      const TensorRecord& record = (*dumps[side].side.tensors)[pair[side]];
      if ((pair.is_paired() && !record.has_elements) || has_written_statistics(record))
        wanted.try_emplace({side, record.table}, Wanted{&dumps[side].tables, &record});
    }
  }
  std::vector<Wanted> tables;
  for (const auto& [key, table] : wanted) tables.push_back(table);
  context.pool.parallel_for(static_cast<int64_t>(tables.size()), [&](int64_t i) {
    if (context.cancel.cancelled()) return;
    const Wanted& table = tables[static_cast<size_t>(i)];
    table.tables->read_table_of(*table.record);
  });
}

// Splits the pairs into chunks that one worker compares at a time: many pairs of statistics, few of tensors. Returns the
// begin of each chunk, and the end.
std::vector<size_t> pieces_of(const Sides<ComparedDump>& dumps, const Pairing& pairing,
                              const std::vector<TensorId>& chosen) {
  constexpr uint64_t kBytes = uint64_t{1} << 20;
  const auto bytes_of = [&](Side side, const TensorPair& pair) -> uint64_t {
    const std::vector<TensorRecord>& tensors = *dumps[side].side.tensors;
    if (pair[side] == kNoId || !tensors[pair[side]].has_elements) return 0;
    return tensors[pair[side]].bytes.value_or(kBytes);
  };
  std::vector<size_t> pieces = {0};
  uint64_t bytes = 0;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const TensorPair& pair = pairing.tensors[chosen[i]];
    bytes += std::min(std::max(bytes_of(Side::kCandidate, pair), bytes_of(Side::kReference, pair)), kBytes);
    if (bytes < kBytes && i + 1 - pieces.back() < kMostTried && i + 1 < chosen.size()) continue;
    pieces.push_back(i + 1);
    bytes = 0;
  }
  return pieces;
}

struct ComparedPiece {
  std::vector<std::pair<TensorId, PairDetails>> details;
  std::vector<Error> failures;
};

}  // namespace

ComparedTensors compare_dumps(const Sides<ComparedDump>& dumps, const Pairing& pairing,
                              const std::vector<TensorId>& chosen, const DiffRules& rules,
                              const SecondLookOptions& look, const RunContext& context) {
  ComparedTensors result;
  result.diffs.resize(pairing.tensors.size());
  read_tables(dumps, pairing, chosen, context);
  const Comparison comparison(dumps, pairing, rules, look, context);
  const std::vector<size_t> pieces = pieces_of(dumps, pairing, chosen);
  const auto compare_piece = [&](int64_t piece) {
    ComparedPiece compared;
    const auto place = static_cast<size_t>(piece);
    for (size_t i = pieces[place]; i < pieces[place + 1] && !context.cancel.cancelled(); ++i) {
      const TensorId tensor = chosen[i];
      Result<Outcome> outcome = comparison.compare(tensor);
      if (outcome) {
        result.diffs[tensor] = std::move(outcome->diff);
        if (outcome->details.any()) compared.details.emplace_back(tensor, std::move(outcome->details));
      } else {
        result.diffs[tensor].reason = outcome.error().message;
        compared.failures.push_back(std::move(outcome).error());
      }
    }
    return compared;
  };
  context.pool.ordered_for(static_cast<int64_t>(pieces.size()) - 1, compare_piece,
                           [&](int64_t, ComparedPiece&& compared) {
                             for (auto& [tensor, details] : compared.details)
                               result.details.set(tensor, std::move(details));
                             for (Error& failure : compared.failures) result.failures.push_back(std::move(failure));
                           });
  return result;
}

}  // namespace msdump
