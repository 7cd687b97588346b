// Writes statistic.csv files, byte for byte as a dialect of MindSpore does (docs/formats/statistics.md). Fields are not
// escaped, because MindSpore does not escape them.
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
#include "stats/tensor_numbers.h"

namespace msdump::stats {

struct TextStyle {
  const Dialect* dialect = &newest_dialect();
  std::vector<StatisticColumn> columns;
  bool exact = false;  // numbers in full instead of six digits
};

[[nodiscard]] std::string header_line(const TextStyle& style);
[[nodiscard]] std::string row_line(const TextStyle& style, const DumpIndex& index, const TensorRecord& tensor,
                                   const TensorNumbers& numbers);

// The value of a column; 0 for a dtype without statistics.
[[nodiscard]] std::string cell_text(const TextStyle& style, StatisticColumn column, const TensorNumbers& numbers);
[[nodiscard]] std::string shape_text(const Dialect& dialect, const Shape& shape);  // "(2,3)" or "[2,3]"

// A double as std::ostream prints it: as "%g", but NaN has its sign.
[[nodiscard]] std::string six_digits(double value);

// A directory that gets a statistic.csv. msprobe's lies beside dump.json, not in dump_tensor_data.
struct StatisticDirectory {
  uint32_t root = 0;            // in DumpIndex::paths()
  std::string relative;         // to that path
  std::vector<size_t> tensors;  // in the writer's order: operators by their first time stamp, Parameters last
};

// The directories, sorted by path, without tensors that have no elements.
[[nodiscard]] std::vector<StatisticDirectory> statistic_directories(const DumpIndex& index,
                                                                    const std::vector<TensorRecord>& tensors);

// Writes the statistic.csv files in order, each with all rows of its directory or not at all. After an interruption no
// further file is committed.
class StatisticFileWriter {
 public:
  StatisticFileWriter(const DumpIndex& index, TextStyle style, const CancelToken& cancel)
      : index_(index), style_(std::move(style)), cancel_(cancel) {}

  // Adds the next tensor, in the order of directories; `target` is the file of its directory. A tensor that failed, or
  // whose dtype has no statistics, gets no row. After an error nothing more is written.
  Status take(const std::string& target, const TensorRecord& tensor, const Result<TensorNumbers>& statistics);
  // Commits the last file.
  Status finish();

  // Number of files that were committed.
  [[nodiscard]] uint64_t files() const { return files_; }
  [[nodiscard]] uint64_t rows() const { return rows_; }

 private:
  Status add(const std::string& target, const TensorRecord& tensor, const TensorNumbers& statistics);
  Status commit();

  const DumpIndex& index_;
  const TextStyle style_;
  const CancelToken& cancel_;
  bool stopped_ = false;
  std::string target_;
  std::optional<TextFile> file_;  // of `target_`, from its first row on
  uint64_t waiting_rows_ = 0;     // in file_
  uint64_t files_ = 0, rows_ = 0;
};

}  // namespace msdump::stats
