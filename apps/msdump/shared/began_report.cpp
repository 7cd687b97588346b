#include "shared/began_report.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "check/trend.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

constexpr size_t kStepsBefore = 20, kStepsShown = 40, kFollowersShown = 3, kChartsShown = 12;

// "steps 44-83  ▁▁▁▁▁██ 0.12 -> 0.98": around the step at which it began.
std::string began_line(const check::Began& began) {
  const auto found = std::find(began.value_steps.begin(), began.value_steps.end(), began.first.step);
  const auto at = static_cast<size_t>(found - began.value_steps.begin());
  const size_t begin = at - std::min(at, kStepsBefore);
  const size_t end = std::min(began.values.size(), begin + kStepsShown);
  std::vector<std::optional<double>> values;
  for (size_t i = begin; i < end; ++i) values.emplace_back(static_cast<double>(began.values[i]));
  std::string text = fmt::format("steps {}-{}  {}", began.value_steps[begin], began.value_steps[end - 1],
                                 check::sparkline(values, kStepsShown));
  if (at > 0 && at < end) text += fmt::format("  {:.4g} -> {:.4g}", began.values[at - 1], began.values[at]);
  return text;
}

std::string name_with_rank(const check::StepTensor& tensor) {
  return name_of(tensor) + (tensor.rank ? fmt::format(" (rank {})", *tensor.rank) : "");
}

// The keys of a tensor that moved; `further` come after them.
report::ObjectType mover_type(std::string_view name, std::string_view text, std::vector<report::Key> further) {
  std::vector<report::Key> keys = {
      {.key = "step", .type = "integer", .text = "the first step that is off"},
      {.key = "tensor", .type = "string", .text = "the tensor in words: type, name, io and slot"},
      {.key = "op_name",
       .type = "string",
       .text = "full scope name of the operator, or of the tensor in a monitor's table"},
      {.key = "op_type", .type = "string", .text = "its type, or what the monitor watched"},
      {.key = "rank", .type = "integer|null", .text = "process of a distributed run"},
      {.key = "graph", .type = "integer|null", .text = "id of the graph"},
      {.key = "io", .type = "string", .text = "input, output or parameter"},
      {.key = "slot", .type = "integer|string|null", .text = "which of them"},
      {.key = "micro_step", .type = "integer", .text = "executions in the same step before this one"},
      {.key = "phase",
       .type = "string",
       .text = "parameter, forward, backward, local gradient, gradient, optimizer state or update"},
      {.key = "statistic", .type = "string", .text = "norm, largest (of |max| and |min|) or mean"},
      {.key = "kind", .type = "string", .text = "spike, level, slope, spread, freeze or nonfinite"},
      {.key = "size",
       .type = "number|null",
       .text = "spike, level: factor to the median before; slope: growth of the factor from step to step; spread: "
               "factor of the "
               "usual change from step to step; freeze: steps that are equal"},
      {.key = "score", .type = "number|string", .text = "how many times the largest deviation before"}};
  keys.insert(keys.end(), std::make_move_iterator(further.begin()), std::make_move_iterator(further.end()));
  return {name, text, std::move(keys)};
}

const report::ObjectType& follower_type() {
  static const report::ObjectType type =
      mover_type("Follower", "A tensor that moves in the same step as the first mover or in the next 16.", {});
  return type;
}

report::Object mover_value(const check::StepHistory& history, const check::Mover& mover) {
  const check::StepTensor& tensor = history[mover.tensor];
  report::Object object;
  object.add("step", mover.step).add("tensor", check::name_of(tensor));
  object.add("op_name", tensor.op_name).add("op_type", tensor.op_type);
  object.add("rank", tensor.rank).add("graph", tensor.graph);
  object.add("io", name_of(tensor.io)).add("slot", slot_value(tensor.slot)).add("micro_step", tensor.occurrence);
  object.add("phase", check::name_of(check::phase_of(tensor.op_type)))
      .add("statistic", check::name_of(tensor.statistic));
  object.add("kind", check::name_of(mover.change.kind)).add("size", mover.change.size);
  return std::move(object.add("score", rounded(mover.score)));
}

}  // namespace

std::string began_heading(const check::BeganReport& report) {
  return fmt::format("{} at step {}", report.of_two ? "the histories diverge" : "it began", report.began->first.step);
}

std::string began_text(const check::BeganReport* report) {
  if (report == nullptr || !report->began) return {};
  const check::Began& began = *report->began;
  const check::StepHistory& history = report->history;
  std::string text = fmt::format("{}: {}\n  {}\n", began_heading(*report),
                                 escape_for_terminal(name_with_rank(history[began.first.tensor])), began_line(began));
  text += fmt::format("  what  {}\n", escape_for_terminal(check::reason_of(*report)));
  for (size_t i = 0; i < std::min(began.followers.size(), kFollowersShown); ++i) {
    const check::Mover& mover = began.followers[i];
    text += fmt::format("  then  step {}  {}: {}\n", mover.step, escape_for_terminal(name_of(history[mover.tensor])),
                        check::describe(mover.change));
  }
  return text + "\n";
}

std::vector<report::StepChart> began_charts(const check::BeganReport* report) {
  if (report == nullptr || !report->began) return {};
  std::vector<const check::Mover*> movers = {&report->began->first};
  for (const check::Mover& mover : report->began->followers) movers.push_back(&mover);
  movers.resize(std::min(movers.size(), kChartsShown));
  std::vector<report::StepChart> charts;
  for (const check::Mover* const mover : movers) {
    check::StepSeries series = report->history.series(mover->tensor);
    charts.push_back({name_with_rank(report->history[mover->tensor]),
                      fmt::format("step {}: {}", mover->step, check::describe(mover->change)), std::move(series.steps),
                      std::move(series.values), mover->step});
  }
  return charts;
}

const report::ObjectType& began_type() {
  static const report::ObjectType type = mover_type(
      "Began", "The tensor with which a training began to behave otherwise.",
      {{.key = "echoes", .type = "integer[]", .text = "of a spike: later steps at which the same statistic is off"},
       {.key = "reason", .type = "string", .text = "what it did, and what followed, in words that may change"},
       {.key = "steps", .type = "integer", .text = "steps of the dump"},
       {.key = "steps_in_bin",
        .type = "integer",
        .text = "the step is exact to so many: 1 but for tables of gigabytes"},
       {.key = "followers", .type = "object[]", .text = "in the order in which they move", .of = follower_type}});
  return type;
}

report::Value began_value(const check::BeganReport* report) {
  if (report == nullptr || !report->began) return {};
  const check::Began& began = *report->began;
  const check::StepHistory& history = report->history;
  report::Object object = mover_value(history, began.first);
  object.add("echoes", report::List(began.first.echoes.begin(), began.first.echoes.end()));
  object.add("reason", check::reason_of(*report));
  object.add("steps", began.steps).add("steps_in_bin", began.steps_in_bin);
  return std::move(object.add(
      "followers", list_of(began.followers, [&](const check::Mover& mover) { return mover_value(history, mover); })));
}

}  // namespace msdump::cli
