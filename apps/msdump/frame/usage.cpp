#include "frame/usage.h"

#include <optional>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump::cli {

std::string unknown_word(std::string_view what, std::string_view word, std::span<const std::string> candidates) {
  std::string text = fmt::format("unknown {} '{}'", what, word);
  const std::optional<std::string> near = closest_match(word, candidates);
  if (near) text += fmt::format("; did you mean '{}'?", *near);
  return text;
}

std::string join_words(std::span<const std::string> words, std::string_view last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 < words.size() ? ", " : fmt::format(" {} ", last);
    text += words[i];
  }
  return text;
}

}  // namespace msdump::cli
