#include "config/key_checks.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {
namespace {

std::string section_title(std::string_view section) {
  if (section.empty()) return "the top level";
  if (section == kTaskSection) return "the block of a task";
  if (section == kSliceSection || section == kAclListSection) return fmt::format("an item of {}", section);
  return std::string(section);
}

// The first section of the table that knows the key; empty if none does.
std::string home_of(ConfigKind kind, std::string_view name) {
  for (const ConfigKey& key : keys_of(kind)) {
    if (key.name == name) return section_title(key.section);
  }
  return "";
}

bool is_class(std::string_view word) { return word.starts_with('<'); }

bool fits_class(const JsonValue& value, std::string_view word) {
  const bool list = value.is(JsonKind::kArray);
  if (word == "<any>") return true;
  if (word == "<null>") return value.is(JsonKind::kNull);
  if (word == "<bool>") return value.is(JsonKind::kBool);
  if (word == "<text>") return value.is(JsonKind::kString);
  if (word == "<list>") return list;
  if (word == "<empty list>") return list && value.items.empty();
  if (word == "<items>") return list && !value.items.empty();
  if (word == "<texts>") return is_text_list(value);
  if (word == "<names>") return is_text_list(value) && !value.items.empty();
  return is_truthy(value) == (word == "<truthy>");
}

// "3", or "3.." for 3 and more.
bool fits_text(std::string_view text, std::string_view word) {
  if (!word.ends_with("..")) return text == word;
  const auto number = parse_i64(text), least = parse_i64(word.substr(0, word.size() - 2));
  return number && least && *number >= *least;
}

// A scalar as its reader has it: MindSpore keeps the lower 32 bits of a number.
std::optional<std::string> scalar_text(ConfigKind kind, const JsonValue& value) {
  if (value.is(JsonKind::kString)) return value.text;
  if (value.is(JsonKind::kBool)) return value.boolean ? "true" : "false";
  if (!value.is(JsonKind::kNumber)) return std::nullopt;
  if (kind != ConfigKind::kDataDump) return value.text;
  const auto number = parse_u64(value.text);
  if (!number) return std::nullopt;
  return std::to_string(*number & std::numeric_limits<uint32_t>::max());
}

// `typed`: texts and numbers are compared only with values of the key's type.
bool fits(ConfigKind kind, const JsonValue& value, const std::vector<std::string>& words, bool typed) {
  const auto scalar = typed ? scalar_text(kind, value) : std::nullopt;
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return is_class(word) ? fits_class(value, word) : scalar && fits_text(*scalar, word);
  });
}

bool fits(const KeyRule& rule, const ConfigKey& key, const JsonMember* member) {
  if (rule.match == KeyRule::Match::kMissing || member == nullptr)
    return rule.match == KeyRule::Match::kMissing && member == nullptr;
  const bool typed = has_type(key.type, member->value), among = fits(key.kind, member->value, rule.words, typed);
  if (rule.match == KeyRule::Match::kIs) return among;
  return !among && (typed || rule.match == KeyRule::Match::kUnless);
}

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool holds(const Condition& condition, ConfigKind kind, const ConfigFacts& facts, const Setup& setup) {
  switch (condition.kind) {
    case Condition::Kind::kSince: return setup.version >= condition.version;
    case Condition::Kind::kBefore: return setup.version < condition.version;
    case Condition::Kind::kDevice: return contains(condition.words, name_of(setup.device));
    case Condition::Kind::kFramework: return contains(condition.words, name_of(setup.framework));
    default: break;
  }
  const JsonValue* const value = facts.value(condition.fact);
  if (condition.kind == Condition::Kind::kHas)
    return value != nullptr && std::any_of(value->items.begin(), value->items.end(), [&](const JsonValue& item) {
             return fits(kind, item, condition.words, true);
           });
  const auto derived = facts.derived(condition.fact, setup);
  const bool is = derived ? std::any_of(condition.words.begin(), condition.words.end(),
                                        [&](const std::string& word) { return fits_text(*derived, word); })
                          : value != nullptr && fits(kind, *value, condition.words, true);
  return is == (condition.kind == Condition::Kind::kIs);
}

bool hold(const Conditions& conditions, ConfigKind kind, const ConfigFacts& facts, const Setup& setup) {
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const Condition& one) { return holds(one, kind, facts, setup); });
}

bool any_holds(const std::vector<Conditions>& alternatives, ConfigKind kind, const ConfigFacts& facts,
               const Setup& setup) {
  return std::any_of(alternatives.begin(), alternatives.end(),
                     [&](const Conditions& one) { return hold(one, kind, facts, setup); });
}

Effect effect_of(const KeyRule& rule, ConfigKind kind, const ConfigFacts& facts, const Setup& setup) {
  for (const RuleCase& one : rule.cases) {
    if (!hold(one.conditions, kind, facts, setup)) continue;
    if (kind == ConfigKind::kAcl && one.effect.text == kRefused) return refused("the configuration is refused");
    return one.effect;
  }
  return fine();
}

Complaint complaint_of(const KeyRule& rule, const ConfigKey& key, const JsonMember* member) {
  Complaint complaint{rule.name, rule.subject, rule.hint};
  if (complaint.subject.empty()) complaint.subject = member == nullptr ? key.name + " is missing" : is_text(*member);
  if (!rule.hint.empty() || member == nullptr || rule.match == KeyRule::Match::kIs) return complaint;
  std::vector<std::string> words;
  std::copy_if(rule.words.begin(), rule.words.end(), std::back_inserter(words),
               [](const std::string& word) { return !is_class(word); });
  complaint.hint = words_hint(member->value, words);
  return complaint;
}

std::string wanted_type(const ConfigKey& key) {
  if (key.type == ValueType::kTexts || key.type == ValueType::kNumbers) return "a list is wanted";
  if (key.type_since == Version{}) return fmt::format("{} is wanted", name_of(key.type));
  return fmt::format("{} is wanted from {} on, {} before", name_of(key.type), short_text(key.type_since),
                     name_of(key.older_type));
}

// A release that does not know a key behaves as if the key had its default.
bool is_default(const ConfigKey& key, const JsonValue& value) {
  if (key.type == ValueType::kObject) return false;
  if (value.is(JsonKind::kString) || value.is(JsonKind::kNumber)) return value.text == key.fallback;
  if (value.is(JsonKind::kArray)) return value.items.empty();
  return value.is(JsonKind::kBool) && !value.boolean && key.fallback == "false";
}

// msprobe checks types in the rules of its table, AscendCL those of strings.
bool is_type_checked(const ConfigKey& key) {
  return key.kind == ConfigKind::kDataDump || (key.kind == ConfigKind::kAcl && key.type == ValueType::kText);
}

}  // namespace

std::string key_path(const KeyedObject& where, std::string_view key) {
  return where.path.empty() ? std::string(key) : fmt::format("{}.{}", where.path, key);
}

Spot spot_of(const KeyedObject& where, const JsonMember& member) {
  return {key_path(where, member.key), member.key_offset};
}

Spot value_spot(const KeyedObject& where, const JsonMember& member) {
  return {key_path(where, member.key), member.value.offset};
}

Spot spot_of_item(const Spot& list, size_t index, const JsonValue& item) {
  return {fmt::format("{}[{}]", list.key, index), item.offset};
}

const JsonMember* find_member(const JsonValue& object, std::string_view key) {
  const auto found = std::find_if(object.members.rbegin(), object.members.rend(),
                                  [&](const JsonMember& member) { return member.key == key; });
  return found == object.members.rend() ? nullptr : &*found;
}

std::string is_text(const JsonMember& member) {
  return fmt::format("{} is {}", excerpt(member.key), in_words(member.value));
}

std::string in_words(const JsonValue& value) {
  switch (value.kind) {
    case JsonKind::kNull: return "null";
    case JsonKind::kBool: return value.boolean ? "true" : "false";
    case JsonKind::kNumber: return excerpt(value.text);
    case JsonKind::kString: return fmt::format("'{}'", excerpt(value.text));
    case JsonKind::kArray: return value.items.empty() ? "an empty list" : "a list";
    case JsonKind::kObject: return value.members.empty() ? "an empty object" : "an object";
  }
  return "";
}

std::string words_hint(const JsonValue& value, const std::vector<std::string>& words) {
  const std::string near = value.is(JsonKind::kString) ? did_you_mean(value.text, words) : "";
  return near.empty() ? fmt::format("use one of {}", fmt::join(words, ", ")) : near;
}

std::string hint_for_missing(const KeyedObject& where, std::string_view missing) {
  const std::vector<std::string> names = {std::string(missing)};
  for (const JsonMember& member : where.object.members) {
    if (find_key(where.kind, where.section, member.key) == nullptr && !did_you_mean(member.key, names).empty())
      return fmt::format("'{}' is present; did you mean '{}'?", excerpt(member.key), missing);
  }
  return "";
}

bool is_truthy(const JsonValue& value) {
  switch (value.kind) {
    case JsonKind::kNull: return false;
    case JsonKind::kBool: return value.boolean;
    case JsonKind::kNumber: return value.as_double() != 0.0;
    case JsonKind::kString: return !value.text.empty();
    case JsonKind::kArray: return !value.items.empty();
    case JsonKind::kObject: return !value.members.empty();
  }
  return false;
}

bool is_text_list(const JsonValue& value) {
  return value.is(JsonKind::kArray) && std::all_of(value.items.begin(), value.items.end(),
                                                   [](const JsonValue& item) { return item.is(JsonKind::kString); });
}

bool has_type(ValueType type, const JsonValue& value) {
  switch (type) {
    case ValueType::kUnsigned: return value.is(JsonKind::kNumber) && parse_u64(value.text).has_value();
    case ValueType::kInteger: return value.is(JsonKind::kNumber) && value.as_int().has_value();
    case ValueType::kText: return value.is(JsonKind::kString);
    case ValueType::kBool: return value.is(JsonKind::kBool);
    case ValueType::kTexts:
    case ValueType::kNumbers:
    case ValueType::kSteps:
    case ValueType::kObjects: return value.is(JsonKind::kArray);
    case ValueType::kAny:
    case ValueType::kObject: return true;
  }
  return true;
}

bool asks_for_nothing(const ConfigKey& key, const JsonValue& value) {
  return !is_truthy(value) || is_default(key, value) || fits(key.kind, value, key.harmless, true);
}

void check_repeated_keys(Findings& findings, const KeyedObject& where) {
  struct Occurrences {
    size_t count = 0;
    const JsonMember* last = nullptr;
  };
  std::map<std::string_view, Occurrences> keys;
  for (const JsonMember& member : where.object.members) {
    Occurrences& of_key = keys[member.key];
    ++of_key.count;
    of_key.last = &member;
  }
  for (const JsonMember& member : where.object.members) {
    const Occurrences& of_key = keys[member.key];
    if (of_key.count < 2 || of_key.last != &member) continue;
    const bool two = of_key.count == 2;
    findings.warning(spot_of(where, member), {"duplicate-key",
                                              fmt::format("{} appears {}: the last one counts", excerpt(member.key),
                                                          two ? "twice" : fmt::format("{} times", of_key.count)),
                                              two ? "remove the other" : "remove the others"});
  }
}

void report_unknown_key(Findings& findings, const KeyedObject& where, const JsonMember& member) {
  if (findings.has_enough_of("unknown-key")) return findings.warning(spot_of(where, member), {"unknown-key", ""});
  const std::string shown = excerpt(member.key), home = home_of(where.kind, member.key);
  if (!home.empty()) {
    findings.warning(
        spot_of(where, member),
        {"wrong-section", fmt::format("{} is not a key of {}: it is ignored", shown, section_title(where.section)),
         fmt::format("it belongs in {}", home)});
    return;
  }
  std::string hint = did_you_mean(member.key, names_of(where.kind, where.section));
  if (hint.empty()) {
    std::vector<std::string> all;
    for (const ConfigKey& key : keys_of(where.kind)) all.push_back(key.name);
    hint = did_you_mean(member.key, all);
  }
  findings.warning(spot_of(where, member),
                   {"unknown-key", fmt::format("'{}' is not a key: it is ignored", shown), hint});
}

void check_known_keys(Findings& findings, const KeyedObject& where) {
  check_repeated_keys(findings, where);
  for (const JsonMember& member : where.object.members) {
    if (find_key(where.kind, where.section, member.key) == nullptr) report_unknown_key(findings, where, member);
  }
}

void check_type(Findings& findings, const KeyedObject& where, const JsonMember& member, const ConfigFacts& facts) {
  const ConfigKey* const key = find_key(where.kind, where.section, member.key);
  if (key == nullptr) return report_unknown_key(findings, where, member);
  const ConfigKey* const section = find_key(where.kind, "", where.section);
  const bool as_section = section != nullptr && section->since == key->since && section->until == key->until;
  if (!as_section && !is_default(*key, member.value)) {
    findings.judge(
        spot_of(where, member), {"not-in-version", fmt::format("{} is for {}", member.key, availability(*key))},
        [&](const Setup& setup) { return exists_in(*key, setup.version) ? fine() : ignored("it is not read"); });
  }
  if (!is_type_checked(*key)) return;
  const Effect effect = where.kind == ConfigKind::kAcl ? refused("the configuration is refused") : refused();
  findings.judge(
      value_spot(where, member), {"wrong-type", is_text(member), wanted_type(*key)}, [&](const Setup& setup) {
        const ValueType type = setup.version < key->type_since ? key->older_type : key->type;
        const bool is_read = exists_in(*key, setup.version) && !any_holds(key->unread, key->kind, facts, setup);
        return is_read && !has_type(type, member.value) ? effect : fine();
      });
  const auto number = member.value.is(JsonKind::kNumber) ? parse_u64(member.value.text) : std::nullopt;
  if (key->type == ValueType::kUnsigned && number && *number > UINT32_MAX) {
    findings.warning(value_spot(where, member), {"bad-value", fmt::format("{}: only its lower 32 bits are kept, {}",
                                                                          is_text(member), *number & UINT32_MAX)});
  }
}

void check_missing_keys(Findings& findings, const KeyedObject& where, const ConfigFacts& facts) {
  for (const ConfigKey& key : keys_of(where.kind)) {
    if (key.section != where.section || (!key.required && key.needed.empty())) continue;
    if (find_member(where.object, key.name) != nullptr) continue;
    findings.judge({key_path(where, key.name), where.offset},
                   {"missing-key", key.name + " is missing", hint_for_missing(where, key.name)},
                   [&](const Setup& setup) {
                     const bool needed = (key.required && exists_in(key, setup.version)) ||
                                         any_holds(key.needed, key.kind, facts, setup);
                     return needed ? refused() : fine();
                   });
  }
}

void check_rules(Findings& findings, const KeyedObject& where, const ConfigFacts& facts) {
  for (const ConfigKey& key : keys_of(where.kind)) {
    if (key.section != where.section || key.rules.empty()) continue;
    const JsonMember* const member = find_member(where.object, key.name);
    const Spot spot = member == nullptr ? Spot{key_path(where, key.name), where.offset} : value_spot(where, *member);
    for (const KeyRule& rule : key.rules) {
      if (!fits(rule, key, member)) continue;
      findings.judge(spot, complaint_of(rule, key, member),
                     [&](const Setup& setup) { return effect_of(rule, key.kind, facts, setup); });
    }
  }
}

}  // namespace msdump
