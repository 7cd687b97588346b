// The options of msdump check.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/rules/rules.h"
#include "recompute/recompute.h"
#include "recompute/standard.h"
#include "report/row_sink.h"
#include "shared/opened_graph.h"
#include "shared/sharding.h"

namespace msdump::cli {

struct CheckOptions {
  GraphOptions graph;
  std::vector<std::string> rules;
  std::vector<std::string> watched;
  std::string rules_file, junit, summary, report;
  std::string golden;     // folder
  std::string reference;  // dump
  std::optional<recompute::Standard> standard;
  Severity fail_level = Severity::kWarning;
  bool list_rules = false, first = false, trend = false, all = false, no_recompute = false;
  recompute::Extent recompute = recompute::Extent::kIfCheap;
  ShardOptions sharding;
  std::string part;  // where --shard writes to
  report::Form form = report::Form::kTable;
};

// --rules and --rule.
Result<check::RuleSet> rules_of(const CheckOptions& options);

}  // namespace msdump::cli
