#include "check/began/began.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "check/began/monitor_tables.h"
#include "check/trend.h"

namespace msdump::check {
namespace {

std::optional<double> value_of(const TensorFacts& facts, StepStatistic statistic) {
  switch (statistic) {
    case StepStatistic::kNorm: return facts.l2norm;
    case StepStatistic::kMean: return facts.mean;
    case StepStatistic::kLargest: break;
  }
  if (!facts.max || !facts.min) return std::nullopt;
  return std::max(std::abs(*facts.max), std::abs(*facts.min));
}

// Rows of a table are in the order in which the writer met the tensors; the list of a dump sorts them by name.
auto place_of(const CheckedDump& dump, TensorId tensor) {
  const TensorRecord& record = dump.record(tensor);
  return std::tuple(record.order, record.has_elements ? 0 : record.row_offset, tensor);
}

StepTensor tensor_of(const CheckedDump& dump, TensorId tensor) {
  const Identity identity = dump.identity(tensor);
  const SequencedOp& op = dump.operators()[dump.op_of(tensor)];
  StepTensor result;
  result.rank = identity.rank;
  result.graph = identity.graph;
  result.op_name = op.name;
  result.op_type = op.type;
  result.slot = identity.name.slot;
  result.io = identity.name.io;
  result.occurrence = identity.occurrence;
  return result;
}

// The first monitor rounds; other tables have six digits or more.
double resolution_of(const CheckedDump& dump, TensorId tensor) {
  const TensorRecord& record = dump.record(tensor);
  if (record.table == kNoId || dump.index().files()[record.table].kind != FileKind::kMonitor) return 0;
  return monitor_resolution(dump.index().files()[record.table].shown_name());
}

void add_series(const RuleContext& context, const TrendSeries& series, StepHistory& history) {
  StepTensor tensor = tensor_of(context.dump, series.tensors.front());
  std::vector<TensorFacts> facts;
  for (const TensorId one : series.tensors) facts.push_back(context.facts[one]);
  const StepStatistic statistic = statistic_of(facts);
  tensor.statistic = statistic;
  tensor.resolution = resolution_of(context.dump, series.tensors.front());
  const StepTensorId id = history.add(std::move(tensor));
  for (size_t i = 0; i < facts.size(); ++i) {
    const std::optional<float> value = step_value(facts[i], statistic);
    if (value) history.set(id, *context.dump.identity(series.tensors[i]).step, *value);
  }
}

std::string times(const std::optional<double>& size) { return size ? fmt::format("{:.3g} times", *size) : "not"; }

bool is_gradient(StepPhase phase) {
  return phase == StepPhase::kBackward || phase == StepPhase::kLocalGradient || phase == StepPhase::kGradient;
}

// "; the update moved before the gradients"
std::string order_text(const StepHistory& history, const Began& began) {
  const auto any = [&](const auto& holds) {
    return std::any_of(began.followers.begin(), began.followers.end(),
                       [&](const Mover& mover) { return holds(phase_of(history[mover.tensor].op_type)); });
  };
  const StepPhase first = phase_of(history[began.first.tensor].op_type);
  if (first == StepPhase::kUpdate && any(is_gradient)) return "; the update moved before the gradients";
  const auto is_update = [](StepPhase phase) { return phase == StepPhase::kUpdate; };
  return is_gradient(first) && any(is_update) ? "; the gradients moved before the update" : "";
}

// "; rank 1 was first, rank 0 followed at step 61: reduced fc1.weight"
std::string ranks_text(const StepHistory& history, const Began& began) {
  const std::optional<int64_t> rank = history[began.first.tensor].rank;
  const auto other = std::find_if(began.followers.begin(), began.followers.end(),
                                  [&](const Mover& mover) { return history[mover.tensor].rank != rank; });
  if (!rank || other == began.followers.end()) return "";
  const StepTensor& there = history[other->tensor];
  return fmt::format("; rank {} was first, rank {} followed at step {}: {} {}", *rank, there.rank.value_or(0),
                     other->step, there.op_type, there.op_name);
}

// Most dumps have a few steps: their tensors need not be put in series.
bool has_history(const CheckedDump& dump) {
  std::set<int64_t> steps;
  for (TensorId tensor{0}; tensor < dump.tensors() && steps.size() < kLeastSteps; ++tensor) {
    if (const std::optional<int64_t> step = dump.identity(tensor).step) steps.insert(*step);
  }
  return steps.size() >= kLeastSteps;
}

report::Value value_of(const SeriesChange& change) {
  return change.size ? report::Value(*change.size) : report::Value();
}

}  // namespace

std::string name_of(const StepTensor& tensor) {
  std::string text = fmt::format("{} {} {}:{}", tensor.op_type, tensor.op_name, name_of(tensor.io), tensor.slot);
  if (tensor.occurrence > 0) text += fmt::format(", execution {} of the step", tensor.occurrence + 1);
  return text;
}

std::string describe(const SeriesChange& change) {
  switch (change.kind) {
    case ChangeKind::kSpike: return fmt::format("is {} what it was, once", times(change.size));
    case ChangeKind::kLevel: return fmt::format("is {} what it was, from there on", times(change.size));
    case ChangeKind::kSlope: return "rises or falls at another rate";
    case ChangeKind::kSpread: return fmt::format("varies {} as much as before", times(change.size));
    case ChangeKind::kFreeze: return "no longer changes";
    case ChangeKind::kNonFinite: return "is not finite";
  }
  return {};
}

std::string reason_of(const BeganReport& report) {
  const Began& began = *report.began;
  const std::string followers = began.followers.empty() ? "nothing follows"
                                : began.followers.size() == 1
                                    ? "1 tensor follows"
                                    : fmt::format("{} tensors follow", began.followers.size());
  const ChangeKind kind = began.first.change.kind;
  const bool of_one_side = kind == ChangeKind::kFreeze || kind == ChangeKind::kNonFinite;
  const std::string_view of = !report.of_two ? "" : of_one_side ? " of one side" : " over that of the reference";
  return fmt::format("{}{} {}; {}{}{}", name_of(report.history[began.first.tensor].statistic), of,
                     describe(began.first.change), followers, order_text(report.history, began),
                     ranks_text(report.history, began));
}

StepStatistic statistic_of(std::span<const TensorFacts> steps) {
  for (const StepStatistic one : {StepStatistic::kNorm, StepStatistic::kLargest}) {
    const auto has = [&](const TensorFacts& facts) { return value_of(facts, one).has_value(); };
    if (std::any_of(steps.begin(), steps.end(), has)) return one;
  }
  return StepStatistic::kMean;
}

std::optional<float> step_value(const TensorFacts& facts, StepStatistic statistic) {
  if (!facts.known()) return std::nullopt;
  const std::optional<double> value = facts.is_finite() ? value_of(facts, statistic) : std::optional(std::nan(""));
  return value ? std::optional(static_cast<float>(*value)) : std::nullopt;
}

Result<BeganReport> judge_began(RuleContext& context, const std::vector<bool>& chosen) {
  const CheckedDump& dump = context.dump;
  BeganReport report;
  if (!has_history(dump)) return report;
  std::vector<TrendSeries> all = series_by_step(dump);
  std::erase_if(all, [&](const TrendSeries& series) {
    const TensorId first = series.tensors.front();
    return series.tensors.size() < kLeastSteps || !chosen[first] || !context.judges(RuleId::kBegan, first);
  });
  std::sort(all.begin(), all.end(), [&](const TrendSeries& a, const TrendSeries& b) {
    return place_of(dump, a.tensors.front()) < place_of(dump, b.tensors.front());
  });
  for (const TrendSeries& series : all) add_series(context, series, report.history);
  if (report.history.steps() < kLeastSteps) return report;
  MSDUMP_TRY(report.began, find_first_mover(report.history, context.run));
  if (!report.began) return report;
  const Mover& first = report.began->first;
  const std::vector<TensorId>& tensors = all[first.tensor].tensors;
  const auto at = std::find_if(tensors.begin(), tensors.end(),
                               [&](TensorId tensor) { return dump.identity(tensor).step == first.step; });
  context.report(RuleId::kBegan, at == tensors.end() ? tensors.front() : *at, value_of(first.change),
                 reason_of(report));
  return report;
}

Result<BeganReport> judge_began_in_tables(RuleContext& context) {
  BeganReport report;
  MSDUMP_CHECK_OK(read_monitor_tables(context.dump.index(), context.run, report.history, context.failures));
  if (report.history.steps() < kLeastSteps) return report;
  MSDUMP_TRY(report.began, find_first_mover(report.history, context.run));
  if (!report.began) return report;
  const Mover& first = report.began->first;
  const StepTensor& tensor = report.history[first.tensor];
  Finding& finding =
      context.report_place(RuleId::kBegan, {.rank = tensor.rank, .graph = tensor.graph, .step = first.step},
                           value_of(first.change), reason_of(report));
  finding.op_name = tensor.op_name;
  finding.op_type = tensor.op_type;
  finding.io = name_of(tensor.io);
  finding.slot = tensor.slot;
  return report;
}

Result<BeganReport> judge_parting(const StepHistory& candidate, const StepHistory& reference,
                                  const RunContext& context) {
  BeganReport report;
  report.of_two = true;
  MSDUMP_TRY(report.began, find_first_mover(candidate, context, &reference));
  if (!report.began) return report;
  for (StepTensorId tensor = 0; tensor < candidate.tensors(); ++tensor) {
    report.history.add(candidate[tensor]);
    const StepSeries a = candidate.series(tensor), b = reference.series(tensor);
    for (size_t i = 0; i < a.steps.size(); ++i)
      report.history.set(tensor, a.steps[i], a.values[i] == b.values[i] ? 1 : a.values[i] / b.values[i]);
  }
  report.began->values = report.history.series(report.began->first.tensor).values;
  return report;
}

}  // namespace msdump::check
