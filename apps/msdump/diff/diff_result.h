// What msdump diff knows before it prints: both sides, what was paired with what, how the pairs differ, and where that
// began.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compare/match/module_tree.h"
#include "compare/match/pairing.h"
#include "compare/pair/second_look.h"
#include "compare/pair/tensor_diff.h"
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

// What a row has besides the diff.
struct RowExtras {
  std::optional<WorstElement> worst;
  SecondLook look;
  bool accepted = false;  // by the baseline
};

struct DiffResult {
  std::unique_ptr<DiffSide> a, b;
  Pairing pairing;
  std::vector<uint32_t> rows;     // the pairs that are selected, in the order of reports
  std::vector<TensorDiff> diffs;  // by pair; those not selected are kSkipped
  std::vector<RowExtras> extras;  // by pair
  std::vector<Error> failures;    // of single tensors and of files beside them
  DivergenceReport divergence;
  std::vector<std::string> unused_baseline;  // differences that are gone or have grown
  bool single_pair = false;                  // two files with a tensor each

  // Of the reference where it has the tensor, else of the candidate.
  [[nodiscard]] const OpenedGraph& side_of(const TensorPair& pair) const {
    return pair.b != kNoTensor ? b->opened : a->opened;
  }
  [[nodiscard]] const TensorRecord& record_of(const TensorPair& pair) const;
  [[nodiscard]] Identity identity(uint32_t tensor) const;
  [[nodiscard]] TensorKey key(uint32_t tensor) const;
  // The operator in a graph: of the candidate, whose script is in doubt, else of the reference.
  struct OpInGraph {
    const OpenedGraph* opened = nullptr;
    OpId op = kNoIndex;
  };
  [[nodiscard]] OpInGraph operator_in_graph(uint32_t pair) const;
  [[nodiscard]] const SourceFrame* frame(uint32_t pair) const;
  // As the graph spells it where there is one; of the candidate where it has the operator.
  [[nodiscard]] const std::string& op_name(uint32_t pair) const;
  [[nodiscard]] std::string_view op_type(uint32_t pair) const;
};

Result<DiffResult> compute_diff(Session& session, const DiffOptions& options, DiffRules& rules);

// Does a row say that something is wrong that nobody has accepted?
[[nodiscard]] bool counts_as_difference(const DiffResult& run, uint32_t tensor);

}  // namespace msdump::cli
