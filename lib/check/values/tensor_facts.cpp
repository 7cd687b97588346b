#include "check/values/tensor_facts.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>

#include "base/hash_slots.h"

namespace msdump::check {
namespace {

constexpr double kLargestFloat16 = 65504, kLargestBfloat16 = 0x1.FEp127, kLargestE5m2 = 57344, kLargestE4m3 = 448,
                 kLargestHifloat8 = 32768;

uint8_t rank_of(const Shape& shape) { return static_cast<uint8_t>(std::min<size_t>(shape.size(), 255)); }

std::optional<double> finite_number(const std::optional<StatisticNumber>& number) {
  return number && std::isfinite(number->value) ? std::optional(number->value) : std::nullopt;
}

const Checksum* exact_checksum(const StatisticValues& values) {
  for (const Checksum& checksum : values.checksums) {
    if (checksum.kind != ChecksumKind::kXor) return &checksum;  // an xor is the same for too many tensors
  }
  return nullptr;
}

// 0 without numbers. Mean and norm count with some digits: two ranks may add up the same elements in other orders.
uint64_t digest_of(const StatisticValues& values) {
  uint64_t digest = static_cast<uint64_t>(values.elements().value_or(0)) + 1;
  if (const Checksum* const checksum = exact_checksum(values)) return mix_hash(digest, text_hash(checksum->text));
  bool any = false;
  for (size_t i = 0; i < kExtrema; ++i) {
    const auto& number = values.numbers[i];
    any = any || number.has_value();
    const bool is_sum = static_cast<Extremum>(i) == Extremum::kMean || static_cast<Extremum>(i) == Extremum::kNorm;
    const auto rounded =
        static_cast<uint64_t>(std::bit_cast<uint32_t>(static_cast<float>(number ? number->value : 0)) >> 12);
    const uint64_t exact = std::bit_cast<uint64_t>((number ? number->value : 0) + 0.0);  // -0 is 0
    digest = mix_hash(digest, !number ? 1 : is_sum ? rounded : exact);
  }
  return any ? digest : 0;
}

}  // namespace

std::optional<uint64_t> TensorFacts::finite() const {
  if (!elements) return std::nullopt;
  if (is_finite()) return elements;
  if (!nan || !positive_inf || !negative_inf) return std::nullopt;
  return *elements - std::min(*elements, *nan + *positive_inf + *negative_inf);
}

std::optional<double> TensorFacts::root_mean_square() const {
  const auto count = finite();
  if (!l2norm || count.value_or(0) == 0) return std::nullopt;
  return *l2norm / std::sqrt(static_cast<double>(*count));
}

std::optional<double> TensorFacts::deviation() const {
  const auto rms = root_mean_square();
  if (!rms || !mean) return std::nullopt;
  return std::sqrt(std::max(0.0, (*rms - *mean) * (*rms + *mean)));
}

std::optional<bool> TensorFacts::all_zero() const {
  if (!is_finite()) return false;
  if (zero && elements) return *zero == *elements;
  if (min && max) return *min == 0 && *max == 0;
  if (l2norm) return *l2norm == 0;
  return std::nullopt;
}

std::optional<bool> TensorFacts::constant() const {
  if (from == From::kElements && finite() == 0U) return true;
  if (min && max) return *min == *max;
  return std::nullopt;
}

TensorFacts facts_of(const stats::TensorStatistics& statistics) {
  TensorFacts facts;
  facts.dtype = statistics.dtype;
  facts.rank = rank_of(statistics.shape);
  if (!statistics.supported) return facts;
  facts.from = TensorFacts::From::kElements;
  facts.elements = statistics.count;
  if (!statistics.md5.empty()) facts.digest = mix_hash(text_hash(statistics.md5), statistics.count);
  facts.digest_is_exact = true;
  facts.nan = statistics.nan;
  facts.positive_inf = statistics.positive_inf;
  facts.negative_inf = statistics.negative_inf;
  facts.zero = statistics.zero;
  facts.has_nan = statistics.nan > 0;
  facts.has_positive_inf = statistics.positive_inf > 0;
  facts.has_negative_inf = statistics.negative_inf > 0;
  if (statistics.codes) {
    facts.subnormal = statistics.codes->subnormal;
    facts.positive_edge = statistics.codes->positive_edge;
    facts.negative_edge = statistics.codes->negative_edge;
  }
  if (facts.finite().value_or(0) == 0) return facts;
  facts.min = statistics.min;
  facts.max = statistics.max;
  facts.mean = statistics.avg;
  facts.l2norm = statistics.l2norm;
  facts.mean_abs = statistics.mean_abs;
  return facts;
}

TensorFacts facts_of(const StatisticValues& values) {
  TensorFacts facts;
  facts.from = TensorFacts::From::kStatistics;
  facts.digest = digest_of(values);
  facts.digest_is_exact = exact_checksum(values) != nullptr;
  facts.dtype = values.dtype;
  if (values.shape) facts.rank = rank_of(*values.shape);
  if (const auto elements = values.elements()) facts.elements = static_cast<uint64_t>(*elements);
  facts.min = finite_number(values.number(Extremum::kMin));
  facts.max = finite_number(values.number(Extremum::kMax));
  facts.mean = finite_number(values.number(Extremum::kMean));
  facts.l2norm = finite_number(values.number(Extremum::kNorm));
  facts.nan = values.nan;
  facts.positive_inf = values.positive_inf;
  facts.negative_inf = values.negative_inf;
  facts.zero = values.zero;
  facts.has_nan = values.has(Special::kNan).value_or(false);
  facts.has_positive_inf = values.has(Special::kPositiveInf).value_or(false);
  facts.has_negative_inf = values.has(Special::kNegativeInf).value_or(false);
  const auto& mean = values.number(Extremum::kMean);
  const bool only_mean = mean && !values.number(Extremum::kMin) && !values.number(Extremum::kMax) &&
                         !values.number(Extremum::kNorm) && !values.nan;
  if (only_mean && std::isnan(mean->value)) facts.has_nan = true;
  if (only_mean && std::isinf(mean->value)) (mean->value > 0 ? facts.has_positive_inf : facts.has_negative_inf) = true;
  // At least one. The six digits of statistic.csv distinguish 65504 from its neighbours, but not a larger edge.
  if (const auto largest = largest_of(values.dtype);
      largest && (*largest < 1e5 || values.origin > StatisticOrigin::kDeviceCsv)) {
    if (facts.max == *largest) facts.positive_edge = 1;
    if (facts.min == -*largest) facts.negative_edge = 1;
  }
  const bool any =
      std::any_of(values.numbers.begin(), values.numbers.end(), [](const auto& number) { return number.has_value(); });
  if (!any && !facts.nan && !facts.positive_inf && !facts.negative_inf) facts.from = TensorFacts::From::kNothing;
  return facts;
}

bool is_floating(DType dtype) {
  const std::string_view name = name_of(dtype);
  for (const std::string_view word : {"float", "complex", "hif"}) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

bool is_eight_bit_float(DType dtype) {
  return dtype == DType::kFloat8E5m2 || dtype == DType::kFloat8E4m3fn || dtype == DType::kHifloat8;
}

std::optional<double> largest_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return kLargestFloat16;
    case DType::kBfloat16: return kLargestBfloat16;
    case DType::kFloat32: return double{FLT_MAX};
    case DType::kFloat64: return DBL_MAX;
    case DType::kFloat8E5m2: return kLargestE5m2;
    case DType::kFloat8E4m3fn: return kLargestE4m3;
    case DType::kHifloat8: return kLargestHifloat8;
    default: return std::nullopt;
  }
}

}  // namespace msdump::check
