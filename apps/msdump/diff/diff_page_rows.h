// The rows of msdump diff on its page: those of machine output, with what the chart and the data flow need beside them:
// `error` (relative_l2 or its substitute), `class`, `run`, the places of the elements on both sides (`a_at`, `b_at`), and,
// if rows were left out, `position` among all.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "diff/diff_options.h"
#include "diff/diff_rows.h"
#include "divergence/dump_diff.h"
#include "io/worker_pool.h"
#include "report/page/page_data.h"
#include "report/page/rank_map.h"
#include "report/value.h"

namespace msdump::cli {

class DiffPageRows {
 public:
  DiffPageRows(WorkerPool& pool, const DiffOptions& options, const DiffResult& run);

  [[nodiscard]] const report::PageTable& table() const { return table_; }
  [[nodiscard]] const std::vector<DiffRow>& rows() const { return rows_; }  // by row of the table
  [[nodiscard]] size_t all() const { return all_; }                         // rows of machine output
  // The row of a tensor in Pairing::tensors; none if the page does not have it.
  [[nodiscard]] std::optional<size_t> row_of(TensorId tensor) const;
  // Between runs of which the page has rows.
  [[nodiscard]] std::vector<report::PageEdge> edges() const;
  // The classes that occur.
  [[nodiscard]] std::vector<report::PageClass> classes() const;
  // The ranks and layers of all rows, also of those that the page leaves out. None for a single rank.
  [[nodiscard]] std::optional<report::RankMap> ranks() const;
  // {"rows":[..]} for each root: its evidence.
  [[nodiscard]] report::List causes() const;

 private:
  [[nodiscard]] std::vector<size_t> chosen(const std::vector<DiffRow>& all) const;
  [[nodiscard]] std::string_view class_of(const DiffRow& row) const;

  const DiffResult& run_;
  std::vector<bool> of_cause_;
  std::map<std::string_view, uint64_t> class_counts_;  // by key
  size_t all_ = 0;
  std::vector<DiffRow> rows_;
  std::vector<uint32_t> row_of_;  // by tensor
  report::PageTable table_;
};

}  // namespace msdump::cli
