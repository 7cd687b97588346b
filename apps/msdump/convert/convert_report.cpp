#include "convert/convert_report.h"

#include <utility>

#include "io/dir_walk.h"

namespace msdump::cli {

std::vector<report::Column> convert_columns() {
  const auto formats = [](const report::Row& row) {
    const std::string from = row.text_or_number("from_format"), to = row.text_or_number("to_format");
    return from == to ? from : from + " -> " + to;
  };
  return {{"input", "input"},  {"tensor", "tensor"}, {"from_format", "format", formats},
          {"to_format", ""},   {"dtype", "dtype"},   {"npy_dtype", ""},
          {"shape", "shape"},  {"policy", ""},       {"status", "status"},
          {"output", "output"}};
}

report::Row convert_row(const ConvertRow& row) {
  report::Row result;
  result.add("input", row.input).add("tensor", row.tensor).add("output", row.output);
  result.add("from_format", row.from_format).add("to_format", row.to_format);
  result.add("dtype", row.dtype).add("npy_dtype", row.npy_dtype);
  result.add("shape", row.shape ? report::Value(report::list_of(*row.shape)) : report::Value());
  result.add("policy", row.policy ? report::Value(name_of(*row.policy)) : report::Value());
  result.add("status", name_of(row.status));
  return result;
}

report::Object convert_summary(const ConvertSummary& summary) {
  report::Object object;
  object.add("inputs", summary.inputs).add("tensors", summary.tensors).add("written", summary.written);
  object.add("skipped", summary.skipped).add("kept", summary.kept).add("failed", summary.failed);
  object.add("ignored_files", summary.ignored).add("bytes_in", summary.bytes_in).add("bytes_out", summary.bytes_out);
  return object;
}

ConvertReport::ConvertReport(Session& session, std::unique_ptr<report::RowSink> sink, std::vector<std::string> dumps,
                             std::string out)
    : session_(session), sink_(std::move(sink)) {
  std::erase_if(dumps, [](const std::string& root) { return path_kind(root) != PathKind::kDirectory; });
  dumps.push_back(std::move(out));
  relative_ = RelativePaths(dumps);
}

void ConvertReport::row(const ConvertRow& row) {
  // A stream that failed stops the run through the token; nothing more to do here.
  if (sink_ && !sink_->row(convert_row(row))) session_.cancel.cancel();
}

void ConvertReport::warning(const std::string& path, const std::string& tensor, const std::string& text) {
  Error warning = make_error(ErrorCode::kUnsupportedFormat, "{}", text).with_path(path).with_tensor(tensor);
  session_.messages.warning(warning);
}

void ConvertReport::failure(const Error& error) {
  session_.messages.error(error);
  if (!sink_) return;
  Error machine = error;
  machine.path = relative_.of(error.path);
  closing_.failures.push_back(report::failure_object(machine));
}

void ConvertReport::finish(const ConvertSummary& summary) {
  closing_.summary = convert_summary(summary);
  if (sink_) (void)sink_->finish(std::move(closing_));
}

}  // namespace msdump::cli
