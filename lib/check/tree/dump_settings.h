// Settings of a dump, as far as its files tell. Data that is missing on purpose is no fault.
//
//   .dump_metadata/data_dump.json, .metadata/data_dump.json   the user's configuration, copied verbatim
//   kernel_kbyk_dump.json, kernel_graph_*.json                made by msprobe from its own configuration (level L2)
//   .dump_metadata/config.json                                "device_target"
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"

namespace msdump::check {

struct DumpSettings {
  std::string path;                                // of the configuration, relative to the dump; empty: none was found
  std::optional<int64_t> dump_mode, input_output;  // of common_dump_settings
  std::optional<int64_t> op_debug_mode;            // 3: operators that overflowed, 4: that failed
  std::string iteration;                           // "0|5-8", "all"; empty: unknown
  std::string device_target;                       // "CPU", "Ascend", "GPU"; empty: unknown
  bool watcher = false;                            // CANN's watcher mode, which the names of the dump show

  // The CPU has neither overflow nor exception dump, whatever was requested.
  [[nodiscard]] bool of_overflows() const { return op_debug_mode == 3 && device_target != "CPU"; }
  [[nodiscard]] bool of_exceptions() const { return op_debug_mode == 4 && device_target != "CPU"; }
  [[nodiscard]] bool of_some_operators() const {
    return watcher || dump_mode == 1 || dump_mode == 2 || op_debug_mode.value_or(0) != 0;
  }
};

// Reads the first configuration found. A data_dump.json that cannot be read is in `failures`; other JSON in the folder
// is ignored.
[[nodiscard]] DumpSettings settings_of(const DumpIndex& index, std::vector<Error>& failures);

// Operators and steps that ran, from files beside the dump. They show which tensors are missing.
//
//   execution_order/ms_execution_order_graph_G.csv         a header, then the operators of graph G in their order
//   execution_order/ms_global_execution_order_graph_G.csv  the steps that were run, a number a line

struct OperatorOrder {
  std::optional<int64_t> rank, graph;
  std::string path;
  std::vector<std::string> names;  // as the script's graph has them; files may have new numbers
};

struct ExecutionOrders {
  std::vector<OperatorOrder> operators;                       // none of them is empty
  std::map<std::optional<int64_t>, std::set<int64_t>> steps;  // by rank
};

// Files that cannot be read are in `failures`, and their content is ignored.
[[nodiscard]] ExecutionOrders read_execution_orders(const DumpIndex& index, std::vector<Error>& failures);

}  // namespace msdump::check
