#include "diff/diff_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "compare/pair/metric_table.h"
#include "diff/diff_rows.h"
#include "dump/names/identity.h"
#include "report/json.h"
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
std::string tensor_text(const DiffResult& run, uint32_t tensor) {
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

// "; the error grows 30 times"; nothing for an error that does not grow.
std::string growth_text(std::optional<double> amplification) {
  const std::string times = fmt::format("{:.3g}", amplification.value_or(0));
  return !amplification || *amplification < 1 || times == "1" ? "" : fmt::format("; the error grows {} times", times);
}

// "0.52; 0.0014 expected of MatMul with these inputs; 31 siblings have 0.7 to 1.4 times what is expected of them"
std::string error_text(const DiffResult& run, const Divergence& root) {
  std::string text = fmt::format("{:.2g}; {:.2g} expected of {} with these inputs", root.measured_error.value_or(0),
                                 root.expected_error.value_or(0), run.op_type(root.op));
  return text + "; " + siblings_text(root.siblings, root.sibling_median, root.sibling_spread);
}

// "at 11 further places of this line"
std::string places_text(const DiffResult& run, const Divergence& root) {
  const bool one_op = std::all_of(root.places.begin(), root.places.end(),
                                  [&](const DivergencePlace& other) { return other.op == root.op; });
  const bool has_line = run.frame(root.op) != nullptr && !one_op;
  return fmt::format("{} {}", has_line ? "at" : "in",
                     plural(root.places.size(), has_line ? "further place" : "further run")) +
         (has_line ? " of this line" : " of it");
}

// The first of a list: "a, b, and 3 more".
template <class Item, class Text>
std::string first_of(const std::vector<Item>& list, const Text& text_of_item) {
  std::string joined;
  for (size_t i = 0; i < list.size() && i < kTensorsShown; ++i) joined += (i == 0 ? "" : ", ") + text_of_item(list[i]);
  if (list.size() > kTensorsShown) joined += fmt::format(", and {} more", list.size() - kTensorsShown);
  return joined;
}

// "Default/Mul-op3 (net.py:12), Default/Add-op4 (net.py:13)"
std::string operators_text(const DiffResult& run, const std::vector<uint32_t>& operators) {
  return first_of(operators, [&](uint32_t op) {
    const SourceFrame* const frame = run.frame(op);
    return run.op_name(op) + (frame == nullptr ? "" : fmt::format(" ({})", source_text(frame)));
  });
}

// And how to dump them.
void add_candidates(std::vector<RootLine>& lines, const DiffResult& run, const std::vector<uint32_t>& operators) {
  lines.push_back({"or", fmt::format("{} before it that {} not dumped: {}", plural(operators.size(), "operator"),
                                     operators.size() == 1 ? "was" : "were", operators_text(run, operators))});
  const auto add_kernels = [&](std::string_view side, const std::vector<std::string>& names) {
    const auto quoted = [](const std::string& name) { return '"' + name + '"'; };
    lines.push_back({"dump", fmt::format(R"("dump_mode": 1, "kernels": [{}]{})", first_of(names, quoted), side)});
  };
  const auto of_a = kernels_of(run, operators, true), of_b = kernels_of(run, operators, false);
  add_kernels(of_a == of_b ? "" : " in the candidate", of_a);
  if (of_a != of_b) add_kernels(" in the reference", of_b);
}

// "Tensor.masked_fill.0.forward, Tensor.__lt__.0.forward (net.py:158), Tensor.__sub__.0.forward (net.py:157)"
void add_chain(std::vector<RootLine>& lines, const DiffResult& run, const std::vector<uint32_t>& chain) {
  // The line of the script, and the calls of it that are next to each other.
  std::vector<std::pair<std::string, std::string>> by_line;
  for (const uint32_t op : chain) {
    const SourceFrame* const frame = run.frame(op);
    std::string line = frame == nullptr ? "" : fmt::format(" ({})", source_text(frame));
    if (by_line.empty() || line.empty() || by_line.back().first != line) {
      by_line.emplace_back(std::move(line), run.op_name(op));
    } else {
      by_line.back().second += ", " + run.op_name(op);
    }
  }
  const auto text = [](const auto& one) { return one.second + one.first; };
  lines.push_back({"or", fmt::format("{} near it that the candidate alone has: {}", plural(chain.size(), "call"),
                                     first_of(by_line, text))});
}

// "level": "mix", "statistics": {"list": ["Module.fc.Block.forward.0"]}
std::string text_of(const MsprobeSettings& settings) {
  std::string names;
  for (const auto& list : {settings.scope, settings.list}) {
    for (const std::string& name : list) names += fmt::format(R"({}"{}")", names.empty() ? "" : ", ", name);
  }
  return fmt::format(R"("level": "{}", {}"{}": {{"{}": [{}]}})", settings.level,
                     settings.all_risks ? R"("risk_level": "ALL", )" : "", settings.task,
                     settings.scope.empty() ? "list" : "scope", names);
}

void add_unseen(std::vector<RootLine>& lines, const DiffResult& run, const UnseenCalls& calls) {
  const MsprobeSettings of_a = msprobe_settings(run, calls, true), of_b = msprobe_settings(run, calls, false);
  lines.push_back({"dump", text_of(of_a) + (of_a == of_b ? "" : " in the candidate")});
  if (of_a != of_b) lines.push_back({"dump", text_of(of_b) + " in the reference"});
}

void add_root(std::string& text, std::string_view title, const DiffResult& run, const Divergence& root) {
  add_line(text, "{}: {}{}", title, root_name(run, root), place_text(run, root.op, root.place, root.ranks));
  for (const RootLine& line : root_lines(run, root)) add_line(text, "  {:<5} {}", line.label, line.text);
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

// What a tensor without a partner is, where that is expected of a device dump; else empty.
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
    case Alone::kElsewhere: break;
  }
  return {};
}

}  // namespace

std::string root_name(const DiffResult& run, const Divergence& root) {
  if (root.parameter.empty()) return run.op_name(root.op);
  return fmt::format("{} {}, read by {}", name_of(root.kind), root.parameter, run.op_name(root.op));
}

std::vector<RootLine> root_lines(const DiffResult& run, const Divergence& root) {
  std::vector<RootLine> lines;
  if (const OperatorLine line = run.line(root.op); line.frame != nullptr) lines.push_back({"line", line_text(line)});
  if (!root.inputs.empty()) lines.push_back({"in", tensors_text(run, root.inputs)});
  if (!root.outputs.empty()) lines.push_back({"out", tensors_text(run, root.outputs)});
  lines.push_back({"why", root.reason});
  if (!root.candidates.empty()) add_candidates(lines, run, root.candidates);
  if (!root.chain.empty()) add_chain(lines, run, root.chain);
  if (root.unseen) add_unseen(lines, run, *root.unseen);
  if (root.score) lines.push_back({"error", error_text(run, root)});
  if (!root.places.empty()) lines.push_back({"and", places_text(run, root)});
  lines.push_back({"so", fmt::format("it explains {}; confidence {:.2g}{}", plural(root.downstream, "difference"),
                                     root.confidence, growth_text(root.amplification))});
  return lines;
}

std::string loss_scale_text(double scale) {
  if (scale == 1) return {};
  return scale > 1 ? fmt::format("gradients of the candidate are {:g} times the reference's: a loss scale, divided out",
                                 scale)
                   : fmt::format("gradients of the reference are {:g} times the candidate's: a loss scale, divided out",
                                 1 / scale);
}

std::optional<uint64_t> nonfinite_of(const TensorDiff& diff) {
  if (diff.by_statistics || !has_metrics(diff.verdict)) return std::nullopt;
  return diff.metrics.nan_mismatch + diff.metrics.inf_mismatch;
}

std::string error_text(const DiffResult& run, uint32_t tensor) {
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

struct Role {
  bool of_device = false;
  DType dtype = DType::kUndefined;  // the coarsest that a tenth of its tensors of floating point have
};

Role role_of_side(const DiffResult& run, bool candidate) {
  const DiffSide& side = candidate ? *run.a : *run.b;
  Role role;
  for (const IndexedFile& file : side.catalogue().index.files()) {
    role.of_device = role.of_device || file.kind == FileKind::kDumpFile;
  }
  std::map<DType, size_t> counts;
  for (const uint32_t row : run.rows) {
    const DType dtype = candidate ? run.diffs[row].dtype_a : run.diffs[row].dtype_b;
    if (kind_of(dtype) == DTypeKind::kFloat) ++counts[dtype];
  }
  size_t all = 0;
  for (const auto& [dtype, count] : counts) all += count;
  // A network in bfloat16 keeps its optimizer in float32.
  for (const auto& [dtype, count] : counts) {
    if (10 * count >= all && unit_roundoff(dtype) >= unit_roundoff(role.dtype)) role.dtype = dtype;
  }
  return role;
}

std::string role_text(std::string_view title, std::string_view path, const Role& role) {
  std::string facts = role.of_device ? "Ascend" : "";
  if (role.dtype != DType::kUndefined) facts += (facts.empty() ? "" : ", ") + std::string(name_of(role.dtype));
  return fmt::format("{} {}{}", title, path, facts.empty() ? "" : ": " + facts);
}

std::string_view last_part(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path.size() == 1 ? path : path.substr(path.rfind('/') + 1);
}

}  // namespace

std::string roles_text(const DiffResult& run, const DiffOptions& options) {
  std::string_view a = last_part(options.paths.front()), b = last_part(options.paths.back());
  if (a == b) {
    a = options.paths.front();
    b = options.paths.back();
  }
  const auto part = [](std::string_view path, const std::string& rank, const std::string& step) {
    return fmt::format("{}{}{}", path, rank.empty() ? "" : " rank " + rank, step.empty() ? "" : " step " + step);
  };
  std::string text;
  add_line(text, "{} \u00b7 {}",
           role_text("candidate", part(a, options.rank_a, options.step_a), role_of_side(run, true)),
           role_text("reference", part(b, options.rank_b, options.step_b), role_of_side(run, false)));
  return text;
}

std::string swap_text(const DiffResult& run) {
  if (run.single_pair || run.pairing.of_parameters) return {};
  const Role a = role_of_side(run, true), b = role_of_side(run, false);
  if (a.of_device && !b.of_device) return {};
  const bool device = b.of_device && !a.of_device;
  const bool coarser = unit_roundoff(b.dtype) > unit_roundoff(a.dtype) && a.dtype != DType::kUndefined;
  if (!device && !coarser) return {};
  return fmt::format("the reference is {}{}, the candidate {}: are they swapped?", device ? "a device dump in " : "",
                     name_of(b.dtype), name_of(a.dtype));
}

// "38 differences could not be judged (30: written by an optimizer ..; 8: ..)"
std::string unjudged_text(const DiffResult& run, uint64_t count) {
  constexpr size_t kReasons = 3;
  std::map<Unjudged, uint64_t> counts;
  for (const uint32_t row : run.rows) {
    if (is_unexplained(run, row)) ++counts[run.divergence.unjudged[row]];
  }
  counts.erase(Unjudged::kUnmatched);
  std::vector<std::pair<Unjudged, uint64_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& x, const auto& y) { return x.second > y.second; });
  std::string reasons;
  for (size_t i = 0; i < order.size() && i < kReasons; ++i) {
    if (order[i].first == Unjudged::kNone) continue;
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", order[i].second, text_of(order[i].first));
  }
  if (order.size() > kReasons) reasons += "; ..";
  return fmt::format("{} could not be judged{}; --explain OP says more", plural(count, "difference"),
                     reasons.empty() ? "" : " (" + reasons + ")");
}

std::string nothing_stands_out(const DiffResult& run) {
  uint64_t unexplained = 0, random = 0;
  for (const uint32_t row : run.rows) {
    if (is_unexplained(run, row) && run.diffs[row].verdict != Verdict::kUnmatched) ++unexplained;
    if (counts_as_difference(run, row) && run.divergence.explained[row] == Explanation::kRandom) ++random;
  }
  if (unexplained > 0) return "no operator stands out; " + unjudged_text(run, unexplained);
  if (random > 0)
    return "no operator stands out: the differences follow from random numbers that were drawn differently";
  return fmt::format("no operator is wrong: the differences are what rounding leads to, by about {:.2g} an operator",
                     run.divergence.growth.noise);
}

std::string divergence_text(const DiffResult& run) {
  if (run.pairing.of_parameters) return relations_text(run);
  const std::vector<Divergence>& roots = run.divergence.roots;
  std::string text;
  for (size_t i = 0; i < roots.size() && i < kRootsShown; ++i)
    add_root(text, i == 0 ? "first divergence" : "also", run, roots[i]);
  if (roots.size() > kRootsShown) text += fmt::format("and {} more; --json has all\n\n", roots.size() - kRootsShown);
  if (roots.empty() && verdict_over_all(run) == Verdict::kDiffer &&
      count_of(run, Verdict::kDiffer) + count_of(run, Verdict::kNan) + count_of(run, Verdict::kShape) > 0 &&
      !run.single_pair) {
    text = nothing_stands_out(run) + "\n" + growth_line(run.divergence.growth) + "\n";
  }
  const std::string scale = loss_scale_text(run.divergence.loss_scale);
  return text + scale + (scale.empty() ? "" : "\n\n");
}

std::string place_text(const DiffResult& run, uint32_t op, const RunPlace& place, std::span<const int64_t> ranks) {
  std::string text(run.op_type(op));
  const auto add = [&](std::string_view word, std::optional<int64_t> number) {
    if (number) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word, *number);
  };
  add("rank", place.rank);
  if (!ranks.empty()) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", ranks.size() == 1 ? "rank" : "ranks", text_of_ranks(ranks));
  }
  add("step", place.step);
  if (place.occurrence > 0) add("run", place.occurrence);
  return text.empty() ? text : " (" + text + ")";
}

std::string siblings_text(uint32_t count, double median, double spread) {
  if (count == 0) return "no siblings";
  const std::string low = fmt::format("{:.2g}", median / spread), high = fmt::format("{:.2g}", median * spread);
  return fmt::format("{} {} {} times what is expected of {}", plural(count, "sibling"), count == 1 ? "has" : "have",
                     low == high ? low : low + " to " + high, count == 1 ? "it" : "them");
}

report::Value siblings_value(uint32_t count, double median, double spread) {
  report::Object siblings;
  siblings.add("count", uint64_t{count}).add("median", rounded(median)).add("spread", rounded(spread));
  return siblings;
}

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

std::string expected_text(const DiffResult& run) {
  std::map<Alone, uint64_t> counts;
  for (const uint32_t row : run.rows) {
    if (run.diffs[row].verdict == Verdict::kSkipped) ++counts[run.pairing.tensors[row].alone];
  }
  std::string text;
  for (const auto& [alone, count] : counts) {
    if (const std::string_view what = of_device_dump(alone); !what.empty())
      text += fmt::format("  {:>7}  {}\n", count, what);
  }
  return text.empty() ? text : "tensors without a partner, as expected of a device dump\n" + text + "\n";
}

std::string pair_text(const DiffResult& run) {
  const TensorDiff& diff = run.diffs[run.rows.front()];
  std::string text;
  add_line(text, "{}{}", name_of(diff.verdict), diff.reason.empty() ? "" : ": " + diff.reason);
  // The metrics below are of the other elements.
  if (diff.verdict == Verdict::kNan) add_line(text, "  {:<16}  {}", "not finite", error_text(run, run.rows.front()));
  const auto add_value = [&](std::string_view label, const std::string& value) {
    add_line(text, "  {:<16}  {}", label, value);
  };
  for (const Metric& metric : all_metrics()) {
    const report::Value value = metric_value(metric, diff);
    if (!value.is_null()) add_value(metric.name, value_text(value));
  }
  if (run.details[run.rows.front()].worst) add_value("worst", element_text(*run.details[run.rows.front()].worst));
  if (diff.tolerance_that_passes && diff.verdict != Verdict::kSame) {
    add_value("would pass", fmt::format("--rtol {:g} --atol {:g}", diff.tolerance_that_passes->rtol,
                                        diff.tolerance_that_passes->atol));
  }
  return text;
}

std::string closer_text(const DiffResult& run, uint32_t tensor, size_t worst) {
  const SecondLook& look = run.details[tensor].look;
  if (look.worst.empty() && look.axes.axes.empty()) return {};
  std::string text;
  add_line(text, "{} {}", run.op_name(run.pairing.tensors[tensor].op), tensor_text(run, tensor));
  for (size_t i = 0; i < look.worst.size() && i < kElementsShown; ++i)
    add_line(text, "  {}", element_text(look.worst[i]));
  const TensorDiff& diff = run.diffs[tensor];
  const uint64_t differ = diff.metrics.count - diff.metrics.equal + nonfinite_of(diff).value_or(0);
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

std::string metrics_text() {
  std::string text;
  for (const Metric& metric : all_metrics())
    text += fmt::format("{:<16}  {:<8}  {}\n", metric.name, name_of(metric.unit), metric.formula);
  return text;
}

namespace {

// "input 0"; with its operator where that is another one.
std::string slot_name(const DiffResult& run, uint32_t tensor, uint32_t op) {
  const TensorPair& pair = run.pairing.tensors[tensor];
  const NameFacts& name = run.record_of(pair).name;
  std::string text = fmt::format("{} {}", name_of(name.io), name.slot);
  return pair.op == op ? text : text + " of " + run.op_name(pair.op);
}

// Slots of msprobe may be names instead of numbers.
bool has_number(const InputAccount& input) { return input.slot != UINT32_MAX; }

std::string input_text(const DiffResult& run, const RunAccount& account, const InputAccount& input) {
  std::string text = input.tensor != kNoTensor ? slot_name(run, input.tensor, account.op)
                     : has_number(input)       ? fmt::format("input {}", input.slot)
                                               : "an input";
  if (!input.parameter.empty()) {
    text += ", parameter " + input.parameter;
  } else if (input.made_by != kNoOperator) {
    text += ", made by " + run.op_name(input.made_by);
  } else if (input.constant) {
    text += ", a constant";
  }
  if (!input.error) return text + ": not compared";
  if (input.exact) return text + ": equal";
  text += fmt::format(": error {:.2g}", *input.error);
  return input.gain ? text + fmt::format(", gain {:.2g}", *input.gain) : text;
}

std::string output_text(const DiffResult& run, const RunAccount& account, const OutputAccount& output) {
  std::string text = fmt::format("{}: error {:.2g}", slot_name(run, output.tensor, account.op), output.measured);
  if (!output.judged) return text + ", not judged";
  text += fmt::format("; {:.2g} expected: {:.2g} of the inputs, {:.2g} of its own rounding", output.expected,
                      output.propagated, output.noise);
  if (const std::string times = fmt::format("{:.2g}", output.correction); times != "1")
    text += fmt::format(", {} times both by its siblings", times);
  return text + fmt::format("; score {:.2g}", output.score);
}

void add_account(std::string& text, const DiffResult& run, const RunAccount& account) {
  add_line(text, "{}{}", run.op_name(account.op), place_text(run, account.op, account.place));
  if (const SourceFrame* const frame = run.frame(account.op); frame != nullptr)
    add_line(text, "  line  {}  {}", source_text(frame), frame->code);
  const char* label = "in";
  for (const InputAccount& input : account.inputs) {
    add_line(text, "  {:<4}  {}", label, input_text(run, account, input));
    label = "";
  }
  std::string through;
  for (const uint32_t op : account.through) through += (through.empty() ? "" : ", ") + run.op_name(op);
  if (!through.empty()) add_line(text, "  past  {}: what they read stands for what they wrote", through);
  label = "out";
  for (const OutputAccount& output : account.outputs) {
    add_line(text, "  {:<4}  {}", label, output_text(run, account, output));
    if (output.judged && output.siblings > 0)
      add_line(text, "        {}", siblings_text(output.siblings, output.sibling_median, output.sibling_spread));
    label = "";
  }
  add_line(text, "  so    {}", account.conclusion);
}

report::Object input_object(const DiffResult& run, const RunAccount& account, const InputAccount& input) {
  const bool dumped = input.tensor != kNoTensor;
  report::Object object;
  object.add("op_name", run.op_name(dumped ? run.pairing.tensors[input.tensor].op : account.op));
  if (dumped) {
    const NameFacts& name = run.record_of(run.pairing.tensors[input.tensor]).name;
    object.add("io", name_of(name.io)).add("slot", slot_value(name.slot));
  } else {
    object.add("io", name_of(Io::kInput));
    object.add("slot", has_number(input) ? report::Value(input.slot) : report::Value());
  }
  object.add("made_by", input.made_by == kNoOperator ? report::Value() : report::Value(run.op_name(input.made_by)));
  object.add("parameter", report::text_or_null(input.parameter)).add("constant", input.constant);
  object.add("equal", input.exact).add("error", input.error);
  object.add("gain", rounded(input.gain));
  return object;
}

report::Object output_object(const DiffResult& run, const OutputAccount& output) {
  const NameFacts& name = run.record_of(run.pairing.tensors[output.tensor]).name;
  const auto known = [&](double value) { return output.judged ? report::Value(rounded(value)) : report::Value(); };
  report::Object object;
  object.add("io", name_of(name.io)).add("slot", slot_value(name.slot));
  object.add("measured_error", output.measured).add("judged", output.judged);
  object.add("expected_error", known(output.expected)).add("propagated_error", known(output.propagated));
  object.add("own_error", known(output.noise)).add("correction", known(output.correction));
  object.add("score", known(output.score));
  object.add("siblings", output.judged ? siblings_value(output.siblings, output.sibling_median, output.sibling_spread)
                                       : report::Value());
  return object;
}

}  // namespace

std::string explain_text(const DiffResult& run) {
  std::string text;
  for (const RunAccount& account : run.divergence.accounts) {
    if (!text.empty()) text += '\n';
    add_account(text, run, account);
  }
  if (text.empty()) text = "none of its tensors was selected on either side\n";
  if (run.divergence.more_accounts > 0)
    text += fmt::format("\nand {} of it; --rank and --step select them\n",
                        plural(run.divergence.more_accounts, "more run"));
  return text;
}

report::List explain_value(const DiffResult& run) {
  report::List list;
  for (const RunAccount& account : run.divergence.accounts) {
    report::List inputs, outputs, through;
    for (const InputAccount& input : account.inputs) inputs.emplace_back(input_object(run, account, input));
    for (const OutputAccount& output : account.outputs) outputs.emplace_back(output_object(run, output));
    for (const uint32_t op : account.through) through.emplace_back(run.op_name(op));
    report::Object object;
    object.add("op_name", run.op_name(account.op)).add("op_type", run.op_type(account.op));
    object.add("rank", account.place.rank).add("step", account.place.step).add("occurrence", account.place.occurrence);
    object.add("source", source_value(run.frame(account.op)));
    object.add("inputs", std::move(inputs)).add("through", std::move(through)).add("outputs", std::move(outputs));
    object.add("threshold", rounded(account.threshold)).add("is_root", account.is_root);
    object.add("root", account.root_op ? report::Value(run.op_name(*account.root_op)) : report::Value());
    object.add("reason", account.conclusion);
    list.emplace_back(std::move(object));
  }
  return list;
}

}  // namespace msdump::cli
