// RuleContext: the dump and settings that a rule reads, and the report that it writes to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/rules/finding.h"
#include "check/values/tensor_facts.h"
#include "io/run_context.h"

namespace msdump::check {

class RuleContext {
 public:
  // All arguments must outlive it.
  RuleContext(const CheckedDump& of, const FactsReader& read, const RuleSet& chosen, const RunContext& context)
      : dump(of), facts(read), rules(chosen), run(context) {}

  // True if the rule is on, and judges operators of this name.
  [[nodiscard]] bool judges(RuleId id) const { return rules.on(id); }
  [[nodiscard]] bool judges(RuleId id, std::string_view op_name) const {
    return rules.on(id) && rules[id].takes(op_name);
  }
  [[nodiscard]] bool judges(RuleId id, TensorId tensor) const;  // by the name of its operator

  // Adds a finding about a tensor, about a file, or about a place of the tree. The caller may add to it until the next.
  Finding& report(RuleId id, TensorId tensor, report::Value value, std::string message);
  Finding& report_file(RuleId id, FileId file, report::Value value, std::string message);
  Finding& report_place(RuleId id, FindingPlace place, report::Value value, std::string message);
  // Keeps an error of a tensor or file; fails if the work was interrupted.
  Status keep_failure(Error error);

  const CheckedDump& dump;
  const FactsReader& facts;
  const RuleSet& rules;
  const RunContext run;
  std::vector<Finding> findings;
  std::vector<Error> failures;

 private:
  Finding& add(RuleId id, report::Value value, std::string message);
};

}  // namespace msdump::check
