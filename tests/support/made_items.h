// Items of msprobe's json by their names, for the tests of what pairs them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/match/msprobe/msprobe_items.h"

namespace msdump::test {

inline MsprobeState state_of_item(std::string_view name) {
  if (name.find("parameters_grad") != std::string_view::npos) return MsprobeState::kParametersGrad;
  if (name.find(".parameters.") != std::string_view::npos) return MsprobeState::kParameters;
  return name.find(".output.") != std::string_view::npos ? MsprobeState::kOutput : MsprobeState::kInput;
}

// Items of these names, each the entry before its ".input." or ".output.".
inline MsprobeItems items_of(const std::vector<std::string>& names) {
  MsprobeItems items;
  items.framework = "mindspore";
  for (const std::string& name : names) {
    MsprobeItem item;
    item.name = item.key = name;
    item.state = state_of_item(name);
    size_t end = name.size();
    for (const std::string_view part : {".input.", ".output.", ".parameters."}) end = std::min(end, name.find(part));
    const std::string entry = name.substr(0, end);
    if (items.entries.empty() || items.entries.back() != entry) items.entries.push_back(entry);
    item.entry = static_cast<uint32_t>(items.entries.size() - 1);
    items.items.push_back(std::move(item));
  }
  return items;
}

}  // namespace msdump::test
