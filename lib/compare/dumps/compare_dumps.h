// Compares the tensors of two dumps that have been paired, on all threads: tables first, each by one thread, then the
// pairs in pieces. The result does not depend on the number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"
#include "compare/accept/diff_rules.h"
#include "compare/match/pairing.h"
#include "compare/pair/second_look.h"
#include "compare/pair/tensor_diff.h"
#include "compare/statistics/computed_statistics.h"
#include "compare/statistics/statistic_tables.h"

namespace msdump {

// One of the two dumps.
struct ComparedDump {
  const CompareSide& side;
  StatisticTables& tables;
  const std::vector<Error>& failures;  // of its list of tensors
};

// What is known of a pair besides the diff.
struct PairDetails {
  std::optional<WorstElement> worst;
  SecondLook look;
};

struct ComparedTensors {
  std::vector<TensorDiff> diffs;     // by Pairing::tensors; kSkipped for those that were not chosen
  std::vector<PairDetails> details;  // likewise
  std::vector<Error> failures;       // of single tensors
};

// `chosen`: in Pairing::tensors. If cancelled it ends early and leaves pairs as they were.
[[nodiscard]] ComparedTensors compare_dumps(const ComparedDump& a, const ComparedDump& b, const Pairing& pairing,
                                            const std::vector<uint32_t>& chosen, const DiffRules& rules,
                                            const SecondLookOptions& look, const RunContext& context);

}  // namespace msdump
