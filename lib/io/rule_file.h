// Rule files: the text files in which a user states rules, one on a line (--tolerances, --layout, --map).
//
//   * A byte order mark, blank lines and "\r" before the end of a line are ignored.
//   * '#' begins a comment: at the start of a line, and in formats with `trailing_comments` also after a blank.
//   * An error begins with "line L: " or "line L, column C: "; columns are bytes, from 1.
//   * A file, a line or a number of rules beyond the bounds of the format is kTooLarge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace msdump {

struct RuleFormat {
  std::string_view content;  // "tolerances", for messages
  std::string_view rule;     // what a line holds: "rules", for messages
  uint64_t most_bytes = 0;
  size_t most_rules = SIZE_MAX, most_line_bytes = SIZE_MAX;
  bool trailing_comments = true;
};

struct RuleWord {
  std::string_view text;
  size_t column = 1;
};

// A line without its comment and the blanks around it; never empty.
struct RuleLine {
  std::string_view text;
  size_t number = 1, column = 1;

  [[nodiscard]] std::vector<RuleWord> words() const;
  // The error with the place of the line, or of one of its words, before its message.
  [[nodiscard]] tl::unexpected<Error> wrong(Error error) const;
  [[nodiscard]] tl::unexpected<Error> wrong(const RuleWord& word, Error error) const;
};

// "key=value" without the blanks around both; no value if there is no '='.
struct KeyValue {
  std::string_view key;
  std::optional<std::string_view> value;
};
[[nodiscard]] KeyValue key_value_of(std::string_view text);

// kUsage, "KEY=TEXT: must be a number from LEAST to MOST", unless the text is such an integer.
Result<int64_t> integer_within(std::string_view key, std::string_view text, int64_t least, int64_t most);

// The whole text as a number, which may be infinite or NaN.
[[nodiscard]] std::optional<double> parse_f64(std::string_view text);

// "did you mean 'X'?" with the closest match of the word; `otherwise` if there is none.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> candidates,
                                       std::string otherwise = {});

// The rules of a text, one after the other. The text outlives the reader.
class RuleReader {
 public:
  RuleReader(std::string_view text, const RuleFormat& format);

  // The next rule; nothing at the end.
  Result<std::optional<RuleLine>> next();

 private:
  std::string_view rest_;
  RuleFormat format_;
  size_t line_ = 0, rules_ = 0;
  bool at_end_ = false;
};

// Calls take(line), which returns a Status, for each rule; an error ends the loop.
template <class Take>
Status for_each_rule(std::string_view text, const RuleFormat& format, const Take& take) {
  RuleReader reader(text, format);
  for (;;) {
    MSDUMP_TRY(const std::optional<RuleLine> line, reader.next());
    if (!line) return {};
    MSDUMP_CHECK_OK(take(*line));
  }
}

}  // namespace msdump
