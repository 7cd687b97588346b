#include "stats/tensor_numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/containers.h"
#include "base/numbers.h"
#include "base/text.h"
#include "stats/dialect.h"

namespace msdump {
namespace {

// The error of a sum in single precision in any order, relative to the scale of the tensor.
constexpr double kSingleSum = 1e-5;
constexpr double kDoubleSum = 1e-12;
constexpr double kHalfSum = 0x1p-10, kBfloat16Sum = 0x1p-7;
constexpr double kSingleRounding = 0x1p-24, kModulusRounding = 0x1p-22, kDoubleRounding = 0x1p-53;
// Whole numbers up to these convert exactly.
constexpr double kWholeInSingle = 0x1p24, kWholeInDouble = 0x1p53;
constexpr int64_t kFirstChunkOf = 20000;
constexpr double kMonitorRounding = 0.5000001e-6;

bool is_whole(DType dtype) { return kind_of(dtype) == DTypeKind::kBool || kind_of(dtype) == DTypeKind::kInteger; }

// Half a unit of the sixth digit, and a little more because the comparison rounds, too.
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

  TensorNumbers run() {
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
    const StatisticMember member = member_of(column);
    if (const auto* const which = std::get_if<Extremum>(&member)) return take_number(*which, text);
    if (const auto* const count = std::get_if<StatisticCount>(&member)) {
      values_.** count = parse_u64(text);
    } else if (column == StatisticColumn::kMd5 && !is_csv()) {
      take_json_checksum(text);
    } else {
      take_checksum(std::get<ChecksumKind>(member), text);
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
    if (stored_.origin == StatisticOrigin::kTorchLog) widen(which, half_unit(*value) / 10);
  }

  void take_checksum(ChecksumKind kind, std::string_view text) {
    if (text.empty() || text == "null") return;
    const bool widens = is_csv() ? stored_.dialects != nullptr && stored_.dialects->best().widened_bfloat16
                                 : stored_.origin == StatisticOrigin::kMindSporeJson && (kind == ChecksumKind::kCrc32);
    values_.checksums.push_back({kind, widens && values_.dtype == DType::kBfloat16, to_lower(text)});
  }

  // A finite norm is of finite elements. An integer is an xor, which says nothing of them.
  void take_hash(ChecksumKind kind, std::string_view text) {
    const auto norm = is_digits(text) ? std::nullopt : parse_number(text);
    if (norm && std::isfinite(*norm)) values_.nan = values_.positive_inf = values_.negative_inf = 0;
    take_checksum(kind, text);
  }

  // Static graphs have the checksums of statistic.csv. The xor of a scalar is its value, and its only number.
  void take_json_checksum(std::string_view text) {
    for (const auto& [prefix, kind] : {std::pair<std::string_view, ChecksumKind>("hash:", ChecksumKind::kHash),
                                       {"weak-hash:", ChecksumKind::kWeakHash}}) {
      if (text.starts_with(prefix)) return take_hash(kind, text.substr(prefix.size()));
    }
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
    values_.finite_only = stored_.dialects->best().rule == Rule::kFiniteOnly;
    const bool may_be_first = std::any_of(candidates.begin(), candidates.end(),
                                          [](const stats::Dialect* one) { return one->rule != Rule::kSum; });
    values_.mean_of_first_chunk = may_be_first && values_.elements().value_or(kFirstChunkOf) >= kFirstChunkOf;
  }

  void widen(Extremum which, double by) {
    auto& number = values_.numbers[static_cast<size_t>(which)];
    if (number && std::isfinite(number->value)) number->slack += by;
  }

  // The error of conversions of max and min.
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
    if (stored_.origin == StatisticOrigin::kTorchLog) return kSingleSum;
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
  TensorNumbers values_;
};

// The norm is NaN exactly if an element is NaN. The mean is NaN also if there are infinities of both signs.
std::optional<bool> shows_nan(const TensorNumbers& values) {
  const auto is_nan = [&](Extremum which) { return values.number(which) && std::isnan(values.number(which)->value); };
  if (is_nan(Extremum::kMax) || is_nan(Extremum::kMin) || is_nan(Extremum::kNorm)) return true;
  if (values.number(Extremum::kNorm) || values.is_finite()) return false;
  const auto &max = values.number(Extremum::kMax), &min = values.number(Extremum::kMin);
  const bool infinities_may_meet = !max || !min || (std::isinf(max->value) && std::isinf(min->value));
  return is_nan(Extremum::kMean) && !infinities_may_meet ? std::optional(true) : std::nullopt;
}

}  // namespace

std::string_view name_of(ChecksumKind kind) {
  static constexpr auto kNames =
      enum_table<ChecksumKind, std::string_view>("CRC-32", "MD5", "SHA1", "xor", "hash", "weak hash");
  return kNames[kind];
}

StatisticMember member_of(StatisticColumn column) {
  using enum StatisticColumn;
  switch (column) {
    case kMax: return Extremum::kMax;
    case kMin: return Extremum::kMin;
    case kAvg: return Extremum::kMean;
    case kL2Norm: return Extremum::kNorm;
    case kCount: return &TensorNumbers::count;
    case kNegativeZero: return &TensorNumbers::negative;
    case kPositiveZero: return &TensorNumbers::positive;
    case kNan: return &TensorNumbers::nan;
    case kNegativeInf: return &TensorNumbers::negative_inf;
    case kPositiveInf: return &TensorNumbers::positive_inf;
    case kZero: return &TensorNumbers::zero;
    case kMd5: return ChecksumKind::kMd5;
    case kSha1: return ChecksumKind::kSha1;
  }
  return ChecksumKind::kCrc32;
}

report::Value value_of(const TensorNumbers& numbers, StatisticColumn column) {
  const StatisticMember member = member_of(column);
  if (const auto* const count = std::get_if<StatisticCount>(&member)) return numbers.**count;
  if (const auto* const which = std::get_if<Extremum>(&member)) {
    const auto& number = numbers.number(*which);
    return number ? report::Value(number->value) : report::Value();
  }
  const Checksum* const checksum = numbers.find(std::get<ChecksumKind>(member));
  return checksum == nullptr ? report::Value() : report::Value(checksum->text);
}

bool is_null(const TensorNumbers& numbers, StatisticColumn column) {
  using enum StatisticColumn;
  return numbers.nothing_finite && (column == kMax || column == kMin || column == kAvg);
}

std::optional<int64_t> TensorNumbers::elements() const {
  if (shape) return element_count(*shape);
  if (count && *count <= static_cast<uint64_t>(INT64_MAX)) return static_cast<int64_t>(*count);
  return std::nullopt;
}

std::optional<double> TensorNumbers::scale() const {
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

std::optional<bool> TensorNumbers::has(Special special) const {
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

bool TensorNumbers::is_finite() const {
  if (nan == 0U && negative_inf == 0U && positive_inf == 0U) return true;
  const auto finite = [&](Extremum which) { return number(which) && std::isfinite(number(which)->value); };
  return finite(Extremum::kNorm) || (finite(Extremum::kMean) && !finite_only && !mean_of_first_chunk);
}

double TensorNumbers::value(Extremum which) const {
  const auto& known = number(which);
  return known ? known->value : std::numeric_limits<double>::quiet_NaN();
}

uint64_t TensorNumbers::count_infinite() const { return negative_inf.value_or(0) + positive_inf.value_or(0); }

const Checksum* TensorNumbers::find(ChecksumKind kind) const {
  const auto found =
      std::find_if(checksums.begin(), checksums.end(), [&](const auto& one) { return one.kind == kind; });
  return found == checksums.end() ? nullptr : &*found;
}

std::span<const StatisticColumn> json_columns() {
  using enum StatisticColumn;
  static constexpr std::array<StatisticColumn, 5> kColumns = {kMax, kMin, kAvg, kL2Norm, kMd5};
  return kColumns;
}

TensorNumbers stored_numbers(const StoredStatistics& stored, DType dtype, const std::optional<Shape>& shape) {
  return RowReader(stored, dtype, shape).run();
}

void drop_empty_numbers(TensorNumbers& values) {
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

}  // namespace msdump
