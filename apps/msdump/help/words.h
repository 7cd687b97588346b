// The words of msdump's output, each explained once. `msdump help words`, `msdump help WORD` and docs/words.md are made of
// this table.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/page/page.h"

namespace msdump::cli {

struct Word {
  std::string_view name;  // "noise"
  // The heading that it is listed under; empty: that of the word before.
  std::string_view topic;
  std::string_view meaning;        // sentences
  std::string_view forms = {};     // further spellings, separated by commas: "roots, culprit"
  std::string_view document = {};  // "blame.md#estimated", which says more
};

[[nodiscard]] std::span<const Word> words();
// By its name or one of its forms, regardless of case; null if there is none.
[[nodiscard]] const Word* find_word(std::string_view name);
// The nearest name, for a misspelling.
[[nodiscard]] std::optional<std::string> nearest_word(std::string_view name);

// These words, for the glossary of a page.
[[nodiscard]] std::vector<report::PageWord> page_words(std::initializer_list<std::string_view> names);
// The beginning of a meaning: "The dump that is in doubt".
[[nodiscard]] std::string first_clause_of_word(std::string_view name);

// All words with their meanings, wrapped at `width`.
[[nodiscard]] std::string words_text(size_t width);
[[nodiscard]] std::string word_text(const Word& word, size_t width);
// docs/words.md
[[nodiscard]] std::string words_document();

}  // namespace msdump::cli
