// Compares the paired tensors of two dumps on all threads, and returns a TensorDiff for each pair. Tables are read first,
// each by one thread; then workers compare the pairs in chunks. The result does not depend on the number of threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
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
//   rows appended    the verdict stays `shape`; the reason has the verdict of the common rows, and says if the others are 0
//   another order    the reference is transposed, or its rows are regrouped (match/parameters/parameter_views.h): the
//                    verdict stays `differ`, because the order may be a mistake
//
// An error if one of the tensors cannot be read.
Status explain_parameters(const DumpSide& a, const TensorRecord& record_a, const DumpSide& b,
                          const TensorRecord& record_b, const Tolerance& tolerance, const RunContext& context,
                          TensorDiff& diff);

struct ComparedDump {
  const CompareSide& side;
  StatisticTables& tables;
  const std::vector<Error>& failures;  // errors in the list of its tensors
};

// The elements of a pair that differ most, and the axes that carry its error.
struct PairDetails {
  std::optional<WorstElement> worst;
  SecondLook look;

  [[nodiscard]] bool any() const { return worst || !look.worst.empty() || !look.axes.axes.empty(); }
};

// The details of the pairs that have any: of many pairs, few differ.
class DetailsOfPairs {
 public:
  void set(TensorId pair, PairDetails details) { details_.insert_or_assign(pair, std::move(details)); }
  void erase(TensorId pair) { details_.erase(pair); }
  [[nodiscard]] const PairDetails& operator[](TensorId pair) const {
    static const PairDetails none;
    const auto found = details_.find(pair);
    return found == details_.end() ? none : found->second;
  }

 private:
  std::map<TensorId, PairDetails> details_;
};

struct ComparedTensors {
  std::vector<TensorDiff> diffs;  // by Pairing::tensors; kSkipped if not chosen
  DetailsOfPairs details;
  std::vector<Error> failures;  // of single tensors
};

// `chosen` are indices in Pairing::tensors. If cancelled, returns early and leaves the other pairs kSkipped.
[[nodiscard]] ComparedTensors compare_dumps(const Sides<ComparedDump>& dumps, const Pairing& pairing,
                                            const std::vector<TensorId>& chosen, const DiffRules& rules,
                                            const SecondLookOptions& look, const RunContext& context);

// The facts of a pair for a part of a run (parts/facts.h).
void fields(auto& visit, FieldsOf<WorstElement> auto& value) { MSDUMP_FIELDS(index, a, b, distance); }
void fields(auto& visit, FieldsOf<AxisRange> auto& value) { MSDUMP_FIELDS(first, last, share, max_abs, mismatches); }
void fields(auto& visit, FieldsOf<AxisError> auto& value) { MSDUMP_FIELDS(axis, extent, ranges, carried); }
void fields(auto& visit, FieldsOf<ErrorAxes> auto& value) { MSDUMP_FIELDS(of_mismatches, axes); }
void fields(auto& visit, FieldsOf<SecondLook> auto& value) { MSDUMP_FIELDS(worst, axes); }
void fields(auto& visit, FieldsOf<PairDetails> auto& value) { MSDUMP_FIELDS(worst, look); }

}  // namespace msdump
