#include "history/document.h"

#include <string>

#include "base/text.h"

namespace msdump::history {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Status read(const std::function<void(std::string_view, const JsonValue&)>& member,
              const std::function<void(const JsonValue&)>& row) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    if (next() == '\0') return wrong("no document: nothing was written");
    MSDUMP_CHECK_OK(take('{', "an object"));
    if (next() == '}') return end();
    for (;;) {
      MSDUMP_TRY(const JsonValue key, value());
      if (!key.is(JsonKind::kString)) return wrong("a key is expected");
      MSDUMP_CHECK_OK(take(':', "':'"));
      if (key.text == "rows" && next() == '[') {
        MSDUMP_CHECK_OK(rows(row));
      } else {
        MSDUMP_TRY(const JsonValue parsed, value());
        member(key.text, parsed);
      }
      if (next() == '}') return end();
      MSDUMP_CHECK_OK(take(',', "',' or '}'"));
    }
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view what) const {
    Error error = make_error(ErrorCode::kBadJson, "{}", what).with_offset(at_);
    if (at_ >= text_.size() && !text_.empty()) error.message = fmt::format("cut: {}", what);
    return fail(std::move(error));
  }

  // The next character that is no blank; 0 at the end.
  char next() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  Status take(char wanted, std::string_view what) {
    if (next() != wanted) return wrong(fmt::format("{} is expected", what));
    ++at_;
    return {};
  }

  Status end() {
    ++at_;
    return next() == '\0' && at_ >= text_.size() ? Status() : wrong("more text behind the document");
  }

  Status rows(const std::function<void(const JsonValue&)>& row) {
    MSDUMP_CHECK_OK(take('[', "a list"));
    if (next() == ']') return take(']', "']'");
    for (;;) {
      MSDUMP_TRY(const JsonValue parsed, value());
      if (parsed.is(JsonKind::kObject)) row(parsed);
      if (next() == ']') return take(']', "']'");
      MSDUMP_CHECK_OK(take(',', "',' or ']'"));
    }
  }

  // Finds the end of the value by its brackets; the parser judges what is inside.
  Result<JsonValue> value() {
    (void)next();
    const size_t begin = at_;
    size_t depth = 0;
    bool quoted = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quoted) {
        if (c == '\\') {
          ++at_;
        } else if (c == '"') {
          quoted = false;
        }
        if (!quoted && depth == 0) {
          ++at_;
          break;
        }
      } else if (c == '"') {
        quoted = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (depth == 0) break;
        if (--depth == 0) {
          ++at_;
          break;
        }
      } else if (depth == 0 && (c == ',' || c == ':')) {
        break;
      }
    }
    at_ = std::min(at_, text_.size());
    if (quoted || depth > 0) return wrong("a value has no end");
    auto parsed = parse_json(text_.substr(begin, at_ - begin));
    if (!parsed) parsed.error().offset = begin + parsed.error().offset.value_or(0);
    return parsed;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Status read_document(std::string_view text, const std::function<void(std::string_view, const JsonValue&)>& member,
                     const std::function<void(const JsonValue&)>& row) {
  return Reader(text).read(member, row);
}

}  // namespace msdump::history
