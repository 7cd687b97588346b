#include "frame/usage.h"

#include <algorithm>
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

std::vector<std::string> word_and_parts(const std::string& word) {
  std::vector<std::string> words = {word};
  std::string separated = word;
  std::replace(separated.begin(), separated.end(), '_', '-');
  for (const std::string_view part : split(separated, '-')) {
    if (!part.empty() && part.size() < word.size()) words.emplace_back(part);
  }
  return words;
}

bool have_same_stem(std::string_view a, std::string_view b) {
  constexpr size_t kLeast = 5;
  const size_t shorter = std::min(a.size(), b.size());
  size_t common = 0;
  while (common < shorter && a[common] == b[common]) ++common;
  const bool is_plural =
      common == shorter && (a.ends_with('s') || b.ends_with('s')) && a.size() + b.size() == 2 * common + 1;
  return a == b || is_plural || (common >= kLeast && common + 1 >= shorter);
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
