#include "dump/names/identity_value.h"

#include "base/text.h"

namespace msdump {

report::Value slot_value(std::string_view slot) {
  if (slot.empty()) return {};
  if (const auto number = parse_i64(slot); number && *number >= 0) return *number;
  return slot;
}

report::Object identity_value(const Identity& identity) {
  const NameFacts& name = identity.name;
  report::Object object;
  object.add("rank", identity.rank).add("graph", identity.graph).add("step", identity.step);
  object.add("op_name", report::text_or_null(name.op_name)).add("op_type", report::text_or_null(name.op_type));
  object.add("io", name.slot.empty() ? report::Value() : report::Value(name_of(name.io)));
  object.add("slot", slot_value(name.slot)).add("task_id", name.task_id).add("stream_id", name.stream_id);
  object.add("timestamp", report::text_or_null(name.timestamp));
  return object;
}

}  // namespace msdump
