#include "npy/header_literal.h"

#include <charconv>
#include <optional>

#include "base/text.h"

namespace msdump::npy {
namespace {

class LiteralParser {
 public:
  explicit LiteralParser(std::string_view text) : text_(text) {}

  Result<HeaderLiteral> parse() {
    MSDUMP_CHECK_OK(expect('{'));
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<Shape> shape;
    while (!accept('}')) {
      MSDUMP_TRY(const std::string key, quoted());
      MSDUMP_CHECK_OK(expect(':'));
      if (key == "descr" && !descr) {
        MSDUMP_TRY(descr, descr_value());
      } else if (key == "fortran_order" && !fortran_order) {
        MSDUMP_TRY(fortran_order, boolean());
      } else if (key == "shape" && !shape) {
        MSDUMP_TRY(shape, tuple());
      } else {
        return fail(bad(fmt::format("unexpected key '{}'", excerpt(key))));
      }
      if (accept(',')) continue;
      MSDUMP_CHECK_OK(expect('}'));
      break;
    }
    skip_blanks();
    if (at_ != text_.size()) return fail(bad("text after the closing brace"));
    if (!descr || !fortran_order || !shape) return fail(bad("descr, fortran_order or shape is missing"));
    return HeaderLiteral{std::move(*descr), *fortran_order, std::move(*shape)};
  }

 private:
  [[nodiscard]] Error bad(std::string_view what) const {
    return make_error(ErrorCode::kBadNpy, "npy header, column {}: {}", at_ + 1, what);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  bool accept(char wanted) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  Status expect(char wanted) {
    if (accept(wanted)) return {};
    return fail(bad(fmt::format("expected '{}'", wanted)));
  }

  Result<std::string> quoted() {
    skip_blanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return fail(bad("expected a quoted text"));
    const char quote = text_[at_];
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return fail(bad("a quote is not closed"));
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    if (value.find('\\') != std::string_view::npos) return fail(bad("escapes are not expected here"));
    at_ = end + 1;
    return std::string(value);
  }

  Result<std::string> descr_value() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[') {
      return fail(make_error(ErrorCode::kUnsupportedDtype, "a structured npy dtype is not supported"));
    }
    return quoted();
  }

  bool accept_word(std::string_view word) {
    skip_blanks();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Result<bool> boolean() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    return fail(bad("expected True or False"));
  }

  Result<Shape> tuple() {
    MSDUMP_CHECK_OK(expect('('));
    Shape shape;
    while (!accept(')')) {
      MSDUMP_TRY(const int64_t dim, integer());
      shape.push_back(dim);
      if (shape.size() > kMaxRank) return fail(bad(fmt::format("rank above {}", kMaxRank)));
      if (accept(',')) continue;
      // "(3)" is a number in Python, not a tuple.
      if (shape.size() == 1) return fail(bad("expected ',' after the only dimension"));
      MSDUMP_CHECK_OK(expect(')'));
      break;
    }
    return shape;
  }

  Result<int64_t> integer() {
    skip_blanks();
    int64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc{} || value < 0) return fail(bad("expected a dimension"));
    at_ += static_cast<size_t>(end - begin);
    // Python 2 wrote long integers with an L.
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<HeaderLiteral> parse_header_literal(std::string_view text) { return LiteralParser(text).parse(); }

}  // namespace msdump::npy
