// The keys that a dump configuration may have, by family, section and version: one table for the lint and for
// --explain.
//
//   data_dump   common_dump_settings, e2e_dump_settings (synchronous), async_dump_settings (to 1.2)
//   msprobe     the top level; the block named after the task; load; items of slice
//   acl         dump; items of dump.dump_list
// Source: reference/dump-layouts-and-statistics.md 5, reference/compare-and-check.md 1.6, the documents of AscendCL.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/finding.h"
#include "config/setups.h"

namespace msdump {

enum class ValueType : uint8_t { kAny, kUnsigned, kInteger, kText, kBool, kTexts, kNumbers, kSteps, kObject, kObjects };
// "a list of strings"
[[nodiscard]] std::string_view name_of(ValueType type);

enum class Readers : uint8_t { kBoth, kPyTorch, kMindSpore, kNone };  // kNone: older releases of msprobe only

struct ConfigKey {
  ConfigKind kind = ConfigKind::kUnknown;
  std::string_view section = {};  // empty: the top level
  std::string_view name = {};
  ValueType type = ValueType::kAny;
  std::string_view values = {};         // for people: "0, 1, 2"
  std::string_view fallback = {};       // the default; empty: the key is required, or has no default
  std::string_view fallback_note = {};  // for people: when it holds
  bool required = false;
  Version since = {}, until = {};  // of MindSpore; until: the first release that does not read it, 0: none
  Readers readers = Readers::kBoth;
  std::string_view tasks =
      {};  // for the block of an msprobe task: the tasks that read it, "statistics,tensor"; empty: all
  std::string_view meaning = {};
};

inline constexpr std::string_view kCommonSection = "common_dump_settings", kE2eSection = "e2e_dump_settings",
                                  kAsyncSection = "async_dump_settings";
inline constexpr std::string_view kTaskSection = "<task>", kLoadSection = "load", kSliceSection = "slice";
inline constexpr std::string_view kAclSection = "dump", kAclListSection = "dump_list";

[[nodiscard]] std::span<const ConfigKey> data_dump_keys();
[[nodiscard]] std::span<const ConfigKey> msprobe_keys();
[[nodiscard]] std::span<const ConfigKey> acl_keys();
[[nodiscard]] std::span<const ConfigKey> keys_of(ConfigKind kind);

// Null when the section has no such key. If a key has existed twice over time, the newest.
[[nodiscard]] const ConfigKey* find_key(ConfigKind kind, std::string_view section, std::string_view name);
[[nodiscard]] bool exists_in(const ConfigKey& key, const Version& version);
// "MindSpore 2.3 and later", "MindSpore 1.0 to 1.2", "PyTorch only"; empty when there is no limit.
[[nodiscard]] std::string availability(const ConfigKey& key);
// "0 with e2e_dump_settings; required without"
[[nodiscard]] std::string default_text(const ConfigKey& key);
[[nodiscard]] bool task_reads(const ConfigKey& key, std::string_view task);

// The keys that `wanted` means: a name or a glob, "section.name", in any case.
[[nodiscard]] std::vector<const ConfigKey*> keys_named(std::string_view wanted);
// "did you mean 'dump_mode'?"; empty when nothing is near.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);
[[nodiscard]] std::vector<std::string> names_of(ConfigKind kind, std::string_view section);

// Checks the keys of one object of a configuration against the table: unknown keys, with the likely intention; keys in
// the wrong section; duplicate keys.

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
