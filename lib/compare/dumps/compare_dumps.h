// Compares the tensors of two dumps that have been paired, on all threads: tables first, each by one thread, then the
// pairs in pieces. The result does not depend on the number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"
#include "compare/accept/diff_rules.h"
#include "compare/match/pairing.h"
#include "compare/pair/element_errors.h"
#include "compare/pair/metric_table.h"
#include "compare/pair/tensor_diff.h"
#include "compare/statistics/statistic_diff.h"
#include "compare/statistics/statistic_tables.h"
#include "parts/facts.h"

namespace msdump {

// Adds to the reason how two parameters that differ are related:
//
//   rows appended    the verdict stays `shape`; the verdict of the common rows, and whether the further ones are 0
//   another order    a square matrix that is transposed, rows that are regrouped (match/parameters/parameter_views.h):
//                    the verdict stays `differ`, because the order may be a mistake
//
// An error if one of the tensors cannot be read.
Status explain_parameters(const DumpSide& a, const TensorRecord& record_a, const DumpSide& b,
                          const TensorRecord& record_b, const Tolerance& tolerance, const RunContext& context,
                          TensorDiff& diff);

struct ComparedDump {
  const CompareSide& side;
  StatisticTables& tables;
  const std::vector<Error>& failures;  // of its list of tensors
};

// The elements of a pair that differ most, and where its error lies.
struct PairDetails {
  std::optional<WorstElement> worst;
  SecondLook look;
};

struct ComparedTensors {
  std::vector<TensorDiff> diffs;     // by Pairing::tensors; kSkipped for those that were not chosen
  std::vector<PairDetails> details;  // likewise
  std::vector<Error> failures;       // of single tensors
};

// Compares the pairs `chosen` of Pairing::tensors. If cancelled, it ends early and leaves pairs as they were.
[[nodiscard]] ComparedTensors compare_dumps(const Sides<ComparedDump>& dumps, const Pairing& pairing,
                                            const std::vector<uint32_t>& chosen, const DiffRules& rules,
                                            const SecondLookOptions& look, const RunContext& context);

// The facts of a pair for a part of a run (parts/facts.h).
void fields(auto& visit, FieldsOf<WorstElement> auto& value) { MSDUMP_FIELDS(index, a, b, distance); }
void fields(auto& visit, FieldsOf<AxisRange> auto& value) { MSDUMP_FIELDS(first, last, share, max_abs, mismatches); }
void fields(auto& visit, FieldsOf<AxisError> auto& value) { MSDUMP_FIELDS(axis, extent, ranges, carried); }
void fields(auto& visit, FieldsOf<ErrorAxes> auto& value) { MSDUMP_FIELDS(of_mismatches, axes); }
void fields(auto& visit, FieldsOf<SecondLook> auto& value) { MSDUMP_FIELDS(worst, axes); }
void fields(auto& visit, FieldsOf<PairDetails> auto& value) { MSDUMP_FIELDS(worst, look); }

}  // namespace msdump
