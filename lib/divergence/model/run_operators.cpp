#include "divergence/model/run_operators.h"

#include <string_view>
#include <unordered_map>

#include "msprobe/names.h"

namespace msdump {

RunOperators::RunOperators(const RunView& view) {
  std::unordered_map<std::string_view, uint32_t> types, names;
  const auto number = [](std::unordered_map<std::string_view, uint32_t>& known, std::string_view text) {
    return known.try_emplace(text, static_cast<uint32_t>(known.size())).first->second;
  };
  bool calls = false, modules = false;
  for (uint32_t run = 0; run < view.runs().size(); ++run) {
    const std::string_view type = view.op(run).type, name = view.name(run);
    type_of_.push_back(number(types, type));
    if (types.size() > families_.size()) {
      families_.push_back(gain_family(type));
      gains_.push_back(gain_of(families_.back()));
    }
    unit_of_.push_back(number(names, name));
    if (names.size() == is_module_.size()) continue;
    const auto entry = parse_msprobe_entry(name);
    is_module_.push_back(entry && entry->kind == MsprobeEntryKind::kModule);
    modules = modules || is_module_.back();
    calls = calls || (entry && entry->kind == MsprobeEntryKind::kCall);
  }
  modules_repeat_ = calls && modules;
}

}  // namespace msdump
