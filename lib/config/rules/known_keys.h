// Checks the keys of one object of a configuration against the table: unknown keys, with the likely intention; keys in
// the wrong section; duplicate keys.
#pragma once

#include <string>
#include <string_view>

#include "config/rules/finding.h"
#include "config/rules/schema.h"

namespace msdump {

struct KeyedObject {
  const JsonValue& object;
  ConfigKind kind = ConfigKind::kUnknown;
  std::string_view section;  // of the table
  std::string path;          // "e2e_dump_settings"; empty at the top
};

// "e2e_dump_settings.enable"
[[nodiscard]] std::string key_path(const KeyedObject& where, std::string_view key);
[[nodiscard]] Spot spot_of(const KeyedObject& where, const JsonMember& member);
// The last member of that name, which is the one that counts; null when there is none.
[[nodiscard]] const JsonMember* find_member(const JsonValue& object, std::string_view key);

// Duplicate keys: the last one counts, in MindSpore's reader and in Python's.
void check_repeated_keys(Findings& findings, const KeyedObject& where);

// A key that is not in the table: "did you mean", or the section it belongs in.
void complain_of_unknown_key(Findings& findings, const KeyedObject& where, const JsonMember& member);

// For a missing key: a key of the object that may have been meant for it.
[[nodiscard]] std::string hint_for_missing(const KeyedObject& where, std::string_view missing);

// The list's items: "kernels[3]".
[[nodiscard]] Spot spot_of_item(const Spot& list, size_t index, const JsonValue& item);

}  // namespace msdump
