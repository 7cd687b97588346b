#include "support/device_net/type_pairs.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "ge/operators/operator_table.h"
#include "ge/operators/tables.h"

namespace msdump::test {
namespace {

// "0>1;1>attr:axis;2>0": every operand is one tensor or an attribute.
std::optional<DeviceSlots> slots_of(std::string_view rule) {
  DeviceSlots slots;
  std::vector<uint32_t> used;
  for (const std::string_view item : split(rule, ';')) {
    const size_t arrow = item.find('>');
    if (arrow == std::string_view::npos || item.substr(0, arrow) != std::to_string(slots.size())) return std::nullopt;
    const std::string_view to = item.substr(arrow + 1);
    if (to.starts_with("attr:")) {
      slots.emplace_back();
    } else if (is_digits(to)) {
      used.push_back(static_cast<uint32_t>(std::stoul(std::string(to))));
      slots.emplace_back(used.back());
    } else {
      return std::nullopt;
    }
  }
  // Files number only the slots that exist.
  std::sort(used.begin(), used.end());
  if (used.empty() || std::adjacent_find(used.begin(), used.end()) != used.end()) return std::nullopt;
  for (auto& slot : slots) {
    if (slot) slot = static_cast<uint32_t>(std::lower_bound(used.begin(), used.end(), *slot) - used.begin());
  }
  return slots;
}

std::vector<TypePair> read_type_pairs() {
  const ge::OperatorTable& table = ge::OperatorTable::get();
  std::vector<TypePair> pairs;
  for (const std::string_view line : split(ge::kOperatorsCsv, '\n')) {
    const std::vector<std::string_view> cells = split(line, ',');
    if (line.starts_with('#') || cells.size() != 5 || cells[2] == "host") continue;
    if (cells[0].starts_with("BNTraining") || cells[0] == "BNInfer") continue;  // no operators of a host
    if (!table.inserted(cells[0]).empty() || !table.inserted(cells[1]).empty()) continue;
    if (table.family(cells[0]) != table.family(cells[1])) continue;
    const auto inputs = slots_of(cells[3]), outputs = slots_of(cells[4]);
    if (!inputs || !outputs) continue;
    const bool same = std::all_of(outputs->begin(), outputs->end(),
                                  [&, i = 0U](const auto& slot) mutable { return slot && *slot == i++; });
    if (same) pairs.push_back({cells[0], cells[1], *inputs, static_cast<uint32_t>(outputs->size())});
  }
  return pairs;
}

}  // namespace

const std::vector<TypePair>& type_pairs() {
  static const std::vector<TypePair> pairs = read_type_pairs();
  return pairs;
}

}  // namespace msdump::test
