#include "stats/statistic_text.h"

#include <cmath>

#include <fmt/format.h>

#include "report/value.h"

namespace msdump::stats {
namespace {

constexpr std::string_view kFixedHeader =
    "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape";

std::string number(const TextStyle& style, double value) {
  return style.exact && std::isfinite(value) ? report::number_text(value) : six_digits(value);
}

std::string finite_number(const TextStyle& style, double value, const TensorStatistics& statistics) {
  return statistics.nothing_finite && !style.exact ? "null" : number(style, value);
}

}  // namespace

std::string six_digits(double value) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  return fmt::format("{:g}", value);
}

std::string shape_text(const Dialect& dialect, const Shape& shape) {
  const std::string dims = join_dims(shape, ",");
  return dialect.square_brackets ? "[" + dims + "]" : "(" + dims + ")";
}

std::string cell_text(const TextStyle& style, StatisticColumn column, const TensorStatistics& statistics) {
  using enum StatisticColumn;
  switch (column) {
    case kMax: return finite_number(style, statistics.max, statistics);
    case kMin: return finite_number(style, statistics.min, statistics);
    case kAvg: return finite_number(style, statistics.avg, statistics);
    case kL2Norm: return number(style, statistics.l2norm);
    case kCount: return std::to_string(statistics.count);
    case kNegativeZero: return std::to_string(statistics.negative);
    case kPositiveZero: return std::to_string(statistics.positive);
    case kNan: return std::to_string(statistics.nan);
    case kNegativeInf: return std::to_string(statistics.negative_inf);
    case kPositiveInf: return std::to_string(statistics.positive_inf);
    case kZero: return std::to_string(statistics.zero);
    case kMd5: return statistics.md5;
    case kSha1: return statistics.sha1;
  }
  return {};
}

std::string header_line(const TextStyle& style) {
  std::string line(kFixedHeader);
  for (const StatisticColumn column : style.columns) line += fmt::format(",{}", info(column).title);
  return line + "\n";
}

std::string row_line(const TextStyle& style, const DumpIndex& index, const TensorRecord& tensor,
                     const TensorStatistics& statistics) {
  // The writer had the names of the file; those inside of the file may be spelled differently.
  const NameFacts& file = index.files()[tensor.file].facts;
  const std::string_view op_name = tensor.has_elements ? file.op_name : tensor.name.op_name;
  const std::string_view timestamp = tensor.name.timestamp.empty() ? "0" : tensor.name.timestamp;
  const std::string_view io = tensor.name.io == Io::kInput ? "input" : "output";
  std::string line =
      fmt::format("{},{},{},{},{},{},{},{},{},\"{}\"", tensor.name.op_type, op_name, tensor.name.task_id.value_or(0),
                  tensor.name.stream_id.value_or(0), timestamp, io, tensor.name.slot, statistics.data_size,
                  name_of(statistics.dtype), shape_text(*style.dialect, statistics.shape));
  for (const StatisticColumn column : style.columns) line += "," + cell_text(style, column, statistics);
  return line + (style.dialect->comma_at_end && !style.exact ? ",\n" : "\n");
}

}  // namespace msdump::stats
