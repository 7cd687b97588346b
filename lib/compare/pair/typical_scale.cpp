#include "compare/pair/typical_scale.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "compare/pair/tensor_slabs.h"
#include "kernels/pair/pair_dtype.h"
#include "tensor/dtype_kind.h"

namespace msdump {
namespace {

constexpr int64_t kPieces = 16, kPiece = 1024;
constexpr double kGap = 100, kTight = 4;
constexpr size_t kOneIn = 20;
constexpr size_t kFewest = kPiece;         // kept elements of a sample that is trusted
constexpr size_t kMost = size_t{1} << 22;  // kept elements: the squares of more would overflow

// Magnitudes by their exponent. A gap of a factor of 100 lies between two exponents (except for doubles below 2e-308,
// which share one), so nothing need be sorted; and squares of one exponent add up without rounding, in any order.
class Magnitudes {
 public:
  Magnitudes() : exponents_(kExponents) {}

  void add(double value) {
    const uint64_t bits = std::bit_cast<uint64_t>(value) & ~(uint64_t{1} << 63);
    const uint64_t exponent = bits >> kFractionBits;
    if (bits == 0 || exponent == kExponents) return;
    Magnitude& same = exponents_[exponent];
    ++same.count;
    ++count_;
    same.least = std::min(same.least, bits);
    same.largest = std::max(same.largest, bits);
    const uint64_t fraction = bits & (kHidden - 1);
    const uint64_t digits = exponent == 0 ? fraction : fraction | kHidden;
    same.squares += Wide{digits} * digits;
  }

  [[nodiscard]] size_t count() const { return count_; }

  [[nodiscard]] double scale() const {
    const auto is_used = [](const Magnitude& magnitude) { return magnitude.count > 0; };
    const auto last = std::find_if(exponents_.rbegin(), exponents_.rend(), is_used);
    if (last == exponents_.rend()) return 0;
    size_t count = 0;
    const double largest = std::bit_cast<double>(last->largest);
    const Magnitude* below = nullptr;
    for (const Magnitude& next : exponents_) {
      if (!is_used(next)) continue;
      const auto least = std::bit_cast<double>(next.least);
      const bool gap = below != nullptr && least > kGap * std::bit_cast<double>(below->largest);
      if (gap && count >= std::max<size_t>(count_ / kOneIn, 1) && largest <= kTight * least) break;
      count += next.count;
      below = &next;
    }
    return root_of_mean(static_cast<size_t>(below - exponents_.data()), count);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr int kFractionBits = 52, kExponents = 2047;
  static constexpr uint64_t kHidden = uint64_t{1} << kFractionBits;
  struct Magnitude {
    size_t count = 0;
    uint64_t least = UINT64_MAX, largest = 0;  // as bits, which sort as the doubles do
    Wide squares = 0;                          // of whole numbers of less than 2^53
  };

  // Up to the exponent `last`, in units of its last digit, so that no square leaves the range of a double.
  [[nodiscard]] double root_of_mean(size_t last, size_t count) const {
    const auto unit = [](size_t exponent) { return static_cast<int>(std::max<size_t>(exponent, 1)); };
    double squares = 0;
    for (size_t exponent = 0; exponent <= last; ++exponent) {
      const Wide sum = exponents_[exponent].squares;
      if (sum != 0) squares += std::ldexp(static_cast<double>(sum), 2 * (unit(exponent) - unit(last)));
    }
    constexpr int kBias = 1075;  // of the last digit
    return std::ldexp(std::sqrt(squares / static_cast<double>(count)), unit(last) - kBias);
  }

  std::vector<Magnitude> exponents_;
  size_t count_ = 0;
};

}  // namespace

Result<double> typical_scale(HostTensor& tensor, const CancelToken& cancel) {
  const DType part = part_of(tensor.dtype());
  const int64_t parts = part == tensor.dtype() ? 1 : 2;
  if (kernels::common_dtype(part, DType::kFloat64) != DType::kFloat64) return 0.0;
  std::vector<double> wide;
  const auto add = [&](std::span<const std::byte> elements, int64_t count, Magnitudes& magnitudes) {
    wide.resize(static_cast<size_t>(count * parts));
    kernels::widen_to(part, DType::kFloat64, elements.data(), count * parts, reinterpret_cast<std::byte*>(wide.data()));
    for (const double value : wide) magnitudes.add(value);
  };
  Magnitudes magnitudes;
  const SampleSize sample = tensor.direct() ? SampleSize{kPieces, kPiece} : SampleSize{1, kPieces * kPiece};
  MSDUMP_CHECK_OK(
      for_each_piece(tensor, sample, [&](auto elements, int64_t count) { add(elements, count, magnitudes); }));
  if (magnitudes.count() < kFewest && tensor.count() > kPieces * kPiece) {
    Magnitudes all;
    MSDUMP_CHECK_OK(for_each_slab(tensor, cancel, [&](auto elements, int64_t count) {
      if (all.count() < kMost) add(elements, count, all);
      return all.count() < kMost;
    }));
    magnitudes = std::move(all);
  }
  return magnitudes.scale() * (parts == 2 ? std::sqrt(2.0) : 1.0);
}

double scale_of_sample(const std::vector<double>& sample) {
  Magnitudes magnitudes;
  for (const double value : sample) magnitudes.add(value);
  return magnitudes.scale();
}

}  // namespace msdump
