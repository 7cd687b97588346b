// LineReader and CsvRecords: text files of any size, line by line or record by record, in bounded memory. The buffer of 256 KiB
// grows to 1 MiB for a line that needs it. A longer line is an error and is skipped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/file.h"

namespace msdump {

struct Line {
  std::string_view text;  // without its line end ("\n" or "\r\n"); valid until the next call
  size_t number = 0;      // from 1
  uint64_t offset = 0;    // of its first byte in the file
  bool complete = false;  // true if it has a line end; only the last line of a file may have none
};

class LineReader {
 public:
  static constexpr size_t kMaxLine = size_t{1} << 20;

  explicit LineReader(const File& file) : file_(&file) {}  // the file outlives the reader

  // Returns the next line, none at the end. A line that is too long is kBadCsv, and the next call goes on after it. After a
  // read that fails the next call is the end.
  Result<std::optional<Line>> next();

 private:
  Line take(size_t length, size_t line_end);
  Status refill();

  [[nodiscard]] size_t held() const { return end_ - begin_; }
  [[nodiscard]] bool at_file_end() const { return file_offset_ == file_->size(); }

  const File* file_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  size_t begin_ = 0, end_ = 0;  // the unread part of the buffer
  size_t searched_ = 0;         // bytes of it without a line feed
  uint64_t file_offset_ = 0;    // of buffer_[end_]
  size_t line_number_ = 0;
  bool inside_long_line_ = false;
};

// A record of a table as Python's csv module and pandas write it. A field with a comma, a quote or a line end is quoted, and
// quotes in it are doubled. A record may go over several lines. A byte order mark is skipped.
struct CsvRecord {
  std::vector<std::string_view> fields;  // unquoted; valid until the next call
  size_t line = 0;                       // of its first line, from 1
  uint64_t offset = 0;                   // of its first byte in the file
};

class CsvRecords {
 public:
  static constexpr size_t kMostBytes = size_t{1} << 20, kMostFields = 4096;

  explicit CsvRecords(const File& file) : file_(&file), lines_(file) {}  // the file outlives the reader

  // Returns the next record, valid until the next call; null at the end. Empty lines are skipped. A bad record, or one above
  // the limits, is kBadCsv with line number and offset, and the next call goes on after it. After a read that fails the
  // next call is the end.
  Result<const CsvRecord*> next();

  [[nodiscard]] tl::unexpected<Error> bad(std::string_view what) const;  // about the current record

 private:
  Result<bool> read_text();
  bool split();

  const File* file_;
  LineReader lines_;
  CsvRecord record_;
  std::string text_;                              // of the record
  std::string plain_;                             // its fields without quotes
  std::vector<std::pair<size_t, size_t>> parts_;  // of plain_
};

// The place of the column with this title.
[[nodiscard]] std::optional<size_t> column_of(const std::vector<std::string>& titles, std::string_view title);

}  // namespace msdump
