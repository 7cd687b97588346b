#include "tables/statistic_csv.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "tables/statistic_row.h"

namespace msdump {
namespace {

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

// Takes the fields before the statistics off a header; nothing if they are of no known form.
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

// False with the reason in `why`.
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
