// Writes the configuration of a dump: data_dump.json, msprobe's config.json or acl.json. A DumpRequest says what is dumped,
// without the terms of a tool. lint_config has no finding about the text for the same target.
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
  std::string path;                  // the folder of the dump; absolute if MindSpore reads it
  std::string net_name = "Net";      // data_dump.json: as the dump before had it
  bool statistics = false;           // else tensors
  bool asynchronous = false;         // data_dump.json on Ascend, as the dump before had it
  std::string level;                 // msprobe: "L0", "L1", "mix", "L2"; empty: mix if a module is named, else L1
  std::vector<std::string> list;     // operators or calls; empty: all. GE: layers, which may be original names
  std::vector<std::string> scope;    // msprobe, instead of `list`: the first and the last call; empty: all
  std::vector<std::string> watched;  // AscendCL: operators whose outputs are dumped again after each of `list`
  std::vector<int64_t> steps;        // ascending, as the tool counts them; empty: all
  std::vector<int64_t> ranks;        // ascending; empty: all. data_dump.json knows devices: other hosts may dump too.
                                     // acl.json knows neither: it is for the processes that are given it
  bool overflow = false;             // operators that overflow, instead of a list
  bool all_risks = false;            // msprobe on PyTorch: also calls that only move values
};

// The path with '_' instead of characters that the tool refuses.
[[nodiscard]] std::string accepted_path(ConfigKind kind, std::string path);

// The text of the file, indented, with a newline at its end. kUsage if the tool cannot dump this; the message says what
// it cannot.
[[nodiscard]] Result<std::string> write_config(const DumpRequest& request);

}  // namespace msdump
