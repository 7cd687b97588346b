#include "tables/line_reader.h"

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

// Hands out the next `length` bytes of the buffer and steps over them and the line feed.
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

// Moves what is left to the front, makes room if it fills the buffer, and reads on.
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

}  // namespace msdump
