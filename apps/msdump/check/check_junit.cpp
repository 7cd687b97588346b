#include "check/check_junit.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "io/atomic_file.h"
#include "report/junit.h"
#include "shared/graph_rows.h"

namespace msdump::cli {
namespace {

using check::Finding;

constexpr size_t kLinesOfCase = 100;

// Operators of one type form a group; findings about no operator belong to the tree.
std::string group_of(const check::CheckRun& run, uint32_t op) {
  const std::string_view type = run.op_type(op);
  if (op == check::kNone) return "tree";
  return type.empty() ? "operators without a type" : std::string(type);
}

std::string line_of(const check::CheckRun& run, const Finding& finding) {
  std::string text(check::name_of(finding.severity));
  if (finding.rank) text += fmt::format(", rank {}", *finding.rank);
  if (finding.step) text += fmt::format(", step {}", *finding.step);
  text += ": ";
  if (finding.op != check::kNone) text += run.op_name(finding.op) + ": ";
  if (finding.tensor != check::kNone) {
    const NameFacts& name = run.dump.record(finding.tensor).name;
    text += fmt::format("{}:{}: ", name_of(name.io), name.slot);
  } else if (!finding.path.empty()) {
    text += finding.path + ": ";
  }
  text += finding.message;
  if (const SourceFrame* const frame = run.frame(finding.op)) text += fmt::format(" ({})", source_text(frame));
  return text;
}

std::string lines_of(const check::CheckRun& run, const std::vector<const Finding*>& findings) {
  std::string text;
  for (size_t i = 0; i < findings.size() && i < kLinesOfCase; ++i) text += line_of(run, *findings[i]) + "\n";
  if (findings.size() > kLinesOfCase) text += fmt::format("and {} more\n", findings.size() - kLinesOfCase);
  return text;
}

report::JunitCase case_of(const check::CheckRun& run, const check::RuleInfo& rule, const std::string& group,
                          const std::vector<const Finding*>& findings, check::Severity fail_level) {
  report::JunitCase one;
  one.name = group;
  one.class_name = fmt::format("msdump.check.{}", rule.name);
  std::vector<const Finding*> failing, others;
  for (const Finding* const finding : findings) (finding->severity >= fail_level ? failing : others).push_back(finding);
  one.output = lines_of(run, others);
  if (failing.empty()) return one;
  report::JunitProblem problem;
  problem.message = failing.size() == 1
                        ? line_of(run, *failing.front())
                        : fmt::format("{} findings, the first: {}", failing.size(), line_of(run, *failing.front()));
  problem.type = std::string(rule.name);
  problem.text = lines_of(run, failing);
  (rule.id == check::RuleId::kUnreadable ? one.error : one.failure) = std::move(problem);
  return one;
}

// What decides on the exit code and is no finding: a first operator whose tensor was not chosen, and inputs that could
// not be read where rule `unreadable` was not judged.
std::vector<Finding> beside_the_findings(const check::CheckRun& run, check::Severity fail_level) {
  const auto has = [&](std::string_view rule, uint32_t op, check::Severity least) {
    const auto& findings = run.report.findings;
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return finding.kind == rule && finding.op == op && finding.severity >= least;
    });
  };
  std::vector<Finding> others;
  if (const check::RuleInfo* const rule = run.first_rule();
      run.first_severity() >= fail_level && !has(rule->name, run.report.first->op, fail_level)) {
    const check::FirstNonfinite& first = *run.report.first;
    const Identity place = run.dump.identity(first.tensor);
    Finding& finding = others.emplace_back();
    finding.kind = rule->name;
    finding.severity = *run.first_severity();
    finding.tensor = first.tensor;
    finding.op = first.op;
    finding.rank = place.rank;
    finding.step = place.step;
    finding.message = first.reason;
  }
  const std::string_view unreadable = check::info(check::RuleId::kUnreadable).name;
  if (run.count(check::RuleId::kUnreadable) > 0) return others;
  const auto add = [&](const Error& error) {
    Finding& finding = others.emplace_back();
    finding.kind = unreadable;
    finding.severity = check::Severity::kError;
    finding.path = run.dump.index().relative(error.path);
    finding.message = error.message;
  };
  for (const Error* const error : run.listing_failures) add(*error);
  for (const Error& error : run.report.failures) add(error);
  return others;
}

}  // namespace

Status write_junit(const check::CheckRun& run, const std::string& path, check::Severity fail_level, bool checked) {
  std::set<std::string> groups;
  for (uint32_t tensor = 0; tensor < run.chosen.size(); ++tensor) {
    if (run.chosen[tensor] && run.dump.op_of(tensor) != check::kNone)
      groups.insert(group_of(run, run.dump.op_of(tensor)));
  }
  const std::vector<Finding> others = beside_the_findings(run, fail_level);
  std::map<std::pair<std::string_view, std::string>, std::vector<const Finding*>> found;
  for (const std::vector<Finding>* const findings : {&run.report.findings, &others}) {
    for (const Finding& finding : *findings) found[{finding.kind, group_of(run, finding.op)}].push_back(&finding);
  }
  report::JunitSuite suite{"msdump check", {}};
  for (const check::RuleInfo& rule : check::all_rules()) {
    std::set<std::string> of_rule;
    if (run.report.judged[static_cast<size_t>(rule.id)])
      of_rule = rule.target == check::Target::kTree ? std::set<std::string>{"tree"} : groups;
    for (const auto& [key, findings] : found) {
      if (key.first == rule.name) of_rule.insert(key.second);
    }
    for (const std::string& group : of_rule)
      suite.cases.push_back(case_of(run, rule, group, found[{rule.name, group}], fail_level));
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
