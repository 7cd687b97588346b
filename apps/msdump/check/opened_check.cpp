#include "check/opened_check.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text.h"
#include "frame/usage.h"
#include "graph/lines/source_lines.h"

namespace msdump::cli {
namespace {

// With --ir alone open_graph() would read no dump.
GraphOptions with_dump(GraphOptions options) {
  if (!has_dump(options)) options.dump.options = {"."};
  return options;
}

// What is asked for, and what went into it: the other tensors of the same runs.
std::vector<bool> needed(const OpenedCheck& run) {
  std::vector<bool> needed = run.chosen;
  for (uint32_t tensor = 0; tensor < run.chosen.size(); ++tensor) {
    const uint32_t of = run.runs->run_of(tensor);
    if (!run.chosen[tensor] || of == check::kNone) continue;
    for (const check::RunInput& input : run.runs->runs()[of].inputs) {
      if (input.tensor != check::kNone) needed[input.tensor] = true;
      if (input.made_as != check::kNone) needed[input.made_as] = true;
    }
    for (const uint32_t output : run.runs->runs()[of].outputs) needed[output] = true;
  }
  return needed;
}

bool is_chosen(const OpenedCheck& run, uint32_t tensor) {
  const TensorRecord& record = run.runs->record(tensor);
  if (!run.opened.selects(record)) return false;
  if (run.opened.operators.everything()) return true;
  Identity identity = identity_of(run.catalogue().index, record);
  if (run.opened.operators.matches_file(identity)) return true;
  const uint32_t op = run.runs->op_of(tensor);
  if (op == check::kNone) return false;
  identity.name.op_name = run.runs->operators()[op].name;
  identity.name.op_type = run.runs->operators()[op].type;
  return run.opened.operators.matches_file(identity);
}

// The lines and edges of another network's IR would be wrong for all.
void use_graph(Session& session, OpenedCheck& run) {
  if (!run.opened.joined || run.opened.joined->join.matched_operators() == 0) return;
  const ExplainedGroups groups =
      run.opened.joined->join.explained([&](const TensorGroup& group) { return run.opened.selects(group); });
  if (!groups.mostly()) {
    session.messages.warning(fmt::format("the IR tells of {} of the {}, so that it is not used", groups.explained,
                                         plural(groups.all, "dumped operator")),
                             "it is that of another network or version of the script; --ir names the right one");
    return;
  }
  run.side.graph = &run.opened.graph();
  run.side.join = &run.opened.joined->join;
}

}  // namespace

bool OpenedCheck::selects_all() const {
  return std::all_of(chosen.begin(), chosen.end(), [](bool one) { return one; });
}

std::string OpenedCheck::op_name(uint32_t op) const {
  return op == check::kNone ? std::string() : runs->operators()[op].name;
}

std::string_view OpenedCheck::op_type(uint32_t op) const {
  return op == check::kNone ? std::string_view() : runs->operators()[op].type;
}

const SourceFrame* OpenedCheck::frame(uint32_t op) const {
  if (op == check::kNone || side.graph == nullptr || runs->operators()[op].op == kNoIndex) return nullptr;
  return best_frame(opened.graph(), runs->operators()[op].op);
}

std::vector<Error> OpenedCheck::failures() const {
  std::vector<Error> all = opened.loaded->failures;
  const auto add = [&](const std::vector<Error>& more) { all.insert(all.end(), more.begin(), more.end()); };
  add(catalogue().list.failures());
  add(report.failures);
  return all;
}

size_t OpenedCheck::count(check::Severity severity) const {
  const auto& findings = report.findings;
  return static_cast<size_t>(std::count_if(
      findings.begin(), findings.end(), [&](const check::Finding& finding) { return finding.severity == severity; }));
}

size_t OpenedCheck::count(check::RuleId id) const {
  const auto& findings = report.findings;
  return static_cast<size_t>(std::count_if(findings.begin(), findings.end(), [&](const check::Finding& finding) {
    return finding.kind == check::info(id).name;
  }));
}

Result<check::RuleSet> rules_of(const CheckOptions& options) {
  check::RuleSet rules = check::RuleSet::defaults();
  if (!options.rules_file.empty()) {
    MSDUMP_TRY(rules, check::RuleSet::read(options.rules_file));
  }
  for (const std::string& text : options.rules) {
    const Status applied = rules.apply(text);
    if (!applied) throw UsageError("--rule: " + applied.error().message, applied.error().hint);
  }
  if (const Status complete = rules.check_complete(); !complete)
    throw UsageError(complete.error().message, complete.error().hint);
  return rules;
}

Result<std::unique_ptr<OpenedCheck>> open_check(Session& session, const CheckOptions& options) {
  auto run = std::make_unique<OpenedCheck>();
  MSDUMP_TRY(run->rules, rules_of(options));
  MSDUMP_TRY(run->opened, open_graph(session.context, with_dump(options.graph), {{}, Headers::kWhereNeeded}));
  const bool no_ir = run->opened.graph().size() == 0 && run->opened.loaded->failures.empty();
  if (!options.graph.ir.empty() && no_ir)
    return fail(make_error(ErrorCode::kUsage, "--ir: no IR in {}", fmt::join(options.graph.ir, ", ")));
  run->side.index = &run->catalogue().index;
  run->side.tensors = &run->catalogue().list.tensors();
  use_graph(session, *run);
  run->runs = std::make_unique<check::OpRuns>(run->side);
  const bool with_mean_abs = run->rules.any_given("abs_mean_gt") || run->rules.any_given("abs_mean_lt") ||
                             run->rules.any_given("abs_mean_update_ratio_gt") ||
                             run->rules.any_given("abs_mean_update_ratio_lt");
  run->facts = std::make_unique<check::FactsReader>(run->catalogue().index, *run->side.tensors, with_mean_abs);
  run->chosen.resize(run->side.tensors->size());
  for (uint32_t tensor = 0; tensor < run->chosen.size(); ++tensor) run->chosen[tensor] = is_chosen(*run, tensor);
  if (!run->selects_all()) run->facts->limit_to(needed(*run));
  return run;
}

}  // namespace msdump::cli
