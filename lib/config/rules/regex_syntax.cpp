#include "config/rules/regex_syntax.h"

namespace msdump {
namespace {

// The place after the ']' of the class whose '[' is at `at`; npos when it is not closed.
size_t end_of_class(std::string_view text, size_t at) {
  size_t i = at + 1;
  if (i < text.size() && text[i] == '^') ++i;
  // In Python, a leading ']' is literal. ECMAScript reads [] as an empty class; if another ']' follows, both can read
  // the text.
  if (i < text.size() && text[i] == ']' && text.find(']', i + 1) != std::string_view::npos) ++i;
  for (; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ']') {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::string regex_fault(std::string_view text) {
  size_t open = 0;
  bool repeatable = false;  // whether a quantifier can repeat what comes before
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      if (++i == text.size()) return "it ends in a backslash";
      repeatable = true;
    } else if (c == '[') {
      const size_t end = end_of_class(text, i);
      if (end == std::string_view::npos) return "the bracket '[' is not closed";
      i = end - 1;
      repeatable = true;
    } else if (c == '(') {
      ++open;
      repeatable = false;
      // (?: (?= (?! (?P<name> ...: the '?' is not a quantifier
      if (i + 1 < text.size() && text[i + 1] == '?') ++i;
    } else if (c == ')') {
      if (open == 0) return "')' without '('";
      --open;
      repeatable = true;
    } else if (c == '*' || c == '+' || c == '?') {
      if (!repeatable) return std::string("'") + c + "' has nothing to repeat";
      // "a+?" is a lazy quantifier, "a++" one of newer Pythons; "a**" is an error everywhere.
      if (i + 1 < text.size() && (text[i + 1] == '?' || text[i + 1] == '+')) ++i;
      repeatable = false;
    } else {
      repeatable = c != '|' && c != '^' && c != '$';
    }
  }
  return open > 0 ? "the bracket '(' is not closed" : "";
}

}  // namespace msdump
