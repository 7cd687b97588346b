#include "profiles/msprobe/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "base/text.h"

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
  if (has_stacks) add(line, row.stack ? std::string_view(*row.stack) : kMsprobeNotAvailable);
  if (mode == MsprobeMode::kTensor) {
    add(line, "[" + quoted_repr(row.target.data_name) + ", " + quoted_repr(row.golden.data_name) + "]");
  }
  return line + "\n";
}

namespace {

constexpr std::array<std::string_view, 9> kNotJudged{
    "empty",     "empty_like",   "numpy", "to", "__setitem__", "empty_with_format", "new_empty_strided",
    "new_empty", "empty_strided"};
constexpr std::array<std::string_view, 4> kInputsNotJudged{"_reduce_scatter_base", "_all_gather_base",
                                                           "all_to_all_single", "batch_isend_irecv"};

constexpr size_t kCosine = 0, kThousandth = 4;  // of the metrics of tensors
constexpr size_t kNorm = 7;                     // of those of statistics

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "12.5%" is 0.125, "inf" is infinite, anything that is not a number is 0.
double percentage(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of('%'), text.size());
  text = text.substr(begin, text.find_last_not_of('%') + 1 - begin);
  const std::string lower = to_lower(text);
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (lower == "inf") return std::numeric_limits<double>::infinity();
  if (lower == "-inf") return -std::numeric_limits<double>::infinity();
  return decimal_value(text).value_or(0) / 100;
}

bool is_nan_or_infinite(const PythonValue& value) {
  if (value.kind == PythonKind::kFloat) return !std::isfinite(value.number);
  const std::string lower = to_lower(value.text);
  return lower == "nan" || lower == "inf" || lower == "-inf";
}

using Rows = std::vector<MsprobeRow*>;

// The number in a metric, if it has one.
std::optional<double> number_in(const PythonValue& value) {
  if (value.is_number()) return value.number;
  if (value.kind == PythonKind::kText && value.text.ends_with('%')) return percentage(value.text);
  return std::nullopt;
}

// A NaN is skipped, as by Python's min and max.
double least(const Rows& rows, size_t metric) {
  double best = 1.0;
  for (const MsprobeRow* row : rows) {
    if (const auto value = number_in(row->metrics[metric]); value && *value < best) best = *value;
  }
  return best;
}

double largest(const Rows& rows, size_t metric) {
  double best = 0.0;
  for (const MsprobeRow* row : rows) {
    if (const auto value = number_in(row->metrics[metric]); value && *value > best) best = *value;
  }
  return best;
}

void mark(MsprobeRow& row, MsprobeVerdict verdict, std::string_view message) {
  row.verdict = std::max(row.verdict, verdict);
  row.messages.push_back(message);
}
void error(MsprobeRow& row, std::string_view message) { mark(row, MsprobeVerdict::kError, message); }
void warning(MsprobeRow& row, std::string_view message) { mark(row, MsprobeVerdict::kWarning, message); }

void judge_finite(const Rows& judged) {
  const auto bad = [](const MsprobeRow::Side& side) {
    return is_nan_or_infinite(side.statistics[0]) || is_nan_or_infinite(side.statistics[1]);
  };
  for (MsprobeRow* row : judged) {
    if (bad(row->golden) || !bad(row->target)) continue;
    error(*row, "error: There is nan/inf/-inf in the maximum or minimum value of NPU.");
  }
}

void judge_ratio(const Rows& inputs, const Rows& outputs) {
  if (outputs.empty() || least(inputs, kThousandth) <= 0.9 || least(outputs, kThousandth) >= 0.1) return;
  error(*outputs[0], "error: The input/parameters of One Thousandth Err Ratio > 0.9 while the output < 0.6.");
}

void judge_norms(const Rows& inputs, const Rows& outputs) {
  if (largest(inputs, kNorm) >= 0.1) return;
  for (MsprobeRow* row : outputs) {
    if (std::fabs(percentage(row->metrics[kNorm].text)) > 0.5) {
      error(*row, "error: The NormRelativeErr of output is greater than 0.5.");
    }
  }
}

void judge_gradients(const Rows& judged) {
  for (MsprobeRow* row : judged) {
    const std::string &target = row->target.requires_grad, &golden = row->golden.requires_grad;
    if (!row->has_partner() || target.empty() || golden.empty() || target == golden) continue;
    error(*row, "error: The Required_Grad of NPU and Bench are inconsistent");
  }
}

void judge_scalars(const Rows& inputs) {
  for (MsprobeRow* row : inputs) {
    const bool scalars = row->target.dtype.find("class") != std::string::npos &&
                         row->golden.dtype.find("class") != std::string::npos && row->target.shape == "[]";
    if (!row->has_partner() || !scalars) continue;
    if (python_equal(row->target.statistics[0], row->golden.statistics[0])) continue;
    error(*row, "error: The scalar parameters of NPU and Bench are inconsistent.");
  }
}

void judge_dtypes(const Rows& judged) {
  for (MsprobeRow* row : judged) {
    const std::string &target = row->target.dtype, &golden = row->golden.dtype;
    const bool merged =
        row->golden.name.find("qkv") != std::string::npos || row->golden.name.find("gate_up") != std::string::npos;
    if (!row->has_partner() || merged || target.empty() || golden.empty() || target == golden) continue;
    error(*row, "error: The dtype of NPU and Bench are inconsistent.");
  }
}

void judge_shapes(const Rows& judged) {
  for (MsprobeRow* row : judged) {
    if (!row->has_partner() || row->target.shape == row->golden.shape) continue;
    error(*row, "error: The shape of NPU and Bench are inconsistent.");
  }
}

void judge_cosine(const Rows& inputs, const Rows& outputs) {
  if (outputs.empty()) return;
  const double in = least(inputs, kCosine), out = least(outputs, kCosine);
  if (in <= 0.9 || in - out <= 0.1) return;
  warning(*outputs[0], "warning: The input/parameters of Cosine > 0.9, and input/parameters - output > 0.1");
}

void judge_growth(const Rows& inputs, const Rows& outputs) {
  if (outputs.empty()) return;
  const double in = largest(inputs, kNorm), out = largest(outputs, kNorm);
  if (in == 0 ? out > 0.1 : out / in > 10) {
    warning(*outputs[0], "warning: The norm relative error of output is 10 times that of input.");
  }
}

void judge_checksums(const Rows& judged) {
  const auto missing = [](const std::string& checksum) {
    return checksum == kMsprobeNotAvailable || checksum == "Nan" || checksum.empty();
  };
  for (MsprobeRow* row : judged) {
    const std::string &target = row->target.checksum, &golden = row->golden.checksum;
    if (target == golden) continue;
    if (missing(target) || missing(golden)) {
      warning(*row, "warning: The parameter of NPU does not match the bench.");
    } else {
      error(*row, "error: The CRC-32 value of NPU differs from that of the bench.");
    }
  }
}

enum class Judged : uint8_t { kAll, kOutputs, kNothing };

Judged what_is_judged(const Rows& inputs) {
  if (inputs.empty()) return Judged::kAll;
  const auto parts = split(inputs[0]->target.name, '.');
  if (parts.size() < 2) return Judged::kAll;
  if (is_one_of(kNotJudged, parts[1])) return Judged::kNothing;
  return is_one_of(kInputsNotJudged, parts[1]) ? Judged::kOutputs : Judged::kAll;
}

}  // namespace

void judge_msprobe_rows(std::span<MsprobeRow> rows, MsprobeMode mode) {
  Rows inputs, outputs;
  for (MsprobeRow& row : rows) {
    const bool output = row.target.name.find(".output.") != std::string::npos;
    (output ? outputs : inputs).push_back(&row);
  }
  const Judged what = what_is_judged(inputs);
  if (what == Judged::kNothing) return;
  Rows judged;
  if (what == Judged::kAll) judged = inputs;
  judged.insert(judged.end(), outputs.begin(), outputs.end());
  if (mode == MsprobeMode::kChecksum) return judge_checksums(judged);

  const bool together = what == Judged::kAll, tensors = mode == MsprobeMode::kTensor;
  judge_finite(judged);
  if (together) tensors ? judge_ratio(inputs, outputs) : judge_norms(inputs, outputs);
  judge_gradients(judged);
  if (together) judge_scalars(inputs);
  judge_dtypes(judged);
  judge_shapes(judged);
  if (together) tensors ? judge_cosine(inputs, outputs) : judge_growth(inputs, outputs);
}

}  // namespace msdump
