#include "graph/op_name.h"

#include <algorithm>

#include "base/text.h"

namespace msdump {
namespace {

size_t digits_end(std::string_view text, size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

}  // namespace

void normalise_op_name(std::string& name) { std::transform(name.begin(), name.end(), name.begin(), normal_char); }

std::string normalised_op_name(std::string_view name) {
  std::string result(name);
  normalise_op_name(result);
  return result;
}

std::optional<NumberedName> split_number(std::string_view name) {
  const size_t mark = name.rfind(kNumberMark);
  if (mark == std::string_view::npos) return std::nullopt;
  const size_t begin = mark + kNumberMark.size();
  const size_t end = digits_end(name, begin);
  const auto number = parse_u64(name.substr(begin, end - begin));
  if (!number) return std::nullopt;
  const std::string_view suffix = name.substr(end);
  const bool is_suffix = suffix.empty() || (suffix[0] == '_' && is_digits(suffix.substr(1)));
  if (!is_suffix) return std::nullopt;
  return NumberedName{name.substr(0, mark), *number, suffix};
}

std::vector<size_t> number_ends(std::string_view name) {
  std::vector<size_t> ends;
  for (size_t mark = name.find(kNumberMark); mark != std::string_view::npos; mark = name.find(kNumberMark, mark + 1)) {
    const size_t begin = mark + kNumberMark.size();
    size_t end = digits_end(name, begin);
    if (end == begin) continue;
    ends.push_back(end);
    if (end + 1 < name.size() && name[end] == '_' && is_digit(name[end + 1])) ends.push_back(digits_end(name, end + 1));
  }
  return ends;
}

}  // namespace msdump
