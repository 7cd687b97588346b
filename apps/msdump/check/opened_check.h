// What msdump check knows before it prints: the dump with its operators, the facts of its tensors, and what was found.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/check.h"
#include "frame/subcommand.h"
#include "shared/opened_graph.h"

namespace msdump::cli {

struct CheckOptions {
  GraphOptions graph;
  std::vector<std::string> rules;
  std::string rules_file, junit;
  check::Severity fail_level = check::Severity::kWarning;
  bool list_rules = false, first = false, trend = false, all = false;
  report::Form form = report::Form::kTable;
};

struct OpenedCheck {
  OpenedGraph opened;
  CompareSide side;  // refers to `opened`
  check::RuleSet rules = check::RuleSet::defaults();
  std::unique_ptr<check::OpRuns> runs;
  std::unique_ptr<check::FactsReader> facts;
  std::vector<bool> chosen;  // by tensor: of operators and slots that are asked for
  check::CheckReport report;

  [[nodiscard]] const Catalogue& catalogue() const { return *opened.catalogue; }
  [[nodiscard]] bool selects_all() const;
  // As the graph spells it where there is one; of a finding without an operator empty.
  [[nodiscard]] std::string op_name(uint32_t op) const;
  [[nodiscard]] std::string_view op_type(uint32_t op) const;
  [[nodiscard]] const SourceFrame* frame(uint32_t op) const;  // null: not known
  [[nodiscard]] std::vector<Error> failures() const;          // of the list, the graph and the check
  [[nodiscard]] size_t count(check::Severity severity) const;
  [[nodiscard]] size_t count(check::RuleId id) const;
};

// Up to the facts, of which none is read.
Result<std::unique_ptr<OpenedCheck>> open_check(Session& session, const CheckOptions& options);
// --rules and --rule.
Result<check::RuleSet> rules_of(const CheckOptions& options);

}  // namespace msdump::cli
