// How msdump info writes for people: a title, aligned lines of label and value, and commands to run next.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/value.h"

namespace msdump::cli {

class InfoText {
 public:
  // Texts from files are escaped here and nowhere else.
  explicit InfoText(std::string_view path, std::string_view what);
  void line(std::string_view label, std::string_view text);  // nothing for an empty text
  void more(std::string_view text);                          // further lines below the last one, indented
  void value(std::string_view label, const report::Value& value);
  void block(std::string_view text);  // lines unchanged, after a blank one; only control characters are escaped
  // A question that the user may have next, and the command that answers it.
  void next(std::string_view meaning, std::string_view command);

  [[nodiscard]] std::string text() const;

 private:
  struct Line {
    std::string label, text;
    bool more = false;
  };
  std::string title_;
  std::vector<Line> lines_;
  std::vector<std::string> blocks_;
  std::vector<std::pair<std::string, std::string>> next_;
};

// "0-7, 9", with an ellipsis when it would be long.
[[nodiscard]] std::string ranges_text(const std::set<int64_t>& numbers);
// "8: 0-7"; only the number if there is a single one.
[[nodiscard]] std::string counted_ranges_text(const std::set<int64_t>& numbers);
// "float16 12, int32 3": largest first, at most `most` entries.
[[nodiscard]] std::string counts_text(std::vector<std::pair<std::string, uint64_t>> counts, size_t most);
// "1.5 KiB (1536 bytes)"
[[nodiscard]] std::string bytes_text(uint64_t bytes);

}  // namespace msdump::cli
