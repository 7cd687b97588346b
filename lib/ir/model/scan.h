// Scanning IR text: brackets, quotes and commas. Nothing here recurses. A text whose brackets do not match is scanned
// to its end, and the caller is informed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace msdump {

[[nodiscard]] constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

[[nodiscard]] constexpr std::string_view trim_front(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

[[nodiscard]] constexpr std::string_view trim(std::string_view text) {
  text = trim_front(text);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

enum class Brackets : uint8_t {
  kValues,  // () [] {}
  kTypes,   // () [] {} <>, "->" is not a bracket
};

// Index of the bracket that closes the one at text[open]; npos if there is none. Only brackets of that kind count, so a
// missing bracket of another kind does no harm. Brackets in quotes do not count; a quote that ends no string is an
// ordinary character.
[[nodiscard]] size_t closing_bracket(std::string_view text, size_t open);

// The parts between commas outside of all brackets and quotes, without blanks around them. An empty text has none.
// Brackets of all kinds count as one.
void split_at_commas(std::string_view text, Brackets brackets, std::vector<std::string_view>& parts);

}  // namespace msdump
