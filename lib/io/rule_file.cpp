#include "io/rule_file.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace msdump {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF", kBlanksInLine = " \t\r";

std::string_view without_comment(std::string_view line, bool trailing_comments) {
  for (size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    const std::string_view before = line.substr(0, at);
    const bool after_blank = at > 0 && kBlanksInLine.find(line[at - 1]) != std::string_view::npos;
    if (trimmed(before).empty() || (trailing_comments && after_blank)) return before;
  }
  return line;
}

}  // namespace

std::vector<RuleWord> RuleLine::words() const {
  std::vector<RuleWord> words;
  for (size_t at = 0; at < text.size(); at = std::min(text.find_first_not_of(kBlanksInLine, at), text.size())) {
    const size_t end = std::min(text.find_first_of(kBlanksInLine, at), text.size());
    words.push_back({text.substr(at, end - at), column + at});
    at = end;
  }
  return words;
}

tl::unexpected<Error> RuleLine::wrong(Error error) const {
  error.message = fmt::format("line {}: {}", number, error.message);
  return fail(std::move(error));
}

tl::unexpected<Error> RuleLine::wrong(const RuleWord& word, Error error) const {
  error.message = fmt::format("line {}, column {}: {}", number, word.column, error.message);
  return fail(std::move(error));
}

KeyValue key_value_of(std::string_view text) {
  const size_t sign = text.find('=');
  if (sign == std::string_view::npos) return {trimmed(text), std::nullopt};
  return {trimmed(text.substr(0, sign)), trimmed(text.substr(sign + 1))};
}

Result<int64_t> integer_within(std::string_view key, std::string_view text, int64_t least, int64_t most) {
  const std::optional<int64_t> number = parse_i64(text);
  if (number && *number >= least && *number <= most) return *number;
  return fail(ErrorCode::kUsage, "{}={}: must be a number from {} to {}", key, excerpt(text), least, most);
}

std::optional<double> parse_f64(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end && !text.empty() ? std::optional(value) : std::nullopt;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates, std::string otherwise) {
  const std::optional<std::string> near = closest_match(word, candidates);
  return near ? fmt::format("did you mean '{}'?", escape_for_terminal(*near)) : std::move(otherwise);
}

RuleReader::RuleReader(std::string_view text, const RuleFormat& format) : rest_(text), format_(format) {
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

Result<std::optional<RuleLine>> RuleReader::next() {
  if (line_ == 0 && rest_.size() > format_.most_bytes) {
    return fail(ErrorCode::kTooLarge, "{} bytes of {}; at most {}", rest_.size(), format_.content, format_.most_bytes);
  }
  while (!at_end_) {
    const size_t end = rest_.find('\n');
    const std::string_view whole = rest_.substr(0, end);
    at_end_ = end == std::string_view::npos;
    rest_.remove_prefix(at_end_ ? rest_.size() : end + 1);
    RuleLine line{trimmed(without_comment(whole, format_.trailing_comments)), ++line_};
    if (whole.size() > format_.most_line_bytes) {
      return line.wrong(
          make_error(ErrorCode::kTooLarge, "{} bytes; at most {}", whole.size(), format_.most_line_bytes));
    }
    if (line.text.empty()) continue;
    line.column = static_cast<size_t>(line.text.data() - whole.data()) + 1;
    if (++rules_ > format_.most_rules) {
      return line.wrong(make_error(ErrorCode::kTooLarge, "more than {} {}", format_.most_rules, format_.rule));
    }
    return line;
  }
  return std::nullopt;
}

}  // namespace msdump
