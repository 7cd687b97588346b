#include "check/rules/rule_context.h"

#include <utility>

namespace msdump::check {

bool RuleContext::judges(RuleId id, TensorId tensor) const {
  const OperatorId op = dump.op_of(tensor);
  return judges(id, op == kNoId ? dump.record(tensor).name.op_name : std::string_view(dump.operators()[op].name));
}

Finding& RuleContext::add(RuleId id, report::Value value, std::string message) {
  Finding& finding = findings.emplace_back();
  finding.rule = id;
  finding.severity = rules[id].severity;
  finding.hint = info(id).hint;
  finding.value = std::move(value);
  finding.message = std::move(message);
  return finding;
}

Finding& RuleContext::report(RuleId id, TensorId tensor, report::Value value, std::string message) {
  Finding& finding = add(id, std::move(value), std::move(message));
  finding.tensor = tensor;
  finding.op = dump.op_of(tensor);
  return finding;
}

Finding& RuleContext::report_file(RuleId id, FileId file, report::Value value, std::string message) {
  const DumpIndex& index = dump.index();
  const IndexedFile& of = index.files()[file];
  const Identity identity = index.identity_of(of);
  Finding& finding = report_place(
      id, {identity.rank, identity.graph, identity.step, index.relative_path_of(of), std::string(identity.dump)},
      std::move(value), std::move(message));
  finding.file = file;
  finding.op = dump.op_of_file(file);
  return finding;
}

Finding& RuleContext::report_place(RuleId id, FindingPlace place, report::Value value, std::string message) {
  Finding& finding = add(id, std::move(value), std::move(message));
  static_cast<FindingPlace&>(finding) = std::move(place);
  return finding;
}

Status RuleContext::keep_failure(Error error) {
  if (error.code == ErrorCode::kCancelled) return fail(std::move(error));
  failures.push_back(std::move(error));
  return {};
}

}  // namespace msdump::check
