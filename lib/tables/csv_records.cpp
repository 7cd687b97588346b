#include "tables/csv_records.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace msdump {
namespace {

constexpr size_t kFirstCapacity = size_t{256} << 10;    // fits a core's cache
constexpr size_t kCapacity = LineReader::kMaxLine + 2;  // the longest line with "\r\n"

}  // namespace

Result<std::optional<Line>> LineReader::next() {
  for (;;) {
    const char* text = buffer_.get() + begin_;
    const void* found = held() > searched_ ? std::memchr(text + searched_, '\n', held() - searched_) : nullptr;
    const size_t length = found != nullptr ? static_cast<size_t>(static_cast<const char*>(found) - text) : held();
    const bool whole = found != nullptr || at_file_end();
    if (!whole && held() < kCapacity) {
      searched_ = held();
      MSDUMP_CHECK_OK(refill());
      continue;
    }
    if (found == nullptr && held() == 0) return std::nullopt;
    const Line line = take(length, found != nullptr ? 1 : 0);
    const bool rest_of_long_line = inside_long_line_;
    inside_long_line_ = !whole;
    if (rest_of_long_line) {
      --line_number_;
      continue;
    }
    if (whole && line.text.size() <= kMaxLine) return line;
    return fail(make_error(ErrorCode::kBadCsv, "line {} is longer than {} bytes", line.number, kMaxLine)
                    .with_path(file_->path())
                    .with_offset(line.offset));
  }
}

// Returns the next `length` bytes of the buffer as a line, and skips them and the line feed.
Line LineReader::take(size_t length, size_t line_end) {
  Line line;
  line.text = {buffer_.get() + begin_, length};
  line.number = ++line_number_;
  line.offset = file_offset_ - held();
  line.complete = line_end != 0;
  if (line.text.ends_with('\r')) line.text.remove_suffix(1);
  begin_ += length + line_end;
  searched_ = 0;
  return line;
}

// Moves the unread bytes to the front, grows the buffer if they fill it, and reads on.
Status LineReader::refill() {
  const size_t left = held();
  if (left == capacity_) {
    const size_t capacity = capacity_ == 0 ? static_cast<size_t>(std::min<uint64_t>(file_->size(), kFirstCapacity))
                                           : std::min(capacity_ * 4, kCapacity);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (left > 0) std::memcpy(larger.get(), buffer_.get() + begin_, left);
    buffer_ = std::move(larger);
    capacity_ = capacity;
  } else {
    std::memmove(buffer_.get(), buffer_.get() + begin_, left);
  }
  begin_ = 0;
  end_ = left;
  const auto count = static_cast<size_t>(std::min<uint64_t>(capacity_ - left, file_->size() - file_offset_));
  const Status read = file_->read_at(file_offset_, std::as_writable_bytes(std::span(buffer_.get() + left, count)));
  if (!read) {
    end_ = 0;
    file_offset_ = file_->size();
    return read;
  }
  end_ += count;
  file_offset_ += count;
  return {};
}

namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

// Most records have none; memchr is many times as fast as a look at each character.
bool has_quotes(std::string_view text) { return std::memchr(text.data(), '"', text.size()) != nullptr; }

// Splits the record. A quote opens a field only at its beginning; two inside are one quote.
bool ends_in_quotes(std::string_view text, bool quoted) {
  bool at_begin = !quoted;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"') {
      const bool doubled = i + 1 < text.size() && text[i + 1] == '"';
      quoted = doubled;
      i += doubled ? 1 : 0;
    } else if (at_begin && c == '"') {
      quoted = true;
    }
    at_begin = !quoted && c == ',';
  }
  return quoted;
}

}  // namespace

tl::unexpected<Error> CsvRecords::bad(std::string_view what) const {
  return fail(make_error(ErrorCode::kBadCsv, "line {}: {}", record_.line, what)
                  .with_path(file_->path())
                  .with_offset(record_.offset));
}

// Reads the lines of the next record into text_; false at the end of the file.
Result<bool> CsvRecords::read_text() {
  text_.clear();
  for (bool quoted = false;;) {
    MSDUMP_TRY(const auto line, lines_.next());
    if (!line && !quoted) return false;
    if (!line) return bad("a quote is not closed");
    std::string_view text = line->text;
    if (!quoted) {
      record_.line = line->number;
      record_.offset = line->offset;
      if (line->offset == 0 && text.starts_with(kUtf8Mark)) text.remove_prefix(kUtf8Mark.size());
      if (text.empty()) continue;
    } else {
      text_ += '\n';
    }
    text_ += text;
    if (!quoted && !has_quotes(text)) return true;
    if (text_.size() > kMostBytes) return bad("a record of more than 1 MiB, or a quote that is not closed");
    quoted = ends_in_quotes(text, quoted);
    if (!quoted) return true;
  }
}

// False for too many fields.
bool CsvRecords::split() {
  record_.fields.clear();
  if (!has_quotes(text_)) {
    for (std::string_view rest = text_; record_.fields.size() < kMostFields;) {
      const size_t comma = rest.find(',');
      record_.fields.push_back(rest.substr(0, comma));
      if (comma == std::string_view::npos) return true;
      rest.remove_prefix(comma + 1);
    }
    return false;
  }
  plain_.clear();
  parts_.clear();
  for (size_t at = 0;; ++at) {
    if (parts_.size() == kMostFields) return false;
    const size_t begin = plain_.size();
    if (at < text_.size() && text_[at] == '"') {
      for (++at; at < text_.size(); ++at) {
        const bool quote = text_[at] == '"';
        if (quote && !(at + 1 < text_.size() && text_[at + 1] == '"')) break;
        plain_ += text_[at];
        at += quote ? 1 : 0;
      }
      if (at < text_.size()) ++at;  // the closing quote
    }
    const size_t end = std::min(text_.find(',', at), text_.size());
    plain_.append(text_, at, end - at);
    parts_.emplace_back(begin, plain_.size() - begin);
    at = end;
    if (at == text_.size()) break;
  }
  for (const auto& [begin, size] : parts_) record_.fields.push_back(std::string_view(plain_).substr(begin, size));
  return true;
}

Result<const CsvRecord*> CsvRecords::next() {
  MSDUMP_TRY(const bool any, read_text());
  if (!any) return nullptr;
  if (!split()) return bad("more than 4096 fields");
  return &record_;
}

std::optional<size_t> column_of(const std::vector<std::string>& titles, std::string_view title) {
  const auto found = std::find(titles.begin(), titles.end(), title);
  if (found == titles.end()) return std::nullopt;
  return static_cast<size_t>(found - titles.begin());
}

}  // namespace msdump
