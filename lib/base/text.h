// Text: globs, similar words, escaping for terminals, UTF-8, numbers, base64 and an arena. No function uses a locale.
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

// Matches a whole text: `*` is any text (also with '/'), `?` one byte, everything else itself. Needs no memory; worst-case
// time is |pattern| x |text|.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text);

// Optimal string alignment distance (insert, delete, replace, swap of neighbours), ASCII case folded.
[[nodiscard]] size_t edit_distance(std::string_view a, std::string_view b);

// The candidate most similar to a misspelled word, the first of equally similar ones. The distance is at most a third of
// the word, at least 1 and at most 3.
[[nodiscard]] std::optional<std::string> closest_match(std::string_view word, std::span<const std::string> candidates);

// A text from a file, safe to print on a terminal: control characters and bytes that are not UTF-8 become \xNN, \n, \t
// or \r.
[[nodiscard]] std::string escape_for_terminal(std::string_view text);

// The first 60 bytes of a text from a file, escaped, for messages.
[[nodiscard]] std::string excerpt(std::string_view text);

// True for control and format characters, which hide or reorder text on a terminal.
[[nodiscard]] bool is_unprintable(uint32_t code_point);

// The character of the well-formed UTF-8 sequence of `length` bytes at `text[at]`.
[[nodiscard]] uint32_t code_point(std::string_view text, size_t at, size_t length);

// Length of the well-formed UTF-8 sequence (RFC 3629) at `text[at]`; 0: there is none.
[[nodiscard]] size_t utf8_sequence_length(std::string_view text, size_t at);
[[nodiscard]] bool is_utf8(std::string_view text);

// Columns of a text on a terminal: East Asian wide characters count 2, combining marks 0.
[[nodiscard]] size_t display_width(std::string_view text);

// The text without the characters of `blanks` at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n");

// The next three functions fold ASCII only.
[[nodiscard]] bool equals_ignoring_case(std::string_view a, std::string_view b);
[[nodiscard]] std::string to_lower(std::string_view text);
[[nodiscard]] std::string to_upper(std::string_view text);
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] bool is_digits(std::string_view text);  // one digit or more, nothing else

// The whole text as a decimal number; no sign for unsigned, no blanks, no overflow.
[[nodiscard]] std::optional<uint64_t> parse_u64(std::string_view text);
[[nodiscard]] std::optional<int64_t> parse_i64(std::string_view text);

// Natural order: digits compare by value ("file2" before "file10"), everything else by bytes.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);

// The first bytes of a name as numbers in natural order. A smaller key means natural_less(); equal keys decide nothing.
// Sorting by keys first saves most comparisons of long names.
using NaturalKey = std::pair<uint64_t, uint64_t>;
[[nodiscard]] NaturalKey natural_key(std::string_view text);

// "1 file", "2 files".
[[nodiscard]] std::string plural(uint64_t count, std::string_view noun);

// 1.5 KiB, 3.2 GiB; for people only.
[[nodiscard]] std::string human_bytes(uint64_t bytes);

// RFC 4648, section 4, with padding.
[[nodiscard]] std::string base64(std::string_view bytes);

// A glob to match against many texts. Its form is found once: the usual ones then cost one comparison or search.
class QuickGlob {
 public:
  explicit QuickGlob(std::string pattern);

  [[nodiscard]] bool matches(std::string_view text) const;
  // True if the only match is pattern() itself.
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

// Keeps texts for as long as it lives, one after the other. Each of the millions of short names of a catalogue then costs
// only its bytes.
class TextArena {
 public:
  // A copy of `text` at an address that stays, even if the arena is moved.
  std::string_view keep(std::string_view text) {
    if (text.empty()) return {};
    if (text.size() > room_) grow(text.size());
    char* const copy = next_;
    std::memcpy(copy, text.data(), text.size());
    next_ += text.size();
    room_ -= text.size();
    return {copy, text.size()};
  }

  // Takes over the texts of `other`. Views of them stay valid.
  void absorb(TextArena&& other) {
    for (std::unique_ptr<char[]>& block : other.blocks_) blocks_.push_back(std::move(block));
    other = TextArena();
  }

 private:
  // Blocks grow with the arena, so that many small arenas cost no more than one large arena.
  static constexpr size_t kFirstBlock = size_t{1} << 7, kLargestBlock = size_t{64} << 10;

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
