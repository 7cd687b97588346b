#include "compare/match/device/device_signs.h"

#include <set>
#include <string_view>

#include "compare/match/device/device_name.h"
#include "ge/operators/operator_table.h"

namespace msdump {

DeviceSigns device_signs(const std::vector<SequencedOp>& operators) {
  const ge::OperatorTable& table = ge::OperatorTable::get();
  std::set<std::string_view> types;
  for (const SequencedOp& one : operators) {
    if (one.tensors.empty()) continue;
    if (one.type == "TransData" || names_several(one.name)) return DeviceSigns::kCertain;
    if (table.is_of_device(one.type)) types.insert(one.type);
  }
  return types.size() > 2 ? DeviceSigns::kTypes : DeviceSigns::kNone;
}

}  // namespace msdump
