// MindSpore's data_dump.json, as MindSpore understands it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/finding.h"
#include "io/json.h"

namespace msdump {

// The steps of a dump as "iteration" names them: "all", or items between '|', each a step or a range a-b.
//
// Only digits, '-' and '|' are accepted at the start of a run. Items are parsed when a step is looked up: an item that
// is neither a step nor a range then silently matches nothing; MindSpore 1.3 ended the process.
struct IterationItem {
  enum class Kind : uint8_t {
    kRange,     // a step is a range of one
    kBackward,  // "8-5"
    kEmpty,     // "", "5-", "-5"
    kDashes,    // "1-2-3"
    kTooLarge,  // beyond 64 bits
  };
  std::string_view text;
  size_t at = 0;  // in the whole text
  Kind kind = Kind::kRange;
  uint64_t first = 0, last = 0;  // of kRange and kBackward

  [[nodiscard]] bool selects() const { return kind == Kind::kRange; }
  // MindSpore 1.3 to 1.4 read the numbers with a function that throws.
  [[nodiscard]] bool ends_old_process() const { return kind == Kind::kEmpty || kind == Kind::kTooLarge; }
};

struct Iteration {
  bool all = false;
  bool accepted = true;  // at the start of a run
  std::vector<IterationItem> items;

  // True if an item selects a step; steps count from `initial`.
  [[nodiscard]] bool selects_any(uint64_t initial = 0) const;
  // The number of steps; no value for all steps or more than 64 bits can count.
  [[nodiscard]] std::optional<uint64_t> count(uint64_t initial = 0) const;
};

[[nodiscard]] Iteration parse_iteration(std::string_view text);

// The values of a file. A value is absent if the file has none or one of the wrong type.
struct DataDump {
  const JsonValue* common = nullptr;  // null if missing or no object; they point into the tree
  const JsonValue* e2e = nullptr;
  const JsonValue* async = nullptr;
  bool has_e2e = false;  // even if it is not an object

  std::optional<uint32_t> dump_mode, input_output, op_debug_mode, initial_iteration, sample_mode, sample_num;
  std::optional<bool> enable, trans_flag, async_enable;
  std::optional<std::string> path, net_name, iteration, saved_data, file_format, stat_calc_mode;
  std::optional<uint64_t> old_iteration;  // a number, as 1.0 to 1.2 have it
  const JsonValue* kernels = nullptr;     // a list

  [[nodiscard]] bool is_synchronous(const Setup& setup) const;
  [[nodiscard]] bool is_asynchronous(const Setup& setup) const;
  // The debug mode that takes effect: 0 if the key is not read.
  [[nodiscard]] uint32_t debug_mode(const Setup& setup) const;
  // True if the dump selects kernels, and no debug mode overrides that.
  [[nodiscard]] bool dumps_kernels(const Setup& setup) const;
  [[nodiscard]] bool saves_statistics() const { return saved_data == "statistic" || saved_data == "full"; }
  // True if it looks like a file for 1.0 to 1.2: it has their form of iteration or async_dump_settings, and no key of later releases.
  [[nodiscard]] bool before_1_3() const;
};

// True for characters of a path that MindSpore accepts.
[[nodiscard]] bool is_path_char(char c);

[[nodiscard]] DataDump read_data_dump(const JsonValue& root);

}  // namespace msdump
