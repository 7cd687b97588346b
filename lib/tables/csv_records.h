// The records of a table as Python's csv module and pandas write it: a field with a comma, a quote or a line end stands in
// quotes, a quote in it is doubled, and a record goes over several lines when a field does. A byte order mark is skipped.
// Any size of file in bounded memory: a record has at most 1 MiB and 4096 fields; a longer one is an error and is skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tables/line_reader.h"

namespace msdump {

struct CsvRecord {
  std::vector<std::string_view> fields;  // unquoted; valid until the next call
  size_t line = 0;                       // of its first line, from 1
  uint64_t offset = 0;                   // of its first byte in the file
};

class CsvRecords {
 public:
  static constexpr size_t kMostBytes = size_t{1} << 20, kMostFields = 4096;

  explicit CsvRecords(const File& file) : file_(&file), lines_(file) {}  // the file outlives the reader

  // The next record, valid until the next call; null at the end. Empty lines are skipped. A bad record is bad_csv with
  // line number and offset, and the next call goes on after the lines that were read; after an error of the file itself
  // the next call is the end.
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

// The place of a column by its title; nothing if there is none.
[[nodiscard]] std::optional<size_t> column_of(const std::vector<std::string>& titles, std::string_view title);

}  // namespace msdump
