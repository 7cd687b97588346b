// The keys that a dump configuration may have, and what its reader makes of their values. They are data: the
// tables data_dump.keys, msprobe.keys and acl.keys. Their form, in which a line that begins with blanks continues another:
//
//   [SECTION]                 [] is the top level
//   key NAME TYPE             the lines below describe this key
//   required                  every run needs it
//   needed CONDITIONS         a run needs it if these hold
//   unread CONDITIONS         its value is not read if these hold
//   since V                   the first release of MindSpore that has it
//   until V                   the first release of MindSpore that has it no longer
//   before V TYPE             its type in older releases
//   readers pytorch           the only framework that reads it; none: older releases of msprobe only
//   tasks TASK,TASK           the tasks of msprobe that read it; without this line, all
//   harmless WORDS            values that lose nothing if they are not read, beside the default
//   values, default, note     what `--explain` prints: the values, the default, when the default holds
//   meaning TEXT              what the key does
//
//   rule NAME PATTERN         a finding NAME if the value fits PATTERN and some case below has an effect
//   says TEXT                 the beginning of its message, instead of "KEY is VALUE"
//   hint TEXT                 its hint; without this line, the words of PATTERN
//   - CONDITIONS -> EFFECT    the first case whose conditions all hold decides for a setup; without one, all is fine
//
// PATTERN is one of
//   is WORDS        the value is one of these
//   not WORDS       it has the type of the key, and is none of these
//   unless WORDS    it is none of these, whatever its type
//   missing         there is no such key
// WORDS stand between commas. A word is a text, number or boolean, or N.. for numbers from N on. These words are classes:
//   <any>  <null>  <bool>  <text>  <truthy>  <falsy>  <list>  <empty list>
//   <items>  a list that is not empty
//   <texts>  a list of texts
//   <names>  a list of texts that is not empty
//
// CONDITIONS stand between semicolons: always; since V and before V (releases of MindSpore); on DEVICES; for FRAMEWORK;
// FACT is WORDS; FACT is not WORDS; FACT has WORD (in a list). The head of the table describes facts that are no keys.
//
// EFFECT is fine; refused; nothing is written; warn: TEXT.
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

struct Condition {
  enum class Kind : uint8_t { kSince, kBefore, kDevice, kFramework, kIs, kIsNot, kHas };
  Kind kind = Kind::kSince;
  Version version;
  std::string fact;
  std::vector<std::string> words;
};
using Conditions = std::vector<Condition>;  // all of them

struct RuleCase {
  Conditions conditions;
  Effect effect;
};

struct KeyRule {
  enum class Match : uint8_t { kIs, kNot, kUnless, kMissing };
  std::string name;
  Match match = Match::kIs;
  std::vector<std::string> words;
  std::string subject, hint;  // empty: "KEY is VALUE"; the words
  std::vector<RuleCase> cases;
};

struct ConfigKey {
  ConfigKind kind = ConfigKind::kUnknown;
  std::string section, name;
  ValueType type = ValueType::kAny;
  std::string values, fallback, fallback_note, meaning;
  bool required = false;
  std::vector<Conditions> needed, unread;  // any of them
  Version since, until;
  Version type_since;  // 0: it has always had this type
  ValueType older_type = ValueType::kAny;
  Readers readers = Readers::kBoth;
  std::string tasks;  // "statistics,tensor"; empty: all
  std::vector<std::string> harmless;
  std::vector<KeyRule> rules;
};

inline constexpr std::string_view kCommonSection = "common_dump_settings", kE2eSection = "e2e_dump_settings",
                                  kAsyncSection = "async_dump_settings";
inline constexpr std::string_view kTaskSection = "<task>", kLoadSection = "load", kSliceSection = "slice";
inline constexpr std::string_view kAclSection = "dump", kAclListSection = "dump_list";

[[nodiscard]] std::span<const ConfigKey> keys_of(ConfigKind kind);
// The lines of a table that could not be read, each with its number; empty but for a mistake in the table.
[[nodiscard]] std::vector<std::string> faults_in_table(ConfigKind kind);

// Null if the section has no such key.
[[nodiscard]] const ConfigKey* find_key(ConfigKind kind, std::string_view section, std::string_view name);
[[nodiscard]] bool exists_in(const ConfigKey& key, const Version& version);
// "MindSpore 2.3 and later", "MindSpore 1.0 to 1.2", "PyTorch only"; empty without a limit.
[[nodiscard]] std::string availability(const ConfigKey& key);
// "0 with e2e_dump_settings; required without"
[[nodiscard]] std::string default_text(const ConfigKey& key);
[[nodiscard]] bool task_reads(const ConfigKey& key, std::string_view task);

// The keys that fit a name or a glob, "section.name", in any case.
[[nodiscard]] std::vector<const ConfigKey*> keys_named(std::string_view wanted);
// "did you mean 'dump_mode'?"; empty if no candidate is near.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);
[[nodiscard]] std::vector<std::string> names_of(ConfigKind kind, std::string_view section);

}  // namespace msdump
