#include "stats/statistic_files.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "report/value.h"

namespace msdump::stats {
namespace {

constexpr std::string_view kFixedHeader =
    "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape";

std::string number(const TextStyle& style, double value) {
  return style.exact && std::isfinite(value) ? report::number_text(value) : six_digits(value);
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

std::string cell_text(const TextStyle& style, StatisticColumn column, const TensorNumbers& numbers) {
  if (is_null(numbers, column) && !style.exact) return "null";
  const StatisticMember member = member_of(column);
  if (const auto* const which = std::get_if<Extremum>(&member))
    return number(style, numbers.number(*which).value_or(StatisticNumber()).value);
  if (const auto* const count = std::get_if<StatisticCount>(&member))
    return std::to_string((numbers.**count).value_or(0));
  const Checksum* const checksum = numbers.find(std::get<ChecksumKind>(member));
  return checksum == nullptr ? "" : checksum->text;
}

std::string header_line(const TextStyle& style) {
  std::string line(kFixedHeader);
  for (const StatisticColumn column : style.columns) line += fmt::format(",{}", info(column).title);
  return line + "\n";
}

std::string row_line(const TextStyle& style, const DumpIndex& index, const TensorRecord& tensor,
                     const TensorNumbers& numbers) {
  // MindSpore writes the names of the file; those in its header may be spelled differently.
  const NameFacts& file = index.files()[tensor.file].facts;
  const std::string_view op_name = tensor.has_elements ? file.op_name : tensor.name.op_name;
  const std::string_view timestamp = tensor.name.timestamp.empty() ? "0" : tensor.name.timestamp;
  const std::string_view io = tensor.name.io == Io::kInput ? "input" : "output";
  std::string line =
      fmt::format("{},{},{},{},{},{},{},{},{},\"{}\"", tensor.name.op_type, op_name, tensor.name.task_id.value_or(0),
                  tensor.name.stream_id.value_or(0), timestamp, io, tensor.name.slot, numbers.data_size,
                  name_of(numbers.dtype), shape_text(*style.dialect, numbers.shape.value_or(Shape())));
  for (const StatisticColumn column : style.columns) line += "," + cell_text(style, column, numbers);
  return line + (style.dialect->comma_at_end && !style.exact ? ",\n" : "\n");
}

namespace {

constexpr std::string_view kTensorData = "dump_tensor_data";

std::string directory_of(const std::string& folder) {
  if (folder == kTensorData) return "";
  const size_t at = folder.rfind('/');
  return at != std::string::npos && folder.substr(at + 1) == kTensorData ? folder.substr(0, at) : folder;
}

struct NaturalOrder {
  bool operator()(const std::pair<uint32_t, std::string>& a, const std::pair<uint32_t, std::string>& b) const {
    return a.first != b.first ? a.first < b.first : natural_less(a.second, b.second);
  }
};

}  // namespace

std::vector<StatisticDirectory> statistic_directories(const DumpIndex& index,
                                                      const std::vector<TensorRecord>& tensors) {
  std::map<std::pair<uint32_t, std::string>, std::vector<size_t>, NaturalOrder> by_path;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].has_elements || tensors[i].broken) continue;
    const IndexedFolder& folder = index.folders()[index.files()[tensors[i].file].folder];
    by_path[{folder.root, directory_of(folder.relative)}].push_back(i);
  }
  std::vector<StatisticDirectory> directories;
  for (auto& [place, members] : by_path) {
    std::stable_partition(members.begin(), members.end(),
                          [&](size_t i) { return tensors[i].name.io != Io::kParameter; });
    directories.push_back({place.first, place.second, std::move(members)});
  }
  return directories;
}

Status StatisticFileWriter::take(const std::string& target, const TensorRecord& tensor,
                                 const Result<TensorNumbers>& statistics) {
  const bool left_out = !statistics && statistics.error().code == ErrorCode::kCancelled;
  if (stopped_ || left_out || cancel_.cancelled()) {
    stopped_ = true;
    file_.reset();
    return {};
  }
  Status status = target == target_ ? Status() : commit();
  target_ = target;
  if (status && statistics && statistics->count) status = add(target, tensor, *statistics);
  if (status) return status;
  stopped_ = true;
  file_.reset();
  return status;
}

Status StatisticFileWriter::finish() {
  if (stopped_ || cancel_.cancelled()) {
    file_.reset();
    return {};
  }
  return commit();
}

Status StatisticFileWriter::add(const std::string& target, const TensorRecord& tensor,
                                const TensorNumbers& statistics) {
  if (!file_) {
    MSDUMP_TRY(TextFile file, TextFile::create(target));
    file_.emplace(std::move(file));
    waiting_rows_ = 0;
    MSDUMP_CHECK_OK(file_->append(header_line(style_)));
  }
  ++waiting_rows_;
  return file_->append(row_line(style_, index_, tensor, statistics));
}

Status StatisticFileWriter::commit() {
  if (!file_) return {};
  MSDUMP_CHECK_OK(file_->commit());
  file_.reset();
  ++files_;
  rows_ += waiting_rows_;
  return {};
}

}  // namespace msdump::stats
