#include "graph/arguments/argument_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {
namespace {

using ge::ArgumentKind;

// Graphs print six digits, so this is their relative rounding.
constexpr double kPrinted = 5e-6;

bool is_separator(char c) { return c == ' ' || c == ',' || c == '(' || c == ')' || c == '[' || c == ']'; }

// True for "I64", "Float32", "Bool": a type that may stand before one number in parentheses.
bool is_type_of_number(std::string_view word) {
  static constexpr std::array<std::string_view, 9> kTypes = {"I",   "U",    "F",     "BF",    "Bool",
                                                             "Int", "UInt", "Float", "BFloat"};
  while (!word.empty() && is_digit(word.back())) word.remove_suffix(1);
  return std::find(kTypes.begin(), kTypes.end(), word) != kTypes.end();
}

std::optional<double> number_in(std::string_view word) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

// Adds one word of a literal. False if it is not a number.
bool add_word(std::string_view word, ArgumentValue& value) {
  const bool yes = word == "true" || word == "True", no = word == "false" || word == "False";
  if (yes || no) {
    value.is_flag = true;
    value.numbers.push_back(yes ? 1 : 0);
    return true;
  }
  const auto number = number_in(word);
  if (!number || value.numbers.size() >= kMostArgumentElements) return false;
  value.is_whole = value.is_whole && word.find_first_of(".eEnN") == std::string_view::npos;
  value.numbers.push_back(*number);
  return true;
}

bool is_near(double x, double y, const ArgumentValue& a, const ArgumentValue& b) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (x == y) return true;
  if (a.is_whole && b.is_whole) return false;
  const double slack = (a.rtol + b.rtol) * std::max(std::fabs(x), std::fabs(y)) + std::max(a.atol, b.atol);
  return std::isfinite(slack) && std::fabs(x - y) <= slack;
}

bool any_negative(const std::vector<double>& numbers) {
  return std::any_of(numbers.begin(), numbers.end(), [](double x) { return x < 0; });
}

std::vector<double> sorted(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// Axes counted from the front. No value if one is out of range for the rank.
std::optional<std::vector<double>> from_front(std::vector<double> axes, int64_t rank) {
  for (double& axis : axes) {
    if (axis < 0) axis += static_cast<double>(rank);
    if (axis < 0 || axis >= static_cast<double>(rank)) return std::nullopt;
  }
  return axes;
}

ArgumentMatch match_axes(const ArgumentValue& a, const ArgumentValue& b, const ArgumentFacts& facts) {
  const bool order = facts.kind == ArgumentKind::kOrder;
  const auto arranged = [&](std::vector<double> axes) { return order ? axes : sorted(std::move(axes)); };
  if (arranged(a.numbers) == arranged(b.numbers)) return ArgumentMatch::kEqual;
  if (!facts.same_axes || a.numbers.empty() || b.numbers.empty()) return ArgumentMatch::kUnknown;
  if (!any_negative(a.numbers) && !any_negative(b.numbers)) return ArgumentMatch::kDiffer;
  if (!facts.rank) return ArgumentMatch::kUnknown;
  const auto front_a = from_front(a.numbers, *facts.rank), front_b = from_front(b.numbers, *facts.rank);
  if (!front_a || !front_b) return ArgumentMatch::kUnknown;
  return arranged(*front_a) == arranged(*front_b) ? ArgumentMatch::kEqual : ArgumentMatch::kDiffer;
}

ArgumentMatch match_sizes(const ArgumentValue& a, const ArgumentValue& b) {
  if (a.numbers == b.numbers) return ArgumentMatch::kEqual;
  if (a.numbers.size() != b.numbers.size() || any_negative(a.numbers) || any_negative(b.numbers))
    return ArgumentMatch::kUnknown;
  return sorted(a.numbers) == sorted(b.numbers) ? ArgumentMatch::kUnknown : ArgumentMatch::kDiffer;
}

}  // namespace

std::string ArgumentValue::text() const {
  std::string text;
  for (const double number : numbers) {
    text += text.empty() ? "" : ", ";
    // The shortest text that a float32 comes back from: 1e-05, not 9.99999974737875e-06.
    text += is_flag ? (number != 0 ? "true" : "false")
            : std::fabs(number) < std::numeric_limits<float>::max() && !is_whole
                ? fmt::format("{}", static_cast<float>(number))
                : fmt::format("{}", number);
  }
  return is_list && numbers.size() != 1 ? "(" + text + ")" : text;
}

std::string_view literal_of(std::string_view constant) {
  constexpr std::string_view kValue = "value=";
  const size_t at = constant.find(kValue);
  if (!constant.starts_with("Tensor(") || !constant.ends_with(')') || at == std::string_view::npos) return constant;
  return trimmed(constant.substr(at + kValue.size(), constant.size() - at - kValue.size() - 1));
}

std::optional<ArgumentValue> parse_argument(std::string_view literal) {
  ArgumentValue value;
  value.rtol = kPrinted;
  for (size_t at = 0; at < literal.size();) {
    if (is_separator(literal[at])) {
      value.is_list = value.is_list || literal[at] == '(' || literal[at] == '[';
      ++at;
      continue;
    }
    size_t end = at;
    while (end < literal.size() && !is_separator(literal[end])) ++end;
    std::string_view word = literal.substr(at, end - at);
    if (end < literal.size() && literal[end] == '(') {
      const size_t close = literal.find(')', end);
      if (!is_type_of_number(word) || close == std::string_view::npos) return std::nullopt;
      if (word.starts_with("Bool")) value.is_flag = true;
      if (word.front() == 'F' || word.front() == 'B') value.is_whole = word.starts_with("Bool") && value.is_whole;
      word = literal.substr(end + 1, close - end - 1);
      end = close + 1;
    }
    if (!add_word(word, value)) return std::nullopt;
    at = end;
  }
  if (value.numbers.empty() && !value.is_list) return std::nullopt;
  return value;
}

ArgumentValue argument_of(std::vector<double> elements, DType dtype, bool is_list) {
  ArgumentValue value;
  value.numbers = std::move(elements);
  value.is_list = is_list;
  value.is_flag = dtype == DType::kBool;
  value.is_whole = false;
  switch (dtype) {
    case DType::kFloat16:
      value.rtol = 0x1p-11;
      value.atol = 0x1p-25;
      break;
    case DType::kBfloat16: value.rtol = 0x1p-8; break;
    case DType::kFloat32: value.rtol = 0x1p-23; break;
    case DType::kFloat64: break;
    default: value.is_whole = true;
  }
  return value;
}

ArgumentMatch match_arguments(const ArgumentValue& a, const ArgumentValue& b, const ArgumentFacts& facts) {
  switch (facts.kind) {
    case ArgumentKind::kAxis:
    case ArgumentKind::kOrder: return match_axes(a, b, facts);
    case ArgumentKind::kShape: return match_sizes(a, b);
    default: break;
  }
  if (a.numbers.size() != b.numbers.size() || a.numbers.empty()) return ArgumentMatch::kUnknown;
  bool equal = true;
  for (size_t i = 0; i < a.numbers.size(); ++i) {
    const double x = a.numbers[i], y = b.numbers[i];
    if (facts.kind == ArgumentKind::kFlag) {
      equal = equal && (x != 0) == (y != 0);
    } else if (facts.kind == ArgumentKind::kCount) {
      // A negative count may stand for "none", or for one that the framework chooses.
      if ((x < 0) != (y < 0)) return ArgumentMatch::kUnknown;
      equal = equal && x == y;
    } else {
      equal = equal && is_near(x, y, a, b);
    }
  }
  return equal ? ArgumentMatch::kEqual : ArgumentMatch::kDiffer;
}

}  // namespace msdump
