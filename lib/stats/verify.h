// Compares the cells of a statistic.csv with the tensors beside it.
//
// Cells that the host computed are compared as text. The device adds in another order and prints other texts, so its cells
// are compared within the tolerance of the dtype. It computed the rows of msprobe's tables, and those that hold "True",
// "False" or "null".
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "stats/compute.h"
#include "stats/statistic_files.h"
#include "tables/statistic_csv.h"

namespace msdump::stats {

// A row of a statistic.csv that owns its texts.
struct StoredRow {
  std::string data_size, dtype, shape_text;
  Shape shape;
  std::shared_ptr<const StatisticHeader> header;
  std::vector<std::string> values;
};

// The rows about tensors with elements, by index into `tensors`.
using StoredRows = std::map<size_t, StoredRow>;
[[nodiscard]] Result<StoredRows> read_stored_rows(const DumpIndex& index, const std::vector<TensorRecord>& tensors);

struct CellDifference {
  std::string column;  // key of machine output: "max", "data_size", "shape"
  std::string stored, computed;
};
struct RowComparison {
  size_t cells = 0;
  size_t unverifiable = 0;  // cells that the device did not compute, and a size that includes its padding
  std::vector<CellDifference> differences;
};
[[nodiscard]] RowComparison compare_row(const StoredRow& row, const TextStyle& style, const TensorNumbers& numbers);

// All stored rows compared with what one dialect writes.
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
// Uses the dialect that agrees best, or the last of several. Returns an error only if it is interrupted.
Result<Verification> verify(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const StoredRows& rows,
                            const std::vector<const Dialect*>& dialects, HostArch arch, const RunContext& context);

// A tensor without a row in a directory that has a table, or a row without a tensor (is_stored).
struct OneSidedRow {
  const TensorRecord* tensor = nullptr;
  bool is_stored = false;
};
[[nodiscard]] std::vector<OneSidedRow> one_sided_rows(const DumpIndex& index, const std::vector<TensorRecord>& tensors);

}  // namespace msdump::stats
