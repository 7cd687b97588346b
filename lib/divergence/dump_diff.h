// diff_dumps(): compares two dumps and finds where they diverged first. DiffResult holds all that msdump diff prints: pairs,
// differences, roots, failures; fails() is the decision of --fail-on.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compare/accept/diff_rules.h"
#include "compare/arguments/argument_diff.h"
#include "compare/dumps/compare_dumps.h"
#include "compare/match/pairing.h"
#include "compare/match/placement/sharded_pairing.h"
#include "compare/match/rename/name_map.h"
#include "compare/statistics/statistic_tables.h"
#include "divergence/cut_evidence.h"
#include "divergence/divergence.h"
#include "graph/lines/source_lines.h"
#include "graph/opened_graph.h"

namespace msdump {

// The operator of a comparison that a user names.

// The operators, in Pairing::operators, of the only name that a name or glob matches: a full name on either side, or the
// last part of one. kUsage, with the nearest name, if there is none or more than one.
[[nodiscard]] Result<std::vector<uint32_t>> operators_named(const Pairing& pairing, std::string_view wanted);

// The complete result of comparing two dumps: both sides, the pairing, the differences, and where they began.

// Must not move: `side` and `tables` refer to `opened`.
struct DiffSide {
  explicit DiffSide(OpenedGraph&& graph);

  OpenedGraph opened;
  CompareSide dump;  // as it was opened
  CompareSide side;  // as it is compared: of a run that is cut differently, without ranks
  StatisticTables tables;
  OperatorLines lines;
  std::vector<TensorRecord> tensors;  // of a checkpoint, with the parts and views that are compared

  [[nodiscard]] const Catalogue& catalogue() const { return *opened.catalogue; }
};

struct DiffResult {
  std::unique_ptr<DiffSide> a, b;
  std::deque<TensorView> views;               // of the sides' tensors
  std::unique_ptr<ShardedSide> cut_a, cut_b;  // where the sides are cut differently over their ranks
  std::vector<PlacementNote> cuts;            // by pair; empty where they are not
  CutEvidence cut_evidence;
  Pairing pairing;
  std::vector<uint32_t> rows;            // the pairs that are selected, in the order of reports
  std::vector<TensorDiff> diffs;         // by pair; those not selected are kSkipped
  std::vector<PairDetails> details;      // by pair
  std::vector<bool> accepted;            // by pair: by the baseline
  std::vector<ArgumentDiff> arguments;   // of calls, and those that differ and no file has; by operator, then step
  std::vector<bool> accepted_arguments;  // by place in `arguments`
  std::vector<Error> failures;           // of both sides, each once: files, tensors, graphs
  DivergenceReport divergence;
  std::vector<std::string> unused_baseline;  // differences that are gone or have grown
  bool single_pair = false;                  // two files with a tensor each

  // The reference's if it has the tensor, else the candidate's.
  [[nodiscard]] const OpenedGraph& side_of(const TensorPair& pair) const {
    return pair.b != kNoTensor ? b->opened : a->opened;
  }
  [[nodiscard]] const TensorRecord& record_of(const TensorPair& pair) const;
  [[nodiscard]] Identity identity(uint32_t tensor) const;
  // The bounds that the search for partners hit, and those for the graphs of both sides.
  [[nodiscard]] ReachedLimits limits() const;
  // What could not be read when tensors were matched by their values.
  [[nodiscard]] std::vector<Error> match_failures() const;
  [[nodiscard]] TensorKey key(uint32_t tensor) const;
  [[nodiscard]] TensorKey key(const ArgumentDiff& argument) const;
  // The operator in the graph of the candidate, whose script is in doubt, else in that of the reference.
  struct OpInGraph {
    const DiffSide* side = nullptr;
    OpId op = kNoIndex;
  };
  [[nodiscard]] OpInGraph operator_in_graph(uint32_t pair) const;
  [[nodiscard]] OperatorLine line(uint32_t pair) const;
  [[nodiscard]] const SourceFrame* frame(uint32_t pair) const { return line(pair).frame; }
  // What explains that a tensor differs: empty where it does not, or for nothing. The verdict does not depend on it.
  [[nodiscard]] std::string_view explained(uint32_t tensor) const;
  // The candidate's if it has the operator; in the graph's spelling, if there is a graph.
  [[nodiscard]] const std::string& op_name(uint32_t pair) const { return pairing.op_name(pair); }
  [[nodiscard]] std::string_view op_type(uint32_t pair) const { return pairing.op_type(pair); }
};

// Beyond the rows.
struct DiffDetails {
  std::string_view explain = {};            // names the operator to account for, if any
  bool flow = false;                        // DivergenceReport::runs and edges
  const PlacementRules* layouts = nullptr;  // how tensors lie on the ranks, where the user knows
};

// The steps of diff_dumps below. First, who is whom: the pairing and, by the sides' selections, the rows.
Result<DiffResult> pair_dumps(std::unique_ptr<DiffSide> a, std::unique_ptr<DiffSide> b, const NameMap* map,
                              const RunContext& context, const PlacementRules* layouts = nullptr);
// Then the differences of these rows, which may be some of the run's.
Status compare_pairs(DiffResult& run, const std::vector<uint32_t>& rows, const DiffRules& rules,
                     const SecondLookOptions& look, const RunContext& context);
// Of each row the bytes that comparing it reads; 0 for one without partner.
[[nodiscard]] std::vector<uint64_t> bytes_of_rows(const DiffResult& run);
// Then, of all rows, where the differences began, and which of them the baseline accepts. An error when interrupted.
Status judge_pairs(DiffResult& run, DiffRules& rules, const RunContext& context, const DivergenceDetails& request);

// The sides' selections choose the rows. `map` may be null. An error when interrupted, or kUsage when the dumps do not
// have the operator to account for.
Result<DiffResult> diff_dumps(std::unique_ptr<DiffSide> a, std::unique_ptr<DiffSide> b, const NameMap* map,
                              DiffRules& rules, const SecondLookOptions& look, const RunContext& context,
                              const DiffDetails& details = {});

// The dump.json files of both sides, paired by step and rank; a single step or rank on each side whatever its number is.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> dump_jsons(const DiffSide& a, const DiffSide& b);

// What a baseline keeps of an argument that differs.
[[nodiscard]] TensorDiff difference_of(const ArgumentDiff& argument, const Pairing& pairing);

// Is it a difference that the baseline does not accept, of memory that was written?
[[nodiscard]] bool counts_as_difference(const DiffResult& run, uint32_t tensor);
// Of one of DiffResult::arguments.
[[nodiscard]] bool argument_counts(const DiffResult& run, size_t argument);

// Such a difference that neither the noise nor a root upstream explains: a root, or something that was not judged.
[[nodiscard]] bool is_unexplained(const DiffResult& run, uint32_t tensor);

// Which differences a comparison fails for.
//
//   kAny          any
//   kUnexplained  rows that nothing explains (explanation.h), roots among them, and arguments
//   kRoot         roots, and what no model judges although rounding cannot lead to it: NaN, another shape, no partner,
//                 large errors of unknown source. All differences if the networks are not the same, and of checkpoints
//                 and single files
enum class FailLevel : uint8_t { kAny, kUnexplained, kRoot };
[[nodiscard]] bool fails(const DiffResult& run, FailLevel level);
// Tensors and arguments that have a partner and could be compared.
[[nodiscard]] uint64_t count_compared(const DiffResult& run);

// The relative error that was judged: the scale of the loss divided out. None where nothing is known.
[[nodiscard]] std::optional<double> judged_error(const DiffResult& run, uint32_t tensor);
// What the candidate's tensor is divided by for that; 1 for most.
[[nodiscard]] double loss_scale_of(const DiffResult& run, uint32_t tensor);
// Operators of the comparison as the `kernels` of the candidate's, or of the reference's, data_dump.json name them.
[[nodiscard]] std::vector<std::string> kernels_of(const DiffResult& run, const std::vector<uint32_t>& operators,
                                                  bool of_candidate);
// The config.json that dumps calls in the candidate, or in the reference.
[[nodiscard]] MsprobeSettings msprobe_settings(const DiffResult& run, const UnseenCalls& calls, bool of_candidate);

}  // namespace msdump
