#include "config/keys.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "config/key_tables.h"

namespace msdump {
namespace {

constexpr std::array<std::pair<std::string_view, ValueType>, 10> kTypeWords = {{{"any", ValueType::kAny},
                                                                                {"unsigned", ValueType::kUnsigned},
                                                                                {"integer", ValueType::kInteger},
                                                                                {"text", ValueType::kText},
                                                                                {"bool", ValueType::kBool},
                                                                                {"texts", ValueType::kTexts},
                                                                                {"numbers", ValueType::kNumbers},
                                                                                {"steps", ValueType::kSteps},
                                                                                {"object", ValueType::kObject},
                                                                                {"objects", ValueType::kObjects}}};

std::optional<ValueType> type_named(std::string_view word) {
  const auto found =
      std::find_if(kTypeWords.begin(), kTypeWords.end(), [&](const auto& one) { return one.first == word; });
  return found == kTypeWords.end() ? std::nullopt : std::optional(found->second);
}

// Splits at the first separator; the second text is empty without one.
std::pair<std::string_view, std::string_view> halves(std::string_view text, std::string_view separator) {
  const size_t at = text.find(separator);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + separator.size())};
}

std::vector<std::string> words_in(std::string_view text, char separator = ',') {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, separator)) {
    if (!trimmed(word).empty()) words.emplace_back(trimmed(word));
  }
  return words;
}

// Reads a table line by line, each into the last key or the last rule.
class TableReader {
 public:
  TableReader(ConfigKind kind, std::string_view text) : kind_(kind) {
    std::string line;
    for (const std::string_view one : split(text, '\n')) {
      ++number_;
      if (one.starts_with(' ')) {
        line.append(" ").append(trimmed(one));
        continue;
      }
      take(line);
      line = one.starts_with('#') ? "" : one;
    }
    take(line);
  }

  std::vector<ConfigKey> keys;
  std::vector<std::string> faults;

 private:
  void take(std::string_view line) {
    if (line.empty() || take_line(line)) return;
    faults.push_back(fmt::format("before line {}: {}", number_, line));
  }

  bool take_line(std::string_view line) {
    if (line.starts_with('[')) {
      section_ = line.substr(1, line.find(']') - 1);
      return line.ends_with(']');
    }
    const auto [word, rest] = halves(line, " ");
    if (word == "key") return take_key(rest);
    if (keys.empty()) return false;
    if (word == "rule") return take_rule(rest);
    if (keys.back().rules.empty()) return take_attribute(keys.back(), word, rest);
    return take_rule_line(keys.back().rules.back(), word, rest);
  }

  bool take_key(std::string_view text) {
    const auto [name, type] = halves(text, " ");
    const auto known = type_named(type);
    ConfigKey& key = keys.emplace_back();
    key.kind = kind_;
    key.section = section_;
    key.name = name;
    key.type = known.value_or(ValueType::kAny);
    return known.has_value();
  }

  static bool take_attribute(ConfigKey& key, std::string_view word, std::string_view text) {
    if (word == "required") {
      key.required = true;
      return text.empty();
    }
    for (const auto& [name, member] : {std::pair("values", &ConfigKey::values),
                                       {"default", &ConfigKey::fallback},
                                       {"note", &ConfigKey::fallback_note},
                                       {"meaning", &ConfigKey::meaning},
                                       {"tasks", &ConfigKey::tasks}}) {
      if (word != name) continue;
      key.*member = text;
      return !text.empty();
    }
    if (word == "needed") return take_conditions(text, key.needed.emplace_back());
    if (word == "unread") return take_conditions(text, key.unread.emplace_back());
    if (word == "since") return take_version(text, key.since);
    if (word == "until") return take_version(text, key.until);
    if (word == "before") {
      const auto [version, type] = halves(text, " ");
      key.older_type = type_named(type).value_or(ValueType::kAny);
      return take_version(version, key.type_since) && key.older_type != ValueType::kAny;
    }
    if (word == "harmless") {
      key.harmless = words_in(text);
      return !key.harmless.empty();
    }
    if (word != "readers") return false;
    key.readers = text == "pytorch" ? Readers::kPyTorch : text == "mindspore" ? Readers::kMindSpore : Readers::kNone;
    return key.readers != Readers::kNone || text == "none";
  }

  bool take_rule(std::string_view text) {
    const auto [name, pattern] = halves(text, " ");
    const auto [match, words] = halves(pattern, " ");
    KeyRule& rule = keys.back().rules.emplace_back();
    rule.name = name;
    rule.words = words_in(words);
    if (match == "missing") {
      rule.match = KeyRule::Match::kMissing;
      return words.empty();
    }
    rule.match = match == "is" ? KeyRule::Match::kIs : match == "not" ? KeyRule::Match::kNot : KeyRule::Match::kUnless;
    return !rule.words.empty() && (rule.match != KeyRule::Match::kUnless || match == "unless");
  }

  static bool take_rule_line(KeyRule& rule, std::string_view word, std::string_view text) {
    if (word == "says") rule.subject = text;
    if (word == "hint") rule.hint = text;
    if (word != "-") return (word == "says" || word == "hint") && !text.empty();
    const auto [conditions, effect] = halves(text, " -> ");
    RuleCase& one = rule.cases.emplace_back();
    return take_conditions(conditions, one.conditions) && take_effect(effect, one.effect);
  }

  static bool take_effect(std::string_view text, Effect& effect) {
    constexpr std::string_view kWarn = "warn: ";
    if (text == "refused") effect = refused();
    if (text == kNothingWritten) effect = nothing_written();
    if (text.starts_with(kWarn)) effect = ignored(std::string(text.substr(kWarn.size())));
    return text == "fine" || effect.outcome != Outcome::kFine;
  }

  static bool take_conditions(std::string_view text, Conditions& conditions) {
    if (text == "always") return true;
    for (const std::string_view part : split(text, ';')) {
      if (!take_condition(trimmed(part), conditions.emplace_back())) return false;
    }
    return true;
  }

  static bool take_condition(std::string_view text, Condition& condition) {
    using Kind = Condition::Kind;
    const auto [first, rest] = halves(text, " ");
    if (first == "since" || first == "before") {
      condition.kind = first == "since" ? Kind::kSince : Kind::kBefore;
      return take_version(rest, condition.version);
    }
    if (first == "on" || first == "for") {
      condition.kind = first == "on" ? Kind::kDevice : Kind::kFramework;
      condition.words = words_in(rest);
      const std::string_view known = first == "on" ? " cpu gpu ascend " : " pytorch mindspore ";
      const auto is_known = [&](const std::string& one) {
        return known.find(" " + one + " ") != std::string_view::npos;
      };
      return !condition.words.empty() && std::all_of(condition.words.begin(), condition.words.end(), is_known);
    }
    const auto [verb, words] = halves(rest, " ");
    condition.fact = first;
    condition.kind = verb == "has" ? Kind::kHas : words.starts_with("not ") ? Kind::kIsNot : Kind::kIs;
    condition.words = words_in(condition.kind == Kind::kIsNot ? words.substr(4) : words);
    return !condition.words.empty() && (verb == "is" || verb == "has");
  }

  static bool take_version(std::string_view text, Version& version) {
    const auto parsed = parse_version(text);
    version = parsed.value_or(Version{});
    return parsed.has_value();
  }

  ConfigKind kind_;
  size_t number_ = 0;
  std::string section_;
};

const TableReader& table_of(ConfigKind kind) {
  static const TableReader kDataDump(ConfigKind::kDataDump, kDataDumpKeys);
  static const TableReader kMsprobe(ConfigKind::kMsprobe, kMsprobeKeys);
  static const TableReader kAcl(ConfigKind::kAcl, kAclKeys);
  static const TableReader kNone(ConfigKind::kUnknown, "");
  switch (kind) {
    case ConfigKind::kDataDump: return kDataDump;
    case ConfigKind::kMsprobe: return kMsprobe;
    case ConfigKind::kAcl: return kAcl;
    case ConfigKind::kUnknown: break;
  }
  return kNone;
}

}  // namespace

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

std::span<const ConfigKey> keys_of(ConfigKind kind) { return table_of(kind).keys; }

std::vector<std::string> faults_in_table(ConfigKind kind) { return table_of(kind).faults; }

const ConfigKey* find_key(ConfigKind kind, std::string_view section, std::string_view name) {
  const std::span<const ConfigKey> keys = keys_of(kind);
  const auto found = std::find_if(keys.begin(), keys.end(),
                                  [&](const ConfigKey& key) { return key.section == section && key.name == name; });
  return found == keys.end() ? nullptr : &*found;
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
    if (key.section == section) names.push_back(key.name);
  }
  return names;
}

}  // namespace msdump
