// The result of msdump diff before it is printed: both sides, the pairing, the differences, and where they began.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compare/dumps/compare_dumps.h"
#include "compare/match/pairing.h"
#include "compare/statistics/statistic_tables.h"
#include "diff/diff_options.h"
#include "divergence/divergence.h"
#include "shared/opened_graph.h"

namespace msdump::cli {

struct DiffSide {
  OpenedGraph opened;
  CompareSide side;  // refers to `opened`
  std::unique_ptr<StatisticTables> tables;

  [[nodiscard]] const Catalogue& catalogue() const { return *opened.catalogue; }
};

struct DiffResult {
  std::unique_ptr<DiffSide> a, b;
  Pairing pairing;
  std::vector<uint32_t> rows;        // the pairs that are selected, in the order of reports
  std::vector<TensorDiff> diffs;     // by pair; those not selected are kSkipped
  std::vector<PairDetails> details;  // by pair
  std::vector<bool> accepted;        // by pair: by the baseline
  std::vector<Error> failures;       // of both sides, each once: files, tensors, graphs
  DivergenceReport divergence;
  std::vector<std::string> unused_baseline;  // differences that are gone or have grown
  bool single_pair = false;                  // two files with a tensor each

  // The reference's if it has the tensor, else the candidate's.
  [[nodiscard]] const OpenedGraph& side_of(const TensorPair& pair) const {
    return pair.b != kNoTensor ? b->opened : a->opened;
  }
  [[nodiscard]] const TensorRecord& record_of(const TensorPair& pair) const;
  [[nodiscard]] Identity identity(uint32_t tensor) const;
  [[nodiscard]] TensorKey key(uint32_t tensor) const;
  // The operator in the graph of the candidate, whose script is in doubt, else in that of the reference.
  struct OpInGraph {
    const OpenedGraph* opened = nullptr;
    OpId op = kNoIndex;
  };
  [[nodiscard]] OpInGraph operator_in_graph(uint32_t pair) const;
  [[nodiscard]] const SourceFrame* frame(uint32_t pair) const;
  // The candidate's if it has the operator; in the graph's spelling, if there is a graph.
  [[nodiscard]] const std::string& op_name(uint32_t pair) const { return pairing.op_name(pair); }
  [[nodiscard]] std::string_view op_type(uint32_t pair) const { return pairing.op_type(pair); }
};

Result<DiffResult> compute_diff(Session& session, const DiffOptions& options, DiffRules& rules);

// Is it a difference that the baseline does not accept?
[[nodiscard]] bool counts_as_difference(const DiffResult& run, uint32_t tensor);

}  // namespace msdump::cli
