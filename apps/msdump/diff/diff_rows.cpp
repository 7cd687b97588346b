#include "diff/diff_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "compare/pair/metric_table.h"
#include "diff/diff_table.h"
#include "diff/diff_text.h"
#include "diff/diff_tokens.h"
#include "dump/names/identity.h"
#include "graph/lines/source_lines.h"
#include "msprobe/dump_json.h"
#include "shared/recomputed.h"
#include "shared/rows.h"

namespace msdump::cli {

namespace {

report::Object element_object(const WorstElement& element) {
  report::Object object;
  return std::move(object.add("index", report::list_of(element.index)).add("a", element.a).add("b", element.b));
}

}  // namespace

report::List elements_value(const std::vector<WorstElement>& elements) { return list_of(elements, element_object); }

report::List axes_value(const ErrorAxes& axes) {
  const auto range_object = [](const AxisRange& range) {
    report::Object object;
    object.add("first", range.first).add("last", range.last).add("share", range.share);
    return std::move(object.add("max_abs", range.max_abs).add("mismatches", range.mismatches));
  };
  return list_of(axes.axes, [&](const AxisError& axis) {
    report::Object object;
    object.add("axis", axis.axis).add("extent", axis.extent).add("carried", axis.carried);
    return std::move(object.add("ranges", list_of(axis.ranges, range_object)));
  });
}

namespace {

constexpr std::array kVerdicts = {Verdict::kSame,      Verdict::kClose, Verdict::kDiffer,
                                  Verdict::kNan,       Verdict::kShape, Verdict::kDtype,
                                  Verdict::kUnmatched, Verdict::kEmpty, Verdict::kSkipped};

// Rows are filled alike as an Object and as JSON.
void add_object(report::Object& row, std::string_view key, const auto& fill) {
  report::Object inner;
  fill(inner);
  row.add(key, std::move(inner));
}
void add_object(report::JsonObject& row, std::string_view key, const auto& fill) { row.object(key, fill); }

// Adds the identity of a side's tensor.
void add_side(std::string_view key, const DiffSide& side, RecordId tensor, auto& row) {
  if (tensor == kNoId) {
    row.add(key, report::Value());
    return;
  }
  const TensorRecord& record = (*side.side.tensors)[tensor];
  const auto add_identity = [&](const TensorRecord& shown) {
    add_object(row, key, [&](auto& object) { tensor_rows().fill({*side.side.index, shown}, object); });
  };
  if (record.pieces() == nullptr) return add_identity(record);
  // A collective of the other side is compared with a value of this one, which keeps its own name.
  TensorRecord shown = record;
  shown.name = record.pieces()->records.front()->name;
  add_identity(shown);
}

report::Value limits_value(const std::optional<Limits>& limits) {
  if (!limits) return {};
  report::Object object;
  object.add("rtol", limits->rtol).add("atol", limits->atol);
  return object;
}

constexpr std::array kOfValues = {Verdict::kDiffer, Verdict::kNan, Verdict::kShape};

// All counts take one pass: the diffs of a large run do not fit into a cache.
using VerdictCounts = std::array<uint64_t, kVerdicts.size()>;  // by verdict

VerdictCounts counts_of(const DiffResult& run) {
  VerdictCounts counts{};
  for (const TensorId row : run.rows) ++counts[static_cast<size_t>(run.diffs[row].verdict)];
  for (const ArgumentDiff& argument : run.arguments) ++counts[static_cast<size_t>(argument.verdict)];
  return counts;
}

// Counts of tensors that differ; the first counts those that nothing explains and nobody has accepted. Fused tensors are skipped,
// and do not differ.
constexpr std::array kExplanations = {Explanation::kNoise,    Explanation::kDownstream, Explanation::kUnwritten,
                                      Explanation::kRandom,   Explanation::kFused,      Explanation::kInert,
                                      Explanation::kElsewhere};
static_assert(kExplanations.size() == static_cast<size_t>(last_of(Explanation())));
using ExplanationCounts = std::array<uint64_t, kExplanations.size() + 1>;

ExplanationCounts explanations_of(const DiffResult& run) {
  ExplanationCounts counts{};
  for (const TensorId row : run.rows) {
    const Explanation explanation = run.divergence.explained[row];
    if (explanation != Explanation::kNone || is_unexplained(run, row)) ++counts[static_cast<size_t>(explanation)];
  }
  return counts;
}

bool is_compared(Verdict verdict) { return verdict != Verdict::kUnmatched && verdict != Verdict::kSkipped; }

uint64_t count_reshaped(const DiffResult& run) {
  return static_cast<uint64_t>(
      std::count_if(run.rows.begin(), run.rows.end(), [&](TensorId row) { return run.diffs[row].reshaped; }));
}

uint64_t count_accepted(const DiffResult& run) {
  const auto tensors = std::count_if(run.rows.begin(), run.rows.end(), [&](TensorId row) { return run.accepted[row]; });
  const auto arguments = std::count(run.accepted_arguments.begin(), run.accepted_arguments.end(), true);
  return static_cast<uint64_t>(tensors + arguments);
}

// ---- the table

// On a narrow terminal these columns are dropped before the common ones; the relative error, the explanation
// and the reason stay.
constexpr uint8_t kDropMaxAbs = report::kDropOpType + 2, kDropDtype = report::kDropOpType + 1,
                  kDropLayout = report::kDropOpType + 3;

std::string number_at(const report::Row& row, const char* path) {
  const auto* const number = row.get<double>(path);
  return number == nullptr ? "-" : fmt::format("{:.3g}", *number);
}

uint64_t elements_of(const report::Row& row) {
  uint64_t elements = 1;
  const report::Value* const shape = row.find_path("a.shape");
  const auto* const list = shape == nullptr ? nullptr : shape->get<report::List>();
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto* const extent = (*list)[i].get<int64_t>();
    elements *= extent == nullptr ? 1 : static_cast<uint64_t>(*extent);
  }
  return elements;
}

// "0.28 (871)" if a loss scale was divided out, "nan (24 of 144)" if one side is not finite.
std::string error_cell(const report::Row& row) {
  if (row.text("verdict") == "nan") {
    const auto count = row.number("nonfinite");
    return count ? fmt::format("nan ({} of {})", *count, elements_of(row)) : std::string("nan");
  }
  const std::string raw = number_at(row, "metrics.relative_l2");
  return is_scaled(row) ? fmt::format("{} ({})", number_at(row, "measured_error"), raw) : raw;
}

std::string distance_cell(const report::Row& row) {
  if (row.text("verdict") == "nan") return "-";
  const std::string raw = number_at(row, "metrics.max_abs");
  return is_scaled(row) ? fmt::format("({})", raw) : raw;
}

// "concat axis 1", without its ranks; the reference's if the candidate's tensor is not sharded.
std::string layout_cell(const report::Row& row) {
  const std::string_view own = row.text("layout"), other = row.text("reference_layout");
  const std::string_view text = own.empty() ? other : own;
  if (text.empty()) return "-";
  return (own.empty() ? "reference: " : "") + std::string(text.substr(0, text.find(" of ranks")));
}

std::string dtypes_cell(const report::Row& row) {
  const std::string_view a = row.text("a.dtype"), b = row.text("b.dtype");
  if (a.empty() && b.empty()) return "-";
  if (a.empty() || b.empty() || a == b) return std::string(a.empty() ? b : a);
  return fmt::format("{} / {}", a, b);
}

}  // namespace

bool is_scaled(const report::Row& row) { return row.get<double>("loss_scale") != nullptr; }

std::vector<report::Column> diff_columns(const DiffResult& run) {
  std::vector<report::Column> columns{{"verdict", "verdict"}};
  const auto add_hidden = [&](std::initializer_list<const char*> keys) {
    for (const char* const key : keys) columns.push_back({key, ""});
  };
  std::set<std::optional<int64_t>> ranks, steps;
  for (const TensorId row : run.rows) {
    const Identity identity = run.identity(row);
    ranks.insert(identity.rank);
    steps.insert(identity.step);
  }
  columns.insert(columns.end(), {number_column("rank", ranks.size() > 1), number_column("graph", false),
                                 number_column("step", steps.size() > 1)});
  if (!run.pairing.dumps.empty())
    columns.push_back({"dump", "dump", [](const report::Row& row) { return dump_text(row.text("dump")); }});
  columns.push_back({"order", ""});
  columns.insert(columns.end(), {op_type_column(),
                                 {"op_name", "op name"},
                                 {"io", "tensor", tensor_cell},
                                 {"slot", ""},
                                 {"a.dtype", "dtype", dtypes_cell, kDropDtype}});
  for (const report::Column& column : identity_columns()) {
    if (column.key != "dtype") columns.push_back({"a." + column.key, ""});
  }
  for (const report::Column& column : identity_columns()) columns.push_back({"b." + column.key, ""});
  for (const Metric& metric : all_metrics()) {
    const std::string key = "metrics." + std::string(metric.name);
    const bool shown = metric.name == "relative_l2" || metric.name == "max_abs";
    columns.push_back({key, shown ? std::string(metric.name) : std::string(),
                       metric.name == "relative_l2" ? error_cell
                       : metric.name == "max_abs"   ? distance_cell
                                                    : nullptr,
                       metric.name == "max_abs" ? kDropMaxAbs : uint8_t{0}});
  }
  if (!run.placements.empty()) {
    columns.push_back({"layout", "layout", layout_cell, kDropLayout});
    add_hidden({"reference_layout", "layout_confidence", "ranks"});
  }
  if (run.tokens != nullptr)
    add_hidden({"tokens.tokens", "tokens.wrong", "tokens.median_error", "tokens.largest_error"});
  add_hidden({"worst.index", "worst.a", "worst.b", "tolerance_that_passes.rtol", "tolerance_that_passes.atol",
              "a_value", "b_value"});
  columns.push_back({"source.file", "line", source_cell, report::kDropStep});
  add_hidden({"source.line", "source.code", "source.end_line", "paired_by", "pair_confidence", "accepted",
              "measured_error", "expected_error", "score"});
  columns.push_back({"explained", "explained"});
  add_hidden({"unjudged", "loss_scale", "nonfinite"});
  columns.push_back({"reason", "reason"});
  return columns;
}

namespace {

// The members from the operator, of a tensor and of an argument alike.
void add_pairing(const DiffResult& run, OperatorId op, auto& row) {
  const OpPair& pair = run.pairing.operators[op];
  const bool paired = pair.how != PairedBy::kNothing;
  row.add("paired_by", paired ? std::optional(explanation(pair.how)) : std::nullopt);
  row.add("pair_confidence", paired ? std::optional(pair.confidence) : std::nullopt);
}

// Numbers and booleans as such, so that a script can compare them.
report::Value value_of_argument(const std::string& text) {
  if (text.empty()) return {};
  if (text == "true" || text == "false") return text == "true";
  if (const auto whole = parse_i64(text)) return *whole;
  if (const auto number = statistic_value(text)) return *number;
  return text;
}

report::Object argument_row(const DiffResult& run, size_t index, const DiffOptions& options) {
  const ArgumentDiff& diff = run.arguments[index];
  const TensorKey key = run.key(diff);
  report::Object row;
  row.add("a", report::Value()).add("b", report::Value());
  row.add("op_name", run.op_name(diff.op)).add("op_type", run.op_type(diff.op));
  row.add("rank", key.rank).add("graph", key.graph).add("step", key.step);
  if (!key.dump.empty()) row.add("dump", key.dump);
  row.add("io", name_of(key.io)).add("slot", slot_value(diff.name));
  row.add("order", order_value(run, diff.op)).add("verdict", name_of(diff.verdict));
  row.add("reason", reason_of(diff, run.pairing)).add("source", source_value(run.frame(diff.op)));
  add_object(row, "metrics", [&](auto& metrics) { add_metrics(difference_of(diff, run.pairing), metrics); });
  row.add("worst", report::Value());
  row.add("tolerance_that_passes", report::Value()).add("a_value", value_of_argument(diff.a));
  row.add("b_value", value_of_argument(diff.b));
  add_pairing(run, diff.op, row);
  row.add("accepted", bool{run.accepted_arguments[index]}).add("explained", report::Value());
  row.add("unjudged", report::Value());
  if (options.worst > 0) row.add("worst_elements", report::List());
  if (options.by_axis) row.add("axes", report::List());
  return row;
}

// The placement of the tensor on the ranks of two runs that are sharded differently.
void add_cut(const DiffResult& run, TensorId tensor, auto& row) {
  if (run.placements.empty()) return;
  const PlacementNote& note = run.placements[tensor];
  row.add("layout", report::text_or_null(note.layout));
  row.add("reference_layout", report::text_or_null(note.reference_layout));
  row.add("layout_confidence", note.confidence > 0 ? report::Value(rounded(note.confidence)) : report::Value());
  row.add("ranks", report::list_of(note.ranks));
}

void add_tensor(const DiffResult& run, const DiffRow& shown, const DiffOptions& options, auto& row) {
  const TensorId tensor = shown.tensor;
  const TensorPair& pair = run.pairing.tensors[tensor];
  const TensorDiff& diff = run.diffs[tensor];
  const PairDetails& details = run.details[tensor];
  const Identity identity = run.identity(tensor);
  constexpr size_t kMembers = 30;
  row.reserve(kMembers);
  add_side("a", *run.a, pair.a, row);
  add_side("b", *run.b, pair.b, row);
  row.add("op_name", run.op_name(pair.op)).add("op_type", run.op_type(pair.op));
  row.add("rank", identity.rank).add("graph", identity.graph).add("step", identity.step);
  if (!identity.dump.empty()) row.add("dump", identity.dump);
  row.add("io", name_of(identity.name.io)).add("slot", slot_value(identity.name.slot));
  row.add("order", order_value(run, pair.op)).add("verdict", name_of(diff.verdict));
  row.add("reason", diff.reason->empty() ? std::nullopt : std::optional<std::string_view>(*diff.reason));
  row.add("source", source_value(run.frame(pair.op)));
  add_object(row, "metrics", [&](auto& metrics) { add_metrics(diff, metrics); });
  row.add("worst", details.worst ? report::Value(element_object(*details.worst)) : report::Value());
  row.add("tolerance_that_passes", limits_value(diff.tolerance_that_passes()));
  row.add("a_value", report::Value()).add("b_value", report::Value());
  add_pairing(run, pair.op, row);
  row.add("accepted", bool{run.accepted[tensor]});
  row.add("explained", report::text_or_null(shown.of_cause ? "cause" : run.explained(tensor)));
  row.add("unjudged", report::text_or_null(name_of(run.divergence.unjudged[tensor])));
  // The error of the other elements says nothing if one side is not finite.
  const bool is_measured = diff.verdict != Verdict::kNan;
  const OutputScore* const score = is_measured ? run.divergence.score_of(tensor) : nullptr;
  const std::optional<double> measured = score ? score->measured : judged_error(run, tensor);
  row.add("measured_error", is_measured ? report::Value(measured) : report::Value());
  row.add("expected_error", score ? report::Value(rounded(score->expected)) : report::Value());
  row.add("score", score ? report::Value(rounded(score->score)) : report::Value());
  const double scale = loss_scale_of(run, tensor);
  row.add("loss_scale", scale == 1 ? report::Value() : report::Value(scale)).add("nonfinite", nonfinite_of(diff));
  add_cut(run, tensor, row);
  if (run.tokens != nullptr) row.add("tokens", row_tokens_value(run, tensor));
  if (options.worst > 0) row.add("worst_elements", elements_value(details.look.worst));
  if (options.by_axis) row.add("axes", axes_value(details.look.axes));
}

}  // namespace

std::vector<DiffRow> all_rows(const DiffResult& run) {
  std::vector<DiffRow> rows;
  rows.reserve(run.rows.size() + run.arguments.size());
  std::map<OperatorId, std::vector<size_t>> arguments;  // that are left, by operator
  for (size_t i = 0; i < run.arguments.size(); ++i) arguments[run.arguments[i].op].push_back(i);
  for (const TensorId tensor : run.rows) {
    const auto own = arguments.empty() ? arguments.end() : arguments.find(run.pairing.tensors[tensor].op);
    if (own != arguments.end()) {
      const std::optional<int64_t> step = run.identity(tensor).step;
      std::erase_if(own->second, [&](size_t i) {
        const bool now = !run.arguments[i].step || run.arguments[i].step == step;
        if (now) rows.push_back({kNoId, i});
        return now;
      });
      if (own->second.empty()) arguments.erase(own);
    }
    rows.push_back({tensor});
  }
  for (const auto& [op, left] : arguments) {
    for (const size_t argument : left) rows.push_back({kNoId, argument});
  }
  return rows;
}

bool counts_as_difference(const DiffResult& run, const DiffRow& row) {
  return row.tensor == kNoId ? argument_counts(run, row.argument) : counts_as_difference(run, row.tensor);
}

OperatorId operator_of(const DiffResult& run, const DiffRow& row) {
  return row.tensor == kNoId ? run.arguments[row.argument].op : run.pairing.tensors[row.tensor].op;
}

Verdict verdict_of(const DiffResult& run, const DiffRow& row) {
  return row.tensor == kNoId ? run.arguments[row.argument].verdict : run.diffs[row.tensor].verdict;
}

report::Object diff_row(const DiffResult& run, const DiffRow& row, const DiffOptions& options) {
  if (row.tensor == kNoId) return argument_row(run, row.argument, options);
  report::Object object;
  add_tensor(run, row, options, object);
  return object;
}

void add_diff_row(const DiffResult& run, const DiffRow& row, const DiffOptions& options, report::JsonObject& into) {
  if (row.tensor == kNoId) return into.add_members(argument_row(run, row.argument, options));
  add_tensor(run, row, options, into);
}

// The place in the data flow, or in msprobe's order; unknown if only names are known.
report::Value order_value(const DiffResult& run, OperatorId pair) {
  const OpPair& op = run.pairing.operators[pair];
  const auto known = [](SequencedOpId place, const std::vector<SequencedOp>& operators, const CompareSide& side) {
    if (place == kNoId) return false;
    const SequencedOp& one = operators[place];
    return one.op != kNoId || (!one.tensors.empty() && (*side.tensors)[one.tensors.front()].order != kNoOrder);
  };
  const bool any = known(op.a, run.pairing.a, run.a->side) || known(op.b, run.pairing.b, run.b->side);
  return any ? report::Value(uint32_t{pair}) : report::Value();
}

report::List relations_value(const DiffResult& run) {
  return list_of(run.pairing.relations, [](const FoundRelation& one) {
    report::Object object;
    return std::move(object.add("kind", one.kind).add("text", one.text).add("count", one.count));
  });
}

bool any_value_differs(const DiffResult& run) {
  const VerdictCounts counts = counts_of(run);
  return std::any_of(kOfValues.begin(), kOfValues.end(),
                     [&](Verdict verdict) { return counts[static_cast<size_t>(verdict)] > 0; });
}

Verdict verdict_over_all(const DiffResult& run) {
  if (std::any_of(run.rows.begin(), run.rows.end(), [&](TensorId row) { return counts_as_difference(run, row); }))
    return Verdict::kDiffer;
  for (size_t i = 0; i < run.arguments.size(); ++i) {
    if (argument_counts(run, i)) return Verdict::kDiffer;
  }
  const bool all_same = std::all_of(run.rows.begin(), run.rows.end(), [&](TensorId row) {
    return run.diffs[row].verdict == Verdict::kSame || run.diffs[row].verdict == Verdict::kEmpty;
  });
  return all_same ? Verdict::kSame : Verdict::kClose;
}

report::Object diff_summary(const DiffResult& run, size_t failed) {
  report::Object summary;
  const VerdictCounts counts = counts_of(run);
  summary.add("compared", count_compared(run));
  for (const Verdict verdict : kVerdicts) summary.add(name_of(verdict), counts[static_cast<size_t>(verdict)]);
  const ExplanationCounts explained = explanations_of(run);
  report::Object by_explanation;
  for (const Explanation one : kExplanations) by_explanation.add(name_of(one), explained[static_cast<size_t>(one)]);
  summary.add("explained", std::move(by_explanation)).add("unexplained", explained[0]);
  summary.add("reshaped", count_reshaped(run));
  summary.add("arguments", run.arguments.size()).add("accepted", count_accepted(run)).add("failed", failed);
  summary.add("verdict", run.rows.empty() ? report::Value() : report::Value(name_of(verdict_over_all(run))));
  summary.add("limits", list_of(run.limits(), [](const ReachedLimit& one) {
                report::Object object;
                return std::move(object.add("name", one.name).add("limit", one.limit).add("effect", one.effect));
              }));
  return std::move(summary.add("recompute", recompute_summary(run.computed.counts)));
}

std::string_view reason_key(const DiffResult& run, TensorId tensor, const std::vector<bool>& of_cause) {
  if (is_unexplained(run, tensor)) return of_cause[tensor] ? "cause" : "unexplained";
  return run.explained(tensor);
}

std::vector<ReasonCount> reason_counts(const DiffResult& run) {
  if (run.single_pair || run.pairing.of_parameters) return {};
  const std::vector<bool> of_cause = rows_of_causes(run);
  std::map<std::string_view, uint64_t> counts;
  uint64_t alone = 0;  // unexplained without a partner: no wrong value
  for (const TensorId row : run.rows) {
    const std::string_view key = reason_key(run, row, of_cause);
    ++counts[key];
    if (key == "unexplained" && run.diffs[row].verdict == Verdict::kUnmatched) ++alone;
  }
  const bool one_cause = run.divergence.roots.size() == 1;
  const std::string_view follow = counts.count("cause") == 0 ? "follow from a cause"
                                  : one_cause                ? "follow from it"
                                                             : "follow from them";
  std::vector<ReasonCount> reasons;
  const auto add = [&](std::string_view key, std::string_view text) {
    if (const auto found = counts.find(key); found != counts.end()) reasons.push_back({key, text, found->second, {}});
  };
  add("cause", one_cause ? "of the cause" : "of the causes");
  add(name_of(Explanation::kDownstream), follow);
  for (const Explanation one : kExplanations) {
    if (one != Explanation::kFused && one != Explanation::kDownstream) add(name_of(one), name_of(one));
  }
  add("unexplained", "unexplained");
  if (alone > 0) {
    ReasonCount& unexplained = reasons.back();
    unexplained.note =
        alone == unexplained.count ? " (without a partner)" : fmt::format(" ({} without a partner)", alone);
  }
  return reasons;
}

std::string summary_text(const DiffResult& run) {
  const VerdictCounts counts = counts_of(run);
  const auto arguments = static_cast<uint64_t>(std::count_if(
      run.arguments.begin(), run.arguments.end(), [](const ArgumentDiff& one) { return is_compared(one.verdict); }));
  std::string text = plural(count_compared(run) - arguments, "tensor");
  if (arguments > 0) text += " and " + plural(arguments, "argument");
  text += " compared";
  std::string parts;
  for (const Verdict verdict : kVerdicts) {
    const uint64_t count = counts[static_cast<size_t>(verdict)];
    if (count > 0) parts += fmt::format("{}{} {}", parts.empty() ? ": " : ", ", count, name_of(verdict));
  }
  std::string why;
  for (const ReasonCount& one : reason_counts(run))
    why += fmt::format("{}{} {}{}", why.empty() ? "; of these " : ", ", one.count, one.text, one.note);
  parts += why;
  if (const uint64_t reshaped = count_reshaped(run); reshaped > 0)
    parts += fmt::format("; {} compared in another shape", reshaped);
  const uint64_t accepted = count_accepted(run);
  return text + parts + (accepted > 0 ? fmt::format("; {} of these accepted", accepted) : "");
}

}  // namespace msdump::cli
