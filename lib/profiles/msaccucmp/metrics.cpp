#include "profiles/msaccucmp/metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "kernels/pair/pair.h"
#include "profiles/msaccucmp/float32_reader.h"
#include "profiles/msaccucmp/text.h"
#include "profiles/numpy_sum.h"

namespace msdump {

using namespace msaccucmp;

namespace {

constexpr float kEpsilon32 = std::numeric_limits<float>::epsilon();
constexpr double kSmallest = 0.001;  // StandardDeviation prints 0 below it
constexpr double kMostCosine = 0.99, kLeastDistance = 0.05;

// np.max and np.min: a NaN wins.
class Extreme {
 public:
  void add_max(const float* numbers, int64_t count) {
    float most = value_;
    bool nan = false;
    for (int64_t i = 0; i < count; ++i) {
      most = numbers[i] > most ? numbers[i] : most;
      nan |= numbers[i] != numbers[i];
    }
    value_ = most;
    nan_ |= nan;
  }
  [[nodiscard]] float value() const { return nan_ ? std::numeric_limits<float>::quiet_NaN() : value_; }

 private:
  float value_ = -std::numeric_limits<float>::infinity();
  bool nan_ = false;
};

// The sums of one side.
struct SideSums {
  NumpySum<float> squares;
  NumpySum<double> sum;
  Extreme max, negated_min;

  void add(const float* numbers, int64_t count, std::array<float, kNumpyChunk>& scratch) {
    for (int64_t i = 0; i < count; ++i) scratch[static_cast<size_t>(i)] = numbers[i] * numbers[i];
    squares.add(scratch.data(), count);
    max.add_max(numbers, count);
    for (int64_t i = 0; i < count; ++i) scratch[static_cast<size_t>(i)] = -numbers[i];
    negated_min.add_max(scratch.data(), count);
    std::array<double, kNumpyChunk> wide;
    for (int64_t i = 0; i < count; ++i) wide[static_cast<size_t>(i)] = static_cast<double>(numbers[i]);
    sum.add(wide.data(), count);
  }
  [[nodiscard]] float norm() const { return std::sqrt(squares.total()); }
};

// An element of the divergence before it is divided by the sum.
struct Normalized {
  explicit Normalized(const SideSums& side)
      : min(-side.negated_min.value()), range(side.max.value() - min), scales(range != 0) {}

  [[nodiscard]] float operator()(float value) const {
    const float scaled = scales ? (value - min) / range : value;
    return scaled < kEpsilon32 ? kEpsilon32 : scaled;  // a NaN stays one
  }

  float min, range;
  bool scales;
};

float logarithm(float x) {
  if (!(x > 0)) return x == 0 ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  if (std::isinf(x)) return x;
  return static_cast<float>(kernels::natural_log(static_cast<double>(x)));
}

class Passes {
 public:
  Passes(const MsaccucmpPair& pair, const CancelToken& cancel) : pair_(pair), cancel_(cancel), count_(pair.a.count()) {}

  Result<MsaccucmpMetrics> run() {
    MSDUMP_CHECK_OK(first());
    if (pair_.scalar) {
      set(kCosine, msaccucmp_number(1), std::string(kScalarReason));
    } else {
      compare_norms();
    }
    if (count_ > 0) MSDUMP_CHECK_OK(second());
    if (count_ > 0) MSDUMP_CHECK_OK(third());
    collect();
    for (std::string& reason : reasons_) {
      if (!reason.empty()) metrics_.reasons.push_back(std::move(reason));
    }
    return std::move(metrics_);
  }

 private:
  using Scratch = std::array<float, kNumpyChunk>;

  void set(msaccucmp::Algorithm which, std::string value, std::string reason = {}) {
    metrics_.values[which] = std::move(value);
    reasons_[which] = std::move(reason);
  }

  template <class Term>
  void terms(int64_t count, Term&& term) {
    for (int64_t i = 0; i < count; ++i) scratch_[static_cast<size_t>(i)] = term(i);
  }

  Status first() {
    return floats_.for_each_chunk(cancel_, [&](const float* a, const float* b, int64_t count) {
      a_.add(a, count, scratch_);
      b_.add(b, count, scratch_);
      terms(count, [&](int64_t i) { return std::abs(a[i] - b[i]); });
      difference_.add(scratch_.data(), count);
      max_difference_.add_max(scratch_.data(), count);
      terms(count, [&](int64_t i) { return (a[i] - b[i]) * (a[i] - b[i]); });
      square_.add(scratch_.data(), count);
      terms(count, [&](int64_t i) {
        return std::abs(b[i]) > static_cast<float>(kMsaccucmpEpsilon) ? std::abs(a[i] / b[i] - 1.0F) : 0.0F;
      });
      relative_.add(scratch_.data(), count);
      max_relative_.add_max(scratch_.data(), count);
    });
  }

  void compare_norms() {
    const auto tiny = [](float norm) { return static_cast<double>(std::sqrt(norm)) <= kMsaccucmpEpsilon; };
    const auto a = static_cast<double>(a_.norm()), b = static_cast<double>(b_.norm());
    if (a <= kMsaccucmpEpsilon && b < kMsaccucmpEpsilon) {
      set(kCosine, "1.0");
    } else if (tiny(a_.norm())) {
      set(kCosine, std::string(kMsaccucmpNaN), all_zero_in(pair_.path_a));
    } else if (tiny(b_.norm())) {
      set(kCosine, std::string(kMsaccucmpNaN), all_zero_in(pair_.path_b));
    }
  }

  Status second() {
    NumpySum<float> cosine;
    const float norm_a = a_.norm(), norm_b = b_.norm();
    const double mean_a = a_.sum.mean(count_), mean_b = b_.sum.mean(count_);
    const Normalized p(a_), q(b_);
    const auto add_squares = [&](const float* numbers, int64_t count, double mean, NumpySum<double>& squares) {
      std::array<double, kNumpyChunk> wide;
      for (int64_t i = 0; i < count; ++i) {
        const double distance = static_cast<double>(numbers[i]) - mean;
        wide[static_cast<size_t>(i)] = distance * distance;
      }
      squares.add(wide.data(), count);
    };
    MSDUMP_CHECK_OK(floats_.for_each_chunk(cancel_, [&](const float* a, const float* b, int64_t count) {
      terms(count, [&](int64_t i) { return (a[i] / norm_a) * (b[i] / norm_b); });
      cosine.add(scratch_.data(), count);
      terms(count, [&](int64_t i) { return p(a[i]); });
      sum_p_.add(scratch_.data(), count);
      terms(count, [&](int64_t i) { return q(b[i]); });
      sum_q_.add(scratch_.data(), count);
      add_squares(a, count, mean_a, squares_a_);
      add_squares(b, count, mean_b, squares_b_);
    }));
    if (metrics_.values[kCosine].empty())
      set(kCosine, msaccucmp_number(static_cast<double>(at_most_one(cosine.total()))));
    return {};
  }

  static float at_most_one(float value) { return value > 1.0F ? 1.0F : value; }  // a NaN stays one

  Status third() {
    NumpySum<float> divergence;
    const Normalized p(a_), q(b_);
    const float sum_p = sum_p_.total(), sum_q = sum_q_.total();
    MSDUMP_CHECK_OK(floats_.for_each_chunk(cancel_, [&](const float* a, const float* b, int64_t count) {
      terms(count, [&](int64_t i) {
        const float share = p(a[i]) / sum_p;
        return share * logarithm(share / (q(b[i]) / sum_q));
      });
      divergence.add(scratch_.data(), count);
    }));
    const auto value = static_cast<double>(divergence.total());
    const bool infinite = std::isinf(value) && value > 0;
    set(kDivergence, msaccucmp_number(std::abs(value) < kMsaccucmpEpsilon ? 0 : value),
        infinite ? fmt::format("Cannot compare by KL Divergence. The data contains 0 in '{}'.", pair_.path_b) : "");
    return {};
  }

  // An empty tensor has no maximum: the algorithm ends with numpy's message.
  void set_maximum(msaccucmp::Algorithm which, const Extreme& extreme) {
    if (count_ > 0) return set(which, msaccucmp_number(static_cast<double>(extreme.value())));
    set(which, std::string(kMsaccucmpNaN),
        fmt::format("Failed to execute 'compare' in '{}'. zero-size array to reduction operation maximum which has no "
                    "identity",
                    kMsaccucmpAlgorithms[which]));
  }

  [[nodiscard]] std::string deviation(const SideSums& side, const NumpySum<double>& squares) const {
    const auto shown = [](double value) { return msaccucmp_number(std::abs(value) < kSmallest ? 0 : value, 3); };
    return fmt::format("({};{})", shown(side.sum.mean(count_)), shown(std::sqrt(squares.mean(count_))));
  }

  void collect() {
    set_maximum(kMaxAbs, max_difference_);
    set(kAccumulated, msaccucmp_number(static_cast<double>(relative_.total())));
    const float squares_b = b_.squares.total();
    const bool none = std::sqrt(static_cast<double>(squares_b)) <= kMsaccucmpEpsilon;
    set(kDistance, msaccucmp_number(none ? 0 : std::sqrt(static_cast<double>(square_.total() / squares_b))));
    if (count_ == 0) set_maximum(kDivergence, {});
    set(kDeviation, deviation(a_, squares_a_) + "," + deviation(b_, squares_b_));
    set(kMeanAbs, msaccucmp_number(static_cast<double>(difference_.mean(count_))));
    set(kRmse, msaccucmp_number(static_cast<double>(std::sqrt(square_.mean(count_)))));
    set_maximum(kMaxRel, max_relative_);
    set(kMeanRel, msaccucmp_number(static_cast<double>(relative_.mean(count_))));
    if (metrics_.values[kCosine].empty()) set(kCosine, "1.0");  // an empty tensor that is not a scalar
  }

  const MsaccucmpPair& pair_;
  const CancelToken& cancel_;
  const int64_t count_;
  Float32Pair floats_{pair_.a, pair_.b};
  Scratch scratch_;
  SideSums a_, b_;
  NumpySum<float> difference_, square_, relative_, sum_p_, sum_q_;
  NumpySum<double> squares_a_, squares_b_;
  Extreme max_difference_, max_relative_;
  MsaccucmpMetrics metrics_;
  std::array<std::string, 10> reasons_;
};

double number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : std::numeric_limits<double>::quiet_NaN();
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
  // By the sum of the dimensions, which a file can make overflow.
  uint64_t sum = 0;
  for (const int64_t dim : shape) {
    if (dim > static_cast<int64_t>(shape.size())) return false;
    sum += static_cast<uint64_t>(dim);
  }
  return sum == shape.size();
}

Result<MsaccucmpMetrics> msaccucmp_metrics(const MsaccucmpPair& pair, const CancelToken& cancel) {
  const bool both_bool = pair.a.dtype() == DType::kBool && pair.b.dtype() == DType::kBool;
  if (pair.keeps_bool && both_bool) return msaccucmp_bool_metrics(pair, cancel);
  return Passes(pair, cancel).run();
}

}  // namespace msdump
