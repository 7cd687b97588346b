#include "ge/graph/proto_text.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {
namespace {

constexpr size_t kBuffer = size_t{1} << 20;
// This much of the file is in memory when an item begins, so that its name and value are, too.
constexpr size_t kAhead = 8 * ProtoText::kMaxText;
constexpr size_t kLongestEscape = 4;  // \\123
constexpr size_t kMostLists = 1000;   // one in another

enum CharKind : uint8_t { kOther, kOpens, kCloses, kQuote, kHash };

constexpr std::array<uint8_t, 256> kCharKinds = [] {
  std::array<uint8_t, 256> kinds{};
  kinds['{'] = kinds['<'] = kOpens;
  kinds['}'] = kinds['>'] = kCloses;
  kinds['"'] = kinds['\''] = kQuote;
  kinds['#'] = kHash;
  return kinds;
}();

constexpr std::array<bool, 256> kNameChars = [] {
  std::array<bool, 256> chars{};
  for (int c = 0; c < 256; ++c)
    chars[static_cast<size_t>(c)] =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  return chars;
}();

bool is_name_char(char c) { return kNameChars[static_cast<unsigned char>(c)]; }
bool is_gap(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\v' || c == '\f'; }

// Much of what GE writes is indentation.
size_t pass_blanks(const char* data, size_t at, size_t end) {
  constexpr char kEight[9] = "        ";
  while (end - at >= 8 && std::memcmp(data + at, kEight, 8) == 0) at += 8;
  return at;
}

// In blocks that the compiler makes vectors of.
uint64_t count_feeds(const char* at, const char* end) {
  constexpr ptrdiff_t kBlock = 128;
  uint64_t count = 0;
  for (; end - at >= kBlock; at += kBlock) {
    uint8_t in_block = 0;
    for (ptrdiff_t i = 0; i < kBlock; ++i) in_block = static_cast<uint8_t>(in_block + (at[i] == '\n' ? 1 : 0));
    count += in_block;
  }
  return count + static_cast<uint64_t>(std::count(at, end, '\n'));
}

int digit_of(char c, int base) {
  int value = 99;
  if (c >= '0' && c <= '9') value = c - '0';
  if (c >= 'a' && c <= 'f') value = c - 'a' + 10;
  if (c >= 'A' && c <= 'F') value = c - 'A' + 10;
  return value < base ? value : -1;
}

// Reads at most `most` digits from `at` on.
char take_code(std::string_view raw, size_t& at, int base, size_t most) {
  unsigned code = 0;
  for (size_t i = 0; i < most && at < raw.size() && digit_of(raw[at], base) >= 0; ++i, ++at)
    code = code * static_cast<unsigned>(base) + static_cast<unsigned>(digit_of(raw[at], base));
  return static_cast<char>(code);
}

}  // namespace

ProtoText::ProtoText(const File& file)
    : file_(&file), buffer_(std::make_unique_for_overwrite<char[]>(kBuffer)), data_(buffer_.get()) {}

ProtoText::ProtoText(std::string_view text) : data_(text.data()), end_(text.size()), all_read_(true) {
  if (text.starts_with("\xef\xbb\xbf")) at_ = 3;
}

// Moves what is still unread to the front and fills the rest.
void ProtoText::refill() {
  if (all_read_) return;
  if (item_line_ == 0) item_line_ = line_at(item_);
  lines_ = line_at(at_);
  const size_t left = end_ - at_;
  std::memmove(buffer_.get(), buffer_.get() + at_, left);
  base_ += at_;
  at_ = counted_ = 0;
  end_ = left;
  const uint64_t from = base_ + left;
  const auto size = static_cast<size_t>(std::min<uint64_t>(kBuffer - left, file_->size() - from));
  status_ = file_->read_at(from, std::as_writable_bytes(std::span(buffer_.get() + left, size)));
  if (status_) end_ += size;
  all_read_ = !status_ || from + size == file_->size();
  if (base_ == 0 && std::string_view(data_, end_).starts_with("\xef\xbb\xbf")) at_ = 3;
}

uint64_t ProtoText::line_at(size_t at) {
  lines_ += count_feeds(data_ + counted_, data_ + at);
  counted_ = at;
  return lines_;
}

uint64_t ProtoText::line() { return item_line_ > 0 ? item_line_ : line_at(item_); }

IrProblems ProtoText::take_problems() { return std::exchange(problems_, {}); }

void ProtoText::problem(std::string reason) {
  if (item_line_ == 0) item_line_ = line_at(item_);
  problems_.add({problems_.is_full() ? 0 : line_at(at_), std::move(reason)});
}

void ProtoText::skip_blank() {
  for (;;) {
    while (at_ < end_ && is_gap(data_[at_])) at_ = pass_blanks(data_, at_ + 1, end_);
    if (at_ < end_ && data_[at_] == '#') {
      skip_line();
    } else if (at_ < end_ || all_read_) {
      return;
    } else {
      refill();
    }
  }
}

// Up to the line end, which stays.
void ProtoText::skip_line() {
  for (;;) {
    const void* const feed = std::memchr(data_ + at_, '\n', end_ - at_);
    at_ = feed == nullptr ? end_ : static_cast<size_t>(static_cast<const char*>(feed) - data_);
    if (feed != nullptr || all_read_) return;
    refill();
  }
}

// The end of the text that begins at `begin`: a quote or a line end; end_ if neither is in memory yet.
size_t ProtoText::string_end(size_t begin, char quote) const {
  for (size_t at = begin;;) {
    const auto find = [&](char c, size_t end) {
      const void* const found = std::memchr(data_ + at, c, end - at);
      return found == nullptr ? end : static_cast<size_t>(static_cast<const char*>(found) - data_);
    };
    const size_t end = find(quote, end_);
    const size_t feed = find('\n', end);
    if (feed < end || end == end_) return feed;
    size_t escapes = 0;
    while (end - escapes > begin && data_[end - escapes - 1] == '\\') ++escapes;
    if (escapes % 2 == 0) return end;
    at = end + 1;
  }
}

void ProtoText::pass_string(char quote, std::string* kept) {
  size_t end = string_end(at_, quote);
  if (kept != nullptr && end - at_ <= kLongestEscape * kMaxText) {
    append_unescaped({data_ + at_, end - at_}, *kept);
  } else if (kept != nullptr) {
    kept->resize(kept->size() + kMaxText + 1);
  }
  while (end == end_ && !all_read_) {
    size_t escapes = 0;
    while (end_ - escapes > at_ && data_[end_ - escapes - 1] == '\\') ++escapes;
    at_ = end_ - escapes % 2;
    refill();
    end = string_end(at_, quote);
  }
  at_ = end;
  if (at_ < end_ && data_[at_] == quote) {
    ++at_;
  } else if (!is_cut()) {
    problem("a text in quotes has no end");
  }
}

void ProtoText::skip() {
  const size_t outer = depth_ - 1;
  while (depth_ > outer) {
    while (at_ < end_ && kCharKinds[static_cast<unsigned char>(data_[at_])] == kOther)
      at_ = data_[at_] == '\n' ? pass_blanks(data_, at_ + 1, end_) : at_ + 1;
    if (at_ == end_) {
      if (all_read_) break;
      refill();
      continue;
    }
    const char c = data_[at_];
    switch (kCharKinds[static_cast<unsigned char>(c)]) {
      case kOpens: ++depth_, ++at_; break;
      case kCloses: --depth_, ++at_; break;
      case kQuote:
        ++at_;
        pass_string(c, nullptr);
        break;
      default: skip_line(); break;
    }
  }
  while (!lists_.empty() && lists_.back().depth > depth_) lists_.pop_back();
}

void ProtoText::append_unescaped(std::string_view raw, std::string& to) const {
  for (size_t at = 0; at < raw.size();) {
    const size_t mark = std::min(raw.find('\\', at), raw.size());
    to.append(raw.substr(at, mark - at));
    at = mark + 1;
    if (at >= raw.size()) return;
    const char c = raw[at];
    constexpr std::string_view kLetters = "abfnrtv", kMeanings = "\a\b\f\n\r\t\v";
    if (const size_t letter = kLetters.find(c); letter != std::string_view::npos) {
      to += kMeanings[letter];
      ++at;
    } else if (digit_of(c, 8) >= 0) {
      to += take_code(raw, at, 8, 3);
    } else if ((c == 'x' || c == 'X') && at + 1 < raw.size() && digit_of(raw[at + 1], 16) >= 0) {
      ++at;
      to += take_code(raw, at, 16, 2);
    } else {
      to += c;
      ++at;
    }
  }
}

// False if no name begins here: the line is a problem and is skipped.
bool ProtoText::read_name(Item& item) {
  const size_t begin = at_;
  if (data_[at_] == '[') {
    while (at_ < end_ && data_[at_] != ']' && data_[at_] != '\n') ++at_;
    if (at_ < end_ && data_[at_] == ']') {
      ++at_;
      item.name = {data_ + begin, at_ - begin};
      return true;
    }
    at_ = begin;
  }
  while (at_ < end_ && is_name_char(data_[at_])) ++at_;
  item.name = {data_ + begin, at_ - begin};
  if (at_ > begin && at_ - begin <= kMaxText) return true;
  const std::string_view rest(data_ + begin, end_ - begin);
  problem("this is not protobuf text: " + excerpt(rest.substr(0, std::min(rest.find('\n'), kMaxText))));
  skip_line();
  return false;
}

ProtoText::Item ProtoText::open(Item item) {
  ++at_;
  ++depth_;
  item.kind = Kind::kOpen;
  return item;
}

ProtoText::Item ProtoText::close() {
  ++at_;
  --depth_;
  while (!lists_.empty() && lists_.back().depth > depth_) lists_.pop_back();
  Item item;
  item.kind = Kind::kClose;
  return item;
}

// Between a name and its value.
void ProtoText::pass_colon(Item& item) {
  while (at_ < end_ && (is_gap(data_[at_]) || data_[at_] == ':')) ++at_;
  if (end_ - at_ >= kMaxText && data_[at_] != '#') return;
  name_.assign(item.name);
  item.name = name_;
  skip_blank();
  if (at_ < end_ && data_[at_] == ':') ++at_;
  skip_blank();
  if (end_ - at_ < kMaxText) refill();
}

// Adjacent texts are one.
void ProtoText::read_strings(Item& item) {
  item.quoted = true;
  const char quote = data_[at_];
  // The usual case: one text without escapes.
  size_t end = at_ + 1;
  while (end < end_ && data_[end] != quote && data_[end] != '\n' && data_[end] != '\\') ++end;
  if (end + kMaxText < end_ && data_[end] == quote && end - at_ <= kMaxText) {
    size_t after = end + 1;
    while (after < end_ && is_gap(data_[after])) ++after;
    if (after < end_ && data_[after] != '"' && data_[after] != '\'' && data_[after] != '#') {
      item.value = {data_ + at_ + 1, end - at_ - 1};
      at_ = after;
      return;
    }
  }
  name_.assign(item.name);
  item.name = name_;
  scratch_.clear();
  while (at_ < end_ && (data_[at_] == '"' || data_[at_] == '\'')) {
    if (end_ - at_ < kAhead) refill();
    const char own = data_[at_++];
    pass_string(own, scratch_.size() > kMaxText ? nullptr : &scratch_);
    skip_blank();
  }
  item.too_long = scratch_.size() > kMaxText;
  item.value = item.too_long ? std::string_view() : std::string_view(scratch_);
}

ProtoText::Item ProtoText::read_value(Item item) {
  item.kind = Kind::kField;
  const char c = at_ < end_ ? data_[at_] : '\0';
  if (kCharKinds[static_cast<unsigned char>(c)] == kOpens) return open(item);
  if (kCharKinds[static_cast<unsigned char>(c)] == kQuote) {
    read_strings(item);
    return item;
  }
  const size_t begin = at_;
  while (at_ < end_ && (is_name_char(data_[at_]) || data_[at_] == '+')) ++at_;
  item.value = {data_ + begin, at_ - begin};
  if (at_ == begin && !is_cut()) {
    problem(fmt::format("'{}' has no value", excerpt(item.name)));
    skip_line();
  }
  return item;
}

ProtoText::Item ProtoText::next() {
  for (;;) {
    if (end_ - at_ < kAhead) refill();
    skip_blank();
    if (end_ - at_ < kAhead) refill();
    item_ = at_;
    item_line_ = 0;
    if (at_ == end_) return Item{};
    const char c = data_[at_];
    if (c == ',' || c == ';') {
      ++at_;
      continue;
    }
    if (kCharKinds[static_cast<unsigned char>(c)] == kCloses) {
      if (depth_ > 0) return close();
      problem("a bracket closes nothing");
      ++at_;
      continue;
    }
    const bool in_list = !lists_.empty() && lists_.back().depth == depth_;
    if (in_list && c == ']') {
      ++at_;
      lists_.pop_back();
      continue;
    }
    Item item;
    if (in_list) {
      name_ = lists_.back().name;
      item.name = name_;
      return read_value(item);
    }
    if (!read_name(item)) continue;
    pass_colon(item);
    if (at_ < end_ && data_[at_] == '[' && lists_.size() < kMostLists) {
      ++at_;
      lists_.push_back({std::string(item.name), depth_});
      continue;
    }
    return read_value(item);
  }
}

int64_t number_of(std::string_view value) {
  if (const auto number = parse_i64(value)) return *number;
  const bool negative = value.starts_with('-');
  if (!is_digits(value.substr(negative ? 1 : 0))) return 0;
  return negative ? INT64_MIN : INT64_MAX;
}

}  // namespace msdump
