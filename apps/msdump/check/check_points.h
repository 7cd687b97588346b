// What the chart of msdump check shows: a row for each tensor that the user chose, with its values. In the order of
// reports: rank, graph, step, place in the data flow.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "check/check_run.h"
#include "io/worker_pool.h"
#include "report/page/page_data.h"
#include "report/page/page_table.h"

namespace msdump::cli {

// "nan", "infinite", "finite"; empty where the values are not known.
[[nodiscard]] std::string_view state_of(const check::TensorFacts& facts);

class CheckPoints {
 public:
  CheckPoints(WorkerPool& pool, const check::CheckRun& run);

  [[nodiscard]] const report::PageTable& table() const { return table_; }
  [[nodiscard]] size_t all() const { return all_; }
  // The point of a tensor; nothing where the page does not have it.
  [[nodiscard]] std::optional<size_t> point_of(uint32_t tensor) const;
  // Between runs of which the page has points.
  [[nodiscard]] std::vector<report::PageEdge> edges() const;

 private:
  [[nodiscard]] std::vector<uint32_t> in_order() const;
  [[nodiscard]] std::vector<size_t> chosen(const std::vector<uint32_t>& tensors) const;
  [[nodiscard]] report::Row row_of(uint32_t tensor) const;

  const check::CheckRun& run_;
  size_t all_ = 0;
  std::vector<uint32_t> points_;                          // tensors, by row of the table
  std::vector<std::optional<check::Severity>> severity_;  // by tensor: of its worst finding
  std::vector<uint32_t> point_of_;                        // by tensor
  report::PageTable table_;
};

}  // namespace msdump::cli
