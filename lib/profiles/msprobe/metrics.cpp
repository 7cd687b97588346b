#include "profiles/msprobe/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/text.h"
#include "dump/elements/host_tensor.h"
#include "kernels/widen/widen.h"
#include "npy/npy.h"
#include "profiles/msprobe/dot.h"
#include "profiles/msprobe/scalar.h"
#include "tensor/shape.h"
#include "torch/pt_file.h"

namespace msdump {
namespace {

constexpr int64_t kSlab = int64_t{1} << 16;  // elements; a multiple of 32, see dot.h
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

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
  StoredTensor stored;
  stored.offset = tensor.offset;
  stored.bytes = tensor.bytes;
  stored.big_endian = tensor.big_endian;
  stored.request.dtype = tensor.dtype;
  stored.request.shape = tensor.shape;
  return stored;
}

// One of the two tensors, as numpy would hold it: widened to a dtype that numpy knows, without dimensions of 1.
class Side {
 public:
  static Result<Side> open(const std::string& path) {
    MSDUMP_TRY(File file, File::open(path));
    const bool pt = path.ends_with(".pt");
    MSDUMP_TRY(StoredTensor stored, pt ? stored_pt(file) : stored_npy(file));
    stored.request.bytes = stored.bytes;
    stored.request.format_number = static_cast<int64_t>(Format::kND);
    MSDUMP_TRY(HostTensor tensor, HostTensor::make(std::move(file), pt ? FileKind::kPt : FileKind::kNpy, stored,
                                                   {.target = std::nullopt, .convert_arrays = false}));
    return Side(std::move(tensor));
  }

  [[nodiscard]] DType dtype() const { return info(tensor_.dtype()).npy_dtype; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] int64_t count() const { return tensor_.count(); }
  [[nodiscard]] Status check_unchanged() const { return tensor_.check_unchanged(); }

  // The next `count` elements as float64; of complex numbers the real part.
  Status read(int64_t first, int64_t count, std::vector<double>& into) {
    MSDUMP_CHECK_OK(load(first, count));
    into.resize(static_cast<size_t>(count));
    for (size_t i = 0; i < into.size(); ++i) into[i] = read_scalar(dtype(), element(i)).real;
    return {};
  }

  Result<NumpyScalar> scalar() {
    MSDUMP_CHECK_OK(load(0, 1));
    return read_scalar(dtype(), element(0));
  }

 private:
  explicit Side(HostTensor tensor)
      : tensor_(std::move(tensor)),
        shape_(without_ones(tensor_.shape())),
        width_(static_cast<size_t>(info(dtype()).bits) / 8) {}

  [[nodiscard]] std::span<const std::byte> element(size_t index) const {
    return std::span(bytes_).subspan(index * width_, width_);
  }

  Status load(int64_t first, int64_t count) {
    const auto elements = static_cast<size_t>(count);
    if (!kernels::needs_widening(tensor_.dtype())) {
      bytes_.resize(elements * width_);
      return tensor_.read(first, count, bytes_.data());
    }
    stored_.resize(elements * tensor_.element_bytes());
    MSDUMP_CHECK_OK(tensor_.read(first, count, stored_.data()));
    bytes_.resize(elements * width_);
    kernels::widen(tensor_.dtype(), stored_.data(), count, bytes_.data());
    return {};
  }

  HostTensor tensor_;
  Shape shape_;
  size_t width_;
  std::vector<std::byte> stored_, bytes_;
};

bool is_float(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kFloat32 || dtype == DType::kFloat64; }

double to_12_decimals(double value) { return rounded_to(value, 12); }

PythonValue maximum_text(double maximum) {
  return std::isnan(maximum) ? python_str("Nan") : python_float(to_12_decimals(maximum));
}

// numpy.max: a NaN wins.
void raise(double& maximum, double value) {
  if (value > maximum || std::isnan(value)) maximum = value;
}

class Accumulator {
 public:
  Accumulator(int64_t total, bool in_float32)
      : total_(total), in_float32_(in_float32), ab_(total), aa_(total), bb_(total), dd_(total) {}

  // False when a NaN or an infinity of one side has no counterpart.
  bool add(std::vector<double>& a, std::vector<double>& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      if (std::isfinite(a[i]) && std::isfinite(b[i])) continue;
      if (std::isnan(a[i]) != std::isnan(b[i]) || std::isinf(a[i]) != std::isinf(b[i])) return false;
      a[i] = b[i] = 0;
    }
    in_float32_ ? errors<float>(a, b) : errors<double>(a, b);
    difference_.resize(a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      difference_[i] = a[i] - b[i];
      raise(max_difference_, std::fabs(difference_[i]));
    }
    const auto count = static_cast<int64_t>(a.size());
    ab_.add(a.data(), b.data(), count);
    aa_.add(a.data(), a.data(), count);
    bb_.add(b.data(), b.data(), count);
    dd_.add(difference_.data(), difference_.data(), count);
    return true;
  }

  [[nodiscard]] MsprobeMetrics result() const {
    return {cosine(),
            python_float(std::sqrt(dd_.result())),
            maximum_text(max_difference_),
            maximum_text(max_error_),
            ratio(under_thousandth_),
            ratio(under_five_)};
  }

 private:
  template <class T>
  void errors(const std::vector<double>& a, const std::vector<double>& b) {
    constexpr T kEps = std::numeric_limits<T>::epsilon();
    T maximum = static_cast<T>(max_error_);
    for (size_t i = 0; i < a.size(); ++i) {
      auto n = static_cast<T>(a[i]), m = static_cast<T>(b[i]);
      if (m == 0) {
        n += kEps;
        m += kEps;
      }
      const T error = std::fabs((n - m) / m);
      if (error > maximum || std::isnan(error)) maximum = error;
      under_thousandth_ += error < static_cast<T>(0.001) ? 1 : 0;
      under_five_ += error < static_cast<T>(0.005) ? 1 : 0;
    }
    max_error_ = static_cast<double>(maximum);
  }

  [[nodiscard]] PythonValue cosine() const {
    if (total_ == 1) return python_str("unsupported");
    const double a = std::sqrt(aa_.result()), b = std::sqrt(bb_.result());
    if (a <= kEpsilon && b <= kEpsilon) return python_float(1.0);
    if (a <= kEpsilon || b <= kEpsilon) return python_str("Nan");
    const double cosine = ab_.result() / (a * b);
    if (std::isnan(cosine)) return python_str("Nan");
    const double rounded = to_12_decimals(cosine);
    return python_float(rounded > 0.9999 ? rounded_to(rounded, 6) : rounded);
  }

  [[nodiscard]] PythonValue ratio(int64_t count) const {
    return python_float(to_12_decimals(static_cast<double>(count) / static_cast<double>(total_)));
  }

  int64_t total_;
  bool in_float32_;
  OpenBlasDot ab_, aa_, bb_, dd_;
  double max_difference_ = 0, max_error_ = 0;
  int64_t under_thousandth_ = 0, under_five_ = 0;
  std::vector<double> difference_;
};

Result<MsprobeMetrics> metrics_of_scalars(Side& a, Side& b, bool numpy1) {
  MSDUMP_TRY(const NumpyScalar x, a.scalar());
  MSDUMP_TRY(const NumpyScalar y, b.scalar());
  MsprobeMetrics metrics = same_metrics("unsupported");
  metrics[2] = maximum_text(numpy_distance(x, y));
  metrics[3] = maximum_text(numpy_relative_error(x, y, numpy1));
  return metrics;
}

Result<MsprobeMetrics> metrics_of_elements(Side& a, Side& b) {
  const auto narrow = [](const Side& side) { return is_float(side.dtype()) && side.dtype() != DType::kFloat64; };
  Accumulator all(a.count(), narrow(a) && narrow(b));
  std::vector<double> x, y;
  for (int64_t first = 0; first < a.count(); first += kSlab) {
    const int64_t count = std::min(kSlab, a.count() - first);
    MSDUMP_CHECK_OK(a.read(first, count, x));
    MSDUMP_CHECK_OK(b.read(first, count, y));
    if (!all.add(x, y)) return same_metrics("N/A");
  }
  return all.result();
}

}  // namespace

MsprobeMetrics same_metrics(std::string_view text) {
  MsprobeMetrics metrics;
  metrics.fill(python_str(std::string(text)));
  return metrics;
}

Result<MsprobeMetrics> msprobe_metrics(const std::string& target, const std::string& golden, bool numpy1) {
  MSDUMP_TRY(Side a, Side::open(target));
  MSDUMP_TRY(Side b, Side::open(golden));
  for (const Side* side : {&a, &b}) {
    if (info(side->dtype()).bits == 0 || is_raw(side->dtype())) {
      return fail(make_error(ErrorCode::kUnsupportedDtype, "{} has no values", name_of(side->dtype()))
                      .with_path(side == &a ? target : golden));
    }
  }
  if (a.count() == 0) return same_metrics("unsupported");
  if (a.shape() != b.shape()) return same_metrics("shape unmatched");
  Result<MsprobeMetrics> metrics = a.shape().empty() ? metrics_of_scalars(a, b, numpy1) : metrics_of_elements(a, b);
  if (metrics) {
    MSDUMP_CHECK_OK(a.check_unchanged());
    MSDUMP_CHECK_OK(b.check_unchanged());
  }
  return metrics;
}

}  // namespace msdump
