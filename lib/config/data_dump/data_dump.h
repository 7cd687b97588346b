// data_dump.json: what MindSpore reads from it, and the rules.
//
// DataDump is what could be understood of the file: a value is absent when the file has none or one of the wrong type.
// Which sections count depends on the release and the device:
//
//   synchronous    e2e_dump_settings.enable; from 2.4 on, if the section exists; always on a GPU (1.3 and later) and on a
//                  CPU (1.8 and later)
//   asynchronous   Ascend, where it is not synchronous; to 1.2 async_dump_settings.enable
//
// Source: reference/dump-layouts-and-statistics.md 5, reference/verified-on-real-mindspore.md 3, and 380 runs of five
// releases on a CPU (corpus/real/config-behaviour.csv).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/data_dump/iteration.h"
#include "config/rules/finding.h"
#include "io/json.h"

namespace msdump {

struct DataDump {
  const JsonValue* common = nullptr;  // null when missing or no object; they point into the tree
  const JsonValue* e2e = nullptr;
  const JsonValue* async = nullptr;
  bool has_e2e = false;  // even when it is not an object

  std::optional<uint32_t> dump_mode, input_output, op_debug_mode, initial_iteration, sample_mode, sample_num;
  std::optional<bool> enable, trans_flag, async_enable;
  std::optional<std::string> path, net_name, iteration, saved_data, file_format, stat_calc_mode;
  std::optional<uint64_t> old_iteration;  // a number, as 1.0 to 1.2 have it
  const JsonValue* kernels = nullptr;     // a list

  [[nodiscard]] bool is_synchronous(const Setup& setup) const;
  [[nodiscard]] bool is_asynchronous(const Setup& setup) const;
  // The debug mode that takes effect: 0 where the key is not read.
  [[nodiscard]] uint32_t debug_mode(const Setup& setup) const;
  // Does the dump select kernels? Not when a debug mode overrides that.
  [[nodiscard]] bool dumps_kernels(const Setup& setup) const;
  [[nodiscard]] bool saves_statistics() const { return saved_data == "statistic" || saved_data == "full"; }
  // Looks like a file for 1.0 to 1.2: their form of iteration or async_dump_settings, and no key of later releases.
  [[nodiscard]] bool before_1_3() const;
};

// May it be in the path of a dump? Others are refused.
[[nodiscard]] bool is_path_char(char c);

[[nodiscard]] DataDump read_data_dump(const JsonValue& root);

void lint_data_dump(Findings& findings, const JsonValue& root, const LintTarget& target);

}  // namespace msdump
