#include "profiles/msaccucmp/metrics.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "compare/pair/pair_reader.h"
#include "kernels/pair/pair.h"
#include "profiles/result_writer.h"

namespace msdump {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();  // a norm or a divergence up to this is 0
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmallest = 0.001;  // StandardDeviation prints 0 below it
constexpr double kMostCosine = 0.99, kLeastDistance = 0.05;
constexpr std::string_view kBoolSubtract =
    "Failed to execute 'compare' in 'RelativeEuclideanDistance'. numpy boolean subtract, the `-` operator, is not "
    "supported, use the bitwise_xor, the `^` operator, or the logical_xor function instead.";

// The order of kMsaccucmpAlgorithms.
enum Algorithm : size_t {
  kCosine,
  kMaxAbs,
  kAccumulated,
  kDistance,
  kDivergence,
  kDeviation,
  kMeanAbs,
  kRmse,
  kMaxRel,
  kMeanRel
};

// Formats a number like Python: NaN has no sign.
std::string number_text(double value, int decimals = 6) {
  return std::isnan(value) ? "nan" : fmt::format("{:.{}f}", value, decimals);
}

std::string deviation_text(std::optional<double> mean, std::optional<double> deviation) {
  const auto shown = [](std::optional<double> value) {
    const double number = value.value_or(kNotANumber);
    return number_text(std::abs(number) < kSmallest ? 0 : number, 3);
  };
  return fmt::format("({};{})", shown(mean), shown(deviation));
}

double norm_of(const kernels::WideSum& squares) { return kernels::root_of(squares.total()); }

class Columns {
 public:
  Columns(const MsaccucmpPair& pair, const kernels::PairState& state)
      : pair_(pair), state_(state), metrics_(kernels::finish(state)) {}

  MsaccucmpMetrics of_numbers(std::optional<double> divergence) {
    set_cosine();
    set_maximum(kMaxAbs, metrics_.max_abs);
    const double relative = state_.relative.value();
    set_error(kAccumulated, relative);
    set_error(kDistance, norm_of(state_.squares_b) <= kEpsilon ? 0 : metrics_.relative_l2.value_or(0));
    set_divergence(divergence);
    set_deviations();
    set_error(kMeanAbs, metrics_.mean_abs.value_or(kNotANumber));
    set_error(kRmse, metrics_.rmse.value_or(kNotANumber));
    set_maximum(kMaxRel, state_.max_rel);
    set_error(kMeanRel, relative / static_cast<double>(state_.elements));
    return take();
  }

  MsaccucmpMetrics of_bools() {
    for (size_t which = 0; which < kMsaccucmpAlgorithms.size(); ++which) {
      if (which == kCosine) {
        set_cosine();
      } else if (which == kDistance) {
        const bool all_false = norm_of(state_.squares_b) == 0;
        set(which, all_false ? number_text(0) : std::string(kMsaccucmpNaN),
            all_false ? "" : std::string(kBoolSubtract));
      } else {
        set(which, std::string(kMsaccucmpNaN),
            fmt::format("Algorithm {} does not support Boolean types.", kMsaccucmpAlgorithms[which]));
      }
    }
    return take();
  }

 private:
  void set(size_t which, std::string value, std::string reason = {}) {
    values_.values[which] = std::move(value);
    reasons_[which] = std::move(reason);
  }

  [[nodiscard]] uint64_t nonfinite() const { return state_.elements - state_.finite; }
  [[nodiscard]] bool has_nan() const { return state_.nan_a + state_.nan_b > 0; }

  // An error over all pairs. The difference of equal infinities is NaN, that of others infinite.
  void set_error(size_t which, double of_finite) {
    const bool is_nan = has_nan() || nonfinite() > state_.inf_mismatch;
    const double of_others = is_nan ? kNotANumber : std::numeric_limits<double>::infinity();
    set(which, number_text(nonfinite() == 0 ? of_finite : of_others));
  }

  // numpy has no maximum of an empty array.
  void set_maximum(size_t which, std::optional<double> of_finite) {
    if (state_.elements > 0) return set_error(which, of_finite.value_or(0));
    set(which, std::string(kMsaccucmpNaN),
        fmt::format("Failed to execute 'compare' in '{}'. zero-size array to reduction operation maximum which has no "
                    "identity",
                    kMsaccucmpAlgorithms[which]));
  }

  void set_cosine() {
    const double norm_a = norm_of(state_.squares_a), norm_b = norm_of(state_.squares_b);
    const auto is_tiny = [](double norm) { return std::sqrt(norm) <= kEpsilon; };
    if (pair_.scalar) return set(kCosine, number_text(1), "This tensor is scalar.");
    if (nonfinite() > 0) return set(kCosine, number_text(kNotANumber));
    if (norm_a <= kEpsilon && norm_b <= kEpsilon) return set(kCosine, "1.0");
    if (is_tiny(norm_a) || is_tiny(norm_b)) {
      return set(kCosine, std::string(kMsaccucmpNaN),
                 fmt::format("Cannot compare by Cosine Similarity. All the data is zero in {}.",
                             is_tiny(norm_a) ? pair_.path_a : pair_.path_b));
    }
    set(kCosine, number_text(metrics_.cosine.value_or(kNotANumber)));
  }

  void set_divergence(std::optional<double> divergence) {
    if (state_.elements == 0) return set_maximum(kDivergence, {});
    set(kDivergence, number_text(nonfinite() > 0 ? kNotANumber : divergence.value_or(kNotANumber)));
  }

  void set_deviations() {
    const bool any_infinity = !has_nan() && nonfinite() > 0;
    const auto side = [&](uint64_t nan, std::optional<double> mean, std::optional<double> deviation) {
      return nan > 0 || any_infinity ? deviation_text({}, {}) : deviation_text(mean, deviation);
    };
    set(kDeviation, side(metrics_.nan_a, metrics_.mean_a, metrics_.std_a) + "," +
                        side(metrics_.nan_b, metrics_.mean_b, metrics_.std_b));
  }

  MsaccucmpMetrics take() {
    for (std::string& reason : reasons_) {
      if (!reason.empty()) values_.reasons.push_back(std::move(reason));
    }
    return std::move(values_);
  }

  const MsaccucmpPair& pair_;
  const kernels::PairState& state_;
  const kernels::PairMetrics metrics_;
  MsaccucmpMetrics values_;
  std::array<std::string, 10> reasons_;
};

// None without finite elements, and of complex numbers.
Result<std::optional<double>> divergence_of(const MsaccucmpPair& pair, const kernels::PairState& state,
                                            const CancelToken& cancel) {
  MSDUMP_TRY(PairReader reader, PairReader::open(pair.a, pair.b));
  const auto max_a = state.a.max(), min_a = state.a.min(), max_b = state.b.max(), min_b = state.b.min();
  if (state.finite == 0 || !max_a || !max_b || !kernels::can_kl(reader.dtype())) return std::nullopt;
  kernels::KlState kl;
  MSDUMP_CHECK_OK(reader.for_each(cancel, [&](const PairSlab& slab) {
    kernels::kl_block(reader.dtype(), slab.a, slab.b, slab.count, {*max_a, *min_a, *max_b, *min_b}, kl);
  }));
  return kernels::finish(kl);
}

double number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : kNotANumber;
}

}  // namespace

bool MsaccucmpMetrics::within_limits() const {
  if (!(number_of(values[kCosine]) > kMostCosine)) return false;
  return values[kDistance] == kMsaccucmpNaN || number_of(values[kDistance]) < kLeastDistance;
}

MsaccucmpMetrics no_msaccucmp_metrics(std::string reason) {
  MsaccucmpMetrics metrics;
  metrics.values.fill(std::string(kMsaccucmpNaN));
  metrics.reasons.push_back(std::move(reason));
  return metrics;
}

bool is_msaccucmp_scalar(const Shape& shape) {
  // The tool compares the sum of the dimensions, which a file can make overflow.
  uint64_t sum = 0;
  for (const int64_t dim : shape) {
    if (dim > static_cast<int64_t>(shape.size())) return false;
    sum += static_cast<uint64_t>(dim);
  }
  return sum == shape.size();
}

Result<MsaccucmpMetrics> msaccucmp_metrics(const MsaccucmpPair& pair, const CancelToken& cancel) {
  MSDUMP_TRY(const kernels::PairState state, compare_elements(pair.a, pair.b, 0, cancel));
  Columns columns(pair, state);
  const bool both_bool = pair.a.dtype() == DType::kBool && pair.b.dtype() == DType::kBool;
  if (pair.keeps_bool && both_bool) return columns.of_bools();
  MSDUMP_TRY(const std::optional<double> divergence, divergence_of(pair, state, cancel));
  return columns.of_numbers(divergence);
}

}  // namespace msdump
