#include "config/json/json_slips.h"

#include <algorithm>
#include <array>
#include <utility>

namespace msdump {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kPythonWords = {
    {{"True", "true"}, {"False", "false"}, {"None", "null"}}};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

class Mender {
 public:
  explicit Mender(std::string_view text) { result_.text = text; }

  MendedJson take() {
    if (result_.text.starts_with(kByteOrderMark)) slip(JsonSlipKind::kByteOrderMark, 0, kByteOrderMark.size());
    while (at_ < size()) step();
    std::sort(result_.slips.begin(), result_.slips.end(),
              [](const JsonSlip& a, const JsonSlip& b) { return a.offset < b.offset; });
    return std::move(result_);
  }

 private:
  [[nodiscard]] size_t size() const { return result_.text.size(); }
  [[nodiscard]] std::string_view rest() const { return std::string_view(result_.text).substr(at_); }

  // Records the slip, and blanks `length` bytes except line ends.
  void slip(JsonSlipKind kind, size_t offset, size_t length) {
    result_.slips.push_back({kind, offset});
    for (size_t i = offset; i < offset + length; ++i) {
      if (result_.text[i] != '\n' && result_.text[i] != '\r') result_.text[i] = ' ';
    }
  }

  void step() {
    const char c = result_.text[at_];
    if (is_blank(c)) {
      ++at_;
    } else if (c == '"') {
      last_ = at_;
      at_ = end_of_text('"');
    } else if (c == '\'') {
      single_quotes();
    } else if (c == '#' || rest().starts_with("//")) {
      comment(std::min(result_.text.find('\n', at_), size()));
    } else if (rest().starts_with("/*")) {
      const size_t end = result_.text.find("*/", at_ + 2);
      comment(end == std::string::npos ? size() : end + 2);
    } else if (is_letter(c)) {
      word();
    } else {
      if ((c == '}' || c == ']') && last_ != std::string::npos && result_.text[last_] == ',')
        slip(JsonSlipKind::kTrailingComma, last_, 1);
      last_ = at_++;
    }
  }

  // After the closing quote; where the line ends when there is none.
  [[nodiscard]] size_t end_of_text(char quote) const {
    for (size_t i = at_ + 1; i < size(); ++i) {
      const char c = result_.text[i];
      if (c == '\n') return i;
      if (c == '\\') {
        ++i;
      } else if (c == quote) {
        return i + 1;
      }
    }
    return size();
  }

  void comment(size_t end) {
    slip(JsonSlipKind::kComment, at_, end - at_);
    at_ = end;
  }

  // Texts with quotes inside stay as they are: they cannot be mended without moving what follows.
  void single_quotes() {
    const size_t begin = at_, end = end_of_text('\'');
    const std::string_view inside = std::string_view(result_.text).substr(begin + 1, end - begin - 1);
    slip(JsonSlipKind::kSingleQuotes, begin, 0);
    if (inside.ends_with('\'') && inside.find_first_of("\"\\") == std::string_view::npos)
      result_.text[begin] = result_.text[end - 1] = '"';
    last_ = begin;
    at_ = end;
  }

  void word() {
    size_t end = at_;
    while (end < size() && is_word(result_.text[end])) ++end;
    for (const auto& [python, json] : kPythonWords) {
      if (std::string_view(result_.text).substr(at_, end - at_) != python) continue;
      slip(JsonSlipKind::kPythonWord, at_, 0);
      std::copy(json.begin(), json.end(), result_.text.begin() + static_cast<std::ptrdiff_t>(at_));
    }
    last_ = at_;
    at_ = end;
  }

  MendedJson result_;
  size_t at_ = 0;
  size_t last_ = std::string::npos;  // the last token, comments not counted
};

}  // namespace

MendedJson mend_json(std::string_view text) { return Mender(text).take(); }

}  // namespace msdump
