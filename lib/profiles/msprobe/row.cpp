#include "profiles/msprobe/row.h"

#include <cmath>

namespace msdump {
namespace {

constexpr std::string_view kBase =
    "NPU Name,Bench Name,NPU Dtype,Bench Dtype,NPU Tensor Shape,Bench Tensor Shape,NPU Requires_grad,"
    "Bench Requires_grad,";
constexpr std::string_view kTensorMetrics =
    "Cosine,EucDist,MaxAbsErr,MaxRelativeErr,One Thousandth Err Ratio,Five Thousandths Err Ratio,";
constexpr std::string_view kStatisticMetrics =
    "Max diff,Min diff,Mean diff,L2norm diff,MaxRelativeErr,MinRelativeErr,MeanRelativeErr,NormRelativeErr,";
constexpr std::string_view kStatistics =
    "NPU max,NPU min,NPU mean,NPU l2norm,Bench max,Bench min,Bench mean,Bench l2norm,";

void add(std::string& row, std::string_view field) { append_csv_field(row, field, "\n"); }

// msprobe prints an infinite float as " inf", so that spreadsheets do not take it for a name; the text "inf" is kept.
void append_value(std::string& row, const PythonValue& value) {
  const bool infinite = value.kind == PythonKind::kFloat && std::isinf(value.number);
  add(row, infinite ? " " + value.text : value.text);
}

std::string json_list(const std::vector<std::string_view>& messages) {
  std::string list = "[";
  for (const std::string_view message : messages) {
    if (list.size() > 1) list += ", ";
    list.append("\"").append(message).append("\"");
  }
  return list + "]";
}

}  // namespace

std::string_view name_of(MsprobeVerdict verdict) {
  switch (verdict) {
    case MsprobeVerdict::kPass: return "pass";
    case MsprobeVerdict::kWarning: return "warning";
    case MsprobeVerdict::kError: return "error";
  }
  return {};
}

MsprobeRow::Side msprobe_side(const MsprobeItem& item, bool pandas2) {
  const std::string null_text(pandas2 ? "None" : kMsprobeNotAvailable);
  const std::string none(kMsprobeNotAvailable);
  return {item.name,
          item.dtype.value_or(null_text),
          item.shape.value_or(null_text),
          item.requires_grad.value_or(none),
          item.checksum.value_or(none),
          item.statistics,
          item.data_name};
}

MsprobeRow::Side msprobe_no_side() {
  const std::string none(kMsprobeNotAvailable);
  MsprobeRow::Side side{none, none, none, none, none, {}, none};
  side.statistics.fill(python_str(none));
  return side;
}

std::string msprobe_header(MsprobeMode mode, bool has_stacks) {
  std::string header(kBase);
  if (mode == MsprobeMode::kTensor) header += kTensorMetrics;
  if (mode == MsprobeMode::kStatistics) header += kStatisticMetrics;
  header += mode == MsprobeMode::kChecksum ? "NPU MD5,BENCH MD5," : kStatistics;
  header += "Requires_grad Consistent,Result,Err_message";
  if (has_stacks) header += ",NPU_Stack_Info";
  if (mode == MsprobeMode::kTensor) header += ",Data_name";
  return header + "\n";
}

std::string msprobe_line(const MsprobeRow& row, MsprobeMode mode, bool has_stacks) {
  using Side = MsprobeRow::Side;
  std::string line;
  for (const auto field : {&Side::name, &Side::dtype, &Side::shape, &Side::requires_grad}) {
    add(line, row.target.*field);
    add(line, row.golden.*field);
  }
  for (const PythonValue& metric : row.metrics) append_value(line, metric);
  for (const Side* side : {&row.target, &row.golden}) {
    if (mode == MsprobeMode::kChecksum) {
      add(line, side->checksum);
    } else {
      for (const PythonValue& statistic : side->statistics) append_value(line, statistic);
    }
  }
  add(line, row.target.requires_grad == row.golden.requires_grad ? "True" : "False");
  add(line, name_of(row.verdict));
  add(line, json_list(row.messages));
  if (has_stacks) add(line, row.stack == nullptr ? kMsprobeNotAvailable : *row.stack);
  if (mode == MsprobeMode::kTensor) {
    add(line, "[" + quoted_repr(row.target.data_name) + ", " + quoted_repr(row.golden.data_name) + "]");
  }
  return line + "\n";
}

}  // namespace msdump
