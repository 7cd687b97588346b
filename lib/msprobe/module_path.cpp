#include "msprobe/module_path.h"

#include "msprobe/names.h"

namespace msdump {

std::optional<std::string_view> module_path(std::string_view name) {
  const auto entry = parse_msprobe_entry(name);
  if (!entry) return name;
  if (entry->kind != MsprobeEntryKind::kModule) return std::nullopt;
  for (int part = 0; part < 3; ++part) name = name.substr(0, name.rfind('.'));  // class, direction and call
  return name;
}

}  // namespace msdump
