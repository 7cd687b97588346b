#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "config/msprobe/msprobe_rules.h"

namespace msdump::msprobe {
namespace {

constexpr int64_t kLargestStep = 1'000'000;
constexpr size_t kMostSteps = 1'000'000;

// As Python's int() reads it: blanks around it, a sign, single '_' between digits.
std::optional<int64_t> python_int(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool between =
        i > 0 && i + 1 < text.size() && is_digits(text.substr(i - 1, 1)) && is_digits(text.substr(i + 1, 1));
    if (text[i] == '_' && between) continue;
    digits += text[i];
  }
  return is_digits(digits) ? parse_i64(digits) : std::nullopt;
}

// The fault of an item of rank or step; empty when it has none.
std::string fault_of_text(std::string_view text) {
  const std::vector<std::string_view> ends = split(text, '-');
  if (ends.size() > 2) return "write \"3\" or \"3-5\"";
  for (const std::string_view end : ends) {
    const auto number = python_int(end);
    if (!number) return "write \"3\" or \"3-5\"";
    if (*number > kLargestStep) return fmt::format("{} is the largest number allowed", kLargestStep);
  }
  return *python_int(ends.front()) > *python_int(ends.back()) ? "write the smaller one first" : "";
}

std::string fault_of_item(const JsonValue& item) {
  if (item.is(JsonKind::kString)) return fault_of_text(item.text);
  if (!item.is(JsonKind::kNumber)) return "whole numbers and \"a-b\" are wanted";
  if (item.text.find_first_not_of("-0123456789") != std::string::npos) return "whole numbers and \"a-b\" are wanted";
  const auto number = item.as_int();
  if (!number || *number < 0 || *number > kLargestStep) return fmt::format("numbers go from 0 to {}", kLargestStep);
  return "";
}

// "Module.fc1.Linear.forward.0"
std::string fault_of_module(std::string_view name) {
  constexpr std::string_view kForward = ".forward.";
  if (!name.starts_with("Module.")) return "it has to begin with 'Module.'";
  if (name.find(".backward.") != std::string_view::npos) return "backward calls are not loaded";
  const size_t at = name.rfind(kForward);
  const bool ends = at != std::string_view::npos && is_digits(name.substr(at + kForward.size()));
  return ends ? "" : "it has to end with '.forward.N'";
}

void check_modules(Rules& rules, const KeyedObject& load, size_t offset) {
  const JsonMember* member = find_member(load.object, "modules");
  const Spot spot{key_path(load, "modules"), member == nullptr ? offset : member->value.offset};
  if (member == nullptr || !is_text_list(member->value) || member->value.items.empty()) {
    rules.findings.error(
        spot, {"load-modules",
               fmt::format("modules is {}: {}", member == nullptr ? "missing" : in_words(member->value), kRefused),
               "a list of strings is wanted, at least one"});
    return;
  }
  std::set<std::string_view> seen;
  for (size_t i = 0; i < member->value.items.size(); ++i) {
    const JsonValue& item = member->value.items[i];
    std::string fault = fault_of_module(item.text);
    if (!seen.insert(item.text).second) fault = "it is a duplicate";
    if (fault.empty()) continue;
    rules.findings.error(spot_of_item(spot, i, item),
                         {"load-modules", fmt::format("modules[{}] is {}: {}", i, in_words(item), kRefused), fault});
  }
}

}  // namespace

void check_steps(Rules& rules, const JsonMember& member, const Spot& spot) {
  if (is_null(member.value)) return;
  if (!member.value.is(JsonKind::kArray)) {
    rules.findings.error(
        spot, {"rank-step", fmt::format("{}: {}", is_text(member), kRefused), "a list is wanted: [0, \"2-5\"]"});
    return;
  }
  const std::vector<JsonValue>& items = member.value.items;
  if (items.size() > kMostSteps)
    rules.findings.error(spot,
                         {"rank-step", fmt::format("{} has more than {} items: {}", member.key, kMostSteps, kRefused)});
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string fault = fault_of_item(items[i]);
    if (fault.empty()) continue;
    rules.findings.error(
        spot_of_item(spot, i, items[i]),
        {"rank-step", fmt::format("{}[{}] is {}: {}", member.key, i, in_words(items[i]), kRefused), fault});
  }
}

void check_load(Rules& rules) {
  const JsonMember* section = rules.top(kLoadSection);
  if (section == nullptr) return;
  static const JsonValue kEmpty;
  const bool is_object = section->value.is(JsonKind::kObject);
  if (!is_object && is_truthy(section->value)) {
    rules.findings.error({section->key, section->value.offset},
                         {"wrong-type", fmt::format("{}: {}", is_text(*section), kRefused), "an object is wanted"});
    return;
  }
  const KeyedObject load{is_object ? section->value : kEmpty, ConfigKind::kMsprobe, kLoadSection, section->key};
  check_repeated_keys(rules.findings, load);
  for (const JsonMember& member : load.object.members) {
    if (find_key(load.kind, load.section, member.key) == nullptr) complain_of_unknown_key(rules.findings, load, member);
  }
  check_modules(rules, load, section->value.offset);
  const JsonMember* path = find_member(load.object, "path");
  if (!is_truthy(path) || !path->value.is(JsonKind::kString)) {
    rules.findings.error(
        {key_path(load, "path"), path == nullptr ? section->value.offset : path->value.offset},
        {"load-path", fmt::format("path is {}: {}", path == nullptr ? "missing" : in_words(path->value), kRefused),
         "name the folder of an earlier dump"});
  }
  const JsonMember* after = find_member(load.object, "dump_after_load");
  if (after != nullptr && !after->value.is(JsonKind::kBool)) {
    rules.findings.error({key_path(load, after->key), after->value.offset},
                         {"wrong-type", fmt::format("{}: {}", is_text(*after), kRefused), "true or false is wanted"});
  }
  for (const std::string_view key : {"rank", "step"}) {
    if (const JsonMember* member = find_member(load.object, key))
      check_steps(rules, *member, {key_path(load, key), member->value.offset});
  }
}

}  // namespace msdump::msprobe
