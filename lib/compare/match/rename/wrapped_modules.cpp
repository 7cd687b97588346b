#include "compare/match/rename/wrapped_modules.h"

#include <algorithm>
#include <cstdint>

namespace msdump {
namespace {

constexpr std::string_view kModules = "Module.", kWrapper = "module.";

}  // namespace

size_t wrappers_of(const std::vector<SequencedOp>& operators) {
  size_t fewest = SIZE_MAX;
  for (const SequencedOp& one : operators) {
    std::string_view name = one.name;
    if (!name.starts_with(kModules)) continue;
    name.remove_prefix(kModules.size());
    size_t wrappers = 0;
    for (; name.starts_with(kWrapper); ++wrappers) name.remove_prefix(kWrapper.size());
    fewest = std::min(fewest, wrappers);
  }
  return fewest == SIZE_MAX ? 0 : fewest;
}

std::string without_wrappers(std::string_view name, size_t wrappers) {
  if (!name.starts_with(kModules)) return std::string(name);
  return std::string(kModules) + std::string(name.substr(kModules.size() + wrappers * kWrapper.size()));
}

}  // namespace msdump
