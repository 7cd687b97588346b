// The options of msdump check, and the dump that it opened.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "check/check.h"
#include "frame/subcommand.h"
#include "shared/opened_graph.h"
#include "shared/sharding.h"

namespace msdump::cli {

struct CheckOptions {
  GraphOptions graph;
  std::vector<std::string> rules;
  std::vector<std::string> watched;
  std::string rules_file, junit, report;
  check::Severity fail_level = check::Severity::kWarning;
  bool list_rules = false, first = false, trend = false, all = false;
  ShardOptions sharding;
  std::string part;  // where --shard writes to
  report::Form form = report::Form::kTable;
};

struct OpenedCheck {
  OpenedGraph opened;
  std::unique_ptr<check::CheckRun> run;

  [[nodiscard]] const Catalogue& catalogue() const { return *opened.catalogue; }
  [[nodiscard]] bool has_tensors() const { return !opened.catalogue->list.tensors().empty(); }
};

// Reads no tensor yet. Must not move: `run` refers to `opened`.
Result<std::unique_ptr<OpenedCheck>> open_check(Session& session, const CheckOptions& options);
// --rules and --rule.
Result<check::RuleSet> rules_of(const CheckOptions& options);

}  // namespace msdump::cli
