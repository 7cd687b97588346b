#include "compare/statistics/statistic_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/containers.h"
#include "base/numbers.h"
#include "base/text.h"
#include "compare/pair/pair_reader.h"
#include "dump/elements/host_tensor.h"
#include "io/zip.h"
#include "kernels/widen/widen.h"
#include "stats/compute.h"
#include "tensor/dtype.h"

namespace msdump {
namespace {

// Error of a sum in single precision in any order, relative to the scale of the tensor.
constexpr double kSingleSum = 1e-5;
constexpr double kDoubleSum = 1e-12;
constexpr double kHalfSum = 0x1p-10, kBfloat16Sum = 0x1p-7;
constexpr double kSingleRounding = 0x1p-24, kModulusRounding = 0x1p-22, kDoubleRounding = 0x1p-53;
// Whole numbers up to these convert exactly.
constexpr double kWholeInSingle = 0x1p24, kWholeInDouble = 0x1p53;
constexpr int64_t kFirstChunkOf = 20000;
constexpr double kMonitorRounding = 0.5000001e-6;

bool is_whole(DType dtype) { return kind_of(dtype) == DTypeKind::kBool || kind_of(dtype) == DTypeKind::kInteger; }

// Half a unit of the sixth digit, and a little for the rounding of the comparison.
double half_unit(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double half = 0.5000001e-5 * power_of_ten_below(value);
  return std::max(half, std::numeric_limits<double>::denorm_min());
}

bool is_plain_whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return is_digits(text);
}

std::optional<double> parse_number(std::string_view text) {
  if (text == "True" || text == "true") return 1.0;
  if (text == "False" || text == "false") return 0.0;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class RowReader {
 public:
  RowReader(const StoredStatistics& stored, DType dtype, const std::optional<Shape>& shape) : stored_(stored) {
    values_.origin = stored.origin;
    values_.dialects = stored.dialects;
    values_.dtype = dtype;
    values_.shape = shape;
  }

  StatisticValues run() {
    std::string_view rest = stored_.values;
    for (size_t i = 0; i < stored_.columns.size(); ++i) {
      // The last column may hold commas.
      const size_t end = i + 1 < stored_.columns.size() ? std::min(rest.find(','), rest.size()) : rest.size();
      take(stored_.columns[i], rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (stored_.dialects != nullptr) take_dialect();
    drop_empty_numbers(values_);
    add_computing_error();
    return std::move(values_);
  }

 private:
  [[nodiscard]] bool is_csv() const {
    return stored_.origin == StatisticOrigin::kCsv || stored_.origin == StatisticOrigin::kDeviceCsv;
  }

  void take(StatisticColumn column, std::string_view text) {
    using enum StatisticColumn;
    switch (column) {
      case kMax: return take_number(Extremum::kMax, text);
      case kMin: return take_number(Extremum::kMin, text);
      case kAvg: return take_number(Extremum::kMean, text);
      case kL2Norm: return take_number(Extremum::kNorm, text);
      case kCount: values_.count = parse_u64(text); return;
      case kNegativeZero: values_.negative = parse_u64(text); return;
      case kPositiveZero: values_.positive = parse_u64(text); return;
      case kNan: values_.nan = parse_u64(text); return;
      case kNegativeInf: values_.negative_inf = parse_u64(text); return;
      case kPositiveInf: values_.positive_inf = parse_u64(text); return;
      case kZero: values_.zero = parse_u64(text); return;
      case kMd5: return is_csv() ? take_checksum(ChecksumKind::kMd5, text) : take_json_checksum(text);
      case kSha1: return take_checksum(ChecksumKind::kSha1, text);
    }
  }

  void take_number(Extremum which, std::string_view text) {
    const auto value = parse_number(text);
    if (!value) {
      const bool nothing = text.empty() || text == "null" || text == "None" || text == "N/A";
      if (!nothing && values_.bad_number.empty()) values_.bad_number = text;
      return;
    }
    const bool exact = !is_csv() || *value == 0 || (is_whole(values_.dtype) && is_plain_whole(text)) ||
                       text == "True" || text == "False";
    values_.numbers[static_cast<size_t>(which)] = {*value, exact ? 0 : half_unit(*value)};
    if (stored_.origin == StatisticOrigin::kMonitorCsv) widen(which, kMonitorRounding);
  }

  void take_checksum(ChecksumKind kind, std::string_view text) {
    if (text.empty() || text == "null") return;
    const bool widens = is_csv() ? stored_.dialects != nullptr && stored_.dialects->best().widened_bfloat16
                                 : stored_.origin == StatisticOrigin::kMindSporeJson && (kind == ChecksumKind::kCrc32);
    values_.checksums.push_back({kind, widens && values_.dtype == DType::kBfloat16, to_lower(text)});
  }

  // In static graphs the checksums are those of statistic.csv. For a tensor without dimensions the xor is its value, and
  // there is no other number.
  void take_json_checksum(std::string_view text) {
    const bool is_value = values_.shape && values_.shape->empty() && !values_.number(Extremum::kMax);
    if (text.starts_with("0x")) {
      take_checksum(ChecksumKind::kXor, text);
    } else if (is_value && parse_number(text)) {
      take_number(Extremum::kMax, text);
      take_number(Extremum::kMin, text);
    } else if (text.size() == 8) {
      take_checksum(ChecksumKind::kCrc32, text);
    } else if (text.size() == 32) {
      take_checksum(ChecksumKind::kMd5, text);
    } else if (text.size() == 40) {
      take_checksum(ChecksumKind::kSha1, text);
    }
  }

  void take_dialect() {
    using stats::Rule;
    const auto& candidates = stored_.dialects->candidates;
    values_.finite_only = stored_.dialects->best().rule == Rule::kA;
    const bool may_be_first = std::any_of(candidates.begin(), candidates.end(),
                                          [](const stats::Dialect* one) { return one->rule != Rule::kC; });
    values_.mean_of_first_chunk = may_be_first && values_.elements().value_or(kFirstChunkOf) >= kFirstChunkOf;
  }

  void widen(Extremum which, double by) {
    auto& number = values_.numbers[static_cast<size_t>(which)];
    if (number && std::isfinite(number->value)) number->slack += by;
  }

  // For max and min: conversions on the way.
  [[nodiscard]] double rounding_of(double value) const {
    const double magnitude = std::abs(value);
    if (kind_of(values_.dtype) == DTypeKind::kComplex) return kModulusRounding * magnitude;
    const bool whole = is_whole(values_.dtype);
    const bool single = stored_.origin == StatisticOrigin::kMindSporeJson &&
                        (whole ? magnitude >= kWholeInSingle : values_.dtype == DType::kFloat64);
    if (single) return kSingleRounding * magnitude;
    return whole && magnitude >= kWholeInDouble ? kDoubleRounding * magnitude : 0;
  }

  [[nodiscard]] double sum_error() const {
    if (!is_csv() && values_.dtype == DType::kFloat16) return kHalfSum;
    if (!is_csv() && values_.dtype == DType::kBfloat16) return kBfloat16Sum;
    const bool in_double = stored_.origin == StatisticOrigin::kTorchJson && values_.dtype == DType::kComplex128;
    return in_double ? kDoubleSum : kSingleSum;
  }

  void add_computing_error() {
    for (const Extremum which : {Extremum::kMax, Extremum::kMin}) {
      if (values_.number(which)) widen(which, rounding_of(values_.number(which)->value));
    }
    widen(Extremum::kMean, sum_error() * values_.scale().value_or(0));
    if (const auto& norm = values_.number(Extremum::kNorm)) widen(Extremum::kNorm, sum_error() * std::abs(norm->value));
  }

  const StoredStatistics& stored_;
  StatisticValues values_;
};

// The norm is NaN exactly when an element is; the mean also when infinities of both signs meet.
std::optional<bool> shows_nan(const StatisticValues& values) {
  const auto is_nan = [&](Extremum which) { return values.number(which) && std::isnan(values.number(which)->value); };
  if (is_nan(Extremum::kMax) || is_nan(Extremum::kMin) || is_nan(Extremum::kNorm)) return true;
  if (values.number(Extremum::kNorm) || values.is_finite()) return false;
  const auto &max = values.number(Extremum::kMax), &min = values.number(Extremum::kMin);
  const bool infinities_may_meet = !max || !min || (std::isinf(max->value) && std::isinf(min->value));
  return is_nan(Extremum::kMean) && !infinities_may_meet ? std::optional(true) : std::nullopt;
}

}  // namespace

std::string_view name_of(ChecksumKind kind) {
  static constexpr auto kNames = enum_table<ChecksumKind, std::string_view>("CRC-32", "MD5", "SHA1", "xor");
  return kNames[kind];
}

std::optional<int64_t> StatisticValues::elements() const {
  if (shape) return element_count(*shape);
  if (count && *count <= static_cast<uint64_t>(INT64_MAX)) return static_cast<int64_t>(*count);
  return std::nullopt;
}

std::optional<double> StatisticValues::scale() const {
  const auto& norm = number(Extremum::kNorm);
  const int64_t there = elements().value_or(0);
  if (norm && there > 0 && std::isfinite(norm->value)) {
    return std::abs(norm->value) / std::sqrt(static_cast<double>(there));
  }
  std::optional<double> largest;
  for (const Extremum which : {Extremum::kMax, Extremum::kMin}) {
    const auto& extreme = number(which);
    if (extreme && std::isfinite(extreme->value)) {
      largest = std::max(largest.value_or(0), std::abs(extreme->value));
    }
  }
  const auto& mean = number(Extremum::kMean);
  return largest || !mean || !std::isfinite(mean->value) ? largest : std::abs(mean->value);
}

std::optional<bool> StatisticValues::has(Special special) const {
  const std::optional<uint64_t>& counted = special == Special::kNan           ? nan
                                           : special == Special::kPositiveInf ? positive_inf
                                                                              : negative_inf;
  if (counted) return *counted > 0;
  if (special == Special::kNan) return shows_nan(*this);
  const double infinity = std::numeric_limits<double>::infinity();
  const auto& extreme = number(special == Special::kPositiveInf ? Extremum::kMax : Extremum::kMin);
  if (extreme && extreme->value == (special == Special::kPositiveInf ? infinity : -infinity)) return true;
  return is_finite() ? std::optional(false) : std::nullopt;
}

bool StatisticValues::is_finite() const {
  if (nan == 0U && negative_inf == 0U && positive_inf == 0U) return true;
  const auto finite = [&](Extremum which) { return number(which) && std::isfinite(number(which)->value); };
  return finite(Extremum::kNorm) || (finite(Extremum::kMean) && !finite_only && !mean_of_first_chunk);
}

const Checksum* StatisticValues::find(ChecksumKind kind) const {
  const auto found =
      std::find_if(checksums.begin(), checksums.end(), [&](const auto& one) { return one.kind == kind; });
  return found == checksums.end() ? nullptr : &*found;
}

std::span<const StatisticColumn> json_columns() {
  using enum StatisticColumn;
  static constexpr std::array<StatisticColumn, 5> kColumns = {kMax, kMin, kAvg, kL2Norm, kMd5};
  return kColumns;
}

StatisticValues stored_values(const StoredStatistics& stored, DType dtype, const std::optional<Shape>& shape) {
  return RowReader(stored, dtype, shape).run();
}

void drop_empty_numbers(StatisticValues& values) {
  auto& [max, min, mean, norm] = values.numbers;
  if (values.shape && values.shape->empty() && norm) norm->value = std::abs(norm->value);
  if (!max || !min) return;
  if (min->value > max->value) {
    values.numbers = {};
    return;
  }
  if (!std::isfinite(max->value) || !std::isfinite(min->value)) return;
  for (auto* sum : {&mean, &norm}) {
    if (*sum && std::isinf((*sum)->value)) sum->reset();
  }
}

namespace {

bool is_json(StatisticOrigin origin) {
  return origin != StatisticOrigin::kCsv && origin != StatisticOrigin::kDeviceCsv;
}

uint64_t xor_of(std::span<const std::byte> bytes) {
  uint64_t result = 0;
  for (size_t at = 0; at + sizeof result <= bytes.size(); at += sizeof result)
    result ^= load<uint64_t>(bytes.data() + at);
  return result;
}

// CRC-32 and xor. The xor is over words of eight bytes; how a tail counts is unknown, so a tensor with a tail has none.
// A slab has a whole number of words.
Status add_byte_checksums(HostTensor& tensor, const StatisticValues& other, const RunContext& context,
                          StatisticValues& into) {
  const bool widens = other.origin == StatisticOrigin::kMindSporeJson && tensor.dtype() == DType::kBfloat16;
  std::vector<std::byte> wide;
  uint32_t crc = 0;
  uint64_t words = 0;
  MSDUMP_CHECK_OK(for_each_slab(tensor, context.cancel, [&](std::span<const std::byte> slab, int64_t count) {
    if (widens) {
      wide.resize(static_cast<size_t>(count) * 4);
      kernels::widen(DType::kBfloat16, slab.data(), count, wide.data());
    }
    crc = crc32_of(widens ? std::span<const std::byte>(wide) : slab, crc);
    words ^= xor_of(slab);
  }));
  const bool widened = into.dtype == DType::kBfloat16 && (widens || tensor.dtype() == DType::kFloat32);
  into.checksums.push_back({ChecksumKind::kCrc32, widened, fmt::format("{:08x}", crc)});
  if (static_cast<size_t>(tensor.count()) * tensor.element_bytes() % sizeof words == 0)
    into.checksums.push_back({ChecksumKind::kXor, false, fmt::format("0x{:016x}", words)});
  return {};
}

struct Moduli {
  double max = -HUGE_VAL, min = HUGE_VAL, sum = 0, squares = 0;
  uint64_t nan = 0;

  template <class T>
  void take(std::span<const std::byte> elements) {
    for (size_t at = 0; at < elements.size(); at += 2 * sizeof(T)) {
      std::array<T, 2> parts{};
      std::memcpy(parts.data(), elements.data() + at, sizeof parts);
      const auto real = static_cast<double>(parts[0]), imaginary = static_cast<double>(parts[1]);
      const bool is_nan = std::isnan(real) || std::isnan(imaginary);  // hypotenuse(NaN, infinity) is infinite
      const double modulus = is_nan ? std::nan("") : hypotenuse(real, imaginary);
      if (is_nan) ++nan;
      max = std::max(max, modulus);
      min = std::min(min, modulus);
      sum += modulus;
      squares += modulus * modulus;
    }
  }
};

// For complex numbers only, which have no order.
Status add_moduli(HostTensor& tensor, const RunContext& context, StatisticValues& into) {
  if (tensor.dtype() != DType::kComplex64 && tensor.dtype() != DType::kComplex128) return {};
  Moduli moduli;
  MSDUMP_CHECK_OK(for_each_slab(tensor, context.cancel, [&](std::span<const std::byte> slab, int64_t /*count*/) {
    if (tensor.dtype() == DType::kComplex64) {
      moduli.take<float>(slab);
    } else {
      moduli.take<double>(slab);
    }
  }));
  if (tensor.count() == 0) return {};
  const auto count = static_cast<double>(tensor.count());
  const auto known = [&](double value) {
    return StatisticNumber{moduli.nan > 0 ? std::nan("") : value, 1e-12 * std::abs(value)};
  };
  into.numbers = {known(moduli.max), known(moduli.min), known(moduli.sum / count), known(std::sqrt(moduli.squares))};
  into.nan = moduli.nan;
  return {};
}

// A sum of 64-bit integers rounds each element.
double rounding_of(DType dtype, double value) {
  const bool rounds = dtype == DType::kInt64 || dtype == DType::kUint64;
  return rounds && std::abs(value) >= 0x1p53 ? 0x1p-53 * std::abs(value) : 0;
}

void take_statistics(const stats::TensorStatistics& from, StatisticValues& into) {
  if (!from.md5.empty()) into.checksums.push_back({ChecksumKind::kMd5, false, from.md5});
  if (!from.sha1.empty()) into.checksums.push_back({ChecksumKind::kSha1, false, from.sha1});
  if (!from.supported) return;
  const auto number = [&](double value) { return StatisticNumber{value, rounding_of(from.dtype, value)}; };
  if (!from.nothing_finite && from.count > 0) {
    into.numbers = {number(from.max), number(from.min), number(from.avg), number(from.l2norm)};
  }
  into.count = from.count;
  into.negative = from.negative;
  into.positive = from.positive;
  into.zero = from.zero;
  into.nan = from.nan;
  into.negative_inf = from.negative_inf;
  into.positive_inf = from.positive_inf;
}

class Computation {
 public:
  Computation(const DumpIndex& index, const TensorRecord& tensor, const StatisticValues& other,
              const RunContext& context)
      : index_(index), tensor_(tensor), other_(other), context_(context) {}

  // Exact with a null dialect.
  Result<StatisticValues> run(const stats::Dialect* dialect) {
    StatisticValues values;
    values.origin = other_.origin;
    values.dialects = other_.dialects;
    MSDUMP_TRY(const stats::TensorStatistics statistics, compute(dialect));
    values.dtype = tensor_.name.dtype == DType::kUndefined ? statistics.dtype : tensor_.name.dtype;
    values.shape = statistics.shape;
    take_statistics(statistics, values);
    if (dialect != nullptr) {
      values.finite_only = dialect->rule == stats::Rule::kA;
      values.mean_of_first_chunk = other_.mean_of_first_chunk;
      for (Checksum& one : values.checksums) {
        one.widened = dialect->widened_bfloat16 && values.dtype == DType::kBfloat16;
      }
    }
    if (is_json(other_.origin)) MSDUMP_CHECK_OK(add_json_statistics(values));
    drop_empty_numbers(values);
    return values;
  }

 private:
  Result<stats::TensorStatistics> compute(const stats::Dialect* dialect) {
    stats::ComputeOptions options;
    if (dialect != nullptr) options.dialect = dialect;
    options.honest = dialect == nullptr;
    options.wanted = {true,
                      true,
                      true,
                      true,
                      other_.find(ChecksumKind::kMd5) != nullptr,
                      other_.find(ChecksumKind::kSha1) != nullptr};
    const stats::ComputeItem item{&tensor_, sampled_elements(tensor_, other_)};
    Result<stats::TensorStatistics> result = fail(ErrorCode::kCancelled, "interrupted");
    stats::compute(index_, {&item, 1}, options, {context_.pool, context_.cancel},
                   [&](size_t, Result<stats::TensorStatistics>&& one) { result = std::move(one); });
    return result;
  }

  Status add_json_statistics(StatisticValues& values) {
    const bool wants_checksum =
        other_.find(ChecksumKind::kCrc32) != nullptr || other_.find(ChecksumKind::kXor) != nullptr;
    if (!wants_checksum && kind_of(values.dtype) != DTypeKind::kComplex) return {};
    MSDUMP_TRY(HostTensor tensor, HostTensor::open(index_, tensor_, {}));
    if (wants_checksum) MSDUMP_CHECK_OK(add_byte_checksums(tensor, other_, context_, values));
    return add_moduli(tensor, context_, values);
  }

  const DumpIndex& index_;
  const TensorRecord& tensor_;
  const StatisticValues& other_;
  const RunContext& context_;
};

}  // namespace

std::vector<const stats::Dialect*> dialects_of(const StatisticValues& other) {
  if (other.dialects == nullptr) return {nullptr};
  std::vector<const stats::Dialect*> kept;
  const auto& candidates = other.dialects->candidates;
  for (size_t i = candidates.size(); i-- > 0;) {
    const stats::Dialect& one = *candidates[i];
    const bool known = std::any_of(kept.begin(), kept.end(), [&](const stats::Dialect* before) {
      return before->rule == one.rule && before->nan_survives_merge == one.nan_survives_merge &&
             before->widened_bfloat16 == one.widened_bfloat16;
    });
    if (!known) kept.push_back(&one);
  }
  return kept;
}

std::optional<int64_t> sampled_elements(const TensorRecord& tensor, const StatisticValues& other) {
  const bool one_number = !is_json(other.origin) && other.shape && other.shape->size() == 1;
  if (!one_number || tensor.shape == nullptr) return std::nullopt;
  const int64_t there = element_count(*tensor.shape).value_or(0), said = other.shape->front();
  return said >= 1 && said < there ? std::optional(said) : std::nullopt;
}

Result<StatisticValues> computed_values(const DumpIndex& index, const TensorRecord& tensor,
                                        const StatisticValues& other, const stats::Dialect* dialect,
                                        const RunContext& context) {
  return Computation(index, tensor, other, context).run(dialect);
}

}  // namespace msdump
