#include "config/rules/known_keys.h"

#include <algorithm>
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
