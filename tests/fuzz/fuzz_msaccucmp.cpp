// Bytes become two tensors, which msaccucmp's algorithms compare. Every column is a number, "nan", "inf" or "NaN" with a
// reason; tensors with the same bytes have no error; a row of them is one line with as many fields as the header.
//
//   byte 0     dtype (mod those that are not raw)
//   byte 1     flags: the second tensor is the first, bool stays bool, the shape is (1, .., 1) where it can be
//   the rest   the elements, half of them the first tensor's
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fuzz_file.h"
#include "profiles/msaccucmp/metrics.h"
#include "profiles/msaccucmp/result.h"

namespace {

using namespace msdump;
using fuzz::require;

const std::vector<DType>& dtypes() {
  static const std::vector<DType> known = [] {
    std::vector<DType> result;
    for (const DTypeInfo& entry : all_dtypes()) {
      if (kernels::can_pair(entry.dtype)) result.push_back(entry.dtype);
    }
    return result;
  }();
  return known;
}

bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text == "inf" || text == "nan") return true;
  const size_t point = text.find('.');
  if (point == std::string_view::npos || point == 0 || point + 1 == text.size()) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

void check(const MsaccucmpMetrics& metrics, bool same, bool scalar, int64_t count) {
  for (size_t i = 0; i < metrics.values.size(); ++i) {
    const std::string& value = metrics.values[i];
    const bool deviation = kMsaccucmpAlgorithms[i] == "StandardDeviation";
    require(deviation || is_number(value) || value == kMsaccucmpNaN, "a value is a number");
    require(value != "-nan", "no NaN has a sign");
    require(value != kMsaccucmpNaN || !metrics.reasons.empty(), "what is not computed has a reason");
  }
  if (scalar) require(metrics.values[0] == "1.000000", "a scalar's cosine is 1");
  if (!same || count == 0) return;
  const std::string& most = metrics.values[1];
  require(most == "0.000000" || most == "nan" || most == kMsaccucmpNaN, "equal tensors have no error");
  require(metrics.values[6] == most, "nor a mean one");
}

void check_line(const MsaccucmpMetrics& metrics) {
  MsaccucmpRow row;
  row.metrics = metrics;
  const std::string line = msaccucmp_line({}, 0, row);
  require(line.ends_with("\r\n") && line.find('\n') == line.size() - 1, "a row is one line");
  int64_t fields = 1;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) ++fields;
  }
  require(fields == 21 && !quoted, "a row has the fields of the header");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const DType dtype = dtypes()[data[0] % dtypes().size()];
  const bool same = (data[1] & 1U) != 0;
  const auto bits = static_cast<size_t>(info(dtype).bits);
  const size_t count = (size - 2) / 2 * 8 / bits, bytes = (count * bits + 7) / 8;
  StoredTensor stored;
  stored.bytes = stored.request.bytes = bytes;
  stored.request.dtype = dtype;
  stored.request.shape = Shape{static_cast<int64_t>(count)};
  if (count == 1 && (data[1] & 4U) != 0) stored.request.shape = Shape{};
  const fuzz::FuzzFile first(data + 2, bytes), second(data + 2 + (same ? 0 : size - 2 - bytes), bytes);
  auto a = HostTensor::make(first.open(), FileKind::kRaw, stored, {.target = std::nullopt});
  auto b = HostTensor::make(second.open(), FileKind::kRaw, stored, {.target = std::nullopt});
  require(a.has_value() && b.has_value(), "elements of any dtype can be read");
  const CancelToken cancel;
  const bool scalar = is_msaccucmp_scalar(a->shape());
  const auto metrics = msaccucmp_metrics({*a, *b, "A", "B, \"b\"", scalar, (data[1] & 2U) != 0}, cancel);
  require(metrics.has_value(), "tensors of the same size can be compared");
  check(*metrics, same, scalar, a->count());
  check_line(*metrics);
  (void)metrics->within_limits();
  return 0;
}
