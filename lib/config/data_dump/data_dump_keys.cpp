#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "config/data_dump/data_dump_rules.h"

namespace msdump::data_dump {
namespace {

// Whether a run in this setup reads the key at all.
bool reads(const DataDump& dump, const ConfigKey& key, const Setup& setup) {
  if (!exists_in(key, setup.version)) return false;
  if (key.name == "op_debug_mode" && key.section == kCommonSection)
    return setup.version >= kV23 || !dump.is_synchronous(setup);
  if (key.name == "file_format") return dump.is_asynchronous(setup);
  if (key.name == "overflow_number") return dump.debug_mode(setup) == 3;
  if (key.name == "statistic_category") return dump.saves_statistics();
  if (key.name == "sample_num") return dump.sample_mode == 1U;
  return true;
}

bool has_type(const ConfigKey& key, const JsonValue& value, const Setup& setup) {
  if (key.name == "iteration" && setup.version < kV13) return parse_u64(value.text) && value.is(JsonKind::kNumber);
  switch (key.type) {
    case ValueType::kUnsigned: return value.is(JsonKind::kNumber) && parse_u64(value.text).has_value();
    case ValueType::kText: return value.is(JsonKind::kString);
    case ValueType::kBool: return value.is(JsonKind::kBool);
    case ValueType::kTexts:
    case ValueType::kNumbers: return value.is(JsonKind::kArray);
    default: return true;
  }
}

std::string wanted_type(const ConfigKey& key) {
  if (key.name == "iteration") return "a string is wanted from 1.3 on, a number before";
  if (key.type == ValueType::kTexts || key.type == ValueType::kNumbers) return "a list is wanted";
  return fmt::format("{} is wanted", name_of(key.type));
}

// A release that does not know a key behaves as if it had its default.
bool is_fallback(const ConfigKey& key, const JsonValue& value) {
  if (value.is(JsonKind::kString) || value.is(JsonKind::kNumber)) return value.text == key.fallback;
  if (value.is(JsonKind::kArray)) return value.items.empty();
  return value.is(JsonKind::kBool) && !value.boolean && key.fallback == "false";
}

void check_member(Rules& rules, const KeyedObject& where, const JsonMember& member) {
  const ConfigKey* key = find_key(where.kind, where.section, member.key);
  if (key == nullptr) return complain_of_unknown_key(rules.findings, where, member);
  const Spot spot = spot_of(where, member);
  const bool section_reported = key->section == kAsyncSection;  // the section is for the same releases as its keys
  if (!section_reported && !is_fallback(*key, member.value)) {
    rules.findings.judge(
        spot, {"not-in-version", fmt::format("{} is for {}", member.key, availability(*key))},
        [&](const Setup& setup) { return exists_in(*key, setup.version) ? fine() : other("it is not read"); });
  }
  rules.findings.judge({spot.key, member.value.offset}, {"wrong-type", is_text(member), wanted_type(*key)},
                       [&](const Setup& setup) {
                         const bool wrong = reads(rules.dump, *key, setup) && !has_type(*key, member.value, setup);
                         return wrong ? refused() : fine();
                       });
  const auto number = member.value.is(JsonKind::kNumber) ? parse_u64(member.value.text) : std::nullopt;
  if (key->type == ValueType::kUnsigned && number && *number > UINT32_MAX) {
    rules.findings.warning(
        {spot.key, member.value.offset},
        {"bad-value", fmt::format("{}: only its lower 32 bits are kept, {}", is_text(member), *number & UINT32_MAX)});
  }
}

// `is_needed`: does a run in this setup end without the key?
template <class IsNeeded>
void require_key(Rules& rules, const KeyedObject& where, std::string_view name, size_t offset,
                 const IsNeeded& is_needed) {
  if (find_member(where.object, name) != nullptr) return;
  rules.findings.judge({key_path(where, name), offset},
                       {"missing-key", fmt::format("{} is missing", name), hint_for_missing(where, name)},
                       [&](const Setup& setup) { return is_needed(setup) ? refused() : fine(); });
}

void check_common(Rules& rules, const KeyedObject& where, size_t offset) {
  for (const ConfigKey& key : data_dump_keys()) {
    if (key.section == kCommonSection && key.required)
      require_key(rules, where, key.name, offset, [](const Setup&) { return true; });
  }
  require_key(rules, where, "op_debug_mode", offset,
              [&](const Setup& setup) { return setup.version >= kV13 && !rules.dump.is_synchronous(setup); });
}

void check_e2e(Rules& rules, const KeyedObject& where, size_t offset) {
  for (const std::string_view name : {"enable", "trans_flag"}) {
    require_key(rules, where, name, offset, [](const Setup& setup) { return setup.version < kV24; });
  }
}

void check_async(Rules& rules, const KeyedObject& where, size_t offset) {
  for (const std::string_view name : {"enable", "op_debug_mode"}) {
    require_key(rules, where, name, offset, [](const Setup& setup) { return setup.version < kV13; });
  }
}

void check_section(Rules& rules, const JsonMember& section) {
  // MindSpore looks for keys in any value; a list has none.
  static const JsonValue kNoObject;
  const bool is_object = section.value.is(JsonKind::kObject);
  const KeyedObject where{is_object ? section.value : kNoObject, ConfigKind::kDataDump, section.key, section.key};
  if (!is_object) {
    rules.findings.warning(
        {section.key, section.value.offset},
        {"wrong-type", fmt::format("{} is {}, not an object", section.key, in_words(section.value))});
  }
  check_repeated_keys(rules.findings, where);
  for (const JsonMember& member : where.object.members) check_member(rules, where, member);
  if (section.key == kCommonSection) check_common(rules, where, section.key_offset);
  if (section.key == kE2eSection) check_e2e(rules, where, section.key_offset);
  if (section.key == kAsyncSection) check_async(rules, where, section.key_offset);
}

}  // namespace

void check_keys(Rules& rules) {
  const KeyedObject top{rules.root, ConfigKind::kDataDump, "", ""};
  check_repeated_keys(rules.findings, top);
  // When a section appears twice, the last one counts.
  std::map<std::string_view, const JsonMember*> sections;
  for (const JsonMember& member : rules.root.members) sections[member.key] = &member;
  for (const JsonMember& member : rules.root.members) {
    const ConfigKey* key = find_key(ConfigKind::kDataDump, "", member.key);
    if (key == nullptr) {
      complain_of_unknown_key(rules.findings, top, member);
      continue;
    }
    rules.findings.judge(
        spot_of(top, member), {"not-in-version", fmt::format("{} is for {}", member.key, availability(*key))},
        [&](const Setup& setup) { return exists_in(*key, setup.version) ? fine() : other("it is not read"); });
    if (&member == sections[member.key]) check_section(rules, member);
  }
  if (rules.root.find(kCommonSection) == nullptr) {
    rules.findings.error({std::string(kCommonSection), rules.root.offset},
                         {"missing-key", fmt::format("{} is missing: {}", kCommonSection, kRefused),
                          hint_for_missing(top, kCommonSection)});
  }
}

}  // namespace msdump::data_dump
