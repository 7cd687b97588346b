#include "compare/typical_scale.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/pair_dtype.h"

namespace msdump {
namespace {

constexpr int64_t kPieces = 16, kPiece = 1024;
constexpr double kGap = 100, kTight = 4;
constexpr size_t kOneIn = 20;

struct Parts {
  DType dtype;
  int64_t number;  // of parts an element
};

Parts parts_of(DType dtype) {
  switch (dtype) {
    case DType::kComplex32: return {DType::kFloat16, 2};
    case DType::kComplex64: return {DType::kFloat32, 2};
    case DType::kComplex128: return {DType::kFloat64, 2};
    default: return {dtype, 1};
  }
}

}  // namespace

Result<double> typical_scale(HostTensor& tensor) {
  const Parts parts = parts_of(tensor.dtype());
  if (kernels::common_dtype(parts.dtype, DType::kFloat64) != DType::kFloat64) return 0.0;
  const int64_t whole = tensor.count(), wanted = kPieces * kPiece;
  const int64_t pieces = tensor.direct() && whole > wanted ? kPieces : 1;
  const int64_t piece = std::min(whole, wanted / pieces);
  std::vector<std::byte> stored(static_cast<size_t>(piece) * tensor.element_bytes());
  std::vector<double> sample(static_cast<size_t>(pieces * piece * parts.number));
  for (int64_t i = 0; i < pieces; ++i) {
    const int64_t first = pieces == 1 ? 0 : i * ((whole - piece) / (pieces - 1));
    MSDUMP_CHECK_OK(tensor.read(first, piece, stored.data()));
    auto* const into = sample.data() + i * piece * parts.number;
    kernels::widen_to(parts.dtype, DType::kFloat64, stored.data(), piece * parts.number,
                      reinterpret_cast<std::byte*>(into));
  }
  return scale_of_sample(std::move(sample)) * (parts.number == 2 ? std::sqrt(2.0) : 1.0);
}

double scale_of_sample(std::vector<double> sample) {
  for (double& value : sample) value = std::abs(value);
  std::erase_if(sample, [](double value) { return value == 0 || !std::isfinite(value); });
  if (sample.empty()) return 0;
  std::sort(sample.begin(), sample.end());
  size_t count = sample.size();
  for (size_t i = std::max<size_t>(sample.size() / kOneIn, 1); i < sample.size(); ++i) {
    if (sample[i] <= kGap * sample[i - 1] || sample.back() > kTight * sample[i]) continue;
    count = i;
    break;
  }
  // By the largest, so that no square leaves the range of a double.
  const double largest = sample[count - 1];
  double squares = 0;
  for (size_t i = 0; i < count; ++i) squares += (sample[i] / largest) * (sample[i] / largest);
  return largest * std::sqrt(squares / static_cast<double>(count));
}

}  // namespace msdump
