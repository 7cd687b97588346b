#include "tables/statistic_csv.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/containers.h"
#include "base/text.h"
#include "tensor/dtype.h"

namespace msdump {
namespace {

using enum StatisticColumn;

constexpr std::array kInfo = {
    StatisticColumnInfo{kMax, "Max Value", "max", "max"},
    StatisticColumnInfo{kMin, "Min Value", "min", "min"},
    StatisticColumnInfo{kAvg, "Avg Value", "avg", "avg"},
    StatisticColumnInfo{kCount, "Count", "count", "count"},
    StatisticColumnInfo{kNegativeZero, "Negative Zero Count", "negative zero count", "negative_zero_count"},
    StatisticColumnInfo{kPositiveZero, "Positive Zero Count", "positive zero count", "positive_zero_count"},
    StatisticColumnInfo{kNan, "NaN Count", "nan count", "nan_count"},
    StatisticColumnInfo{kNegativeInf, "Negative Inf Count", "negative inf count", "negative_inf_count"},
    StatisticColumnInfo{kPositiveInf, "Positive Inf Count", "positive inf count", "positive_inf_count"},
    StatisticColumnInfo{kZero, "Zero Count", "zero count", "zero_count"},
    StatisticColumnInfo{kL2Norm, "L2Norm Value", "l2norm", "l2norm"},
    StatisticColumnInfo{kMd5, "MD5", "md5", "md5"},
    StatisticColumnInfo{kSha1, "SHA1", "hash:sha1", "sha1"},
};

constexpr bool in_enum_order() {
  for (size_t index = 0; index < kInfo.size(); ++index) {
    if (static_cast<size_t>(kInfo[index].column) != index) return false;
  }
  return true;
}
static_assert(in_enum_order() && !is_enumerator<static_cast<StatisticColumn>(kInfo.size())>());

struct Alias {
  std::string_view name;
  StatisticColumn column;
};

constexpr std::array kTitleAliases = {Alias{"MD5 Value", kMd5}, Alias{"l2norm", kL2Norm}};
constexpr std::array kCategoryAliases = {Alias{"hash", kSha1}, Alias{"hash:md5", kMd5}};

constexpr char folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return folded(x) == folded(y); });
}

std::optional<StatisticColumn> find(std::string_view name, std::string_view StatisticColumnInfo::*spelling,
                                    std::span<const Alias> aliases) {
  for (const auto& entry : kInfo) {
    if (same_word(entry.*spelling, name)) return entry.column;
  }
  for (const auto& alias : aliases) {
    if (same_word(alias.name, name)) return alias.column;
  }
  return std::nullopt;
}

}  // namespace

std::span<const StatisticColumnInfo> all_statistic_columns() { return kInfo; }

const StatisticColumnInfo& info(StatisticColumn column) {
  const auto index = static_cast<size_t>(column);
  assert(index < kInfo.size());
  return kInfo[index];
}

std::optional<StatisticColumn> statistic_column_from_title(std::string_view title) {
  return find(title, &StatisticColumnInfo::title, kTitleAliases);
}

std::optional<StatisticColumn> statistic_column_from_category(std::string_view category) {
  return find(category, &StatisticColumnInfo::category, kCategoryAliases);
}

std::optional<StatisticColumn> statistic_column_from_key(std::string_view key) {
  return find(key, &StatisticColumnInfo::key, {});
}

std::optional<StatisticColumn> statistic_column_from_name(std::string_view name) {
  if (const auto column = statistic_column_from_key(name)) return column;
  if (const auto column = statistic_column_from_category(name)) return column;
  return statistic_column_from_title(name);
}

namespace {

// The parser of rows, which works from both ends.

constexpr size_t kNone = std::string_view::npos;

// The position of the shape in the row.
struct ShapeField {
  std::string_view before;  // the fields before it, without the comma
  std::string_view text;    // without quotes
  std::string_view after;   // empty, or a comma and the values
};

enum class Place : uint8_t { kQuoted, kBracketed, kCounted, kCountedBeforeComma };

std::optional<ShapeField> cut(std::string_view row, size_t begin, size_t end, size_t quote) {
  const bool alone = begin > 0 && row[begin - 1] == ',' && (end == row.size() || row[end] == ',');
  if (!alone) return std::nullopt;
  return ShapeField{row.substr(0, begin - 1), row.substr(begin + quote, end - begin - 2 * quote), row.substr(end)};
}

// No value holds a quote, so the last two quotes are the shape's.
std::optional<ShapeField> find_quoted(std::string_view row) {
  const size_t last = row.rfind('"');
  if (last == kNone || last == 0) return std::nullopt;
  const size_t first = row.rfind('"', last - 1);
  return first == kNone ? std::nullopt : cut(row, first, last + 1, 1);
}

// No value holds a bracket; the dtype may ("unsupported(46)"), which then is not a field of its own.
std::optional<ShapeField> find_bracketed(std::string_view row) {
  const size_t last = row.find_last_of(")]");
  if (last == kNone) return std::nullopt;
  const size_t first = row.rfind(row[last] == ')' ? '(' : '[', last);
  return first == kNone ? std::nullopt : cut(row, first, last + 1, 0);
}

// The field before the last `fields`, for shapes without quotes or brackets.
std::optional<ShapeField> find_counted(std::string_view row, size_t fields) {
  size_t end = row.size();
  for (; fields > 0; --fields) {
    if (end == 0) return std::nullopt;
    end = row.rfind(',', end - 1);
    if (end == kNone) return std::nullopt;
  }
  if (end == 0) return std::nullopt;
  const size_t comma = row.rfind(',', end - 1);
  return comma == kNone ? std::nullopt : cut(row, comma + 1, end, 0);
}

std::optional<ShapeField> find_shape(std::string_view row, Place place, size_t columns) {
  switch (place) {
    case Place::kQuoted: return find_quoted(row);
    case Place::kBracketed: return find_bracketed(row);
    case Place::kCounted: return find_counted(row, columns);
    case Place::kCountedBeforeComma: return row.ends_with(',') ? find_counted(row, columns + 1) : std::nullopt;
  }
  return std::nullopt;
}

// Takes the last field off `rest`, with the comma before it; false if there is none before it.
bool take_last(std::string_view& rest, std::string_view& field) {
  const size_t comma = rest.rfind(',');
  if (comma == kNone) return false;
  field = rest.substr(comma + 1);
  rest = rest.substr(0, comma);
  return true;
}

std::string_view plain_io(std::string_view io) {
  if (io == "input" || io == "Input") return "input";
  if (io == "output" || io == "Output") return "output";
  return {};
}

bool parse_front(std::string_view rest, bool msprobe, StatisticRow& row, std::string& why) {
  row.format = {};
  std::string_view io;
  const bool complete = (!msprobe || take_last(rest, row.format)) && take_last(rest, row.dtype) &&
                        take_last(rest, row.data_size) && take_last(rest, row.slot) && take_last(rest, io) &&
                        take_last(rest, row.timestamp) && take_last(rest, row.stream_id) &&
                        take_last(rest, row.task_id);
  const size_t comma = complete ? rest.find(',') : kNone;
  if (comma == kNone) {
    why = "a field is missing before the shape";
    return false;
  }
  row.op_type = rest.substr(0, comma);
  row.op_name = rest.substr(comma + 1);
  row.io = plain_io(io);
  if (row.op_type.empty() || row.op_name.empty() || row.dtype.empty()) {
    why = row.dtype.empty() ? "the data type is empty" : "op type or op name is empty";
  } else if (row.io.empty()) {
    why = fmt::format("expected input or output, found '{}'", excerpt(io));
  } else if (!is_digits(row.task_id) || !is_digits(row.stream_id) || !is_digits(row.timestamp)) {
    why = "task id, stream id or time stamp is not a number";
  } else if (!is_digits(row.slot) || !is_digits(row.data_size)) {
    why = "slot or data size is not a number";
  } else {
    return true;
  }
  return false;
}

bool append_dim(std::string_view text, Shape& shape) {
  if (text == "-1") {
    shape.push_back(kUnknownDim);
    return true;
  }
  const auto dim = is_digits(text) ? parse_i64(text) : std::nullopt;
  if (!dim || shape.size() == kMaxRank) return false;
  shape.push_back(*dim);
  return true;
}

bool parse_dims(std::string_view text, std::string_view separators, Shape& shape) {
  if (text.empty()) return true;
  for (size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
    end = std::min(text.find_first_of(separators, begin), text.size());
    if (!append_dim(text.substr(begin, end - begin), shape)) return false;
  }
  return true;
}

// -n for (n): a spreadsheet reads a number in parentheses as a negative one.
bool parse_respelled(const StatisticRow& row, Shape& shape) {
  const auto dtype = dtype_from_name(row.dtype);
  const auto dim = row.shape_text.starts_with('-') && is_digits(row.shape_text.substr(1))
                       ? parse_i64(row.shape_text.substr(1))
                       : std::nullopt;
  if (!dtype || !dim || is_raw(*dtype) || bytes_of(*dtype, *dim) != parse_u64(row.data_size)) return false;
  shape.push_back(*dim);
  return true;
}

bool parse_shape(bool msprobe, StatisticRow& row) {
  const std::string_view text = row.shape_text;
  row.shape.clear();
  const bool square = text.starts_with('[') && text.ends_with(']');
  row.square_brackets = square;
  if (square || (text.starts_with('(') && text.ends_with(')'))) {
    return parse_dims(text.substr(1, text.size() - 2), ",", row.shape);
  }
  if (msprobe) return text == "-" || parse_dims(text, "x_", row.shape);
  return parse_respelled(row, row.shape);
}

// `text` is empty, or a comma and the values.
bool parse_values(std::string_view text, size_t columns, StatisticRow& row, std::string& why) {
  row.values.clear();
  for (size_t begin = 1, end = 0; begin <= text.size(); begin = end + 1) {
    if (row.values.size() > columns + 1) break;  // enough to know that there are too many
    end = std::min(text.find(',', begin), text.size());
    row.values.push_back(text.substr(begin, end - begin));
  }
  row.trailing_comma = row.values.size() == columns + 1 && row.values.back().empty();
  if (row.trailing_comma) row.values.pop_back();
  if (row.values.size() == columns) return true;
  why = row.values.size() < columns ? fmt::format("{} values expected, {} found", columns, row.values.size())
                                    : fmt::format("{} values expected, more found", columns);
  return false;
}

// Takes fields off the front of `text`, with the comma after each.
bool take_first(std::string_view& text, std::initializer_list<std::string_view*> fields) {
  for (std::string_view* const field : fields) {
    const size_t comma = text.find(',');
    if (comma == kNone) return false;
    *field = text.substr(0, comma);
    text.remove_prefix(comma + 1);
  }
  return true;
}

// Splits a row of a form in which no field holds a comma.
bool parse_plain_row(std::string_view text, const StatisticHeader& header, StatisticRow& row, std::string& why) {
  row.op_type = row.op_name = row.task_id = row.stream_id = row.timestamp = row.data_size = {};
  row.square_brackets = false;
  std::string_view io;
  const bool atb = header.form == StatisticForm::kAtb;
  const bool complete = atb ? take_first(text, {&row.device, &row.run, &row.op_name, &row.op_type, &row.op_id, &io,
                                                &row.slot, &row.dtype, &row.format}) &&
                                  take_last(text, row.data_path)
                            : take_first(text, {&io, &row.slot, &row.data_size, &row.dtype, &row.format});
  row.shape_text = text.substr(0, text.find(','));
  row.io = plain_io(io);
  row.shape.clear();
  if (!complete) {
    why = "a field is missing before the statistics";
  } else if (row.io.empty()) {
    why = fmt::format("expected input or output, found '{}'", excerpt(io));
  } else if (!is_digits(row.slot) || (!atb && !is_digits(row.data_size))) {
    why = "index or data size is not a number";
  } else if (row.shape_text != "-" && !parse_dims(row.shape_text, "x", row.shape)) {
    why = fmt::format("'{}' is not a shape", excerpt(row.shape_text));
  } else {
    return parse_values(text.substr(row.shape_text.size()), header.columns.size(), row, why);
  }
  return false;
}

// Fills `row` except for its place in the file, and reuses its memory. If it returns false, with the reason in `why`, the row
// is unusable.
bool parse_statistic_row(std::string_view text, const StatisticHeader& header, StatisticRow& row, std::string& why) {
  if (header.form == StatisticForm::kOneOperator || header.form == StatisticForm::kAtb)
    return parse_plain_row(text, header, row, why);
  std::string first_reason;
  for (const Place place : {Place::kQuoted, Place::kBracketed, Place::kCounted, Place::kCountedBeforeComma}) {
    const auto field = find_shape(text, place, header.columns.size());
    if (!field) continue;
    row.shape_text = field->text;
    if (parse_front(field->before, header.msprobe, row, why)) {
      if (!parse_shape(header.msprobe, row)) {
        why = fmt::format("'{}' is not a shape", excerpt(field->text));
      } else if (parse_values(field->after, header.columns.size(), row, why)) {
        return true;
      }
    }
    // The reason for the first place is reported, because it is the likeliest.
    if (first_reason.empty()) first_reason = why;
  }
  why = first_reason.empty() ? "no shape found" : first_reason;
  return false;
}

constexpr std::string_view kHeaderBegin = "Op Type,Op Name,";
constexpr std::string_view kFields = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape";
constexpr std::string_view kMsprobeFields =
    "Op Type,Op Name,Task ID,Stream ID,Timestamp,Input/Output,Slot,Data Size,Data Type,Format,Shape";
constexpr std::string_view kOneOperatorFields = "Input/Output,Index,Data Size,Data Type,Format,Shape";
constexpr std::string_view kAtbFields =
    "Device and PID,Execution Count,Op Name,Op Type,Op Id,Input/Output,Index,Dtype,Format,Shape,Max,Min,Mean,Norm,"
    "Tensor Path";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // spreadsheets write one; no dump does
constexpr size_t kMaxColumns = 1000;  // a category may be listed again and again; no dump has more

bool begins_with_fields(std::string_view text, std::string_view fields) {
  return text.starts_with(fields) && (text.size() == fields.size() || text[fields.size()] == ',');
}

// Takes the fields before the statistics off a header; none if their form is unknown.
std::optional<StatisticForm> take_fields(std::string_view& text) {
  using enum StatisticForm;
  for (const auto& [form, fields] : {std::pair(kMindSpore, kFields), std::pair(kMsprobe, kMsprobeFields),
                                     std::pair(kOneOperator, kOneOperatorFields)}) {
    if (!begins_with_fields(text, fields)) continue;
    text.remove_prefix(fields.size());
    return form;
  }
  if (text != kAtbFields) return std::nullopt;
  text = {};
  return kAtb;
}

// Returns false with the reason in `why`.
bool parse_header(std::string_view text, StatisticHeader& header, std::string& why) {
  const auto form = take_fields(text);
  if (!form) {
    why = fmt::format("expected the header '{},...', found '{}'", kFields, excerpt(text));
    return false;
  }
  header.form = *form;
  header.msprobe = *form != StatisticForm::kMindSpore;
  using enum StatisticColumn;
  if (*form == StatisticForm::kAtb) header.columns = {kMax, kMin, kAvg, kL2Norm};
  while (!text.empty()) {
    const size_t end = std::min(text.find(',', 1), text.size());
    const std::string_view title = text.substr(1, end - 1);
    const auto column = statistic_column_from_title(title);
    if (!column || header.columns.size() == kMaxColumns) {
      why = column ? fmt::format("more than {} columns", kMaxColumns)
                   : fmt::format("the column '{}' is not known", excerpt(title));
      return false;
    }
    header.columns.push_back(*column);
    text.remove_prefix(end);
  }
  return true;
}

}  // namespace

tl::unexpected<Error> StatisticReader::bad(const Line& line, std::string_view what) const {
  return fail(make_error(ErrorCode::kBadCsv, "line {}: {}", line.number, what)
                  .with_path(file_->path())
                  .with_offset(line.offset));
}

Status StatisticReader::take_header(const Line& line) {
  StatisticHeader header;
  header.line = line.number;
  std::string why;
  if (!parse_header(line.text, header, why)) {
    header_failed_ = true;
    return bad(line, !line.complete && headers_read_ > 0 ? "the last line is cut" : why);
  }
  header_ = std::move(header);
  ++headers_read_;
  rows_end_with_comma_ = false;
  return {};
}

Result<StatisticReader> StatisticReader::open(const File& file) {
  StatisticReader reader(file);
  for (;;) {
    MSDUMP_TRY(auto line, reader.lines_.next());
    if (!line) {
      return fail(make_error(ErrorCode::kBadCsv, "no header line: the file is empty").with_path(file.path()));
    }
    if (line->number == 1 && line->text.starts_with(kByteOrderMark)) line->text.remove_prefix(kByteOrderMark.size());
    if (line->text.empty()) continue;
    MSDUMP_CHECK_OK(reader.take_header(*line));
    return reader;
  }
}

Status StatisticReader::parse(const Line& line) {
  std::string why;
  const bool good = parse_statistic_row(line.text, header_, row_, why);
  // A truncated value still looks like a value; only the missing comma shows it.
  const bool cut = !line.complete && (!good || (rows_end_with_comma_ && !row_.trailing_comma));
  if (cut) return bad(line, "the last line is cut");
  if (!good) return bad(line, why);
  row_.line = line.number;
  row_.offset = line.offset;
  rows_end_with_comma_ = row_.trailing_comma;
  return {};
}

Result<const StatisticRow*> StatisticReader::next() {
  while (!header_failed_) {
    MSDUMP_TRY(const auto line, lines_.next());
    if (!line) break;
    if (line->text.empty()) continue;
    if (line->text.starts_with(kHeaderBegin) || line->text.starts_with(kOneOperatorFields) ||
        line->text == kAtbFields) {
      MSDUMP_CHECK_OK(take_header(*line));
      continue;
    }
    MSDUMP_CHECK_OK(parse(*line));
    return &row_;
  }
  return nullptr;
}

}  // namespace msdump
