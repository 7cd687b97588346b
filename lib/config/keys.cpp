#include "config/keys.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {

std::string_view name_of(ValueType type) {
  switch (type) {
    case ValueType::kAny: return "anything";
    case ValueType::kUnsigned: return "a non-negative whole number";
    case ValueType::kInteger: return "a whole number";
    case ValueType::kText: return "a string";
    case ValueType::kBool: return "true or false";
    case ValueType::kTexts: return "a list of strings";
    case ValueType::kNumbers: return "a list of numbers";
    case ValueType::kSteps: return "a list of numbers and \"a-b\"";
    case ValueType::kObject: return "an object";
    case ValueType::kObjects: return "a list of objects";
  }
  return "";
}

std::span<const ConfigKey> keys_of(ConfigKind kind) {
  switch (kind) {
    case ConfigKind::kDataDump: return data_dump_keys();
    case ConfigKind::kMsprobe: return msprobe_keys();
    case ConfigKind::kAcl: return acl_keys();
    case ConfigKind::kUnknown: break;
  }
  return {};
}

const ConfigKey* find_key(ConfigKind kind, std::string_view section, std::string_view name) {
  const ConfigKey* found = nullptr;
  for (const ConfigKey& key : keys_of(kind)) {
    if (key.section == section && key.name == name && (found == nullptr || found->since < key.since)) found = &key;
  }
  return found;
}

bool exists_in(const ConfigKey& key, const Version& version) {
  return version >= key.since && (key.until == Version{} || version < key.until);
}

std::string availability(const ConfigKey& key) {
  switch (key.readers) {
    case Readers::kPyTorch: return "PyTorch only";
    case Readers::kMindSpore: return "MindSpore only";
    case Readers::kNone: return "older releases of msprobe only (before 26)";
    case Readers::kBoth: break;
  }
  const std::span<const Version> releases = known_releases();
  if (key.until != Version{}) {
    const auto last = std::find(releases.begin(), releases.end(), key.until) - 1;
    return fmt::format("MindSpore {} to {}", short_text(std::max(key.since, releases.front())), short_text(*last));
  }
  return key.since == Version{} ? "" : fmt::format("MindSpore {} and later", short_text(key.since));
}

std::string default_text(const ConfigKey& key) {
  return fmt::format("{}{}{}", key.fallback, key.fallback.empty() || key.fallback_note.empty() ? "" : " ",
                     key.fallback_note);
}

bool task_reads(const ConfigKey& key, std::string_view task) {
  if (key.tasks.empty()) return true;
  const std::vector<std::string_view> tasks = split(key.tasks, ',');
  return std::find(tasks.begin(), tasks.end(), task) != tasks.end();
}

std::vector<const ConfigKey*> keys_named(std::string_view wanted) {
  const std::string pattern = to_lower(wanted);
  std::vector<const ConfigKey*> found;
  for (const ConfigKind kind : {ConfigKind::kDataDump, ConfigKind::kMsprobe, ConfigKind::kAcl}) {
    for (const ConfigKey& key : keys_of(kind)) {
      const std::string name = to_lower(key.name), full = to_lower(fmt::format("{}.{}", key.section, key.name));
      if (glob_match(pattern, name) || glob_match(pattern, full)) found.push_back(&key);
    }
  }
  return found;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  constexpr size_t kLongestTypo = 64;  // a longer word is not a misspelling
  constexpr size_t kShortest = 3;      // a shorter word is one or two letters away from any other
  if (name.size() < kShortest || name.size() > kLongestTypo) return "";
  const auto near = closest_match(name, candidates);
  return near ? fmt::format("did you mean '{}'?", *near) : "";
}

std::vector<std::string> names_of(ConfigKind kind, std::string_view section) {
  std::vector<std::string> names;
  for (const ConfigKey& key : keys_of(kind)) {
    if (key.section == section) names.emplace_back(key.name);
  }
  return names;
}

namespace {

std::string section_title(std::string_view section) {
  if (section.empty()) return "the top level";
  if (section == kTaskSection) return "the block of a task";
  if (section == kSliceSection || section == kAclListSection) return fmt::format("an item of {}", section);
  return std::string(section);
}

// The sections of this family that know the key.
std::string home_of(ConfigKind kind, std::string_view name) {
  for (const ConfigKey& key : keys_of(kind)) {
    if (key.name == name) return section_title(key.section);
  }
  return "";
}

}  // namespace

std::string key_path(const KeyedObject& where, std::string_view key) {
  return where.path.empty() ? std::string(key) : fmt::format("{}.{}", where.path, key);
}

Spot spot_of(const KeyedObject& where, const JsonMember& member) {
  return {key_path(where, member.key), member.key_offset};
}

const JsonMember* find_member(const JsonValue& object, std::string_view key) {
  const auto found = std::find_if(object.members.rbegin(), object.members.rend(),
                                  [&](const JsonMember& member) { return member.key == key; });
  return found == object.members.rend() ? nullptr : &*found;
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

void complain_of_unknown_key(Findings& findings, const KeyedObject& where, const JsonMember& member) {
  if (findings.has_enough_of("unknown-key")) return findings.warning(spot_of(where, member), {"unknown-key", ""});
  const std::string shown = excerpt(member.key), home = home_of(where.kind, member.key);
  if (!home.empty()) {
    findings.warning(
        spot_of(where, member),
        {"wrong-section", fmt::format("{} is not a key of {}: it is ignored", shown, section_title(where.section)),
         fmt::format("it belongs in {}", home)});
    return;
  }
  const std::vector<std::string> here = names_of(where.kind, where.section);
  std::string hint = did_you_mean(member.key, here);
  if (hint.empty()) {
    std::vector<std::string> all;
    for (const ConfigKey& key : keys_of(where.kind)) all.emplace_back(key.name);
    hint = did_you_mean(member.key, all);
  }
  findings.warning(spot_of(where, member),
                   {"unknown-key", fmt::format("'{}' is not a key: it is ignored", shown), hint});
}

std::string hint_for_missing(const KeyedObject& where, std::string_view missing) {
  std::vector<std::string> unknown;
  for (const JsonMember& member : where.object.members) {
    if (find_key(where.kind, where.section, member.key) == nullptr) unknown.push_back(member.key);
  }
  const std::vector<std::string> names = {std::string(missing)};
  for (const std::string& name : unknown) {
    if (!did_you_mean(name, names).empty())
      return fmt::format("'{}' is present; did you mean '{}'?", excerpt(name), missing);
  }
  return "";
}

Spot spot_of_item(const Spot& list, size_t index, const JsonValue& item) {
  return {fmt::format("{}[{}]", list.key, index), item.offset};
}

}  // namespace msdump
