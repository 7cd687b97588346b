// What the next run is to dump, in the words of no tool, and its configuration for each of them: data_dump.json, msprobe's
// config.json, acl.json. What is written has no finding of lint_config for the same target.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "config/setups.h"

namespace msdump {

struct DumpRequest {
  ConfigKind kind = ConfigKind::kMsprobe;
  LintTarget target;                 // an unset release is the newest known, an unset device Ascend
  std::string path;                  // the folder of the dump; absolute where MindSpore reads it
  std::string net_name = "Net";      // data_dump.json: as the dump before had it
  bool statistics = false;           // else tensors
  bool asynchronous = false;         // data_dump.json on Ascend, as the dump before had it
  std::string level;                 // msprobe: "L0", "L1", "mix", "L2"; empty: mix where a module is named, else L1
  std::vector<std::string> list;     // operators or calls; empty: all. GE: layers, which may be original names
  std::vector<std::string> scope;    // msprobe, instead of `list`: the first and the last call; empty: all
  std::vector<std::string> watched;  // AscendCL: operators whose outputs are dumped again after each of `list`
  std::vector<int64_t> steps;        // ascending, as the tool counts them; empty: all
  std::vector<int64_t> ranks;        // ascending; empty: all. data_dump.json knows devices: other hosts may dump too.
                                     // acl.json knows neither: it is for the processes that are given it
  bool overflow = false;             // operators that overflow, instead of a list
  bool all_risks = false;            // msprobe on PyTorch: also calls that only move values
};

// A path that the tool accepts: with '_' for the characters that it refuses.
[[nodiscard]] std::string accepted_path(ConfigKind kind, std::string path);

// The text of the file, indented, with a newline at its end. kUsage where the tool cannot be asked for this: the
// message says what it cannot.
[[nodiscard]] Result<std::string> write_config(const DumpRequest& request);

}  // namespace msdump
