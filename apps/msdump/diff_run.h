// What msdump diff knows before it prints: both sides, what was paired with what, how the pairs differ, and where that
// began.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compare/divergence.h"
#include "compare/module_tree.h"
#include "compare/pairing.h"
#include "compare/statistic_tables.h"
#include "compare/tensor_diff.h"
#include "graph_run.h"

namespace msdump::cli {

struct DiffOptions {
  std::vector<std::string> paths;  // CANDIDATE and REFERENCE
  std::string rank_a, rank_b, step_a, step_b;
  std::vector<std::string> ir;
  SelectionOptions selection;
  Tolerance tolerance;
  uint32_t jobs = 0;
};

struct DiffSide {
  OpenedGraph opened;
  CompareSide side;  // refers to `opened`
  std::unique_ptr<StatisticTables> tables;
};

struct DiffRun {
  std::unique_ptr<DiffSide> a, b;
  Pairing pairing;
  std::vector<uint32_t> nearest;  // of operators without a partner: nearest_names()
  std::vector<uint32_t> rows;     // the pairs that are selected, in the order of reports
  std::vector<TensorDiff> diffs;  // by pair; those not selected are kSkipped
  std::vector<Error> failures;    // of single tensors
  DivergenceReport divergence;
  ModuleTree modules;

  [[nodiscard]] bool single_pair() const { return rows.size() == 1 && pairing.tensors.size() == 1; }
  // Of the reference where it has the tensor, else of the candidate.
  [[nodiscard]] const OpenedGraph& side_of(const TensorPair& pair) const {
    return pair.b != kNoTensor ? b->opened : a->opened;
  }
  [[nodiscard]] const TensorRecord& record_of(const TensorPair& pair) const;
  // The operator in a graph: of the candidate, whose script is in doubt, else of the reference.
  struct OpInGraph {
    const OpenedGraph* opened = nullptr;
    OpId op = kNoIndex;
  };
  [[nodiscard]] OpInGraph operator_in_graph(uint32_t pair) const;
  [[nodiscard]] const std::string& op_name(uint32_t pair) const;
};

Result<DiffRun> run_diff(Session& session, const DiffOptions& options);

}  // namespace msdump::cli
