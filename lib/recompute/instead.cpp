#include "recompute/instead.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "base/containers.h"
#include "base/text.h"

namespace msdump::recompute {
namespace {

// The limit of every hypothesis, also where the kernel's own is wider: approximations of different functions overlap there.
constexpr double kMostUnits = Limits::kUnits;
// A hypothesis must be so many times closer than what was asked.
constexpr double kCloser = 8;
// Bits that a description must save: among some hundred hypotheses one in 2^8 fits by chance.
constexpr double kMargin = 8;
constexpr double kNumberBits = 32;  // of a fitted number
// Copied elements are told from damage of single ones by their number, and by those that are right.
constexpr int64_t kFewestCopied = 8;
constexpr int64_t kRightShare = 8;  // at least one in so many
constexpr size_t kMostNamed = 3;
// Multiplications of all hypotheses about an output: less than a second.
constexpr double kMostWork = 0x1p28;
constexpr size_t kMostOperands = 16;
constexpr size_t kMostAxes = 5;
constexpr int kMostFits = 24;  // evaluations for one constant

// Elements in another order than any argument can ask for are rarer than another argument that gives the same.
constexpr double kMoveBits = 3;

double bits_of(size_t choices) { return std::log2(static_cast<double>(std::max<size_t>(choices, 1))); }

double rounded_mantissa(double value, int bits) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits + 1)), exponent - bits - 1);
}

// A number of so many digits.
double shortened(double value, int digits) {
  return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
}

bool is_axis(std::string_view name) {
  return name == "axis" || name == "dim0" || name == "dim1" || name == "dim" || name == "begin_norm_axis";
}

bool is_flag(const Value& value) {
  if (value.tensor) return value.tensor->size() == 1 && value.tensor->dtype == DType::kBool;
  if (value.numbers.size() != 1) return false;
  const std::string text = to_lower(value.text);
  return text.find("true") != std::string::npos || text.find("false") != std::string::npos ||
         text.find("bool") != std::string::npos;
}

bool is_scalar(const Value& value) { return value.tensor ? value.tensor->size() == 1 : value.numbers.size() == 1; }

Value with_tensor(const Value& value, Array array) {
  Value changed = value;
  array.dtype = value.tensor->dtype;
  array.effective = value.tensor->effective;
  changed.tensor = share(std::move(array));
  return changed;
}

Value with_numbers(const Value& value, std::vector<double> numbers) {
  if (value.tensor) {
    const auto count = static_cast<int64_t>(numbers.size());
    Shape shape = count == value.tensor->size() ? value.tensor->shape : Shape{count};
    return with_tensor(value, Array{std::move(shape), std::move(numbers)});
  }
  Value changed = value;
  changed.text.clear();
  changed.numbers = std::move(numbers);
  return changed;
}

Value with_text(const Value& value, std::string_view text) {
  Value changed = value;
  changed.text = text;
  return changed;
}

// Of `axis` of `x`: element i + 1, or the last first.
Array moved_along(const Array& x, size_t axis, int64_t step, bool reversed) {
  const AxisView view = view_of_axis(x.shape, axis);
  Array y = x;
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (int64_t i = 0; i < view.length; ++i) {
      const int64_t from = reversed ? view.length - 1 - i : (i + view.length + step) % view.length;
      std::copy_n(x.values.begin() + (outer * view.length + from) * view.inner, view.inner,
                  y.values.begin() + (outer * view.length + i) * view.inner);
    }
  }
  return y;
}

// Two axes exchanged, under the shape that it had.
Array swapped(const Array& x, size_t first, size_t second) {
  std::vector<int64_t> permutation(x.rank());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[first], permutation[second]);
  return with_shape(*transpose(x, permutation), x.shape);
}

class Search {
 public:
  explicit Search(const WrongOutput& wrong) : wrong_(wrong), asked_(wrong.judgement) {
    for (const auto& [name, values] : wrong.call.values()) {
      for (size_t i = 0; i < values.size() && operands_.size() < kMostOperands; ++i) {
        if (values[i].tensor && values[i].tensor->size() > 1) {
          operands_.push_back({name, i, values.size() > 1 ? fmt::format("{}[{}]", name, i) : name});
          work_of_one_ += static_cast<double>(values[i].tensor->size());
        }
        rank_ = values[i].tensor ? std::max(rank_, values[i].tensor->rank()) : rank_;
      }
    }
    double steps = 1;  // for one element of the output
    if (wrong.kernel.arithmetic == Arithmetic::kProduct) {
      for (const Answer& answer : wrong.output.answers) steps = std::max(steps, answer.length);
    }
    work_of_one_ += steps * static_cast<double>(wrong.y.size());
  }

  std::vector<Instead> run() {
    if (wrong_.y.known >= 0) return {};
    propose_operands();
    propose_moved();
    propose_arguments();
    propose_operators();
    propose_precision();
    propose_writers();
    if (found_.empty()) propose_constants();
    if (found_.empty()) propose_offset();
    if (found_.empty()) propose_factor();
    if (found_.empty()) propose_copied();
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Instead& left, const Instead& right) { return left.bits < right.bits; });
    if (found_.size() > kMostNamed) found_.resize(kMostNamed);
    return std::move(found_);
  }

 private:
  struct Place {
    std::string name;
    size_t at = 0;
    std::string label;
  };

  [[nodiscard]] const Value& value(const Place& place) const { return wrong_.call.values().at(place.name)[place.at]; }
  [[nodiscard]] const Array& tensor(const Place& place) const { return *value(place).tensor; }
  static void replace(Call& call, const Place& place, Value value) {
    call.values().at(place.name)[place.at] = std::move(value);
  }

  [[nodiscard]] bool affords() {
    work_ += work_of_one_;
    return work_ <= kMostWork;
  }

  // Moves are compared to the bit elsewhere; here they may have been rounded.
  [[nodiscard]] Judgement judged(const Array& y, const Kernel& kernel, const Output& output) const {
    Kernel bounded = kernel;
    bounded.limit = kMostUnits;
    if (bounded.arithmetic == Arithmetic::kExact) bounded.arithmetic = Arithmetic::kElementwise;
    return judge(y, bounded, output, wrong_.formats, wrong_.device);
  }

  // Far off in one of some elements: this saves judging most of what does not fit. Beyond this no precision excuses an error.
  [[nodiscard]] bool is_far(const Answer& answer) const {
    constexpr double kShare = 0x1p-4, kStep = 0x1p-13;
    if (unit_roundoff(asked_.format) > 0x1p-8) return false;
    const size_t count = wrong_.y.values.size();
    if (answer.y.values.size() != count) return true;
    for (size_t i = 0; i < count; i += 1 + count / 256) {
      const double expected = answer.y.values[i], found = wrong_.y.values[i];
      const double size = answer.terms.empty() ? std::fabs(expected) : answer.terms[i];
      if (!std::isfinite(expected) || !std::isfinite(size)) continue;
      if (!(std::fabs(found - expected) <= kShare * (std::fabs(expected) + size * (1 + answer.length)) + kStep))
        return true;
    }
    return false;
  }

  [[nodiscard]] const Answer* find_answer(const Output& output, std::string_view variant) const {
    for (const Answer& answer : output.answers) {
      if (answer.variant == variant && answer.y.size() == wrong_.y.size()) return &answer;
    }
    return nullptr;
  }

  // True if every element is compared, or NaN or infinite in both.
  [[nodiscard]] bool covers(const Answer& answer, const Judgement& judgement) const {
    if (judgement.elements >= asked_.elements) return true;
    for (size_t i = 0; i < answer.y.values.size(); ++i) {
      const double expected = answer.y.values[i], found = wrong_.y.values[i];
      const bool same = std::isnan(expected) ? std::isnan(found) : expected == found;
      if (!std::isfinite(expected) && !same) return false;
    }
    return true;
  }

  // An output that is wrong by its slope alone has no element beyond the limit.
  [[nodiscard]] bool is_closer(const Judgement& judgement) const {
    return asked_.wrong > 0 ? asked_.units >= kCloser * judgement.units
                            : asked_.relative_error >= kCloser * judgement.relative_error;
  }
  [[nodiscard]] double saved_bits(const Judgement& judgement) const {
    const double times = asked_.wrong > 0 ? asked_.units / std::max(judgement.units, 1.0)
                                          : asked_.relative_error / unit_roundoff(asked_.format);
    const int64_t elements = asked_.wrong > 0 ? asked_.wrong : asked_.elements;
    return std::clamp(std::log2(times), 0.0, kNumberBits) * static_cast<double>(elements);
  }

  bool propose(Mistake what, std::string value, double bits, const Output& output, const Kernel& kernel) {
    if (std::all_of(output.answers.begin(), output.answers.end(), [&](const auto& answer) { return is_far(answer); }))
      return false;
    const Judgement judgement = judged(wrong_.y, kernel, output);
    if (!judgement.is_right() || !covers(*find_answer(output, judgement.variant), judgement)) return false;
    if (!is_closer(judgement) || saved_bits(judgement) < bits + kMargin) return false;
    found_.push_back({what, std::move(value), judgement.units, bits});
    return true;
  }

  bool propose(Mistake what, std::string value, double bits, Array y, std::vector<double> terms = {}) {
    Output output{wrong_.output.name, {}};
    output.answers.push_back({std::move(y), std::move(terms), 0, {}});
    return propose(what, std::move(value), bits, output, wrong_.kernel);
  }

  bool propose(Mistake what, std::string value, double bits, const Call& call, const Kernel& kernel) {
    const Maybe<Outputs> outputs = affords() ? kernel.compute(call) : unjudged(Reason::kTooLarge);
    if (!outputs) return false;
    for (const Output& output : *outputs) {
      if (output.name == wrong_.output.name || outputs->size() == 1)
        return propose(what, std::move(value), bits, output, kernel);
    }
    return false;
  }

  // Every answer to what was asked, changed.
  template <class Change>
  bool propose_changed(Mistake what, std::string value, double bits, const Change& change) {
    Output output{wrong_.output.name, {}};
    for (const Answer& answer : wrong_.output.answers) {
      if (answer.y.size() != wrong_.y.size()) continue;
      Array y = with_shape(answer.y, wrong_.y.shape);
      Array terms = answer.terms.empty() ? absolute(y) : Array{wrong_.y.shape, answer.terms};
      output.answers.push_back({change(y), std::move(change(terms).values), answer.length, {}});
    }
    return propose(what, std::move(value), bits, output, wrong_.kernel);
  }

  void propose_operands() {
    propose(Mistake::kZero, {}, 1, make_array(wrong_.y.shape));
    for (const Place& place : operands_) {
      if (tensor(place).size() == wrong_.y.size())
        propose(Mistake::kHandedOn, place.label, bits_of(operands_.size()), tensor(place));
    }
    constexpr std::pair<Mistake, double> kFactors[] = {
        {Mistake::kLeftOut, 0}, {Mistake::kTwice, 2}, {Mistake::kNegated, -1}};
    for (const Place& place : operands_) {
      for (const auto& [what, factor] : kFactors) {
        Call call = wrong_.call;
        replace(call, place, with_tensor(value(place), map(tensor(place), [f = factor](double x) { return f * x; })));
        propose(what, place.label, bits_of(3 * operands_.size()), call, wrong_.kernel);
      }
      Call without = wrong_.call;
      if (without.values().at(place.name).size() > 1) continue;
      without.erase(place.name);
      propose(Mistake::kLeftOut, place.label, bits_of(operands_.size()), without, wrong_.kernel);
    }
    for (size_t i = 0; i < operands_.size(); ++i) {
      for (size_t k = i + 1; k < operands_.size(); ++k) {
        if (tensor(operands_[i]).shape != tensor(operands_[k]).shape) continue;
        Call call = wrong_.call;
        replace(call, operands_[i], value(operands_[k]));
        replace(call, operands_[k], value(operands_[i]));
        propose(Mistake::kExchanged, operands_[i].label + " and " + operands_[k].label, 2 * bits_of(operands_.size()),
                call, wrong_.kernel);
      }
    }
  }

  void propose_moved() {
    const size_t rank = wrong_.y.rank();
    for (size_t axis = 0; axis < rank; ++axis) {
      if (wrong_.y.shape[axis] < 2) continue;
      for (const int64_t step : {1, -1}) {
        propose_changed(Mistake::kRolled, fmt::format("{} along axis {}", -step, axis), kMoveBits + bits_of(2 * rank),
                        [&](const Array& x) { return moved_along(x, axis, step, false); });
      }
      propose_changed(Mistake::kReversed, fmt::format("axis {}", axis), kMoveBits + bits_of(rank),
                      [&](const Array& x) { return moved_along(x, axis, 0, true); });
    }
    for (const Place& place : operands_) propose_cut(place);
    for_each_swap(wrong_.y.shape, [&](size_t first, size_t second, size_t swaps) {
      propose_changed(Mistake::kSwapped, fmt::format("axes {} and {}", first, second), kMoveBits + bits_of(swaps),
                      [&](const Array& x) { return swapped(x, first, second); });
    });
    for (const Place& place : operands_) {
      for_each_swap(tensor(place).shape, [&](size_t first, size_t second, size_t swaps) {
        Call call = wrong_.call;
        replace(call, place, with_tensor(value(place), swapped(tensor(place), first, second)));
        const std::string axes = tensor(place).rank() == 2 ? "" : fmt::format(" (axes {} and {})", first, second);
        propose(Mistake::kTransposed, place.label + axes, kMoveBits + bits_of(swaps * operands_.size()), call,
                wrong_.kernel);
      });
    }
  }

  // A loop that ends one too early.
  void propose_cut(const Place& place) {
    const Array& array = tensor(place);
    for (size_t axis = 0; axis < std::min(array.rank(), kMostAxes); ++axis) {
      const AxisView view = view_of_axis(array.shape, axis);
      if (view.length < 2) continue;
      Array cut = array;
      for (int64_t outer = 0; outer < view.outer; ++outer)
        std::fill_n(cut.values.begin() + ((outer + 1) * view.length - 1) * view.inner, view.inner, 0);
      Call call = wrong_.call;
      replace(call, place, with_tensor(value(place), std::move(cut)));
      propose(Mistake::kLastLeftOut, fmt::format("axis {} of {}", axis, place.label),
              kMoveBits + bits_of(array.rank() * operands_.size()), call, wrong_.kernel);
    }
  }

  template <class Visit>
  static void for_each_swap(const Shape& shape, const Visit& visit) {
    const size_t rank = std::min(shape.size(), kMostAxes);
    for (size_t first = 0; first < rank; ++first) {
      for (size_t second = first + 1; second < rank; ++second) {
        if (shape[first] > 1 && shape[second] > 1) visit(first, second, rank * (rank - 1) / 2);
      }
    }
  }

  void propose_argument(const std::string& name, Value value, const std::string& shown, size_t choices) {
    Call call = wrong_.call;
    call.set(name, std::move(value));
    propose(Mistake::kArgument, fmt::format("{} = {}", name, shown), bits_of(choices), call, wrong_.kernel);
  }

  void propose_arguments() {
    for (const auto& [name, values] : wrong_.call.values()) {
      const Value& value = values.front();
      if (values.size() > 1) continue;
      const std::vector<double>& numbers = value.tensor ? value.tensor->values : value.numbers;
      if (is_flag(value)) {
        const bool flag = numbers.front() == 0;
        propose_argument(name, with_numbers(value, {flag ? 1.0 : 0.0}), flag ? "true" : "false", 2);
      } else if (is_axis(name)) {
        propose_axes(name, value);
      } else if (name == "perm") {
        propose_permutations(value, numbers);
      } else if (name == "approximate" || name == "reduction" || name == "rounding_mode") {
        for (const std::string_view text : {"none", "mean", "sum", "tanh", "floor", "trunc"})
          propose_argument(name, with_text(value, text), std::string(text), 8);
      } else if (!value.tensor && numbers.size() == 1 && numbers.front() == std::floor(numbers.front())) {
        for (const double number : {numbers.front() - 1, numbers.front() + 1})
          propose_argument(name, with_numbers(value, {number}), fmt::format("{}", number), 8);
      }
    }
    if (wrong_.kernel.name != "gelu") return;
    if (const auto x = wrong_.call.tensor("x"); x && (*x)->size() == wrong_.y.size())
      propose(Mistake::kArgument, "x sigmoid(1.702 x)", 4,
              map(**x, [](double value) { return value / (1 + std::exp(-1.702 * value)); }), absolute(**x).values);
  }

  void propose_axes(const std::string& name, const Value& value) {
    const auto rank = static_cast<int64_t>(rank_);
    const auto axes_asked = wrong_.call.integers_if(name);
    if (!axes_asked) return;
    std::set<int64_t> asked;
    for (const int64_t axis : *axes_asked) asked.insert(axis < 0 ? axis + rank : axis);
    const auto propose_set = [&](const std::vector<double>& axes) {
      if (axes.empty() || std::set<int64_t>(axes.begin(), axes.end()) == asked) return;
      propose_argument(name, with_numbers(value, axes), fmt::format("{}", fmt::join(axes, ", ")), rank_);
    };
    std::vector<double> others;
    for (int64_t axis = 0; axis < rank; ++axis) {
      propose_set({static_cast<double>(axis)});
      if (asked.count(axis) == 0) others.push_back(static_cast<double>(axis));
    }
    if (others.size() > 1) propose_set(others);
  }

  void propose_permutations(const Value& value, const std::vector<double>& asked) {
    constexpr size_t kMostPermuted = 4;
    if (asked.size() > kMostPermuted) return;
    std::vector<double> permutation(asked.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    const size_t choices = asked.size() * (asked.size() - 1) + 1;
    do {
      if (permutation != asked)
        propose_argument("perm", with_numbers(value, permutation), fmt::format("{}", fmt::join(permutation, ", ")),
                         choices);
    } while (std::next_permutation(permutation.begin(), permutation.end()));
  }

  // Kernels that compute something from the same operands.
  void propose_operators() {
    std::set<std::string_view> names;
    std::vector<const Kernel*> others;
    for_each_row([&](const KernelRow& row) {
      const Kernel* const kernel = row.kernel;
      if (kernel == nullptr || kernel == &wrong_.kernel || kernel->name.ends_with("_like")) return;
      // A product of the operands of a sum takes longer than everything else.
      if (kernel->arithmetic == Arithmetic::kProduct && wrong_.kernel.arithmetic != Arithmetic::kProduct) return;
      if (names.insert(kernel->name).second) others.push_back(kernel);
    });
    std::sort(others.begin(), others.end(), [](const Kernel* a, const Kernel* b) { return a->name < b->name; });
    for (const Kernel* const kernel : others)
      propose(Mistake::kOperator, std::string(kernel->name), bits_of(others.size()), wrong_.call, *kernel);
  }

  // float16 and TF32, bfloat16, and the formats of 8 bits.
  void propose_precision() {
    for (const int bits : {10, 7, 4, 3}) {
      Call call = wrong_.call;
      for (auto& [name, values] : call.values()) {
        for (Value& value : values) {
          if (!value.tensor || kind_of(value.tensor->dtype) != DTypeKind::kFloat) continue;
          value = with_tensor(value, map(*value.tensor, [=](double x) { return rounded_mantissa(x, bits); }));
        }
      }
      propose(Mistake::kPrecision, std::to_string(bits), 2, call, wrong_.kernel);
    }
  }

  // Updates of one element that are lost: all but the first, or all but the last.
  void propose_writers() {
    for (const auto& [where, what] :
         {std::pair("ids", "x"), std::pair("indices", "updates"), std::pair("indices", "dy")}) {
      const auto places = wrong_.call.tensor(where), updates = wrong_.call.tensor(what);
      if (!places || !updates || (*places)->size() == 0) continue;
      const bool rows = std::string_view(what) == "updates" && (*places)->rank() > 0;
      const int64_t depth = rows ? std::max<int64_t>((*places)->shape.back(), 1) : 1;
      const int64_t count = (*places)->size() / depth;
      if (count == 0 || (*updates)->size() % count != 0) continue;
      const int64_t block = (*updates)->size() / count;
      for (const bool last : {true, false}) {
        Array kept = **updates;
        std::set<std::vector<double>> written;
        for (int64_t i = 0; i < count; ++i) {
          const int64_t row = last ? count - 1 - i : i;
          const auto at = (*places)->values.begin() + row * depth;
          if (!written.insert({at, at + depth}).second) std::fill_n(kept.values.begin() + row * block, block, 0);
        }
        Call call = wrong_.call;
        call.set(what, with_tensor(wrong_.call.values().find(what)->second.front(), std::move(kept)));
        propose(Mistake::kOneWriter, last ? "last" : "first", 1, call, wrong_.kernel);
      }
    }
  }

  // The output with another number, as values; none if the kernel does not take it.
  [[nodiscard]] std::optional<std::vector<double>> output_with(const std::string& name, const Value& value,
                                                               double number) {
    Call call = wrong_.call;
    call.set(name, with_numbers(value, {number}));
    const Maybe<Outputs> outputs = affords() ? wrong_.kernel.compute(call) : unjudged(Reason::kTooLarge);
    if (!outputs) return std::nullopt;
    for (const Output& output : *outputs) {
      const Answer* const answer = output.name == wrong_.output.name ? find_answer(output, asked_.variant) : nullptr;
      if (answer != nullptr) return answer->y.values;
    }
    return std::nullopt;
  }

  [[nodiscard]] double distance(const std::vector<double>& values) const {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double off = values[i] - wrong_.y.values[i];
      if (std::isfinite(wrong_.y.values[i])) sum += off * off;
    }
    return sum;
  }

  // Least squares by steps of Gauss and Newton.
  [[nodiscard]] std::optional<double> fitted_number(const std::string& name, const Value& value) {
    double number = value.tensor ? value.tensor->values.front() : value.numbers.front();
    auto now = output_with(name, value, number);
    if (!now || !std::isfinite(number)) return std::nullopt;
    double left = distance(*now);
    for (int fits = 0; fits < kMostFits && std::isfinite(left);) {
      const double small = number == 0 ? 0x1p-30 : number * 0x1p-20;
      const auto beside = output_with(name, value, number + small);
      if (!beside) return std::nullopt;
      double slopes = 0, products = 0;
      for (size_t i = 0; i < now->size(); ++i) {
        const double slope = ((*beside)[i] - (*now)[i]) / small, off = wrong_.y.values[i] - (*now)[i];
        if (!std::isfinite(slope) || !std::isfinite(off)) continue;
        slopes += slope * slope;
        products += slope * off;
      }
      if (!(slopes > 0) || !std::isfinite(products)) return std::nullopt;
      double step = products / slopes;
      bool closer = false;
      for (++fits; fits < kMostFits && !closer; ++fits) {
        const auto next = output_with(name, value, number + step);
        const double next_left = next ? distance(*next) : std::nan("");
        closer = next_left < left;
        if (closer) {
          number += step;
          left = next_left;
          now = next;
        } else {
          step /= 4;
        }
        if (std::fabs(step) <= std::fabs(number) * 0x1p-40) break;
      }
      if (!closer) break;
    }
    return number;
  }

  // The shortest number that verifies.
  template <class Propose>
  static bool propose_number(double number, const Propose& propose) {
    for (const int digits : {1, 2, 3, 4, 6, 9}) {
      if (propose(shortened(number, digits))) return true;
    }
    return propose(number);
  }

  void propose_constants() {
    for (const auto& [name, values] : wrong_.call.values()) {
      const Value& value = values.front();
      if (values.size() > 1 || value.is_none || !is_scalar(value) || is_flag(value) || is_axis(name)) continue;
      const auto number = fitted_number(name, value);
      if (!number) continue;
      propose_number(*number, [&, &name = name](double short_number) {
        Call call = wrong_.call;
        call.set(name, with_numbers(value, {short_number}));
        return propose(Mistake::kConstant, fmt::format("{} = {}", name, short_number), kNumberBits, call,
                       wrong_.kernel);
      });
    }
  }

  // The answer that was judged.
  [[nodiscard]] const Array& expected() const {
    const Answer* const answer = find_answer(wrong_.output, asked_.variant);
    return answer == nullptr ? wrong_.output.answers.front().y : answer->y;
  }

  void propose_offset() {
    std::vector<double> offsets;
    if (expected().size() != wrong_.y.size()) return;
    for (size_t i = 0; i < wrong_.y.values.size(); ++i) {
      const double offset = wrong_.y.values[i] - expected().values[i];
      if (std::isfinite(offset)) offsets.push_back(offset);
    }
    if (offsets.empty()) return;
    const auto middle = offsets.begin() + static_cast<std::ptrdiff_t>(offsets.size() / 2);
    std::nth_element(offsets.begin(), middle, offsets.end());
    propose_number(*middle, [&](double offset) {
      return propose_changed(Mistake::kOffset, fmt::format("{}", offset), kNumberBits + 4,
                             [&](const Array& x) { return map(x, [&](double value) { return value + offset; }); });
    });
  }

  void propose_factor() {
    if (expected().size() != wrong_.y.size()) return;
    double squares = 0, products = 0;
    for (size_t i = 0; i < wrong_.y.values.size(); ++i) {
      const double square = expected().values[i] * expected().values[i];
      const double product = expected().values[i] * wrong_.y.values[i];
      if (!std::isfinite(square) || !std::isfinite(product)) continue;
      squares += square;
      products += product;
    }
    const double slope = products / squares;
    if (!std::isfinite(slope)) return;
    const auto propose_one = [&](double factor, const std::string& shown) {
      return propose_changed(Mistake::kFactor, shown, kNumberBits + 8,
                             [&](const Array& x) { return map(x, [&](double value) { return value * factor; }); });
    };
    const double inverse = std::nearbyint(1 / slope);
    if (inverse > 2 && std::fabs(inverse * slope - 1) < 0x1p-12 &&
        propose_one(1 / inverse, fmt::format("1/{}", inverse)))
      return;
    propose_number(slope, [&](double factor) { return propose_one(factor, fmt::format("{}", factor)); });
  }

  // Elements that hold something else while all others are right.
  void propose_copied() {
    const int64_t size = wrong_.y.size();
    Array y = wrong_.y;
    y.known = 0;
    for (int64_t right = 0, wrong = size; wrong - right > 1;) {
      y.known = right + (wrong - right) / 2;
      const Judgement judgement = judged(y, wrong_.kernel, wrong_.output);
      (judgement.wrong == 0 ? right : wrong) = y.known;
      y.known = right;
    }
    const int64_t tail = size - y.known;
    const auto begin = wrong_.y.values.begin() + y.known;
    const bool constant = std::all_of(begin, wrong_.y.values.end(), [&](double value) { return value == *begin; });
    const bool dense = kRightShare * (tail - asked_.wrong) <= tail;
    if (asked_.wrong >= kFewestCopied && kRightShare * y.known >= size && (constant || dense)) {
      const double bits = constant ? kNumberBits + bits_of(static_cast<size_t>(size)) : kNumberBits * double(tail);
      found_.push_back({Mistake::kTail, fmt::format("{}", y.known), 0, bits});
      return;
    }
    int64_t odd = 0;
    y = wrong_.y;
    if (expected().size() != size) return;
    for (size_t i = 0; i < y.values.size(); ++i) {
      if (std::isfinite(y.values[i]) || !std::isfinite(expected().values[i])) continue;
      y.values[i] = expected().values[i];
      ++odd;
    }
    if (odd < kFewestCopied || kRightShare * (size - odd) < size) return;
    if (const Judgement judgement = judged(y, wrong_.kernel, wrong_.output); judgement.is_right())
      found_.push_back({Mistake::kNonFinite, fmt::format("{}", odd), judgement.units, kNumberBits * double(odd)});
  }

  const WrongOutput& wrong_;
  const Judgement& asked_;
  std::vector<Place> operands_;  // tensors; scalars are constants
  size_t rank_ = 0;              // of the largest
  double work_of_one_ = 0, work_ = 0;
  std::vector<Instead> found_;
};

}  // namespace

std::string_view name_of(Mistake mistake) {
  static constexpr auto kNames = enum_table<Mistake, std::string_view>(
      "input_handed_on", "all_zero", "other_argument", "operand_transposed", "operand_left_out", "last_left_out",
      "operand_twice", "operand_negated", "operands_exchanged", "other_operator", "output_rolled", "output_reversed",
      "output_transposed", "one_writer", "lower_precision", "other_output", "other_constant", "offset", "factor",
      "tail_not_written", "not_finite");
  return kNames[mistake];
}

std::string describe(const Instead& instead) {
  static constexpr auto kTexts = enum_table<Mistake, std::string_view>(
      "as if {} were handed on", "as if nothing were written: all elements are 0", "as if asked with {}",
      "as if {} were transposed", "as if {} were left out", "as if the last index along {} were left out",
      "as if {} counted twice", "as if {} had the other sign", "as if {} were exchanged", "as if it were {}",
      "as if its output were rolled by {}", "as if its output were reversed along {}",
      "as if {} of its output were exchanged", "as if only the {} update of an element counted",
      "as if its inputs had {} bits of mantissa", "as if it had not run: the output is that of {}",
      "as if asked with {}", "as if {} were added", "as if multiplied by {}",
      "as if elements from {} on were not written", "{} elements are NaN or infinite, the others right");
  return fmt::format(fmt::runtime(kTexts[instead.what]), instead.value);
}

std::vector<Instead> find_instead(const WrongOutput& wrong) { return Search(wrong).run(); }

bool is_stale(const Array& y, const Array& earlier) {
  if (y.values != earlier.values) return false;  // NaN is equal to nothing: such outputs say little
  const std::set<double> distinct(y.values.begin(), y.values.end());
  return static_cast<int64_t>(distinct.size()) >= kFewestCopied;
}

}  // namespace msdump::recompute
