#include "profiles/msaccucmp/row.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace msdump {
namespace {

class Line {
 public:
  void add(std::string_view field) {
    if (!text_.empty()) text_ += ',';
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
      text_ += field;
      return;
    }
    text_ += '"';
    for (const char c : field) {
      text_ += c;
      if (c == '"') text_ += c;
    }
    text_ += '"';
  }
  [[nodiscard]] std::string end() && { return std::move(text_) + "\r\n"; }

 private:
  std::string text_;  // the first field is never empty
};

std::string joined(const Shape& shape, std::string_view separator) {
  std::string text;
  for (const int64_t dim : shape) text += fmt::format("{}{}", text.empty() ? "" : separator, dim);
  return text;
}

}  // namespace

std::string msaccucmp_header(const MsaccucmpColumns& columns) {
  Line line;
  for (const std::string_view title : {"Index", "OpType", "NPUDump", "DataType"}) line.add(title);
  if (columns.address_a) line.add("Address");
  for (const std::string_view title : {"GroundTruth", "DataType"}) line.add(title);
  if (columns.address_b) line.add("Address");
  for (const std::string_view title : {"TensorIndex", "Shape"}) line.add(title);
  for (const std::string_view algorithm : kMsaccucmpAlgorithms) line.add(algorithm);
  line.add("CompareFailReason");
  return std::move(line).end();
}

std::string msaccucmp_line(const MsaccucmpColumns& columns, size_t index, const MsaccucmpRow& row) {
  Line line;
  line.add(std::to_string(index));
  for (const std::string* const field : {&row.op_type, &row.npu_dump, &row.dtype_a}) line.add(*field);
  if (columns.address_a) line.add(row.address_a);
  for (const std::string* const field : {&row.ground_truth, &row.dtype_b}) line.add(*field);
  if (columns.address_b) line.add(row.address_b);
  for (const std::string* const field : {&row.tensor_index, &row.shape}) line.add(*field);
  for (const std::string& value : row.metrics.values) line.add(value);
  line.add(fmt::format("{}", fmt::join(row.metrics.reasons, ",")));
  return std::move(line).end();
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

void MsaccucmpOpRows::add_unmatched(MsaccucmpRow row, std::string reason) {
  row.metrics = no_msaccucmp_metrics(std::move(reason));
  rows.push_back(std::move(row));
  ++unmatched;
}

void MsaccucmpOpRows::add_not_compared(MsaccucmpRow row, std::string reason) {
  row.metrics = no_msaccucmp_metrics(std::move(reason));
  rows.push_back(std::move(row));
  ++not_compared;
}

void MsaccucmpOpRows::add(MsaccucmpRow row, MsaccucmpMetrics metrics) {
  row.metrics = std::move(metrics);
  if (!row.metrics.within_limits()) ++beyond;
  rows.push_back(std::move(row));
}

}  // namespace msdump
