#include "ir/model/scan.h"

#include <array>
#include <cstring>

namespace msdump {
namespace {

enum Class : uint8_t { kPlain, kOpen, kClose, kAngleOpen, kAngleClose, kComma, kQuote };

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> classes{};
  for (const char c : {'(', '[', '{'}) classes[static_cast<uint8_t>(c)] = kOpen;
  for (const char c : {')', ']', '}'}) classes[static_cast<uint8_t>(c)] = kClose;
  classes['<'] = kAngleOpen;
  classes['>'] = kAngleClose;
  classes[','] = kComma;
  classes['"'] = kQuote;
  return classes;
}

constexpr std::array<uint8_t, 256> kClasses = make_classes();

uint8_t class_of(char c) { return kClasses[static_cast<uint8_t>(c)]; }

bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

// Finds the ends of strings. Quotes in strings are not escaped, so the neighbours of a quote decide. It begins a string only
// after an opening bracket, a separator or a blank. It ends one only before a closing bracket, a comma or a blank. All other
// quotes are ordinary characters.
class Strings {
 public:
  explicit Strings(std::string_view text) : text_(text) {}

  // Index of the quote that ends the string at text[begin], or `begin` if none begins there. Linear time for all quotes
  // of a text: once no string ends, no later one does.
  size_t end(size_t begin) {
    if (none_left_ || (begin > 0 && !is_one_of(text_[begin - 1], "([{,:= "))) return begin;
    for (size_t at = begin + 1; at < text_.size(); ++at) {
      const void* found = std::memchr(text_.data() + at, '"', text_.size() - at);
      if (found == nullptr) break;
      at = static_cast<size_t>(static_cast<const char*>(found) - text_.data());
      if (at + 1 == text_.size() || is_one_of(text_[at + 1], ",)]}> ")) return at;
    }
    none_left_ = true;
    return begin;
  }

 private:
  std::string_view text_;
  bool none_left_ = false;
};

char closing_of(char open) {
  switch (open) {
    case '(': return ')';
    case '[': return ']';
    case '{': return '}';
    default: return '>';
  }
}

}  // namespace

size_t closing_bracket(std::string_view text, size_t open) {
  const char opening = text[open], closing = closing_of(opening);
  Strings strings(text);
  size_t depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (class_of(c) == kPlain) continue;
    if (c == '"') {
      i = strings.end(i);
    } else if (c == opening) {
      ++depth;
    } else if (c == closing && !(c == '>' && text[i - 1] == '-') && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

void split_at_commas(std::string_view text, Brackets brackets, std::vector<std::string_view>& parts) {
  parts.clear();
  if (trim(text).empty()) return;
  const bool types = brackets == Brackets::kTypes;
  Strings strings(text);
  int64_t depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (class_of(text[i])) {
      case kOpen: ++depth; break;
      case kClose: --depth; break;
      case kAngleOpen: depth += types ? 1 : 0; break;
      case kAngleClose: depth -= types && (i == 0 || text[i - 1] != '-') ? 1 : 0; break;
      case kQuote: i = strings.end(i); break;
      case kComma:
        if (depth != 0) break;
        parts.push_back(trim(text.substr(begin, i - begin)));
        begin = i + 1;
        break;
      default: break;
    }
  }
  parts.push_back(trim(text.substr(begin)));
}

}  // namespace msdump
