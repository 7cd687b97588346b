// The text of a statistic.csv, byte for byte as a dialect writes it: header, rows, cells. Fields are not escaped, because
// the writer does not.
// Source: reference/dump-layouts-and-statistics.md 3.1 to 3.5.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "io/atomic_file.h"
#include "io/run_context.h"
#include "stats/dialect.h"
#include "stats/tensor_statistics.h"

namespace msdump::stats {

struct TextStyle {
  const Dialect* dialect = &newest_dialect();
  std::vector<StatisticColumn> columns;
  bool exact = false;  // numbers in full instead of six digits
};

[[nodiscard]] std::string header_line(const TextStyle& style);
[[nodiscard]] std::string row_line(const TextStyle& style, const DumpIndex& index, const TensorRecord& tensor,
                                   const TensorStatistics& statistics);

// One value as its column has it.
[[nodiscard]] std::string cell_text(const TextStyle& style, StatisticColumn column, const TensorStatistics& statistics);
[[nodiscard]] std::string shape_text(const Dialect& dialect, const Shape& shape);  // "(2,3)" or "[2,3]"

// A double as std::ostream prints it: "%g", with the sign of a NaN.
[[nodiscard]] std::string six_digits(double value);

// The statistic.csv of each directory: which directories get one, which tensors are in each, and writing them.

// One directory that gets a statistic.csv. msprobe's stands beside dump.json, not in dump_tensor_data.
struct StatisticDirectory {
  uint32_t root = 0;            // DumpIndex::paths()
  std::string relative;         // to that path
  std::vector<size_t> tensors;  // in the writer's order: operators by their first time stamp, Parameters last
};

// Directories in the order of their paths; tensors without elements are in none.
[[nodiscard]] std::vector<StatisticDirectory> statistic_directories(const DumpIndex& index,
                                                                    const std::vector<TensorRecord>& tensors);

// Writes the statistic.csv files in order, each with all rows of its directory or not at all. Nothing is committed
// after the first tensor that an interruption left out, or after the token is cancelled.
class StatisticFileWriter {
 public:
  StatisticFileWriter(const DumpIndex& index, TextStyle style, const CancelToken& cancel)
      : index_(index), style_(std::move(style)), cancel_(cancel) {}

  // The next tensor, in the order of directories; `target` is the file of its directory. A tensor that failed, or whose
  // dtype has no statistics, has no row. After an error nothing more is written.
  Status take(const std::string& target, const TensorRecord& tensor, const Result<TensorStatistics>& statistics);
  // After the last tensor.
  Status finish();

  // The files that were committed.
  [[nodiscard]] uint64_t files() const { return files_; }
  [[nodiscard]] uint64_t rows() const { return rows_; }

 private:
  Status add(const std::string& target, const TensorRecord& tensor, const TensorStatistics& statistics);
  Status commit();

  const DumpIndex& index_;
  const TextStyle style_;
  const CancelToken& cancel_;
  bool stopped_ = false;
  std::string target_;
  std::optional<TextFile> file_;  // of `target_`, once it has a row
  uint64_t waiting_rows_ = 0;     // in it
  uint64_t files_ = 0, rows_ = 0;
};

}  // namespace msdump::stats
