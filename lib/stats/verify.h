// Compares the cells of a statistic.csv with the tensors beside it: as text if the host computed them; within the
// dtype's tolerance if the device did, which adds in an order of its own and prints other texts. The device computed
// the rows of msprobe's tables, and those that hold "True", "False" or "null".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "stats/compute.h"
#include "stats/statistic_files.h"

namespace msdump::stats {

// A row of a statistic.csv, with texts of its own.
struct StoredRow {
  std::string data_size, dtype, shape_text;
  Shape shape;
  bool msprobe = false;  // spells dtypes and shapes its own way
  std::vector<StatisticColumn> columns;
  std::vector<std::string> values;
};

// The rows that were joined to tensors with elements, by index into `tensors`.
using StoredRows = std::map<size_t, StoredRow>;
[[nodiscard]] Result<StoredRows> read_stored_rows(const DumpIndex& index, const std::vector<TensorRecord>& tensors);

// The part of the tensor that the row is about: a sampled dump ("sample_mode") writes the statistics of the first
// elements only, with their number as the shape.
[[nodiscard]] std::optional<int64_t> sampled_elements(const StoredRow& row, const TensorRecord& tensor);

struct CellDifference {
  std::string column;  // key of machine output: "max", "data_size", "shape"
  std::string stored, computed;
};
struct RowComparison {
  size_t cells = 0;
  size_t unverifiable = 0;  // what the device did not compute, and a size that includes its padding
  std::vector<CellDifference> differences;
};
[[nodiscard]] RowComparison compare_row(const StoredRow& row, const TextStyle& style,
                                        const TensorStatistics& statistics);

// One dialect compared with everything that is stored.
struct Verification {
  struct TensorVerdict {
    const TensorRecord* tensor = nullptr;
    RowComparison comparison;
  };
  const Dialect* dialect = nullptr;
  std::vector<TensorVerdict> verdicts;  // of tensors with differences
  std::vector<Error> failures;
  size_t cells = 0, differing = 0, unverifiable = 0;
};
// Uses the dialect that agrees best, of equal ones the last. An error only when interrupted.
Result<Verification> verify(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const StoredRows& rows,
                            const std::vector<const Dialect*>& dialects, HostArch arch, const RunContext& context);

// A tensor without a row in a directory that has a table, or a row without a tensor.
struct OneSidedRow {
  const TensorRecord* tensor = nullptr;
  bool is_stored = false;
};
[[nodiscard]] std::vector<OneSidedRow> one_sided_rows(const DumpIndex& index, const std::vector<TensorRecord>& tensors);

}  // namespace msdump::stats
