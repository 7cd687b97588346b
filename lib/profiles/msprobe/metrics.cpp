#include "profiles/msprobe/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "dump/elements/host_tensor.h"
#include "dump/layouts/saved_tensor.h"
#include "kernels/pair/pair.h"
#include "npy/npy.h"
#include "profiles/result_writer.h"
#include "tensor/shape.h"
#include "torch/pt_file.h"

namespace msdump {
namespace {

constexpr double kEpsilon32 = static_cast<double>(std::numeric_limits<float>::epsilon());
constexpr double kEpsilon64 = std::numeric_limits<double>::epsilon();

Result<StoredTensor> stored_npy(const File& file) {
  MSDUMP_TRY(const npy::Header header, npy::read_header(file));
  StoredTensor stored;
  stored.offset = header.data_offset;
  stored.bytes = header.data_bytes;
  stored.big_endian = header.big_endian;
  stored.fortran_order = header.fortran_order;
  stored.request.dtype = header.dtype;
  stored.request.shape = header.shape;
  return stored;
}

Result<StoredTensor> stored_pt(const File& file) {
  MSDUMP_TRY(const torch::PtFile pt, torch::read_pt(file));
  if (pt.tensors.size() != 1) {
    return fail(
        make_error(ErrorCode::kUnsupportedFormat, "{} where one is expected", plural(pt.tensors.size(), "tensor"))
            .with_path(file.path()));
  }
  const torch::PtTensor& tensor = pt.tensors[0];
  if (tensor.problem) return fail(*tensor.problem);
  return stored_tensor_of(tensor);
}

Result<HostTensor> open_tensor(const std::string& path) {
  MSDUMP_TRY(File file, File::open(path));
  const bool pt = path.ends_with(".pt");
  MSDUMP_TRY(StoredTensor stored, pt ? stored_pt(file) : stored_npy(file));
  stored.request.bytes = stored.bytes;
  stored.request.format_number = static_cast<int64_t>(Format::kND);
  MSDUMP_TRY(HostTensor tensor, HostTensor::make(std::move(file), pt ? FileKind::kPt : FileKind::kNpy, stored,
                                                 {.target = std::nullopt, .convert_arrays = false}));
  if (!kernels::can_pair(tensor.dtype()))
    return fail(make_error(ErrorCode::kUnsupportedDtype, "{} has no values", name_of(tensor.dtype())).with_path(path));
  return tensor;
}

// True if numpy holds it as a float of less than 64 bits.
bool is_narrow_float(const HostTensor& tensor) {
  const DType dtype = info(tensor.dtype()).npy_dtype;
  return dtype == DType::kFloat16 || dtype == DType::kFloat32;
}

PythonValue to_12_decimals(double value) { return python_float(rounded_to(value, 12)); }

double largest_relative_error(const kernels::PairState& state) {
  return state.reference_zero > 0 ? std::max(state.max_rel, state.max_scaled) : state.max_rel;
}

MsprobeMetrics metrics_of_scalar(const kernels::PairState& state) {
  MsprobeMetrics metrics = same_metrics("unsupported");
  const bool any_nan = state.nan_a + state.nan_b > 0, any_infinity = state.finite == 0;
  const bool undefined = any_nan || (any_infinity && state.inf_mismatch == 0);
  const auto text = [&](double of_finite) {
    if (undefined) return python_str("Nan");
    return to_12_decimals(any_infinity ? std::numeric_limits<double>::infinity() : of_finite);
  };
  metrics[2] = text(state.max_abs);
  metrics[3] = text(largest_relative_error(state));
  return metrics;
}

PythonValue cosine_of(const kernels::PairState& state) {
  const double a = kernels::root_of(state.squares_a.total()), b = kernels::root_of(state.squares_b.total());
  if (a <= kEpsilon64 && b <= kEpsilon64) return python_float(1.0);
  const auto cosine = kernels::finish(state).cosine;
  if (a <= kEpsilon64 || b <= kEpsilon64 || !cosine) return python_str("Nan");
  return *cosine > 0.9999 ? python_float(rounded_to(*cosine, 6)) : to_12_decimals(*cosine);
}

MsprobeMetrics metrics_of_elements(const kernels::PairState& state) {
  if (state.nan_mismatch + state.inf_mismatch > 0) return same_metrics("N/A");
  const uint64_t as_zeros = state.elements - state.finite;
  const auto ratio = [&](uint64_t below) {
    return to_12_decimals(static_cast<double>(below + as_zeros) / static_cast<double>(state.elements));
  };
  return {cosine_of(state),
          python_float(kernels::root_of(state.squares.total())),
          to_12_decimals(state.max_abs),
          to_12_decimals(largest_relative_error(state)),
          ratio(state.under_1e3),
          ratio(state.under_5e3)};
}

// ---- statistics

enum class StatisticKind : uint8_t { kNumber, kNan, kInfinity, kMinusInfinity, kDevice, kNotAvailable, kOther };

constexpr std::string_view kNotAvailableText = "N/A";

StatisticKind kind_of(const PythonValue& value) {
  const std::string lower = to_lower(value.text);
  if (lower == "nan") return StatisticKind::kNan;
  if (lower == "inf") return StatisticKind::kInfinity;
  if (lower == "-inf") return StatisticKind::kMinusInfinity;
  if (decimal_value(value.text)) return StatisticKind::kNumber;
  for (const std::string_view device : {"npu", "cpu", "cuda"}) {
    if (lower.find(device) != std::string::npos) return StatisticKind::kDevice;
  }
  return value.text == kNotAvailableText ? StatisticKind::kNotAvailable : StatisticKind::kOther;
}

StatisticDifference both(std::string_view text) { return {std::string(text), std::string(text)}; }

StatisticDifference difference_of_numbers(double a, double b) {
  const double difference = a - b;
  if (b == 0) return {float_repr(difference), "inf"};
  return {float_repr(difference), float_repr(std::fabs(difference / b * 100)) + "%"};
}

}  // namespace

MsprobeMetrics same_metrics(std::string_view text) {
  MsprobeMetrics metrics;
  metrics.fill(python_str(std::string(text)));
  return metrics;
}

Result<MsprobeMetrics> msprobe_metrics(const std::string& target, const std::string& golden,
                                       const CancelToken& cancel) {
  MSDUMP_TRY(HostTensor a, open_tensor(target));
  MSDUMP_TRY(HostTensor b, open_tensor(golden));
  const Shape shape = without_ones(a.shape());
  if (a.count() == 0) return same_metrics("unsupported");
  if (shape != without_ones(b.shape())) return same_metrics("shape unmatched");
  const double epsilon = is_narrow_float(a) && is_narrow_float(b) ? kEpsilon32 : kEpsilon64;
  MSDUMP_TRY(const kernels::PairState state, compare_elements(a, b, epsilon, cancel));
  return shape.empty() ? metrics_of_scalar(state) : metrics_of_elements(state);
}

StatisticDifference msprobe_difference(const PythonValue& a, const PythonValue& b) {
  using Kind = StatisticKind;
  if (a.text == b.text) return both("0");
  const Kind x = kind_of(a), y = kind_of(b);
  if (x == Kind::kNotAvailable || y == Kind::kNotAvailable) return both(kNotAvailableText);
  if (x == Kind::kNumber && y == Kind::kNumber)
    return difference_of_numbers(decimal_value(a.text).value_or(0), decimal_value(b.text).value_or(0));
  if (x == Kind::kDevice && y == Kind::kDevice) return both(kNotAvailableText);
  for (const Kind kind : {x, y}) {
    if (kind == Kind::kDevice || kind == Kind::kOther) return both("Diff");
  }
  if (x == Kind::kNan || y == Kind::kNan) return both("Nan");
  return both(x == Kind::kInfinity || (x == Kind::kNumber && y == Kind::kMinusInfinity) ? "inf" : "-inf");
}

}  // namespace msdump
