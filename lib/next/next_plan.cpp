#include "next/next_plan.h"

#include "base/containers.h"

namespace msdump {

std::string_view name_of(DumpExtent extent) {
  static constexpr auto kNames = enum_table<DumpExtent, std::string_view>("all", "range", "list");
  return kNames[extent];
}

std::string_view name_of(Suspect::Open open) {
  static constexpr auto kNames = enum_table<Suspect::Open, std::string_view>(
      "pinned", "hidden_calls", "not_dumped", "statistics", "no_input", "before", "steps_before");
  return kNames[open];
}

std::string_view name_of(PlanState state) {
  static constexpr auto kNames = enum_table<PlanState, std::string_view>("nothing", "pinned", "asked");
  return kNames[state];
}

}  // namespace msdump
