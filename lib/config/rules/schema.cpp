#include "config/rules/schema.h"

#include <algorithm>

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

}  // namespace msdump
