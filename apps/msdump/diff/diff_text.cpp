#include "diff/diff_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/pair/metric_table.h"
#include "diff/diff_rows.h"
#include "report/json_text.h"
#include "shared/graph_rows.h"

namespace msdump::cli {
namespace {

constexpr size_t kRootsShown = 5, kTensorsShown = 4, kElementsShown = 20;

// Line by line.
std::string escaped(std::string_view text) {
  std::string result;
  for (const std::string_view line : split(text, '\n')) {
    if (!result.empty() || line.data() != text.data()) result += '\n';
    result += escape_for_terminal(line);
  }
  return result;
}

std::string value_text(const report::Value& value) {
  std::string text;
  report::append_json(text, value);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return text.substr(1, text.size() - 2);
  return text;
}

std::string index_text(const std::vector<int64_t>& index) {
  std::string text = "[";
  for (size_t i = 0; i < index.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(index[i]);
  return text + "]";
}

std::string element_text(const WorstElement& element) {
  const std::string at = element.index.empty() ? std::string() : " at " + index_text(element.index);
  return fmt::format("{} against {}{}", value_text(element.a), value_text(element.b), at);
}

std::optional<double> error_of(const TensorDiff& diff) {
  return diff.by_statistics ? diff.relative_error : diff.metrics.relative_l2;
}

// "input 0 differ (relative error 0.83, worst 0.41 against 0.02 at [3,1])"
std::string tensor_text(const DiffResult& run, uint32_t tensor) {
  const NameFacts& name = run.record_of(run.pairing.tensors[tensor]).name;
  const TensorDiff& diff = run.diffs[tensor];
  std::string text = fmt::format("{} {} {}", name_of(name.io), name.slot, name_of(diff.verdict));
  std::string more;
  if (const auto error = error_of(diff); error && *error > 0) more = fmt::format("relative error {:.3g}", *error);
  if (run.extras[tensor].worst && is_difference(diff.verdict))
    more += (more.empty() ? "worst " : ", worst ") + element_text(*run.extras[tensor].worst);
  if (diff.verdict == Verdict::kShape || diff.verdict == Verdict::kDtype) more = diff.reason;
  return more.empty() ? text : text + " (" + more + ")";
}

std::string tensors_text(const DiffResult& run, const std::vector<uint32_t>& tensors) {
  std::string text;
  for (size_t i = 0; i < tensors.size() && i < kTensorsShown; ++i)
    text += (i == 0 ? "" : "; ") + tensor_text(run, tensors[i]);
  if (tensors.size() > kTensorsShown) text += fmt::format("; and {} more", tensors.size() - kTensorsShown);
  return text;
}

std::string place_text(const Divergence& root) {
  std::string text;
  if (root.place.rank) text += fmt::format(", rank {}", *root.place.rank);
  if (root.place.step) text += fmt::format(", step {}", *root.place.step);
  return text;
}

std::string root_text(const DiffResult& run, const Divergence& root) {
  const bool enters = !root.parameter.empty();
  const std::string name =
      enters ? fmt::format("{} {}, read by {}", name_of(root.kind), root.parameter, run.op_name(root.op))
             : run.op_name(root.op);
  std::string text = fmt::format("{} ({}{})\n", name, run.op_type(root.op), place_text(root));
  if (const SourceFrame* const frame = run.frame(root.op); frame != nullptr)
    text += fmt::format("  line  {}  {}\n", source_text(frame), frame->code);
  if (!root.inputs.empty()) text += fmt::format("  in    {}\n", tensors_text(run, root.inputs));
  if (!root.outputs.empty()) text += fmt::format("  out   {}\n", tensors_text(run, root.outputs));
  text += fmt::format("  why   {}\n", root.reason);
  text += fmt::format("  so    it explains {}; confidence {:.2g}{}\n", plural(root.downstream, "difference"),
                      root.confidence,
                      root.amplification ? fmt::format("; the error grows {:.3g} times", *root.amplification) : "");
  return text;
}

// Is all that it shows in the baseline?
bool is_accepted(const DiffResult& run, const Divergence& root) {
  const auto& shown = root.outputs.empty() ? root.inputs : root.outputs;
  const auto counts = [&](uint32_t tensor) { return counts_as_difference(run, tensor); };
  const auto accepted = [&](uint32_t tensor) { return run.extras[tensor].accepted; };
  return std::any_of(shown.begin(), shown.end(), accepted) && std::none_of(shown.begin(), shown.end(), counts);
}

}  // namespace

std::string divergence_text(const DiffResult& run) {
  std::vector<const Divergence*> roots;
  for (const Divergence& root : run.divergence.roots) {
    if (!is_accepted(run, root)) roots.push_back(&root);
  }
  std::string text;
  for (size_t i = 0; i < roots.size() && i < kRootsShown; ++i)
    text += (i == 0 ? "first divergence: " : "also: ") + root_text(run, *roots[i]) + "\n";
  if (roots.size() > kRootsShown) text += fmt::format("and {} more; --json has all\n\n", roots.size() - kRootsShown);
  if (roots.empty() && verdict_over_all(run) == Verdict::kDiffer &&
      count_of(run, Verdict::kDiffer) + count_of(run, Verdict::kNan) + count_of(run, Verdict::kShape) > 0 &&
      !run.single_pair) {
    text = "no operator stands out: what differs grows out of what goes in, or what goes in was not dumped\n\n";
  }
  return escaped(text);
}

std::string pair_text(const DiffResult& run) {
  const TensorDiff& diff = run.diffs[run.rows.front()];
  std::string text = fmt::format("{}{}\n", name_of(diff.verdict), diff.reason.empty() ? "" : ": " + diff.reason);
  const auto line = [&](std::string_view label, const std::string& value) {
    text += fmt::format("  {:<16}  {}\n", label, value);
  };
  for (const Metric& metric : all_metrics()) {
    const report::Value value = metric_value(metric, diff);
    if (!value.is_null()) line(metric.name, value_text(value));
  }
  if (run.extras[run.rows.front()].worst) line("worst", element_text(*run.extras[run.rows.front()].worst));
  if (diff.tolerance_that_passes && diff.verdict != Verdict::kSame)
    line("would pass",
         fmt::format("--rtol {:g} --atol {:g}", diff.tolerance_that_passes->rtol, diff.tolerance_that_passes->atol));
  return escaped(text);
}

std::string closer_text(const DiffResult& run, uint32_t tensor) {
  const SecondLook& look = run.extras[tensor].look;
  if (look.worst.empty() && look.axes.axes.empty()) return {};
  std::string text = fmt::format("{} {}\n", run.op_name(run.pairing.tensors[tensor].op), tensor_text(run, tensor));
  for (size_t i = 0; i < look.worst.size() && i < kElementsShown; ++i)
    text += fmt::format("  {}\n", element_text(look.worst[i]));
  if (look.worst.size() > kElementsShown)
    text += fmt::format("  and {} more; --json has all\n", look.worst.size() - kElementsShown);
  for (const AxisError& axis : look.axes.axes) {
    std::string where;
    for (const AxisRange& range : axis.ranges) {
      where += where.empty() ? "" : ", ";
      where += range.first == range.last ? std::to_string(range.first) : fmt::format("{}-{}", range.first, range.last);
    }
    text += where.empty() ? fmt::format("  axis {} (of {}): everywhere\n", axis.axis, axis.extent)
                          : fmt::format("  axis {} (of {}): {:.0f} % of the error at {}\n", axis.axis, axis.extent,
                                        100 * axis.carried, where);
  }
  return escaped(text);
}

std::string metrics_text() {
  std::string text;
  for (const Metric& metric : all_metrics())
    text += fmt::format("{:<16}  {:<8}  {}\n", metric.name, name_of(metric.unit), metric.formula);
  return text;
}

}  // namespace msdump::cli
