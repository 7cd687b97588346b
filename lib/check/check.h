// msdump check: one check of one dump, what it found, and how several processes share it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/nonfinite/first_nonfinite.h"
#include "check/ranks/collective_rules.h"
#include "check/ranks/replica_rules.h"
#include "check/rules/rules.h"
#include "check/values/overflow.h"
#include "check/values/tensor_facts.h"
#include "check/values/wrong_outputs.h"
#include "check/watch/memory_stomp.h"
#include "dump/index/selection.h"
#include "graph/lines/operator_lines.h"
#include "io/run_context.h"

namespace msdump::check {

struct BeganReport;  // check/began/began.h

struct CheckReport {
  std::array<bool, kRules> judged{};  // by RuleId; a rule that is on may not have been judged (check_first)
  std::vector<Finding> findings;      // tree first; then by rank, graph, step, place in the data flow, tensor, rule
  std::optional<FirstNonfinite> first;
  std::optional<FirstDivergence> first_divergence;  // of ranks
  std::shared_ptr<const BeganReport> began;         // null: the rule is off
  uint64_t table_rows = 0;                          // that were read without a list of tensors
  std::vector<OverflowHit> overflows;
  WatchedCounts watched;
  CollectiveCounts collectives;
  RecomputedOutputs recomputed;  // of the executions with chosen outputs
  std::vector<Error> failures;   // of tensors and records, that occurred during the check
};

struct CheckRun {
  // Checks the whole dump. What `of` points to must outlive it. `watched_by_name`: globs for the operators whose outputs
  // CANN's watcher mode watched; without any, the names of the dump tell.
  CheckRun(const DumpWithGraph& of, RuleSet with, std::span<const std::string> watched_by_name = {});
  CheckRun(const CheckRun&) = delete;
  CheckRun& operator=(const CheckRun&) = delete;

  // Limits the check to the tensors for which `is_chosen` holds. It is asked with the identity of the file, then with the
  // operator's name and type in the graph. Of other tensors, only the inputs and outputs of the same executions are read. A
  // watched output brings its snapshots.
  void choose(const std::function<bool(const TensorRecord&, const Identity&)>& is_chosen);

  [[nodiscard]] bool selects_any() const;
  [[nodiscard]] bool selects_all() const;
  // Spelled as in the graph, if there is one; empty for kNoId.
  [[nodiscard]] std::string op_name(OperatorId op) const;
  [[nodiscard]] std::string_view op_type(OperatorId op) const;
  [[nodiscard]] OperatorLine line(OperatorId op) const;
  [[nodiscard]] const SourceFrame* frame(OperatorId op) const { return line(op).frame; }  // null: not known
  [[nodiscard]] size_t failed() const { return listing_failures.size() + report.failures.size(); }
  [[nodiscard]] size_t count(Severity severity) const;
  // Findings of each rule, by RuleId; of one severity if it is given.
  [[nodiscard]] std::array<size_t, kRules> count_by_rule(std::optional<Severity> severity = std::nullopt) const;
  // The rule that `report.first` breaks, and its severity; null if there is none. Its tensor may have no finding: an input
  // that was not chosen.
  [[nodiscard]] const RuleInfo* first_rule() const;
  [[nodiscard]] std::optional<Severity> first_severity() const;
  // True for a finding about an input that repeats a finding about its producer's output.
  [[nodiscard]] bool repeats_producer(const Finding& finding) const;

  const RuleSet rules;
  const CheckedDump dump;
  const Watched watched;
  FactsReader facts;
  OperatorLines lines;
  std::vector<bool> chosen;                                   // by tensor: requested, so findings may be about it
  recompute::Extent recompute = recompute::Extent::kIfCheap;  // of rule wrong_output
  recompute::GoldenRequest golden;
  std::vector<const Error*> listing_failures;  // of the list and the graph; the pointers must stay valid
  CheckReport report;

 private:
  void choose_snapshots();
  [[nodiscard]] std::vector<bool> needed() const;
};

// Both fill `run.report`. Only rank, graph and step of `selection` are used. An error only when interrupted.
// Reads every tensor.
Status check_all(CheckRun& run, const Selection& selection, const RunContext& context);
// Only rule `began`, from the tables of msprobe's monitor alone, row by row: for a run without a list of tensors.
Status check_tables(CheckRun& run, const RunContext& context);
// Reads only what the search for the first fault needs; the findings are about that operator.
Status check_first(CheckRun& run, const Selection& selection, const RunContext& context);

// The units of work that processes share with --shard: the tensors whose elements are read, and the executions that are computed
// again. A share has their statistics and judgements; the rules judge in the run that merges.
struct CheckUnits {
  std::vector<TensorId> tensors;
  std::vector<uint64_t> bytes;  // of each
  std::vector<ExecutionId> runs;
  std::vector<uint64_t> bytes_of_runs;
};
[[nodiscard]] CheckUnits check_units(const CheckRun& run);
// Keeps the judgements of these executions in context.facts.
Status recompute_share(const CheckRun& run, const std::vector<ExecutionId>& runs, const RunContext& context);

}  // namespace msdump::check
