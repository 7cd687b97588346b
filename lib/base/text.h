// Text: globs, did-you-mean, escaping for terminals, UTF-8, numbers and small string work. No locale anywhere.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msdump {

// Glob over the whole text: `*` any run (also of '/'), `?` one byte, everything else itself. Linear space, worst case
// |pattern| x |text|; no recursion. A pattern without `*` and `?` is plain equality.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text);

// Optimal string alignment distance (insert, delete, replace, swap of neighbours), ASCII case folded.
[[nodiscard]] size_t edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `word` that is near enough to be meant (distance at most 3 and at most a third of the word,
// but at least 1); ties go to the first.
[[nodiscard]] std::optional<std::string> closest_match(std::string_view word, std::span<const std::string> candidates);

// Makes a name from a file safe to print on a terminal: control characters, DEL and bytes that are not UTF-8 become
// \xNN (or \n, \t, \r); everything else stays, including wide characters.
[[nodiscard]] std::string escape_for_terminal(std::string_view text);

// A text from a file as a message may quote it: escaped, and its first 60 bytes at most.
[[nodiscard]] std::string excerpt(std::string_view text);

// True for control and format characters: they hide, reorder or break what a terminal shows.
[[nodiscard]] bool is_unprintable(uint32_t code_point);

// Of the well-formed UTF-8 sequence of `length` bytes at `text[at]`.
[[nodiscard]] uint32_t code_point(std::string_view text, size_t at, size_t length);

// Length of the well-formed UTF-8 sequence that starts at `text[at]`, 0 if there is none (RFC 3629: no overlong forms,
// no surrogates).
[[nodiscard]] size_t utf8_sequence_length(std::string_view text, size_t at);
[[nodiscard]] bool is_utf8(std::string_view text);

// Columns that `text` takes on a terminal: wide East Asian characters count 2, combining marks 0.
[[nodiscard]] size_t display_width(std::string_view text);

// Without the characters of `blanks` at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n");

// ASCII case folded.
[[nodiscard]] bool equals_ignoring_case(std::string_view a, std::string_view b);
[[nodiscard]] std::string to_lower(std::string_view text);
[[nodiscard]] std::string to_upper(std::string_view text);
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] bool is_digits(std::string_view text);  // one digit or more, nothing else

// The whole text as a decimal number; no sign for unsigned, no blanks, no overflow.
[[nodiscard]] std::optional<uint64_t> parse_u64(std::string_view text);
[[nodiscard]] std::optional<int64_t> parse_i64(std::string_view text);

// The order that people expect of names: runs of digits compare by value ("file2" before "file10"), then bytes.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);

// The start of a name as two numbers in the same order: a smaller key means natural_less, equal keys say nothing.
// Sorting by keys first saves most comparisons of long names.
using NaturalKey = std::pair<uint64_t, uint64_t>;
[[nodiscard]] NaturalKey natural_key(std::string_view text);

// "1 file", "2 files".
[[nodiscard]] std::string plural(uint64_t count, std::string_view noun);

// 1.5 KiB, 3.2 GiB; for people only.
[[nodiscard]] std::string human_bytes(uint64_t bytes);

// Base64 (RFC 4648, section 4, with padding).

[[nodiscard]] std::string base64(std::string_view bytes);

// A glob (base/text.h) that is matched against many texts. It is analysed once: the usual forms then cost one
// comparison or search, and only the others need the general matcher.

class QuickGlob {
 public:
  explicit QuickGlob(std::string pattern);

  [[nodiscard]] bool matches(std::string_view text) const;
  // Without `*` and `?`: matches exactly one text, `pattern()`.
  [[nodiscard]] bool is_plain() const { return form_ == Form::kPlain; }
  [[nodiscard]] const std::string& pattern() const { return pattern_; }

 private:
  enum class Form : uint8_t { kPlain, kPrefix, kSuffix, kInside, kGeneral };  // x, x*, *x, *x*, all others

  void find_longest_part();

  std::string pattern_;
  Form form_ = Form::kGeneral;
  size_t begin_ = 0, size_ = 0;    // x in the pattern: its longest part without wildcards
  size_t before_ = 0, after_ = 0;  // kGeneral: bytes before the first and after the last wildcard
};

// TextArena: keeps texts for as long as it lives, packed back to back. A catalogue of a million files has a few million
// short texts (names and parts of names); in an arena each costs only its bytes, and a view of a part of a text needs
// no copy.

class TextArena {
 public:
  // A copy of `text` that stays where it is until the arena is destroyed, even when the arena is moved.
  std::string_view keep(std::string_view text) {
    if (text.empty()) return {};
    if (text.size() > room_) grow(text.size());
    char* const copy = next_;
    std::memcpy(copy, text.data(), text.size());
    next_ += text.size();
    room_ -= text.size();
    return {copy, text.size()};
  }

  // Takes over the texts of `other`; views of them stay valid.
  void absorb(TextArena&& other) {
    for (std::unique_ptr<char[]>& block : other.blocks_) blocks_.push_back(std::move(block));
    other = TextArena();
  }

 private:
  // Blocks grow with the arena, so many small folders with an arena each cost no more than one large folder.
  static constexpr size_t kFirstBlock = size_t{1} << 10, kLargestBlock = size_t{64} << 10;

  void grow(size_t at_least) {
    const size_t size = at_least > block_ ? at_least : block_;
    if (block_ < kLargestBlock) block_ *= 2;
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    next_ = blocks_.back().get();
    room_ = size;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  size_t room_ = 0, block_ = kFirstBlock;
};

}  // namespace msdump
