#include "recompute/identities.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace msdump::recompute {
namespace {

// Six printed digits.
constexpr double kPrinted = 1e-5;
// Roundoffs of an operator and of the writer of the statistics.
constexpr double kRoundoffs = 8;

// A number with what it may be off by.
struct Estimate {
  double value = 0, slack = 0;
};

Estimate printed(double value) { return {value, kPrinted * std::fabs(value)}; }

std::optional<Estimate> printed(const std::optional<double>& value) {
  return value ? std::optional(printed(*value)) : std::nullopt;
}

Estimate scaled(const Estimate& x, double factor) { return {x.value * factor, x.slack * std::fabs(factor)}; }

double largest(const TensorStatistics& x) {
  if (x.max && x.min) return std::max(std::fabs(*x.max), std::fabs(*x.min));
  return std::numeric_limits<double>::quiet_NaN();
}

// Maps that keep or reverse the order of numbers in a range.
struct MonotoneMap {
  std::string_view kernel;
  double (*of)(double x);
  double from;  // it is monotone above
  bool decreases;
};

constexpr double kEverywhere = -std::numeric_limits<double>::infinity();

constexpr MonotoneMap kMonotone[] = {
    {"relu", [](double x) { return std::max(x, 0.0); }, kEverywhere, false},
    {"relu6", [](double x) { return std::clamp(x, 0.0, 6.0); }, kEverywhere, false},
    {"tanh", [](double x) { return std::tanh(x); }, kEverywhere, false},
    {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, kEverywhere, false},
    {"exp", [](double x) { return std::exp(x); }, kEverywhere, false},
    {"erf", [](double x) { return std::erf(x); }, kEverywhere, false},
    {"sqrt", [](double x) { return std::sqrt(x); }, 0, false},
    {"log", [](double x) { return std::log(x); }, 0, false},
    {"square", [](double x) { return x * x; }, 0, false},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0, true},
    {"reciprocal", [](double x) { return 1 / x; }, 0, true},
};

const std::set<std::string_view>& copies() {
  static const std::set<std::string_view> kCopies = {"identity", "reshape", "transpose", "swap_axes",
                                                     "cast",     "flip",    "assign"};
  return kCopies;
}

class Identities {
 public:
  Identities(const Question& question, const ReadStatistics& read) : question_(question), read_(read) {}

  std::optional<Identity> run() {
    if (question_.row == nullptr || question_.outputs.empty() || question_.fitted) return std::nullopt;
    const AskedOutput& first = question_.outputs.front();
    output_ = first.tensor;
    const auto y = read_(first.tensor);
    const std::string_view kernel = question_.row->kernel->name;
    // Gradients have names of their own; only the first output is that of the operator.
    if (!y || !is_float(y->dtype) || first.name != question_.row->outputs.front()) return std::nullopt;
    y_ = *y;
    judge(kernel);
    return worst_;
  }

 private:
  static bool is_float(DType dtype) { return kind_of(dtype) == DTypeKind::kFloat; }

  void judge(std::string_view kernel) {
    if (copies().count(kernel) > 0) return keep_all(kernel == "assign" ? "value" : "x", 1);
    if (kernel == "neg") return keep_all("x", -1);
    if (kernel == "mul" || kernel == "div") return scale(kernel == "div");
    if (kernel == "add" || kernel == "sub") return add_means({{"a", 1}, {"b", kernel == "add" ? 1.0 : -1.0}});
    if (kernel == "bias_add") return add_means({{"a", 1}, {"b", 1}});
    if (kernel == "add_n") return add_means({{"x", 1}});
    if (kernel == "concat") return join();
    if (kernel == "reduce_mean" || kernel == "reduce_sum" || kernel == "bias_add_grad") return keep_sum(kernel);
    if (kernel == "reduce_max" || kernel == "reduce_min") return keep_extreme(kernel == "reduce_max");
    if (kernel == "softmax") return share_one();
    if (kernel == "abs") keep_norm();
    if (kernel == "square") mean_of_squares();
    for (const MonotoneMap& map : kMonotone) {
      if (map.kernel == kernel) return keep_order(map);
    }
  }

  [[nodiscard]] std::vector<const Operand*> operands(std::string_view name) const {
    std::vector<const Operand*> found;
    for (const Operand& operand : question_.operands) {
      if (operand.name == name) found.push_back(&operand);
    }
    return found;
  }

  // Of a tensor of floats; of a number if a graph or call has it as text.
  [[nodiscard]] std::optional<TensorStatistics> statistics(const Operand& operand) {
    if (operand.tensor == kNoId) {
      if (operand.value.numbers.size() != 1) return std::nullopt;
      const double value = operand.value.numbers.front();
      return TensorStatistics{DType::kFloat64, value, value, value, std::fabs(value), 1.0, nullptr};
    }
    const auto x = read_(operand.tensor);
    if (!x || !is_float(x->dtype)) return std::nullopt;
    coarsest_ = std::max(coarsest_, unit_roundoff(x->dtype));
    return x;
  }

  [[nodiscard]] std::optional<TensorStatistics> operand(std::string_view name) {
    const auto found = operands(name);
    return found.size() == 1 ? statistics(*found.front()) : std::nullopt;
  }

  // What is beyond the format of the output is clamped or infinite.
  [[nodiscard]] bool fits(double value) const {
    const auto limits = float_limits(y_.dtype);
    return std::isfinite(value) && (!limits || std::fabs(value) <= limits->largest);
  }

  // `scale` is that of the terms; `length` the number of elements that were summed.
  void expect(std::string_view statistic, const std::optional<double>& value, const std::optional<Estimate>& expected,
              double size, double length = 0) {
    if (!value || !expected || !fits(expected->value) || !std::isfinite(size) || !std::isfinite(expected->slack))
      return;
    const double u = std::max(coarsest_, unit_roundoff(y_.dtype));
    const double roundoffs = std::max(kRoundoffs, question_.row->kernel->limit) + std::sqrt(length);
    // Kernels flush what is smaller than the smallest normal number.
    const double slack = expected->slack + kPrinted * std::fabs(*value) + roundoffs * u * size + 0x1p-126;
    const double units = std::fabs(*value - expected->value) / slack;
    if (worst_ && worst_->units >= units) return;
    worst_ = Identity{output_, question_.row->kernel->name, statistic, *value, expected->value, units};
  }

  [[nodiscard]] bool same_count(const TensorStatistics& x) const { return x.elements && x.elements == y_.elements; }

  // y = factor x, element by element.
  void keep_numbers(const TensorStatistics& x, const Estimate& factor) {
    if (!same_count(x)) return;
    const auto times = [&](const std::optional<double>& number) -> std::optional<Estimate> {
      if (!number) return std::nullopt;
      const double relative = kPrinted + (factor.value == 0 ? 0 : factor.slack / std::fabs(factor.value));
      return Estimate{*number * factor.value, std::fabs(*number * factor.value) * relative};
    };
    const bool turned = factor.value < 0;
    const double size = largest(x) * std::fabs(factor.value), count = *x.elements;
    expect("max", y_.max, times(turned ? x.min : x.max), size);
    expect("min", y_.min, times(turned ? x.max : x.min), size);
    expect("mean", y_.mean, times(x.mean), size, count);
    if (!x.norm || !y_.norm) return;
    const Estimate norm = scaled(printed(*x.norm), std::fabs(factor.value));
    expect("norm", y_.norm, Estimate{norm.value, norm.slack + norm.value * kPrinted}, norm.value, count);
  }

  void keep_all(std::string_view name, double factor) {
    if (const auto x = operand(name)) keep_numbers(*x, {factor, 0});
  }

  // The product with one number, or the quotient by one.
  void scale(bool divides) {
    const auto a = operand("a"), b = operand("b");
    if (!a || !b || operands("rounding_mode").size() > 1) return;
    if (const auto mode = operands("rounding_mode"); !mode.empty() && !mode.front()->value.is_none) return;
    const auto number = [](const TensorStatistics& x) { return x.elements == 1.0 ? x.max : std::nullopt; };
    if (const auto by = number(*b)) {
      if (divides && *by == 0) return;
      const double factor = divides ? 1 / *by : *by;
      keep_numbers(*a, {factor, kPrinted * std::fabs(factor)});
    } else if (const auto of = number(*a); of && !divides) {
      keep_numbers(*b, {*of, kPrinted * std::fabs(*of)});
    }
  }

  // Each element of a broadcast operand is used equally often.
  void add_means(const std::vector<std::pair<std::string_view, double>>& terms) {
    Estimate mean;
    double size = 0;
    size_t used = 0;
    for (const auto& [name, sign] : terms) {
      for (const Operand* const one : operands(name)) {
        const auto x = statistics(*one);
        if (!x || !x->mean) return;
        double factor = sign;
        if (const auto alpha = operands("alpha"); name == "b" && !alpha.empty()) {
          if (alpha.front()->tensor != kNoId || alpha.front()->value.numbers.size() != 1) return;
          factor *= alpha.front()->value.numbers.front();
        }
        mean.value += factor * *x->mean;
        mean.slack += std::fabs(factor * *x->mean) * kPrinted;
        size += std::fabs(factor) * largest(*x);
        ++used;
      }
    }
    if (used < 2) return;
    expect("mean", y_.mean, mean, size, y_.elements.value_or(0));
  }

  void join() {
    double sum = 0, slack = 0, count = 0, size = 0;
    std::optional<double> max, min;
    for (const Operand* const one : operands("x")) {
      const auto x = statistics(*one);
      if (!x || !x->elements || !x->mean || !x->max || !x->min) return;
      max = std::max(max.value_or(*x->max), *x->max);
      min = std::min(min.value_or(*x->min), *x->min);
      sum += *x->mean * *x->elements;
      slack += std::fabs(*x->mean * *x->elements) * kPrinted;
      size = std::max(size, largest(*x));
      count += *x->elements;
    }
    if (count == 0 || count != y_.elements) return;
    expect("max", y_.max, printed(max), size);
    expect("min", y_.min, printed(min), size);
    expect("mean", y_.mean, Estimate{sum / count, slack / count}, size, count);
  }

  void keep_sum(std::string_view kernel) {
    const auto x = operand(kernel == "bias_add_grad" ? "dy" : "x");
    if (!x || !x->mean || !x->elements || !y_.elements || *y_.elements == 0) return;
    const double factor = kernel == "reduce_mean" ? 1 : *x->elements / *y_.elements;
    expect("mean", y_.mean, scaled(printed(*x->mean), factor), largest(*x) * factor, *x->elements);
  }

  void keep_extreme(bool is_max) {
    const auto x = operand("x");
    if (!x) return;
    if (is_max)
      expect("max", y_.max, printed(x->max), largest(*x));
    else
      expect("min", y_.min, printed(x->min), largest(*x));
  }

  void share_one() {
    const auto x = operand("x");
    const auto axis = operands("axis");
    if (!x || x->shape == nullptr || axis.size() != 1 || axis.front()->value.numbers.size() != 1) return;
    const auto place = axis_from_front(static_cast<int64_t>(axis.front()->value.numbers.front()), x->shape->size());
    if (!place || (*x->shape)[*place] < 1 || !same_count(*x)) return;
    expect("mean", y_.mean, Estimate{1.0 / static_cast<double>((*x->shape)[*place]), 0}, 1, 0);
  }

  void keep_norm() {
    const auto x = operand("x");
    if (!x || !same_count(*x) || !x->norm) return;
    expect("norm", y_.norm, printed(x->norm), *x->norm, *x->elements);
    if (x->max && x->min) expect("max", y_.max, printed(largest(*x)), largest(*x));
  }

  void mean_of_squares() {
    const auto x = operand("x");
    if (!x || !same_count(*x) || !x->norm || *x->elements == 0) return;
    const double mean = *x->norm * *x->norm / *x->elements;
    expect("mean", y_.mean, Estimate{mean, 2 * kPrinted * mean}, largest(*x) * largest(*x), *x->elements);
  }

  void keep_order(const MonotoneMap& map) {
    const auto x = operand("x");
    if (!x || !same_count(*x) || !x->max || !x->min || !(*x->min > map.from)) return;
    // The map of a number that is off by its last printed digit.
    const auto at = [&](double value) {
      const double step = kPrinted * std::fabs(value), y = map.of(value);
      const double low = value - step > map.from ? map.of(value - step) : y;
      return Estimate{y, std::max(std::fabs(map.of(value + step) - y), std::fabs(low - y))};
    };
    const Estimate of_max = at(*x->max), of_min = at(*x->min);
    const Estimate &high = map.decreases ? of_min : of_max, &low = map.decreases ? of_max : of_min;
    expect("max", y_.max, high, std::fabs(high.value));
    expect("min", y_.min, low, std::fabs(low.value));
  }

  const Question& question_;
  const ReadStatistics& read_;
  TensorStatistics y_;
  TensorId output_;
  double coarsest_ = 0;
  std::optional<Identity> worst_;
};

}  // namespace

std::optional<Identity> worst_identity(const Question& question, const ReadStatistics& read) {
  return Identities(question, read).run();
}

std::vector<Identity> broken_alone(const std::vector<Identity>& identities) {
  // A fault is of one operator or a few. One of each kernel is told always.
  constexpr size_t kShare = 5;
  std::map<std::string_view, std::pair<size_t, size_t>> counts;  // by kernel: all, broken
  for (const Identity& identity : identities) {
    auto& [all, broken] = counts[identity.kernel];
    ++all;
    broken += identity.is_broken() ? 1U : 0U;
  }
  std::vector<Identity> alone;
  for (const Identity& identity : identities) {
    const auto& [all, broken] = counts[identity.kernel];
    if (identity.is_broken() && broken <= std::max<size_t>(1, all / kShare)) alone.push_back(identity);
  }
  return alone;
}

}  // namespace msdump::recompute
