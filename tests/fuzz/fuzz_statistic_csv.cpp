// Any bytes as a statistic.csv: every row that is read spells the line it came from.
#include <string>
#include <string_view>

#include "fuzz_file.h"
#include "tables/statistic_csv.h"

namespace {

using namespace msdump;
using fuzz::require;

// What the fields of a row say its line is, but for the spelling of io and quotes around the shape.
std::string front_of(const StatisticRow& row) {
  std::string text;
  for (const auto field : {row.op_type, row.op_name, row.task_id, row.stream_id, row.timestamp}) {
    text += field;
    text += ',';
  }
  return text;
}

std::string back_of(const StatisticRow& row, bool msprobe, std::string_view quote) {
  std::string text;
  for (const auto field : {row.slot, row.data_size, row.dtype}) {
    text += ',';
    text += field;
  }
  if (msprobe) text.append(",").append(row.format);
  text.append(",").append(quote).append(row.shape_text).append(quote);
  for (const auto value : row.values) text.append(",").append(value);
  if (row.trailing_comma) text += ',';
  return text;
}

// Of the forms in which no field holds a comma. io is spelled with or without a capital.
void check_plain_row(const StatisticRow& row, bool one_operator, std::string_view line) {
  std::string front, back;
  const auto put = [](std::string& text, std::string_view field) { text.append(field).append(","); };
  if (!one_operator) {
    for (const auto field : {row.device, row.run, row.op_name, row.op_type, row.op_id}) put(front, field);
  }
  put(back, row.slot);
  if (one_operator) put(back, row.data_size);
  for (const auto field : {row.dtype, row.format}) put(back, field);
  back += row.shape_text;
  for (const auto value : row.values) back.append(",").append(value);
  if (row.trailing_comma) back += ',';
  if (!one_operator) back.append(",").append(row.data_path);
  require(line.starts_with(front), "the fields before io are those of the line");
  line.remove_prefix(front.size());
  require(line.size() > row.io.size() && line.substr(1, row.io.size() - 1) == row.io.substr(1), "so is io");
  require(line.substr(row.io.size() + 1) == back, "so is everything after io");
}

void check_row(const StatisticRow& row, const StatisticHeader& header, std::string_view content) {
  require(row.values.size() == header.columns.size(), "one value a column");
  require(row.shape.size() <= kMaxRank, "the rank is limited");
  require(row.io == "input" || row.io == "output", "io is one of two words");
  require(row.offset < content.size(), "the offset is inside the file");
  std::string_view line = content.substr(static_cast<size_t>(row.offset));
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  const bool one_operator = header.form == StatisticForm::kOneOperator;
  if (one_operator || header.form == StatisticForm::kAtb) return check_plain_row(row, one_operator, line);
  const std::string front = front_of(row);
  require(line.starts_with(front), "the fields up to the time stamp are those of the line");
  line.remove_prefix(front.size());
  require(line.size() > row.io.size() && line.substr(1, row.io.size() - 1) == row.io.substr(1), "so is io");
  line.remove_prefix(row.io.size());
  require(line == back_of(row, header.msprobe, "\"") || line == back_of(row, header.msprobe, ""),
          "so is everything after io");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  const fuzz::FuzzFile input(data, size);
  const File file = input.open();
  auto reader = StatisticReader::open(file);
  if (!reader) {
    fuzz::require_good_error(reader.error());
    return 0;
  }
  size_t last_line = reader->header().line;
  for (size_t calls = 0;; ++calls) {
    require(calls <= size, "reading ends");
    const auto row = reader->next();
    if (!row) {
      fuzz::require_good_error(row.error());
      require(row.error().offset && *row.error().offset < size, "an error says where");
      continue;
    }
    if (*row == nullptr) break;
    require((*row)->line > last_line, "lines are read once and in order");
    last_line = (*row)->line;
    check_row(**row, reader->header(), content);
  }
  const auto end = reader->next();
  require(end && *end == nullptr, "the end stays the end");
  return 0;
}
