// diff_dumps(): compares two dumps and finds their first divergence. DiffResult holds everything that msdump diff prints:
// pairs, differences, roots, failures. fails() decides for --fail-on.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "check/began/began.h"
#include "compare/accept/diff_rules.h"
#include "compare/arguments/argument_diff.h"
#include "compare/dumps/compare_dumps.h"
#include "compare/match/pairing.h"
#include "compare/match/parameters/checkpoint_pairing.h"
#include "compare/match/placement/sharded_pairing.h"
#include "compare/match/rename/name_map.h"
#include "compare/statistics/statistic_tables.h"
#include "compare/tokens/token_use.h"
#include "divergence/divergence.h"
#include "divergence/placement_evidence.h"
#include "graph/lines/code_lines.h"
#include "graph/lines/operator_lines.h"
#include "graph/opened_graph.h"

namespace msdump {

// The operators, in Pairing::operators, of the one name that a name or glob matches: a full name on either side, or its
// last component. kUsage, with the nearest name, if no name or several match.
[[nodiscard]] Result<std::vector<OperatorId>> operators_named(const Pairing& pairing, std::string_view wanted);

struct TokenView;

// The result of comparing two dumps: both sides, the pairing, the differences, and the roots.

// Must not move: `side` refers to `opened` and `code`, and `tables` to `opened`.
struct DiffSide {
  explicit DiffSide(OpenedGraph&& graph);

  OpenedGraph opened;
  CompareSide dump;  // as it was opened
  CompareSide side;  // as it is compared: without ranks if the sides are sharded differently
  StatisticTables tables;
  OperatorLines lines;
  CodeLines code;
  std::vector<TensorRecord> tensors;  // of a checkpoint, with the parts and views that are compared

  [[nodiscard]] const Catalogue& catalogue() const { return *opened.catalogue; }
};

struct DiffResult {
  std::unique_ptr<DiffSide> a, b;
  std::deque<TensorView> views;                       // of the sides' tensors
  Sides<std::unique_ptr<LocalParameters>> locals;     // of checkpoints that are sharded differently
  std::unique_ptr<ShardedSide> sharded_a, sharded_b;  // if the sides are sharded differently
  std::vector<PlacementNote> placements;              // by pair; empty unless the sides are sharded differently
  PlacementEvidence placement_evidence;
  std::shared_ptr<TokenView> tokens;  // if rows are compared by the tokens that they are of
  ComputedOutputs computed;           // none if the sides are sharded differently
  Pairing pairing;
  std::vector<TensorId> rows;     // the selected pairs, in the order of reports
  std::vector<TensorDiff> diffs;  // by pair; those not selected are kSkipped
  DetailsOfPairs details;
  std::vector<bool> accepted;            // by pair: by the baseline
  std::vector<ArgumentDiff> arguments;   // of calls, and of graphs if no file has them; by operator, then step
  std::vector<bool> accepted_arguments;  // by place in `arguments`
  std::vector<Error> failures;           // of both sides, each once: files, tensors, graphs
  DivergenceReport divergence;
  check::BeganReport histories;              // of dumps of several steps: where those of the two sides diverge
  std::vector<std::string> unused_baseline;  // differences that are gone or have grown
  bool single_pair = false;                  // two files with a tensor each

  // The reference's if it has the tensor, else the candidate's.
  [[nodiscard]] const OpenedGraph& side_of(const TensorPair& pair) const {
    return pair.b != kNoId ? b->opened : a->opened;
  }
  [[nodiscard]] const TensorRecord& record_of(const TensorPair& pair) const;
  [[nodiscard]] Identity identity(TensorId tensor) const;
  // The bounds that were hit while pairing, judging, and searching and joining the graphs of both sides.
  [[nodiscard]] ReachedLimits limits() const;
  // Files that could not be read when tensors were matched by their values.
  [[nodiscard]] std::vector<Error> match_failures() const;
  [[nodiscard]] TensorKey key(TensorId tensor) const;
  [[nodiscard]] TensorKey key(const ArgumentDiff& argument) const;
  // The operator in the graph of the candidate, whose script is in doubt, else in that of the reference.
  struct OpInGraph {
    const DiffSide* side = nullptr;
    OpId op;
  };
  [[nodiscard]] OpInGraph operator_in_graph(OperatorId pair) const;
  [[nodiscard]] OperatorLine line(OperatorId pair) const;
  [[nodiscard]] const SourceFrame* frame(OperatorId pair) const { return line(pair).frame; }
  // The name of a tensor's Explanation; empty for kNone. The verdict does not depend on it.
  [[nodiscard]] std::string_view explained(TensorId tensor) const;
  // The candidate's if it has the operator; in the graph's spelling, if there is a graph.
  [[nodiscard]] std::string_view op_name(OperatorId pair) const { return pairing.op_name(pair); }
  [[nodiscard]] std::string_view op_type(OperatorId pair) const { return pairing.op_type(pair); }
};

// Optional parts of a result.
struct DiffDetails {
  std::string_view explain = {};            // names the operator to account for, if any
  bool flow = false;                        // DivergenceReport::runs and edges
  const PlacementRules* layouts = nullptr;  // placements that the user states
  recompute::Extent recompute = recompute::Extent::kIfCheap;
  TokenUse tokens = TokenUse::kWhereNeeded;
  bool parameters_alone = false;  // also of dumps: of the first step of each
};

// The steps of diff_dumps(). First: the pairing, and the rows that the sides' selections choose.
Result<DiffResult> pair_dumps(std::unique_ptr<DiffSide> a, std::unique_ptr<DiffSide> b, const NameMap* map,
                              const RunContext& context, const DiffDetails& details = {});
// Second: the differences of `rows`, which may be some of the result's.
Status compare_pairs(DiffResult& run, const std::vector<TensorId>& rows, const DiffRules& rules,
                     const SecondLookOptions& look, const RunContext& context);
// The bytes that comparing each row reads; 0 without a partner.
[[nodiscard]] std::vector<uint64_t> bytes_of_rows(const DiffResult& run);
// Third, once all rows are compared: the roots, and the differences that the baseline accepts. An error if interrupted.
Status judge_pairs(DiffResult& run, DiffRules& rules, const RunContext& context, DivergenceDetails request);

// All steps. `map` may be null. An error if interrupted; kUsage if there is no single operator to account for.
Result<DiffResult> diff_dumps(std::unique_ptr<DiffSide> a, std::unique_ptr<DiffSide> b, const NameMap* map,
                              DiffRules& rules, const SecondLookOptions& look, const RunContext& context,
                              const DiffDetails& details = {});

// The dump.json files of both sides, paired by step and rank. If all files of each side have one step, or one rank, its
// number does not count. If nothing pairs, the first file of each side.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> dump_jsons(const DiffSide& a, const DiffSide& b);

// The difference that a baseline keeps of an argument.
[[nodiscard]] TensorDiff difference_of(const ArgumentDiff& argument, const Pairing& pairing);

// True if the tensor differs, the baseline does not accept that, and its memory was written.
[[nodiscard]] bool counts_as_difference(const DiffResult& run, TensorId tensor);
// Likewise for one of DiffResult::arguments.
[[nodiscard]] bool argument_counts(const DiffResult& run, size_t argument);

// True if such a difference has no explanation: it belongs to a root, or it was not judged.
[[nodiscard]] bool is_unexplained(const DiffResult& run, TensorId tensor);

// The differences that make a comparison fail.
//
//   kAny          any, and roots
//   kUnexplained  roots, rows without an explanation (explanation.h), and arguments
//   kRoot         roots, and differences that were not judged although rounding does not lead to them, such as NaN, another
//                 shape, no partner, or a large error of unknown source
// Checkpoints, single files and two different networks are not judged: there, any difference counts at every level. A tensor
// without a rule (DiffRules::require_rule) counts at every level, too.
enum class FailLevel : uint8_t { kAny, kUnexplained, kRoot };
[[nodiscard]] bool fails(const DiffResult& run, FailLevel level);
// True if the tensor, or one of DiffResult::arguments, makes it fail by itself.
[[nodiscard]] bool tensor_fails(const DiffResult& run, TensorId tensor, FailLevel level);
[[nodiscard]] bool argument_fails(const DiffResult& run, size_t argument, FailLevel level);
// The number of tensors and arguments that were compared with their partners.
[[nodiscard]] uint64_t count_compared(const DiffResult& run);

// The relative error that was judged, with the loss scale divided out; none if it is not known.
[[nodiscard]] std::optional<double> judged_error(const DiffResult& run, TensorId tensor);
// The factor that the candidate's tensor is divided by for that: the loss scale, or 1 for most.
[[nodiscard]] double loss_scale_of(const DiffResult& run, TensorId tensor);
// The names of operators for the `kernels` of a data_dump.json, the candidate's or the reference's.
[[nodiscard]] std::vector<std::string> kernels_of(const DiffResult& run, const std::vector<OperatorId>& operators,
                                                  bool of_candidate);
// The config.json that dumps calls in the candidate, or in the reference.
[[nodiscard]] MsprobeSettings msprobe_settings(const DiffResult& run, const UnseenCalls& calls, bool of_candidate);

}  // namespace msdump
