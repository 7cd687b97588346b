#include "diff/diff_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "compare/pair/metric_table.h"
#include "diff/diff_roots.h"
#include "diff/diff_rows.h"
#include "divergence/roots/no_root.h"
#include "dump/names/identity.h"
#include "help/help.h"
#include "report/json.h"
#include "shared/catalogue.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

constexpr size_t kRootsShown = 5, kTensorsShown = 4;

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

// "input 0 differs (relative error 0.83, worst 0.41 against 0.02 at [3,1])"
std::string tensor_text(const DiffResult& run, TensorId tensor) {
  const NameFacts& name = run.record_of(run.pairing.tensors[tensor]).name;
  const TensorDiff& diff = run.diffs[tensor];
  std::string text = fmt::format("{} {} {}", name_of(name.io), name.slot,
                                 diff.verdict == Verdict::kNan      ? "is not finite on one side"
                                 : diff.verdict == Verdict::kDiffer ? "differs"
                                                                    : name_of(diff.verdict));
  std::string more;
  if (const std::string error = error_text(run, tensor); !error.empty() && error != "0")
    more = (diff.verdict == Verdict::kNan ? "" : "relative error ") + error;
  // Once a scale is divided out another element is the worst.
  if (run.details[tensor].worst && is_difference(diff.verdict) && loss_scale_of(run, tensor) == 1)
    more += (more.empty() ? "worst " : ", worst ") + element_text(*run.details[tensor].worst);
  if (diff.verdict == Verdict::kShape || diff.verdict == Verdict::kDtype) more = *diff.reason;
  return more.empty() ? text : text + " (" + more + ")";
}

void add_root(std::string& text, std::string_view title, const DiffResult& run, const Divergence& root) {
  add_line(text, "{}: {}{}", title, root_name(run, root), root_place(run, root));
  for (const RootFact& fact : root_facts(run, root)) add_line(text, "  {:<5} {}", fact.label, fact.text);
  text += '\n';
}

// "  error  0.002 in the first tenth of the operators, 0.005 in the middle, 0.011 in the last"; of few operators nothing.
std::string growth_line(const ErrorGrowth& growth) {
  constexpr size_t kParts = 10;
  const std::vector<double>& medians = growth.medians;
  if (medians.size() < kParts || std::all_of(medians.begin(), medians.end(), [](double error) { return error == 0; }))
    return {};
  return fmt::format("  error  {:.2g} in the first tenth of the operators, {:.2g} in the middle, {:.2g} in the last\n",
                     medians.front(), medians[kParts / 2], medians.back());
}

// The kind of a tensor without a partner, if a device dump is expected to have such; else empty.
std::string_view of_device_dump(Alone alone) {
  switch (alone) {
    case Alone::kInserted: return "of operators that a compiler inserted";
    case Alone::kFused: return "inside fused operators";
    case Alone::kSplit: return "inside operators that were split";
    case Alone::kNoOutput: return "outputs that the operator does not have in the other dump";
    case Alone::kAttribute: return "attributes of the operator in the other dump";
    case Alone::kNoKernel: return "of operators without a kernel in the other dump";
    case Alone::kNoParameters: return "parameters, of which the other dump has no files";
    case Alone::kUnknown:
    case Alone::kTied:
    case Alone::kCommunication:
    case Alone::kElsewhere:
    case Alone::kOtherRows:
    case Alone::kOtherStatistics:
    case Alone::kBackward: break;
  }
  return {};
}

}  // namespace

std::string tensors_text(const DiffResult& run, const std::vector<TensorId>& tensors) {
  return first_of(
      tensors, [&](TensorId tensor) { return tensor_text(run, tensor); }, kTensorsShown, "; ");
}

std::string loss_scale_text(double scale) {
  if (scale == 1) return {};
  return scale > 1 ? fmt::format("gradients of the candidate are {:g} times the reference's: a loss scale, divided out",
                                 scale)
                   : fmt::format("gradients of the reference are {:g} times the candidate's: a loss scale, divided out",
                                 1 / scale);
}

std::string start_text(double error) {
  if (error == 0) return {};
  return fmt::format(
      "a quarter of the weights and inputs differ by {:.2g} or more when the dump begins: steps before it have left "
      "that; dump step 0, too, to see where it began",
      error);
}

std::optional<uint64_t> nonfinite_of(const TensorDiff& diff) {
  if (diff.by_statistics || !has_metrics(diff.verdict)) return std::nullopt;
  return diff.metrics->nan_mismatch + diff.metrics->inf_mismatch;
}

std::string error_text(const DiffResult& run, TensorId tensor) {
  const TensorDiff& diff = run.diffs[tensor];
  if (diff.verdict == Verdict::kNan) {
    const auto count = nonfinite_of(diff);
    return count ? fmt::format("nan ({} of {})", *count, element_count(diff.shape).value_or(0)) : std::string("nan");
  }
  const auto error = judged_error(run, tensor);
  if (!error || std::isnan(*error)) return {};
  std::string text = fmt::format("{:.3g}", *error);
  if (loss_scale_of(run, tensor) != 1) text += fmt::format(" ({:.3g} as dumped)", diff.error().value_or(0));
  return text;
}

namespace {

// Without the name.
SideFacts facts_of_side(const DiffResult& run, Side side) {
  const bool candidate = side == Side::kCandidate;
  SideFacts facts;
  facts.of_device = is_device_dump((candidate ? *run.a : *run.b).catalogue().index);
  std::map<DType, size_t> counts;
  for (const TensorId row : run.rows) {
    const DType dtype = candidate ? run.diffs[row].dtype_a : run.diffs[row].dtype_b;
    if (kind_of(dtype) == DTypeKind::kFloat) ++counts[dtype];
  }
  size_t all = 0;
  for (const auto& [dtype, count] : counts) all += count;
  // A network in bfloat16 keeps its optimizer in float32.
  for (const auto& [dtype, count] : counts) {
    if (10 * count >= all && unit_roundoff(dtype) >= unit_roundoff(facts.dtype)) facts.dtype = dtype;
  }
  return facts;
}

std::string_view last_part(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path.size() == 1 ? path : path.substr(path.rfind('/') + 1);
}

}  // namespace

Sides<SideFacts> facts_of_sides(const DiffResult& run, const DiffOptions& options) {
  std::string_view a = last_part(options.paths.front()), b = last_part(options.paths.back());
  if (a == b) {
    a = options.paths.front();
    b = options.paths.back();
  }
  const auto name = [](std::string_view path, const std::string& rank, const std::string& step) {
    return fmt::format("{}{}{}", path, rank.empty() ? "" : " rank " + rank, step.empty() ? "" : " step " + step);
  };
  Sides<SideFacts> facts = {facts_of_side(run, Side::kCandidate), facts_of_side(run, Side::kReference)};
  facts.a.name = name(a, options.rank_a, options.step_a);
  facts.b.name = name(b, options.rank_b, options.step_b);
  return facts;
}

std::string roles_text(const DiffResult& run, const DiffOptions& options) {
  const Sides<SideFacts> facts = facts_of_sides(run, options);
  std::string text;
  for (const Side side : kBothSides) {
    const SideFacts& one = facts[side];
    const std::string_view dtype = one.dtype_name(), separator = one.of_device && !dtype.empty() ? ", " : "";
    text += fmt::format("{}{} {}{}{}{}{}", text.empty() ? "" : " \u00b7 ", name_of(side), one.name,
                        one.of_device || !dtype.empty() ? ": " : "", one.of_device ? "Ascend" : "", separator, dtype);
  }
  return escape_for_terminal(text) + "\n";
}

std::string swap_text(const DiffResult& run) {
  if (run.single_pair || run.pairing.of_parameters) return {};
  const SideFacts a = facts_of_side(run, Side::kCandidate), b = facts_of_side(run, Side::kReference);
  if (a.of_device && !b.of_device) return {};
  const bool device = b.of_device && !a.of_device;
  const bool coarser = unit_roundoff(b.dtype) > unit_roundoff(a.dtype) && a.dtype != DType::kUndefined;
  if (!device && !coarser) return {};
  return fmt::format("the reference is {}{}, the candidate {}: are they swapped?", device ? "a device dump in " : "",
                     name_of(b.dtype), name_of(a.dtype));
}

namespace {

// "renamed       model.layers.*.norm1.weight = blocks.*.ln_1.gamma (12)"
std::string relations_text(const DiffResult& run) {
  constexpr size_t kShown = 12;  // of a kind
  std::string text;
  std::map<std::string_view, size_t> shown;
  for (const FoundRelation& one : run.pairing.relations) {
    if (++shown[one.kind] > kShown) continue;
    add_line(text, "{:<12}  {}{}", one.kind, one.text, one.count > 1 ? fmt::format(" ({})", one.count) : "");
  }
  for (const auto& [kind, count] : shown) {
    if (count > kShown) add_line(text, "{:<12}  and {} more; --json has all", kind, count - kShown);
  }
  return text.empty() ? text : text + "\n";
}

// "2 of 5 parameters differ: fc.weight (0.25), fc.bias (nan)"; empty if none does.
std::string parameters_text(const DiffResult& run) {
  constexpr size_t kNamed = 3;
  std::vector<std::pair<double, TensorId>> differing;  // by error, the largest first
  for (const TensorId row : run.rows) {
    if (!counts_as_difference(run, row) || !run.pairing.tensors[row].is_paired()) continue;
    const bool known = run.diffs[row].verdict == Verdict::kDiffer;
    differing.emplace_back(known ? -judged_error(run, row).value_or(0) : -HUGE_VAL, row);
  }
  if (differing.empty()) return {};
  std::stable_sort(differing.begin(), differing.end());
  const auto named = [&](const std::pair<double, TensorId>& one) {
    const Verdict verdict = run.diffs[one.second].verdict;
    return fmt::format("{} ({})", run.op_name(run.pairing.tensors[one.second].op),
                       verdict == Verdict::kDiffer ? fmt::format("{:.2g}", -one.first) : std::string(name_of(verdict)));
  };
  return fmt::format("{} of {} {}: {}", differing.size(), plural(count_compared(run), "parameter"),
                     differing.size() == 1 ? "differs" : "differ", first_of(differing, named, kNamed));
}

}  // namespace

std::string rootless_text(const DiffResult& run) {
  if (run.pairing.of_parameters) return parameters_text(run);
  const NoRoot none = describe_no_root(run);
  return none.text + (none.any_unjudged ? "; --explain OP says more" : "");
}

std::string divergence_text(const DiffResult& run) {
  if (run.pairing.of_parameters) {
    const std::string headline = parameters_text(run);
    return headline + (headline.empty() ? "" : "\n") + relations_text(run);
  }
  const std::vector<Divergence>& roots = run.divergence.roots;
  std::string text;
  for (size_t i = 0; i < roots.size() && i < kRootsShown; ++i)
    add_root(text, i == 0 ? "first divergence" : "also", run, roots[i]);
  if (roots.size() > kRootsShown) text += fmt::format("and {} more; --json has all\n\n", roots.size() - kRootsShown);
  if (roots.empty() && verdict_over_all(run) == Verdict::kDiffer && any_value_differs(run) && !run.single_pair)
    text = rootless_text(run) + "\n" + growth_line(run.divergence.growth) + "\n";
  for (const std::string& about :
       {loss_scale_text(run.divergence.loss_scale), start_text(run.divergence.error_at_start)})
    text += about + (about.empty() ? "" : "\n\n");
  return text;
}

std::string next_text(const DiffResult& run, const DiffOptions& options) {
  if (run.divergence.roots.empty() || run.pairing.of_parameters || run.single_pair) return {};
  const Divergence& root = run.divergence.roots.front();
  std::string text = "next: msdump ";
  const auto has_elements = [&](TensorId tensor) {
    return has_metrics(run.diffs[tensor].verdict) && !run.diffs[tensor].by_statistics;
  };
  const bool elements = std::any_of(root.outputs.begin(), root.outputs.end(), has_elements) ||
                        std::any_of(root.inputs.begin(), root.inputs.end(), has_elements);
  text += elements ? "diff" : "next -d";
  text += " " + shell_quoted(options.paths.front()) + (elements ? " " : " --ref ") + shell_quoted(options.paths.back());
  if (elements) {
    const auto add = [&](std::string_view option, const std::string& value) {
      if (!value.empty()) text += fmt::format(" {} {}", option, shell_quoted(value));
    };
    add("--a-rank", options.rank_a);
    add("--b-rank", options.rank_b);
    add("--a-step", options.step_a);
    add("--b-step", options.step_b);
    const auto has_other = [&](std::optional<int64_t> Identity::*number, std::optional<int64_t> of_root) {
      return of_root && run.placements.empty() && std::any_of(run.rows.begin(), run.rows.end(), [&](TensorId row) {
               return run.identity(row).*number != of_root;
             });
    };
    if (options.rank_a.empty() && has_other(&Identity::rank, root.place.rank))
      add("--rank", std::to_string(*root.place.rank));
    if (options.step_a.empty() && has_other(&Identity::step, root.place.step))
      add("--step", std::to_string(*root.place.step));
    add("--op", std::string(run.op_name(root.op)));
    text += " --values";
  }
  return escape_for_terminal(text) + "\n\n";
}

std::string expected_text(const DiffResult& run) {
  std::map<Alone, uint64_t> counts;
  for (const TensorId row : run.rows) {
    if (run.diffs[row].verdict == Verdict::kSkipped) ++counts[run.pairing.tensors[row].alone];
  }
  std::string text;
  for (const auto& [alone, count] : counts) {
    if (const std::string_view what = of_device_dump(alone); !what.empty())
      text += fmt::format("  {:>7}  {}\n", count, what);
  }
  return text.empty() ? text : "tensors without a partner, as expected of a device dump\n" + text + "\n";
}

std::string with_wrapped_facts(std::string_view text, size_t width) {
  constexpr size_t kIndent = 8, kLeastWidth = 40;
  std::string result;
  for (const std::string_view line : split(text, '\n')) {
    const bool is_fact = line.size() > kIndent && line.starts_with("  ") && line[2] != ' ';
    const bool is_copied = line.starts_with("  line ") || line.starts_with("  dump ");
    if (is_fact && !is_copied && display_width(line) > width && width >= kLeastWidth) {
      result += std::string(line.substr(0, kIndent)) + wrapped(line.substr(kIndent), kIndent, width);
    } else {
      result += std::string(line) + '\n';
    }
  }
  if (!result.empty()) result.pop_back();  // `text` ends with its own
  return result;
}

std::string pair_text(const DiffResult& run) {
  const TensorDiff& diff = run.diffs[run.rows.front()];
  std::string text;
  add_line(text, "{}{}", name_of(diff.verdict), diff.reason->empty() ? "" : ": " + *diff.reason);
  if (diff.verdict == Verdict::kNan)
    add_line(text, "  {:<16}  {}", "not finite", error_text(run, run.rows.front()) + "; below: the other elements");
  const auto add_value = [&](std::string_view label, const std::string& value) {
    add_line(text, "  {:<16}  {}", label, value);
  };
  for (const Metric& metric : all_metrics()) {
    const report::Value value = metric_value(metric, diff);
    if (!value.is_null()) add_value(metric.name, value_text(value));
  }
  if (run.details[run.rows.front()].worst) add_value("worst", element_text(*run.details[run.rows.front()].worst));
  if (const auto passes = diff.tolerance_that_passes(); passes && diff.verdict != Verdict::kSame) {
    add_value("would pass", fmt::format("--rtol {:g} --atol {:g}", passes->rtol, passes->atol));
  }
  return text;
}

std::string closer_text(const DiffResult& run, TensorId tensor, size_t worst) {
  const SecondLook& look = run.details[tensor].look;
  if (look.worst.empty() && look.axes.axes.empty()) return {};
  std::string text;
  add_line(text, "{} {}", run.op_name(run.pairing.tensors[tensor].op), tensor_text(run, tensor));
  for (size_t i = 0; i < look.worst.size() && i < kElementsShown; ++i)
    add_line(text, "  {}", element_text(look.worst[i]));
  const TensorDiff& diff = run.diffs[tensor];
  const uint64_t differ = diff.metrics->count - diff.metrics->equal + nonfinite_of(diff).value_or(0);
  if (const uint64_t listed = std::min<uint64_t>(worst, differ); listed > kElementsShown)
    add_line(text, "  and {} more; --json has all", listed - kElementsShown);
  for (const AxisError& axis : look.axes.axes) {
    std::string where;
    for (const AxisRange& range : axis.ranges) {
      where += where.empty() ? "" : ", ";
      where += range.first == range.last ? std::to_string(range.first) : fmt::format("{}-{}", range.first, range.last);
    }
    if (where.empty()) {
      add_line(text, "  axis {} (of {}): everywhere", axis.axis, axis.extent);
    } else {
      add_line(text, "  axis {} (of {}): {:.0f} % of the error at {}", axis.axis, axis.extent, 100 * axis.carried,
               where);
    }
  }
  return text;
}

Result<std::string> values_text(const DiffResult& run, TensorId tensor, const std::string& slice) {
  const TensorPair& pair = run.pairing.tensors[tensor];
  std::string text;
  add_line(text, "{} {}", run.op_name(pair.op), tensor_text(run, tensor));
  const auto add_side = [&](Side side, HostTensor& values) -> Status {
    MSDUMP_TRY(const ShownTensor shown, show_tensor(values, slice, true));
    MSDUMP_CHECK_OK(values.check_unchanged());
    text += shown_text(name_of(side), slice, shown) + "\n";
    return {};
  };
  const CompareSide &a = run.a->side, &b = run.b->side;
  if (pair.is_paired()) {
    MSDUMP_TRY(HostPair opened, open_pair(*a.index, (*a.tensors)[pair.a], *b.index, (*b.tensors)[pair.b]));
    MSDUMP_CHECK_OK(add_side(Side::kCandidate, opened.left));
    MSDUMP_CHECK_OK(add_side(Side::kReference, opened.right));
    return text;
  }
  const Side side = pair.present_side();
  const CompareSide& only = side == Side::kCandidate ? a : b;
  const TensorRecord& record = (*only.tensors)[pair[side]];
  if (!record.has_elements) return text;
  MSDUMP_TRY(HostTensor values, HostTensor::open(*only.index, record, {}));
  MSDUMP_CHECK_OK(add_side(side, values));
  return text;
}

std::string metrics_text() {
  std::string text;
  for (const Metric& metric : all_metrics())
    text += fmt::format("{:<16}  {:<8}  {}\n", metric.name, name_of(metric.unit), metric.formula);
  return text;
}

}  // namespace msdump::cli
