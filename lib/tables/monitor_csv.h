// The tables of msprobe's monitor: statistics of gradients, weights, activations and optimizer states, a row for each
// tensor and step.
//
//   monitor      {metric}_{first}-{last}.csv in TIME-rankR-ID/: vpp_stage,name,step[,micro_step],OP..
//                metric: grad_unreduced, grad_reduced, param_origin, param_updated, exp_avg, exp_avg_sq, actv, actv_grad
//   monitor_v2   {monitor}_step{first}-{last}.csv in rank_R/: vpp_stage,step,module_name,scope[,micro_step],OP..
//                monitor: module, optimizer, param, weight_grad, cc
//
// OP are the statistics that the user chose: norm, min, max, mean, nans (a count), zeros (a fraction), id, shape, dtype. The
// first monitor rounds numbers to six decimals by default. It writes "nan" for all statistics of a tensor that it did not
// get (no gradient); such a row has no values here. Numbers that are no statistics of tensors (linear_hook,
// attention_hook, ..) are left out.
// Source: msprobe 26.2.0 pytorch/monitor/{data_writers,module_hook,features}.py, core/monitor_v2/{writer,module,param,
// optimizer,weight_grad,cc}.py.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/file.h"
#include "tables/csv_records.h"
#include "tables/statistic_csv.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

// The facts in the name of a table; none for other names.
struct MonitorName {
  std::string_view metric;  // "grad_reduced"; the monitor for monitor_v2
  bool second = false;      // monitor_v2: the column scope has the metric
};
[[nodiscard]] std::optional<MonitorName> parse_monitor_name(std::string_view file_name);

// The module in a name of actv, actv_grad or module: "layers.0.input.1". None for other names.
struct ActivationName {
  std::string_view module;  // empty: the model
  bool input = false;       // gradients are reversed: grad_output is an input
  std::string_view slot;
};
[[nodiscard]] std::optional<ActivationName> parse_activation_name(std::string_view name);

// True if a file that begins with `text` is a table of the monitor.
[[nodiscard]] bool looks_like_monitor_csv(std::string_view text);

struct MonitorRow {
  std::string_view name;   // "layers.0.weight", "layers.0.input"
  std::string_view scope;  // only of monitor_v2: "param_origin"
  int64_t vpp_stage = 0, step = 0;
  std::vector<std::string_view> values;  // one for each column; empty if there is none
  std::optional<DType> dtype;
  std::optional<Shape> shape;
  uint64_t offset = 0;  // of the row in the file
};

class MonitorReader {
 public:
  // Reads the header; without the columns name (or module_name) and step it is kBadCsv. The file outlives the reader.
  static Result<MonitorReader> open(const File& file);

  [[nodiscard]] const std::vector<std::string>& titles() const { return titles_; }
  [[nodiscard]] const std::vector<StatisticColumn>& columns() const { return columns_; }  // statistics of tensors
  // Returns the next row, valid until the next call; null at the end. After kBadCsv the next call goes on with the next row.
  Result<const MonitorRow*> next();

 private:
  explicit MonitorReader(const File& file) : records_(file) {}
  [[nodiscard]] std::string_view at(std::optional<size_t> place) const;
  [[nodiscard]] bool is_empty() const;

  CsvRecords records_;
  std::vector<std::string> titles_;
  std::vector<StatisticColumn> columns_;
  std::vector<size_t> places_;  // of columns_
  std::optional<size_t> name_, scope_, step_, stage_, shape_, dtype_;
  std::vector<size_t> facts_;  // columns that have "nan" only if there was no tensor
  const CsvRecord* record_ = nullptr;
  MonitorRow row_;
};

}  // namespace msdump
