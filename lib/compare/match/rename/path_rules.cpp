#include "compare/match/rename/path_rules.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace msdump {
namespace {

constexpr std::string_view kEndsComponent = "./-";

bool has_rule(std::string_view line) { return !line.empty() && line.front() != '#'; }

struct Component {
  size_t begin, end;
};

std::vector<Component> components_of(std::string_view name) {
  std::vector<Component> components;
  for (size_t begin = 0;;) {
    const size_t end = std::min(name.find_first_of(kEndsComponent, begin), name.size());
    components.push_back({begin, end});
    if (end == name.size()) return components;
    begin = end + 1;
  }
}

// What the star of a pattern with one or none is; nothing if the text does not match.
std::optional<std::string_view> star_of(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text ? std::optional(std::string_view()) : std::nullopt;
  const std::string_view before = pattern.substr(0, star), after = pattern.substr(star + 1);
  if (text.size() < before.size() + after.size() || !text.starts_with(before) || !text.ends_with(after))
    return std::nullopt;
  return text.substr(star, text.size() - before.size() - after.size());
}

// The right side with the texts of its stars; nothing if the components from `first` on are others.
std::optional<std::string> replacement_at(const PathRule& rule, std::string_view name,
                                          const std::vector<Component>& components, size_t first) {
  if (first + rule.from.size() > components.size()) return std::nullopt;
  std::string result = rule.to;
  size_t star = result.find('*');
  for (size_t i = 0; i < rule.from.size(); ++i) {
    const Component& one = components[first + i];
    const auto text = star_of(rule.from[i], name.substr(one.begin, one.end - one.begin));
    if (!text) return std::nullopt;
    if (rule.from[i].find('*') == std::string::npos || star == std::string::npos) continue;
    result.replace(star, 1, *text);
    star = result.find('*', star + text->size());
  }
  return result;
}

std::string renamed_by(const PathRule& rule, std::string_view name) {
  const std::vector<Component> components = components_of(name);
  std::string result;
  size_t done = 0;  // of the name
  for (size_t i = 0; i < components.size();) {
    const auto replacement = replacement_at(rule, name, components, i);
    if (!replacement) {
      ++i;
      continue;
    }
    result += name.substr(done, components[i].begin - done);
    result += *replacement;
    i += rule.from.size();
    done = components[i - 1].end;
    if (replacement->empty() && done < name.size()) ++done;  // with what ends the component
  }
  return result + std::string(name.substr(done));
}

tl::unexpected<Error> wrong_rule(size_t line, std::string_view what) {
  return fail(make_error(ErrorCode::kUsage, "line {}: {}", line, what)
                  .with_hint("a rule is: part of the candidate's path = part of the reference's"));
}

}  // namespace

bool looks_like_path_rules(std::string_view text) {
  for (const std::string_view whole : split(text, '\n')) {
    const std::string_view line = trimmed(whole);
    if (!has_rule(line)) continue;
    const bool of_yaml = line.starts_with("- ") || line[0] == '{' || line[0] == '[' || line.ends_with(':') ||
                         line.find(": ") != std::string_view::npos;
    return !of_yaml && line.find('=') != std::string_view::npos && line.find(',') == std::string_view::npos;
  }
  return false;
}

Result<std::vector<PathRule>> read_path_rules(std::string_view text) {
  std::vector<PathRule> rules;
  size_t number = 0;
  for (const std::string_view whole : split(text, '\n')) {
    ++number;
    const std::string_view line = trimmed(whole);
    if (!has_rule(line)) continue;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) return wrong_rule(number, fmt::format("'{}' has no '='", excerpt(line)));
    const std::string_view from = trimmed(line.substr(0, equals)), to = trimmed(line.substr(equals + 1));
    if (from.empty()) return wrong_rule(number, "the left side is empty");
    if (std::count(to.begin(), to.end(), '*') > std::count(from.begin(), from.end(), '*'))
      return wrong_rule(number, "more stars on the right than on the left");
    PathRule& rule = rules.emplace_back();
    for (const Component& one : components_of(from)) {
      rule.from.emplace_back(from.substr(one.begin, one.end - one.begin));
      if (std::count(rule.from.back().begin(), rule.from.back().end(), '*') > 1)
        return wrong_rule(number, "two stars in one component");
    }
    rule.to = to;
  }
  return rules;
}

std::string renamed_by(const std::vector<PathRule>& rules, std::string_view name) {
  std::string result(name);
  for (const PathRule& rule : rules) result = renamed_by(rule, result);
  return result;
}

}  // namespace msdump
