#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace msdump {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
uint8_t byte_at(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || text.empty()) return std::nullopt;
  return value;
}

struct CodeRange {
  uint32_t first, last;
};

// Unicode 15 East Asian Wide and Fullwidth blocks, merged; unassigned code points between them count as wide too.
constexpr std::array kWide = {
    CodeRange{0x1100, 0x115F},   CodeRange{0x2E80, 0x303E},   CodeRange{0x3041, 0x33FF},   CodeRange{0x3400, 0x4DBF},
    CodeRange{0x4E00, 0x9FFF},   CodeRange{0xA000, 0xA4CF},   CodeRange{0xA960, 0xA97F},   CodeRange{0xAC00, 0xD7A3},
    CodeRange{0xF900, 0xFAFF},   CodeRange{0xFE30, 0xFE6F},   CodeRange{0xFF00, 0xFF60},   CodeRange{0xFFE0, 0xFFE6},
    CodeRange{0x1F300, 0x1F64F}, CodeRange{0x1F900, 0x1F9FF}, CodeRange{0x20000, 0x3FFFD},
};
constexpr std::array kCombining = {
    CodeRange{0x0300, 0x036F},
    CodeRange{0x200B, 0x200F},
    CodeRange{0x20D0, 0x20FF},
    CodeRange{0xFE00, 0xFE0F},
};

constexpr std::array kUnprintable = {
    CodeRange{0x00, 0x1F},     CodeRange{0x7F, 0x9F},     CodeRange{0xAD, 0xAD},      // soft hyphen
    CodeRange{0x061C, 0x061C}, CodeRange{0x180E, 0x180E}, CodeRange{0x200B, 0x200F},  // zero width, direction marks
    CodeRange{0x2028, 0x202E}, CodeRange{0x2060, 0x206F},                             // lines, bidirectional overrides
    CodeRange{0xFEFF, 0xFEFF}, CodeRange{0xFFF9, 0xFFFB}, CodeRange{0xE0000, 0xE007F},  // byte order mark, tags
};

template <size_t N>
bool in_any(const std::array<CodeRange, N>& ranges, uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [&](CodeRange r) { return r.first <= code && code <= r.last; });
}

}  // namespace

uint32_t code_point(std::string_view text, size_t at, size_t length) {
  if (length == 1) return byte_at(text, at);
  uint32_t code = byte_at(text, at) & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) code = (code << 6) | (byte_at(text, at + i) & 0x3FU);
  return code;
}

bool is_unprintable(uint32_t code) { return in_any(kUnprintable, code); }

bool glob_match(std::string_view pattern, std::string_view text) {
  // Greedy matching with one point to return to: the last `*` and what it has matched so far.
  size_t p = 0, t = 0, star = std::string_view::npos, swallowed = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      swallowed = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++swallowed;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = last[j - 1] + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::optional<std::string> closest_match(std::string_view word, std::span<const std::string> candidates) {
  const size_t limit = std::clamp<size_t>(word.size() / 3, 1, 3);
  std::optional<std::string> best;
  size_t best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    const size_t gap = candidate.size() > word.size() ? candidate.size() - word.size() : word.size() - candidate.size();
    if (gap >= best_distance) continue;
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

size_t utf8_sequence_length(std::string_view text, size_t at) {
  const uint8_t lead = byte_at(text, at);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || length > text.size() - at) return 0;
  // The second byte has a narrower range after some leads: no overlong forms, no surrogates, nothing above U+10FFFF.
  uint8_t low = 0x80, high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  for (size_t i = 1; i < length; ++i, low = 0x80, high = 0xBF) {
    const uint8_t byte = byte_at(text, at + i);
    if (byte < low || byte > high) return 0;
  }
  return length;
}

bool is_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_sequence_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string escape_for_terminal(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_sequence_length(text, at);
    const uint32_t code = length == 0 ? byte_at(text, at) : code_point(text, at, length);
    if (code == '\n') {
      safe += "\\n";
    } else if (code == '\t') {
      safe += "\\t";
    } else if (code == '\r') {
      safe += "\\r";
    } else if (length == 0 || is_unprintable(code)) {
      const size_t count = std::max<size_t>(length, 1);
      for (size_t i = 0; i < count; ++i) safe += fmt::format("\\x{:02x}", byte_at(text, at + i));
    } else {
      safe.append(text.substr(at, length));
    }
    at += std::max<size_t>(length, 1);
  }
  return safe;
}

std::string excerpt(std::string_view text) {
  constexpr size_t kLongest = 60;
  return text.size() <= kLongest ? escape_for_terminal(text) : escape_for_terminal(text.substr(0, kLongest)) + "...";
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_sequence_length(text, at);
    const uint32_t code = length == 0 ? 0 : code_point(text, at, length);
    if (in_any(kWide, code)) {
      width += 2;
    } else if (!in_any(kCombining, code)) {
      width += 1;
    }
    at += std::max<size_t>(length, 1);
  }
  return width;
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string to_lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

std::string to_upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), upper);
  return result;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_digits(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

std::optional<uint64_t> parse_u64(std::string_view text) { return parse_number<uint64_t>(text); }
std::optional<int64_t> parse_i64(std::string_view text) { return parse_number<int64_t>(text); }

bool natural_less(std::string_view a, std::string_view b) {
  // Names in a dump share long prefixes: skip them, then step back to the start of a number that the prefix may split.
  const size_t common = std::min(a.size(), b.size());
  auto i = static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(common), b.begin()).first - a.begin());
  while (i > 0 && is_digit(a[i - 1])) --i;
  size_t j = i;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return byte_at(a, i) < byte_at(b, j);
      ++i;
      ++j;
      continue;
    }
    // The longer of two numbers without leading zeros is larger; equally long ones compare as text.
    while (i < a.size() && a[i] == '0') ++i;
    while (j < b.size() && b[j] == '0') ++j;
    size_t a_end = i, b_end = j;
    while (a_end < a.size() && is_digit(a[a_end])) ++a_end;
    while (b_end < b.size() && is_digit(b[b_end])) ++b_end;
    const std::string_view a_run = a.substr(i, a_end - i), b_run = b.substr(j, b_end - j);
    if (a_run.size() != b_run.size()) return a_run.size() < b_run.size();
    if (a_run != b_run) return a_run < b_run;
    i = a_end;
    j = b_end;
  }
  if (i < a.size() || j < b.size()) return j < b.size();
  return a < b;  // they differ in leading zeros only, or not at all
}

// A number becomes '0', which sorts among other bytes as any digit does, its length without leading zeros, and its digits.
// The key ends with a zero byte, which no name contains.
NaturalKey natural_key(std::string_view text) {
  constexpr size_t kBytes = 16, kLongestRun = 255;
  std::array<uint8_t, kBytes> bytes{};
  size_t used = 0;
  const auto append = [&](uint8_t byte) {
    if (used < kBytes) bytes[used++] = byte;
  };
  for (size_t at = 0; at < text.size() && used < kBytes;) {
    if (!is_digit(text[at])) {
      append(byte_at(text, at++));
      continue;
    }
    append('0');
    while (at < text.size() && text[at] == '0') ++at;
    size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    append(static_cast<uint8_t>(std::min(end - at, kLongestRun)));
    if (end - at >= kLongestRun) break;
    while (at < end) append(byte_at(text, at++));
  }
  const auto number = [&](size_t first) {
    uint64_t value = 0;
    for (size_t i = 0; i < 8; ++i) value = (value << 8) | bytes[first + i];
    return value;
  };
  return {number(0), number(8)};
}

std::string plural(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string human_bytes(uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {  // would be printed as 1024.0
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t count = bytes.size() - at < 3 ? bytes.size() - at : 3;
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i) group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (size_t i = 0; i < 4; ++i) text += i <= count ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

namespace {

constexpr std::string_view kWildcards = "*?";

}  // namespace

QuickGlob::QuickGlob(std::string pattern) : pattern_(std::move(pattern)) {
  const size_t first = pattern_.find_first_of(kWildcards);
  if (first == std::string::npos) {
    form_ = Form::kPlain;
    return;
  }
  const size_t last = pattern_.find_last_of(kWildcards), end = pattern_.size() - 1;
  before_ = first;
  after_ = end - last;
  find_longest_part();
  // `?` is one byte, not any text: a pattern with `?` or a third wildcard stays kGeneral.
  if (pattern_.find('?') != std::string::npos) return;
  if (first == last && (first == end || first == 0)) {
    form_ = first == 0 ? Form::kSuffix : Form::kPrefix;
  } else if (first == 0 && last == end && pattern_.find('*', 1) == end) {
    form_ = Form::kInside;
  }
}

void QuickGlob::find_longest_part() {
  for (size_t begin = 0; begin < pattern_.size();) {
    const size_t end = std::min(pattern_.find_first_of(kWildcards, begin), pattern_.size());
    if (end - begin > size_) {
      begin_ = begin;
      size_ = end - begin;
    }
    begin = end + 1;
  }
}

bool QuickGlob::matches(std::string_view text) const {
  const std::string_view pattern = pattern_, part = pattern.substr(begin_, size_);
  switch (form_) {
    case Form::kPlain: return text == pattern;
    case Form::kPrefix: return text.starts_with(part);
    case Form::kSuffix: return text.ends_with(part);
    case Form::kInside: return text.find(part) != std::string_view::npos;
    case Form::kGeneral: break;
  }
  return text.starts_with(pattern.substr(0, before_)) && text.ends_with(pattern.substr(pattern.size() - after_)) &&
         text.find(part) != std::string_view::npos && glob_match(pattern, text);
}

}  // namespace msdump
