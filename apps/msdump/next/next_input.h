// The document that `msdump diff --json` or `msdump check --json` wrote: it names the dumps that it is about. These are read
// again, because its rows have neither the data flow nor what was not dumped.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "config/setups.h"
#include "next/next_plan.h"

namespace msdump::cli {

struct SavedDocument {
  std::string candidate, reference;  // as they were typed then; `reference` is empty for check
};

// True for a file that begins as the documents of msdump do.
[[nodiscard]] bool is_saved_document(const std::string& path);
// kUsage if it is of another command, or about other than one dump or pair. Only the head of the file is read.
[[nodiscard]] Result<SavedDocument> read_saved_document(const std::string& path);

// Settings of the configuration that a dump was made with, which the configuration of the next dump keeps.
struct UsedConfig {
  ConfigKind kind = ConfigKind::kUnknown;
  bool asynchronous = false;
  DumpExtent extent = DumpExtent::kAll;
  std::optional<std::string> net_name;
};
[[nodiscard]] Result<UsedConfig> read_used_config(const std::string& path);

}  // namespace msdump::cli
