// How a dump was set up, as far as its files say: data that is missing on purpose is not a fault.
//
//   .dump_metadata/data_dump.json, .metadata/data_dump.json   the user's configuration, copied verbatim
//   kernel_kbyk_dump.json, kernel_graph_*.json                what msprobe made of its own (level L2)
//   .dump_metadata/config.json                                "device_target"
// Source: reference/dump-layouts-and-statistics.md sections 1.4 and 5, compare-and-check.md 1.5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"

namespace msdump::check {

struct DumpSettings {
  std::string path;                                // of the configuration, relative to the dump; empty: none was found
  std::optional<int64_t> dump_mode, input_output;  // of common_dump_settings
  std::optional<int64_t> op_debug_mode;            // 3: operators that overflowed, 4: that failed
  std::string iteration;                           // "0|5-8", "all"; empty: not said
  std::string device_target;                       // "CPU", "Ascend", "GPU"; empty: not said
  bool watcher = false;                            // CANN's watcher mode, which the names of the dump show

  // The CPU has neither overflow nor exception dump, whatever was requested.
  [[nodiscard]] bool of_overflows() const { return op_debug_mode == 3 && device_target != "CPU"; }
  [[nodiscard]] bool of_exceptions() const { return op_debug_mode == 4 && device_target != "CPU"; }
  [[nodiscard]] bool of_some_operators() const {
    return watcher || dump_mode == 1 || dump_mode == 2 || op_debug_mode.value_or(0) != 0;
  }
};

// From the first configuration found. A data_dump.json that cannot be read is in `failures`; other JSON in the folder
// is ignored.
[[nodiscard]] DumpSettings settings_of(const DumpIndex& index, std::vector<Error>& failures);

}  // namespace msdump::check
