// What the configuration that a dump was made with says of the next one.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "config/rules/setups.h"
#include "next/next_plan.h"

namespace msdump::cli {

struct UsedConfig {
  ConfigKind kind = ConfigKind::kUnknown;
  bool asynchronous = false;
  DumpExtent extent = DumpExtent::kAll;
  std::optional<std::string> net_name;
};
[[nodiscard]] Result<UsedConfig> read_used_config(const std::string& path);

}  // namespace msdump::cli
