#include "profiles/msaccucmp/row.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace msdump {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

void add(std::string& line, std::string_view field) { append_csv_field(line, field, kLineEnd); }

std::string joined(const Shape& shape, std::string_view separator) {
  std::string text;
  for (const int64_t dim : shape) text += fmt::format("{}{}", text.empty() ? "" : separator, dim);
  return text;
}

}  // namespace

std::string msaccucmp_header(const MsaccucmpColumns& columns) {
  std::string line;
  for (const std::string_view title : {"Index", "OpType", "NPUDump", "DataType"}) add(line, title);
  if (columns.address_a) add(line, "Address");
  for (const std::string_view title : {"GroundTruth", "DataType"}) add(line, title);
  if (columns.address_b) add(line, "Address");
  for (const std::string_view title : {"TensorIndex", "Shape"}) add(line, title);
  for (const std::string_view algorithm : kMsaccucmpAlgorithms) add(line, algorithm);
  add(line, "CompareFailReason");
  return line.append(kLineEnd);
}

std::string msaccucmp_line(const MsaccucmpColumns& columns, size_t index, const MsaccucmpRow& row) {
  std::string line = std::to_string(index);
  for (const std::string* const field : {&row.op_type, &row.npu_dump, &row.dtype_a}) add(line, *field);
  if (columns.address_a) add(line, row.address_a);
  for (const std::string* const field : {&row.ground_truth, &row.dtype_b}) add(line, *field);
  if (columns.address_b) add(line, row.address_b);
  for (const std::string* const field : {&row.tensor_index, &row.shape}) add(line, *field);
  for (const std::string& value : row.metrics.values) add(line, value);
  add(line, fmt::format("{}", fmt::join(row.metrics.reasons, ",")));
  return line.append(kLineEnd);
}

std::string msaccucmp_shape(const Shape& shape) { return "[" + joined(shape, ",") + "]"; }
std::string msaccucmp_tuple(const Shape& shape) { return "(" + joined(shape, ", ") + ")"; }

std::string msaccucmp_path(const std::string& path) {
  const std::filesystem::path given(path);
  std::error_code error;
  const auto folder = std::filesystem::canonical(given.has_parent_path() ? given.parent_path() : ".", error);
  return error ? path : (folder / given.filename()).string();
}

std::string msaccucmp_address(uint64_t address) {
  return address == 0 ? std::string(kMsaccucmpNaN) : std::to_string(address);
}

MsaccucmpCounts& MsaccucmpCounts::operator+=(MsaccucmpCounts&& more) {
  rows += more.rows;
  unmatched += more.unmatched;
  not_compared += more.not_compared;
  left_out += more.left_out;
  beyond += more.beyond;
  failures.add(std::move(more.failures));
  return *this;
}

void MsaccucmpOpRows::add_unmatched(MsaccucmpRow row, std::string reason) {
  row.metrics = no_msaccucmp_metrics(std::move(reason));
  rows.push_back(std::move(row));
  ++counts.unmatched;
}

void MsaccucmpOpRows::add_not_compared(MsaccucmpRow row, std::string reason) {
  row.metrics = no_msaccucmp_metrics(std::move(reason));
  rows.push_back(std::move(row));
  ++counts.not_compared;
}

Status MsaccucmpOpRows::add(MsaccucmpRow row, Result<MsaccucmpMetrics>&& metrics) {
  if (metrics) {
    row.metrics = std::move(*metrics);
    if (!row.metrics.within_limits()) ++counts.beyond;
    rows.push_back(std::move(row));
    return {};
  }
  Error error = std::move(metrics).error();
  if (error.code == ErrorCode::kCancelled) return fail(std::move(error));
  add_not_compared(std::move(row), error.message);
  if (!error.path.empty()) counts.failures.add(std::move(error));
  return {};
}

}  // namespace msdump
