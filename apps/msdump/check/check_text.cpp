#include "check/check_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/text.h"
#include "io/atomic_file.h"
#include "report/junit.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

constexpr size_t kRowsShown = 40;

}  // namespace

ShownFindings shown_findings(const check::CheckRun& run, const ShownKinds& kinds) {
  const bool every = !kinds.table || kinds.all;
  ShownFindings shown;
  for (const check::Finding& finding : run.report.findings) {
    if (!every && !kinds.with_notes && finding.severity == Severity::kNote) continue;
    if (!every && run.repeats_producer(finding)) {
      ++shown.inputs;
    } else {
      shown.rows.push_back(&finding);
    }
  }
  if (!kinds.table) return shown;
  std::stable_sort(shown.rows.begin(), shown.rows.end(),
                   [](const check::Finding* a, const check::Finding* b) { return a->severity > b->severity; });
  if (every || shown.rows.size() <= kRowsShown) return shown;
  shown.more = shown.rows.size() - kRowsShown;
  shown.rows.resize(kRowsShown);
  return shown;
}

namespace {

using check::FirstNonfinite;
using check::TensorFacts;

constexpr size_t kTensorsShown = 6, kHintsShown = 5;

std::string range_text(const TensorFacts& facts) {
  if (!facts.min || !facts.max) return "";
  return *facts.min == *facts.max ? fmt::format("{:g}", *facts.min)
                                  : fmt::format("{:g} .. {:g}", *facts.min, *facts.max);
}

// "24 NaN, 3 +inf"
std::string specials_text(const TensorFacts& facts) {
  std::string text;
  const auto add = [&](bool has, const std::optional<uint64_t>& count, std::string_view what) {
    if (!has) return;
    text += text.empty() ? "" : ", ";
    text +=
        count && facts.from == TensorFacts::From::kElements ? fmt::format("{} {}", *count, what) : std::string(what);
  };
  add(facts.has_nan, facts.nan, "NaN");
  add(facts.has_positive_inf, facts.positive_inf, "+inf");
  add(facts.has_negative_inf, facts.negative_inf, "-inf");
  return text;
}

// "input 0 float32 -89.1 .. 93.2", "output 0 float32 24 +inf of 96, the others 0 .. 3e+38"
std::string tensor_text(const check::CheckRun& run, TensorId tensor) {
  const std::string values = values_text(run, tensor);
  return tensor_head(run, tensor) + (values.empty() ? "" : " " + values);
}

std::string tensors_text(const check::CheckRun& run, const std::vector<TensorId>& tensors) {
  std::string text;
  for (size_t i = 0; i < std::min(tensors.size(), kTensorsShown); ++i)
    text += (i == 0 ? "" : "; ") + tensor_text(run, tensors[i]);
  if (tensors.size() > kTensorsShown) text += fmt::format("; and {} more", tensors.size() - kTensorsShown);
  return text;
}

// "nan 6, inf 2"
std::string kinds_text(const check::CheckRun& run, Severity severity) {
  const auto counts = run.count_by_rule(severity);
  std::string text;
  for (const check::RuleInfo& rule : check::all_rules()) {
    const size_t count = counts[static_cast<size_t>(rule.id)];
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", rule.name, count);
  }
  return text;
}

// "; 2 watched outputs, 14 snapshots compared: 1 changed"
std::string watched_text(const check::WatchedCounts& watched) {
  if (watched.outputs == 0) return {};
  std::string text = fmt::format("; {}, {} compared: {}", plural(watched.outputs, "watched output"),
                                 plural(watched.compared, "snapshot"),
                                 watched.changed == 0 ? "none changed" : fmt::format("{} changed", watched.changed));
  if (watched.before > 0) text += fmt::format(", {} from before the operator ran", watched.before);
  if (watched.not_compared > 0) text += fmt::format(", {} of another size not compared", watched.not_compared);
  return text;
}

}  // namespace

std::string tensor_head(const check::CheckRun& run, TensorId tensor) {
  const NameFacts& name = run.dump.record(tensor).name;
  const TensorFacts& facts = run.facts[tensor];
  std::string text = fmt::format("{} {}", name_of(name.io), escape_for_terminal(name.slot));
  if (facts.dtype != DType::kUndefined) text += fmt::format(" {}", name_of(facts.dtype));
  return text;
}

std::string values_text(const check::CheckRun& run, TensorId tensor) {
  const TensorFacts& facts = run.facts[tensor];
  if (facts.elements == 0U) return "empty";
  if (!facts.known()) return {};
  const std::string range = range_text(facts);
  if (facts.is_finite()) return range.empty() ? "finite" : range;
  std::string text = specials_text(facts);
  if (facts.elements && facts.from == TensorFacts::From::kElements) text += fmt::format(" of {}", *facts.elements);
  return range.empty() ? text : fmt::format("{}, the others {}", text, range);
}

std::string first_heading(const check::CheckRun& run) {
  const FirstNonfinite& first = *run.report.first;
  switch (first.kind) {
    case FirstNonfinite::Kind::kOverflow: return "the first overflow";
    case FirstNonfinite::Kind::kInput: return "the first NaN or infinity came in from outside";
    case FirstNonfinite::Kind::kParameter: return "the first NaN or infinity is in a parameter";
    default: break;
  }
  const TensorFacts& facts = run.facts[first.tensor];
  return fmt::format("the first {}", facts.has_nan ? "NaN" : facts.has_positive_inf ? "+inf" : "-inf");
}

std::string first_text(const check::CheckRun& run) {
  if (!run.report.first) return {};
  const FirstNonfinite& first = *run.report.first;
  const Identity identity = identity_of(run.dump.index(), run.dump.record(first.tensor));
  const std::string type(run.op_type(first.op));
  std::string text = fmt::format("{}: {} ({}{})\n", first_heading(run), escape_for_terminal(run.op_name(first.op)),
                                 type.empty() ? "no type" : escape_for_terminal(type),
                                 place_text(identity.dump, identity.rank, identity.step));
  if (const OperatorLine line = run.line(first.op); line.frame != nullptr)
    text += fmt::format("  line  {}\n", escape_for_terminal(line_text(line)));
  if (!first.inputs.empty()) text += fmt::format("  in    {}\n", tensors_text(run, first.inputs));
  if (!first.outputs.empty()) text += fmt::format("  out   {}\n", tensors_text(run, first.outputs));
  text += fmt::format("  why   {}\n\n", escape_for_terminal(first.reason));
  return text;
}

std::string first_divergence_text(const check::CheckRun& run) {
  if (!run.report.first_divergence) return {};
  const check::FirstDivergence& divergence = *run.report.first_divergence;
  const Identity identity = identity_of(run.dump.index(), run.dump.record(divergence.tensor));
  const OperatorId op = run.dump.op_of(divergence.tensor);
  std::string text = fmt::format("{}: {} ({}{})\n", kDivergenceHeading, escape_for_terminal(run.op_name(op)),
                                 escape_for_terminal(std::string(run.op_type(op))),
                                 place_text(identity.dump, identity.rank, identity.step));
  if (const OperatorLine line = run.line(op); line.frame != nullptr)
    text += fmt::format("  line  {}\n", escape_for_terminal(line_text(line)));
  for (const TensorId tensor : {divergence.tensor, divergence.sibling})
    text += fmt::format("  rank {}  {}\n", run.dump.identity(tensor).rank.value_or(0), tensor_text(run, tensor));
  text += fmt::format("  why   {}\n\n", escape_for_terminal(divergence.reason));
  return text;
}

std::string hints_text(const check::CheckRun& run) {
  std::string text;
  std::set<std::string> seen;
  for (const check::Finding& finding : run.report.findings) {
    if (finding.severity == Severity::kNote || finding.hint.empty()) continue;
    if (!seen.insert(finding.hint).second || seen.size() > kHintsShown) continue;
    text += fmt::format("{}{}: {}\n", text.empty() ? "\n" : "", check::name_of(finding.rule),
                        escape_for_terminal(finding.hint));
  }
  return text;
}

std::string collectives_text(const check::CheckRun& run) {
  const check::CollectiveCounts& counts = run.report.collectives;
  std::string text;
  for (const auto& [why, count] : counts.not_judged)
    text += fmt::format("{} {} {}", text.empty() ? ";" : ",", count, why);
  if (text.empty()) return {};
  return fmt::format("{} of {} of collectives judged{}", counts.judged, plural(counts.calls, "call"),
                     escape_for_terminal(text));
}

namespace {

std::string reasons_text(const std::map<recompute::Reason, uint64_t>& reasons) {
  std::string text;
  for (const auto& [reason, count] : reasons)
    text += fmt::format("{} {} {}", text.empty() ? ";" : ",", count, name_of(reason));
  return text;
}

}  // namespace

std::string golden_text(const check::CheckRun& run) {
  std::map<recompute::Reason, uint64_t> reasons;
  size_t written = 0, judged = 0, passed = 0;
  const std::vector<recompute::GoldenOutput>& outputs = run.report.recomputed.golden;
  for (const recompute::GoldenOutput& one : outputs) {
    if (one.why) ++reasons[one.why->reason];
    written += one.path ? 1U : 0U;
    judged += one.verdict ? 1U : 0U;
    passed += one.verdict && one.verdict->passes ? 1U : 0U;
  }
  std::string text;
  if (!run.golden.folder.empty())
    text = fmt::format("golden of {} of {} written", written, plural(outputs.size(), "output"));
  if (run.golden.standard)
    text += fmt::format("{}{} of {} judged by {} pass", text.empty() ? "" : ", ", passed, plural(judged, "output"),
                        name_of(*run.golden.standard));
  return text + reasons_text(reasons);
}

std::string recompute_text(const check::CheckRun& run) {
  const check::RecomputedOutputs& recomputed = run.report.recomputed;
  if (recomputed.too_much > 0)
    return fmt::format("{} of tensors were not computed again; --recompute does that",
                       human_bytes(recomputed.too_much));
  const recompute::RecomputeCounts counts = recompute::count(recomputed.judgements);
  std::map<recompute::Reason, uint64_t> reasons;
  for (const recompute::RecomputeCounts::OfReason& one : counts.not_judged) reasons[one.reason] += one.operators;
  if (counts.right + counts.wrong == 0) {
    const auto slices = reasons.find(recompute::Reason::kSlice);
    if (slices == reasons.end()) return {};
    return fmt::format("{} not judged: only a slice of a tensor was dumped", plural(slices->second, "operator"));
  }
  const std::string sampled = counts.sampled > 0 ? fmt::format(" ({} by samples)", counts.sampled) : "";
  return fmt::format("{} of {} computed again{}, {} wrong{}", counts.right + counts.wrong,
                     plural(counts.operators, "operator"), sampled, counts.wrong, reasons_text(reasons));
}

std::string overflowed_calls_text(const check::CheckRun& run) {
  const std::vector<CallOverflow>* const calls = run.dump.dump().overflows;
  if (calls == nullptr || calls->empty()) return {};
  const auto count = [&](const auto& holds) { return std::count_if(calls->begin(), calls->end(), holds); };
  const auto overflowed = count([](const CallOverflow& call) { return call.status.value_or(0) != 0; });
  const auto unknown = count([](const CallOverflow& call) { return !call.status; });
  std::string text = fmt::format("{} of {} overflowed (nan_check)",
                                 overflowed == 0 ? "none" : std::to_string(overflowed), plural(calls->size(), "call"));
  if (unknown > 0) text += fmt::format(", {} not known", unknown);
  return text;
}

std::string check_summary_text(const check::CheckRun& run) {
  const auto tensors = static_cast<uint64_t>(std::count(run.chosen.begin(), run.chosen.end(), true));
  std::string text = plural(tensors + run.report.table_rows, "tensor");
  std::string parts;
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kNote}) {
    const size_t count = run.count(severity);
    if (count == 0) continue;
    parts += fmt::format("{}{} ({})", parts.empty() ? ": " : ", ", plural(count, name_of(severity)),
                         kinds_text(run, severity));
  }
  text += parts.empty() ? ": nothing to report" : parts;
  text += watched_text(run.report.watched);
  if (const std::string overflowed = overflowed_calls_text(run); !overflowed.empty()) text += "; " + overflowed;
  if (const size_t blind = run.facts.count_without_values(); blind > 0)
    text += fmt::format("; {} without values, or with a checksum only", plural(blind, "tensor"));
  return text;
}

namespace {

using check::Finding;

// Operators of one type form a group; findings about no operator belong to the tree.
std::string group_of(const check::CheckRun& run, OperatorId op) {
  const std::string_view type = run.op_type(op);
  if (op == kNoId) return "tree";
  return type.empty() ? "operators without a type" : std::string(type);
}

std::string line_of(const check::CheckRun& run, const Finding& finding) {
  std::string text = std::string(name_of(finding.severity)) + place_text({}, finding.rank, finding.step) + ": ";
  if (finding.op != kNoId) text += run.op_name(finding.op) + ": ";
  if (finding.tensor != kNoId) {
    const NameFacts& name = run.dump.record(finding.tensor).name;
    text += fmt::format("{}:{}: ", name_of(name.io), name.slot);
  } else if (!finding.path.empty()) {
    text += finding.path + ": ";
  }
  text += finding.message;
  text += source_note(run.frame(finding.op));
  return text;
}

report::JunitCase case_of(const check::CheckRun& run, const check::RuleInfo& rule, const std::string& group,
                          const std::vector<const Finding*>& findings, Severity fail_level) {
  report::JunitCase one;
  one.name = group;
  one.class_name = fmt::format("msdump.check.{}", rule.name);
  std::vector<const Finding*> failing, others;
  for (const Finding* const finding : findings) (finding->severity >= fail_level ? failing : others).push_back(finding);
  one.output = report::junit_lines(others.size(), [&](size_t i) { return line_of(run, *others[i]); });
  if (failing.empty()) return one;
  (rule.has(check::kCannotJudge) ? one.error : one.failure) = report::junit_problem(
      std::string(rule.name), "findings", failing.size(), [&](size_t i) { return line_of(run, *failing[i]); });
  return one;
}

// Faults that decide on the exit code and are no findings. One is a first operator whose tensor was not chosen. The others
// are files and tensors that could not be read, if rule `unreadable` reported none.
std::vector<Finding> beside_the_findings(const check::CheckRun& run, Severity fail_level) {
  const auto has = [&](check::RuleId rule, OperatorId op, Severity least) {
    const auto& findings = run.report.findings;
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return finding.rule == rule && finding.op == op && finding.severity >= least;
    });
  };
  std::vector<Finding> others;
  if (const check::RuleInfo* const rule = run.first_rule();
      run.first_severity() >= fail_level && !has(rule->id, run.report.first->op, fail_level)) {
    const check::FirstNonfinite& first = *run.report.first;
    const Identity place = run.dump.identity(first.tensor);
    Finding& finding = others.emplace_back();
    finding.rule = rule->id;
    finding.severity = *run.first_severity();
    finding.tensor = first.tensor;
    finding.op = first.op;
    finding.rank = place.rank;
    finding.step = place.step;
    finding.message = first.reason;
  }
  if (run.count_by_rule()[static_cast<size_t>(check::RuleId::kUnreadable)] > 0) return others;
  const auto add = [&](const Error& error) {
    Finding& finding = others.emplace_back();
    finding.rule = check::RuleId::kUnreadable;
    finding.severity = Severity::kError;
    finding.path = run.dump.index().relative(error.path);
    finding.message = error.message;
  };
  for (const Error* const error : run.listing_failures) add(*error);
  for (const Error& error : run.report.failures) add(error);
  return others;
}

}  // namespace

Status write_junit(const check::CheckRun& run, const std::string& path, Severity fail_level, bool checked) {
  std::set<std::string> groups;
  for (TensorId tensor{0}; tensor < run.chosen.size(); ++tensor) {
    if (run.chosen[tensor] && run.dump.op_of(tensor) != kNoId) groups.insert(group_of(run, run.dump.op_of(tensor)));
  }
  const std::vector<Finding> others = beside_the_findings(run, fail_level);
  std::map<std::pair<check::RuleId, std::string>, std::vector<const Finding*>> found;
  for (const std::vector<Finding>* const findings : {&run.report.findings, &others}) {
    for (const Finding& finding : *findings) found[{finding.rule, group_of(run, finding.op)}].push_back(&finding);
  }
  report::JunitSuite suite{"msdump check", {}};
  for (const check::RuleInfo& rule : check::all_rules()) {
    std::set<std::string> of_rule;
    if (run.report.judged[static_cast<size_t>(rule.id)])
      of_rule = rule.target == check::Target::kTree ? std::set<std::string>{"tree"} : groups;
    for (const auto& [key, findings] : found) {
      if (key.first == rule.id) of_rule.insert(key.second);
    }
    for (const std::string& group : of_rule)
      suite.cases.push_back(case_of(run, rule, group, found[{rule.id, group}], fail_level));
  }
  if (!checked && suite.cases.empty()) {
    report::JunitCase& none = suite.cases.emplace_back();
    none.name = "selection";
    none.class_name = "msdump.check";
    none.error = report::JunitProblem{"nothing was checked: the selection matches no tensor", "empty_selection", {}};
  }
  return write_named_file(path, report::junit_text({std::move(suite)}));
}

}  // namespace msdump::cli
