// CheckRun: one check of one dump: its runs, the facts of its tensors, the requested part of it, and what was found.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
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
#include "check/rules/finding.h"
#include "check/rules/rules.h"
#include "check/values/overflow.h"
#include "check/values/tensor_facts.h"
#include "check/watch/memory_stomp.h"
#include "dump/index/selection.h"
#include "graph/lines/source_lines.h"
#include "io/run_context.h"

namespace msdump::check {

struct CheckReport {
  std::array<bool, kRules> judged{};  // by RuleId; a rule that is on may not have been judged (check_first)
  std::vector<Finding> findings;      // tree first; then by rank, graph, step, place in the data flow, tensor, rule
  std::optional<FirstNonfinite> first;
  std::optional<FirstApart> first_apart;  // of ranks
  std::vector<OverflowHit> overflows;
  WatchedCounts watched;
  CollectiveCounts collectives;
  std::vector<Error> failures;  // that occurred here: of tensors, and of records
};

struct CheckRun {
  // Of the whole dump. What `of` points to must outlive it. `watched_by_name`: globs for the operators whose outputs
  // were watched; without any, the names of the dump tell.
  CheckRun(const DumpWithGraph& of, RuleSet with, std::span<const std::string> watched_by_name = {});
  CheckRun(const CheckRun&) = delete;
  CheckRun& operator=(const CheckRun&) = delete;

  // Limits the check to the tensors for which `asked` holds, by the identity in the file or by the same with the
  // operator's name and type in the graph. Other tensors are read only if they show the inputs of these. With a watched
  // output its snapshots are chosen.
  void choose(const std::function<bool(const TensorRecord&, const Identity&)>& asked);

  [[nodiscard]] bool selects_any() const;
  [[nodiscard]] bool selects_all() const;
  // As the graph spells it, if there is one; empty for kNone.
  [[nodiscard]] std::string op_name(uint32_t op) const;
  [[nodiscard]] std::string_view op_type(uint32_t op) const;
  [[nodiscard]] OperatorLine line(uint32_t op) const;
  [[nodiscard]] const SourceFrame* frame(uint32_t op) const { return line(op).frame; }  // null: not known
  [[nodiscard]] size_t failed() const { return listing_failures.size() + report.failures.size(); }
  [[nodiscard]] size_t count(Severity severity) const;
  [[nodiscard]] size_t count(RuleId id) const;
  // The rule that `report.first` breaks, and its severity; nothing if there is none. Its tensor may have no finding: an
  // input that was not chosen.
  [[nodiscard]] const RuleInfo* first_rule() const;
  [[nodiscard]] std::optional<Severity> first_severity() const;
  // Is it about an input, and the same as a finding about the output that the input came from?
  [[nodiscard]] bool repeats_its_maker(const Finding& finding) const;

  const RuleSet rules;
  const CheckedDump dump;
  const Watched watched;
  FactsReader facts;
  OperatorLines lines;
  std::vector<bool> chosen;                    // by tensor: was it requested? Findings are about these
  std::vector<const Error*> listing_failures;  // of the list and the graph; the pointers must stay valid
  CheckReport report;

 private:
  void choose_snapshots();
  [[nodiscard]] std::vector<bool> needed() const;
};

// A check that several processes share: which tensors stay together, and what is found out about some of them.
//
// A unit is
//   * what the ranks put into one exchange, and got from it;
//   * the tensors of an operator in all steps, since rules compare the steps of a weight, and on all ranks, since the same
//     tensor of two ranks is compared; of one rank alone where there would be too few units to share them evenly.
// What depends on the whole (the data flow, what is missing, tables, overflow records) is left to the run that judges.

struct CheckUnits {
  std::vector<uint64_t> bytes;  // by unit
  std::vector<uint32_t> of;     // by tensor; kNone where nothing is read
};
[[nodiscard]] CheckUnits check_units(const CheckRun& run, uint32_t shards);

// Keeps in context.facts what the rules ask of the elements of these tensors. The run is of no further use.
[[nodiscard]] Status find_facts(CheckRun& run, const std::vector<bool>& tensors, const RunContext& context);

// Everything that msdump check finds in one dump, in the order of reports.

// Both fill `run.report`; `places` has the requested ranks, graphs and steps. An error only when interrupted.

// Reads every tensor.
Status check_all(CheckRun& run, const Selection& places, const RunContext& context);
// Reads only what is needed to find the first; the findings are about that operator.
Status check_first(CheckRun& run, const Selection& places, const RunContext& context);

}  // namespace msdump::check
