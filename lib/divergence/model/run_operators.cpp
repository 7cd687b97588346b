#include "divergence/model/run_operators.h"

#include <string_view>
#include <unordered_map>

#include "msprobe/names.h"

namespace msdump {

RunOperators::RunOperators(const RunView& view) {
  std::unordered_map<std::string_view, uint32_t> types;
  bool calls = false, modules = false;
  for (uint32_t run = 0; run < view.runs().size(); ++run) {
    const std::string_view type = view.op(run).type;
    type_of_.push_back(types.try_emplace(type, static_cast<uint32_t>(types.size())).first->second);
    if (types.size() > families_.size()) {
      families_.push_back(gain_family(type));
      gains_.push_back(gain_of(families_.back()));
    }
    unit_of_.push_back(view.name_number(run));
    if (unit_of_.back() < is_module_.size()) continue;
    const auto entry = parse_msprobe_entry(view.name(run));
    is_module_.push_back(entry && entry->kind == MsprobeEntryKind::kModule);
    modules = modules || is_module_.back();
    calls = calls || (entry && entry->kind == MsprobeEntryKind::kCall);
  }
  modules_repeat_ = calls && modules;
}

}  // namespace msdump
