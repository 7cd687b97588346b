// Checks an object of a configuration against the table of its keys (config/keys.h). Finds unknown, misplaced, repeated and
// missing keys and wrong types, and applies the rules of the table.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "config/finding.h"
#include "config/keys.h"

namespace msdump {

struct KeyedObject {
  const JsonValue& object;
  ConfigKind kind = ConfigKind::kUnknown;
  std::string_view section;  // in the table
  std::string path;          // "e2e_dump_settings"; empty at the top
  size_t offset = 0;         // the place of missing keys
};

// The facts that conditions ask for, beside the setup.
struct ConfigFacts {
  // The value of a key; null if it is absent or of the wrong type.
  std::function<const JsonValue*(std::string_view key)> value;
  // A fact that the head of the table describes; no value for other names.
  std::function<std::optional<std::string>(std::string_view name, const Setup& setup)> derived;
};

// "e2e_dump_settings.enable"
[[nodiscard]] std::string key_path(const KeyedObject& where, std::string_view key);
// The key in the file, or its value.
[[nodiscard]] Spot spot_of(const KeyedObject& where, const JsonMember& member);
[[nodiscard]] Spot value_spot(const KeyedObject& where, const JsonMember& member);
// An item of a list: "kernels[3]".
[[nodiscard]] Spot spot_of_item(const Spot& list, size_t index, const JsonValue& item);
// The last member of that name, which is the one that counts; null if there is none.
[[nodiscard]] const JsonMember* find_member(const JsonValue& object, std::string_view key);

// "iteration is 'x'"
[[nodiscard]] std::string is_text(const JsonMember& member);
// A value in words: 'all', 3, a list, an object, null.
[[nodiscard]] std::string in_words(const JsonValue& value);
// "did you mean 'L1'?", otherwise all words.
[[nodiscard]] std::string words_hint(const JsonValue& value, const std::vector<std::string>& words);
// For a missing key: a key of the object that may have been meant for it.
[[nodiscard]] std::string hint_for_missing(const KeyedObject& where, std::string_view missing);

// True if the value means true to Python.
[[nodiscard]] bool is_truthy(const JsonValue& value);
[[nodiscard]] bool is_text_list(const JsonValue& value);
[[nodiscard]] bool has_type(ValueType type, const JsonValue& value);
// True if nothing is lost when the key is not read: the value is the default, false to Python, or harmless.
[[nodiscard]] bool asks_for_nothing(const ConfigKey& key, const JsonValue& value);

// Duplicate keys: the last one counts, for MindSpore's reader and for Python's.
void check_repeated_keys(Findings& findings, const KeyedObject& where);
// A key that is not in the table: "did you mean", or the section that it belongs in.
void report_unknown_key(Findings& findings, const KeyedObject& where, const JsonMember& member);
// Both for all keys of an object.
void check_known_keys(Findings& findings, const KeyedObject& where);
// Releases that lack a key, and types that its readers refuse.
void check_type(Findings& findings, const KeyedObject& where, const JsonMember& member, const ConfigFacts& facts);
// Keys of the section that are required or needed.
void check_missing_keys(Findings& findings, const KeyedObject& where, const ConfigFacts& facts);
// The rules of the section.
void check_rules(Findings& findings, const KeyedObject& where, const ConfigFacts& facts);

}  // namespace msdump
