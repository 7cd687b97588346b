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

bool matches_op_name(const std::vector<std::string>& globs, std::string_view full_name,
                     const std::vector<std::string>& in_files) {
  const std::string normalised = in_files.empty() ? normalised_op_name(full_name) : std::string();
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    const auto is_for = [&](std::string_view name) { return glob_match(glob, name); };
    return is_for(full_name) || is_for(full_name.substr(full_name.rfind('/') + 1)) ||
           (in_files.empty() ? is_for(normalised) : std::any_of(in_files.begin(), in_files.end(), is_for));
  });
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
