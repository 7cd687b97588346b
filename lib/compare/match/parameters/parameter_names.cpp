#include "compare/match/parameters/parameter_names.h"

#include <algorithm>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "compare/limits.h"
#include "compare/match/op_sequence.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

std::string_view common_leaf(std::string_view leaf) {
  return leaf == "kernel" || leaf == "embedding_weight" ? "weight" : common_parameter_name(leaf);
}

std::string with_dots(std::string text) {
  std::replace(text.begin(), text.end(), '/', '.');
  return text;
}

std::string common_text(const std::string& name) {
  std::string text = with_dots(name);
  const size_t leaf = text.rfind('.') + 1;
  return text.replace(leaf, std::string::npos, std::string(common_leaf(std::string_view(text).substr(leaf))));
}

// Consecutive digits in a name.
struct Digits {
  size_t begin = 0, end = 0;
  bool component = false;  // the digits are an entire component
  int64_t value = 0;
};

std::vector<Digits> digits_of(std::string_view text) {
  std::vector<Digits> all;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end == begin) {
      ++begin;
      continue;
    }
    // Digits beyond the range of 64 bits are text.
    if (const auto value = parse_i64(text.substr(begin, end - begin))) {
      const bool starts = begin == 0 || text[begin - 1] == '.', ends = end == text.size() || text[end] == '.';
      all.push_back({begin, end, starts && ends, *value});
    }
    begin = end;
  }
  return all;
}

std::string starred(std::string_view text, std::span<const Digits> digits) {
  std::string pattern;
  size_t done = 0;
  for (const Digits& one : digits) {
    pattern += text.substr(done, one.begin - done);
    pattern += '*';
    done = one.end;
  }
  return pattern + std::string(text.substr(done));
}

}  // namespace

std::string parameter_of(const NameFacts& name) {
  const auto entry = parse_msprobe_entry(name.op_name);
  if (!entry || name.slot == "0") return std::string(name.op_name);
  if (entry->kind != MsprobeEntryKind::kModule) return {};
  const std::vector<std::string_view> parts = split(name.op_name, '.');
  std::string result;  // without the prefix, the class, the direction and the number of the call
  for (size_t i = 1; i + 3 < parts.size(); ++i) result.append(parts[i]) += '.';
  return result.append(name.slot);
}

std::vector<ParameterName> parameter_names(const std::vector<std::string>& names) {
  std::vector<ParameterName> result(names.size());
  std::vector<std::vector<Digits>> digits(names.size());
  std::unordered_map<std::string, std::set<size_t>> from_zero;  // by form: which of its numbers are 0 somewhere
  std::unordered_map<std::string, size_t> times;
  for (const std::string& name : names) ++times[common_text(name)];
  for (size_t i = 0; i < names.size(); ++i) {
    result[i].text = common_text(names[i]);
    // If a module has both gamma and weight, each keeps its name.
    if (times[result[i].text] > 1) result[i].text = with_dots(names[i]);
    digits[i] = digits_of(result[i].text);
    result[i].pattern = starred(result[i].text, digits[i]);
    for (size_t k = 0; k < digits[i].size(); ++k) {
      if (digits[i][k].value == 0) from_zero[result[i].pattern].insert(k);
    }
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const std::set<size_t>& zeros = from_zero[result[i].pattern];
    std::vector<Digits> counting;
    for (size_t k = 0; k < digits[i].size(); ++k) {
      if (!digits[i][k].component && !zeros.contains(k)) continue;
      counting.push_back(digits[i][k]);
      result[i].numbers.push_back(digits[i][k].value);
    }
    result[i].pattern = starred(result[i].text, counting);
  }
  return result;
}

ParameterParts parts_of(std::string_view pattern) {
  for (const std::string_view leaf : {std::string_view("weight"), std::string_view("bias")}) {
    if (pattern.size() <= leaf.size() + 1 || !pattern.ends_with(leaf)) continue;
    const std::string_view module = pattern.substr(0, pattern.size() - leaf.size() - 1);
    if (const char separator = pattern[module.size()]; separator == '.' || separator == '_') return {module, leaf};
  }
  const size_t dot = pattern.rfind('.');
  if (dot == std::string_view::npos) return {{}, pattern};
  return {pattern.substr(0, dot), pattern.substr(dot + 1)};
}

std::optional<std::pair<size_t, std::string_view>> layer_in(std::string_view key) {
  for (const std::string_view part : split(key, '.')) {
    if (is_digits(part) && part.size() < 10) return std::pair(static_cast<size_t>(part.data() - key.data()), part);
  }
  return std::nullopt;
}

double name_likeness(std::string_view a, std::string_view b) {
  const size_t longer = std::max(a.size(), b.size());
  if (longer == 0 || longer > kLongestName) return a == b ? 1 : 0;
  return 1 - static_cast<double>(edit_distance(a, b)) / static_cast<double>(longer);
}

std::vector<std::string> short_names(const std::vector<std::string>& names) {
  std::vector<std::vector<std::string_view>> parts;
  size_t fewest = SIZE_MAX;
  for (const std::string& name : names) {
    parts.push_back(split(name, '.'));
    fewest = std::min(fewest, parts.back().size());
  }
  const auto all_same = [&](const auto& part) {
    return std::all_of(parts.begin(), parts.end(), [&](const auto& one) { return part(one) == part(parts.front()); });
  };
  size_t first = 0, last = 0;  // common components at both ends
  while (first + 1 < fewest && all_same([&](const auto& one) { return one[first]; })) ++first;
  while (first + last + 1 < fewest && all_same([&](const auto& one) { return one[one.size() - 1 - last]; })) ++last;
  std::vector<std::string> result;
  for (const auto& one : parts) {
    std::string& text = result.emplace_back();
    for (size_t i = first; i + last < one.size(); ++i) text.append(i == first ? "" : ".").append(one[i]);
  }
  return result;
}

}  // namespace msdump
