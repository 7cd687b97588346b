#include "dump/names/identity.h"

#include "base/containers.h"
#include "base/text.h"

namespace msdump {

std::string_view name_of(Io io) {
  static constexpr auto kNames =
      enum_table<Io, std::string_view>("input", "output", "l1buffer", "space", "parameter", "debug", "argument");
  return kNames[io];
}

std::optional<Io> io_named(std::string_view name) {
  for (const Io io : kIos) {
    if (name == name_of(io)) return io;
  }
  return std::nullopt;
}

std::optional<uint64_t> time_of(const NameFacts& name) {
  constexpr size_t kDateDigits = 20;
  return parse_u64(name.timestamp.substr(name.timestamp.size() == kDateDigits ? 1 : 0));
}

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
  object.add("slot", slot_value(name.slot))
      .add("task_id", name.task_id.plain())
      .add("stream_id", name.stream_id.plain());
  object.add("timestamp", report::text_or_null(name.timestamp));
  return object;
}

}  // namespace msdump
