#include "recompute/judge.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/containers.h"
#include "kernels/judge/judge_block.h"

namespace msdump::recompute {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr double kLeastNormalHalf = 0x1p-14;

bool is_float(DType dtype) { return kind_of(dtype) == DTypeKind::kFloat; }

// The step between the smallest numbers, halved.
double smallest_step(DType format) {
  switch (format) {
    case DType::kFloat16: return 0x1p-25;
    case DType::kFloat32: return 0x1p-126;  // kernels flush what is smaller to 0
    case DType::kFloat64: return 0;
    default: return 0x1p-134;
  }
}

// To the nearest number of a format; one beyond the largest stays.
double nearest_number(double value, DType dtype) {
  if (info(dtype).traits.format.exponent_bits == 0 || value == 0 || !std::isfinite(value)) return value;
  const double step = spacing_at(dtype, value);
  return std::nearbyint(value / step) * step;
}

double largest_value(DType dtype) {
  const auto limits = float_limits(dtype);
  return limits ? limits->largest : Limits::kLargest;
}

}  // namespace

bool is_low(DType dtype) { return is_float(dtype) && dtype != DType::kFloat32 && dtype != DType::kFloat64; }

Bound bound_of(const Kernel& kernel, DType format, const OperandFormats& formats, const DeviceTraits& device) {
  Bound bound;
  bound.u = unit_roundoff(format);
  bound.t = smallest_step(format);
  bound.v.fill(kInfinity);
  const bool is_double = formats.stored == DType::kFloat64 && format == DType::kFloat64;
  bound.v[static_cast<size_t>(Precision::kFloat32)] = is_double ? 0x1p-50 : 0x1p-24;
  // Optimizers compute in float32 on every device. One of 16 bits casts what other operators read.
  const bool is_optimizer = kernel.arithmetic == Arithmetic::kOptimizer;
  const bool casts = is_low(device.usual) && !is_optimizer && kernel.arithmetic != Arithmetic::kExact;
  if (is_low(format) || casts) {
    double coarsest = is_low(formats.coarsest) ? unit_roundoff(formats.coarsest) : 0;
    if (casts) coarsest = std::max(coarsest, unit_roundoff(device.usual));
    bound.v[static_cast<size_t>(Precision::kLow)] = std::max(coarsest, bound.u);
  }
  if (device.tensor_cores && format == DType::kFloat32 && !is_optimizer)
    bound.v[static_cast<size_t>(Precision::kTensor)] = kernel.arithmetic == Arithmetic::kProduct ? 0x1p-11 : 0x1p-13;
  return bound;
}

namespace {

// Approximations in float32 are far within the rounding of 16 bits.
double limit_of(const Kernel& kernel, Precision precision, DType format) {
  return precision == Precision::kFloat32 && !is_low(format) ? kernel.limit : std::min(kernel.limit, 16.0);
}

std::vector<int64_t> index_of(int64_t place, const Shape& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = shape[axis] == 0 ? 0 : place % shape[axis];
    place = shape[axis] == 0 ? 0 : place / shape[axis];
  }
  return index;
}

// Box::multiple_of. The ends of the array are multiples of everything.
int64_t block_of(const Box& box, const Shape& shape, int64_t wrong) {
  int64_t elements = 1, edges = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t end = box.to[axis] + 1;
    elements *= end - box.from[axis];
    edges |= box.from[axis] | (end == shape[axis] ? 0 : end);
  }
  const int64_t largest = edges & -edges;
  return elements == wrong && largest >= Limits::kLeastBlock ? largest : 0;
}

// Of two answers that are wrong, the one that fits more elements: damage of a few is as far from both.
double share_of(const Judgement& judgement) {
  if (judgement.is_right()) return judgement.limit == 0 ? 0 : judgement.units / judgement.limit;
  const double units = std::isfinite(judgement.units) ? judgement.units / (1 + judgement.units) : 1;
  return 1 + static_cast<double>(judgement.wrong) + units;
}

}  // namespace

std::string_view name_of(Precision precision) {
  static constexpr auto kNames = enum_table<Precision, std::string_view>("float32", "low", "tensor");
  return kNames[precision];
}

namespace {

// True for a number that float16 holds, also as a subnormal.
bool fits_half(double value, uint32_t bits) {
  const double size = std::fabs(value);
  if (size >= 0x1p-14) return (bits & 0x1FFFU) == 0 && size <= 65504;
  return size * 0x1p24 == std::floor(size * 0x1p24);
}

}  // namespace

void find_effective_format(Array& array) {
  array.effective = array.dtype;
  const auto find_subnormal = [&] {
    array.subnormal = std::any_of(array.values.begin(), array.values.end(),
                                  [](double value) { return value != 0 && std::fabs(value) < kLeastNormalHalf; });
  };
  if (array.dtype == DType::kFloat16) find_subnormal();
  if (array.dtype != DType::kFloat32) return;
  bool fits_bfloat16 = true, fits_float16 = true;
  int telling = 0;  // values with more than three bits of mantissa
  int normal = 0;   // of these, what float16 has all its bits for
  for (const double value : array.values) {
    if (value == 0 || !std::isfinite(value)) continue;
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
    fits_bfloat16 = fits_bfloat16 && (bits & 0xFFFFU) == 0;
    fits_float16 = fits_float16 && fits_half(value, bits);
    if ((bits & 0xF'FFFFU) != 0) {
      ++telling;
      normal += std::fabs(value) >= kLeastNormalHalf ? 1 : 0;
    }
    if (!fits_bfloat16 && !fits_float16) return;
  }
  array.undecided = telling < Limits::kFormatValues;
  find_subnormal();
  // The subnormal numbers of float16 fit bfloat16, few of the others do.
  const bool fits_both = fits_bfloat16 && array.subnormal && normal < Limits::kFormatValues;
  const bool is_half = fits_float16 && (!fits_bfloat16 || fits_both);
  if (!array.undecided) array.effective = is_half ? DType::kFloat16 : DType::kBfloat16;
  array.subnormal = array.subnormal && is_half;
  array.undecided = array.undecided || fits_both;
}

void OperandFormats::add(const OperandFormats& other) {
  if (other.stored == DType::kUndefined) return;
  subnormal = subnormal || other.subnormal;
  const bool none = stored == DType::kUndefined;
  if (none || unit_roundoff(other.coarsest) > unit_roundoff(coarsest)) coarsest = other.coarsest;
  if (none || unit_roundoff(other.stored) < unit_roundoff(stored)) stored = other.stored;
}

OperandFormats formats_of(const Call& call) {
  OperandFormats formats;
  for (const auto& [name, values] : call.values()) {
    for (const Value& value : values) {
      if (!value.tensor || !is_float(value.tensor->dtype)) continue;
      formats.add({value.tensor->effective, value.tensor->dtype, value.tensor->subnormal});
    }
  }
  return formats;
}

std::string describe_place(const Judgement& judgement) {
  if (!judgement.place || judgement.shape.empty()) return {};
  const Box& box = *judgement.place;
  bool everywhere = true;
  std::string text;
  for (size_t axis = 0; axis < judgement.shape.size(); ++axis) {
    everywhere = everywhere && box.from[axis] == 0 && box.to[axis] + 1 == judgement.shape[axis];
    const bool one = box.to[axis] == box.from[axis], is_matrix = judgement.shape.size() == 2;
    if (axis > 0) text += is_matrix ? ", " : " x ";
    if (axis == 0 || is_matrix)
      text += fmt::format("{}{} ", !is_matrix ? "index" : axis == 0 ? "row" : "column", one || !is_matrix ? "" : "s");
    text += one ? fmt::format("{}", box.from[axis]) : fmt::format("{}-{}", box.from[axis], box.to[axis]);
  }
  if (everywhere) return {};
  if (box.multiple_of > 0) text += fmt::format("; edges are multiples of {}", box.multiple_of);
  return text;
}

// Judges against one answer.
class OutputJudge::OfAnswer {
 public:
  OfAnswer(const Array& y, const Kernel& kernel, const OperandFormats& formats, const DeviceTraits& device,
           const Answer& answer)
      : shape_(y.shape),
        dtype_(y.dtype),
        kernel_(kernel),
        length_(answer.length),
        variant_(answer.variant),
        format_(format_of(y, device)),
        bound_(bound_of(kernel, format_, formats, device)),
        coarser_(formats.stored != DType::kUndefined && unit_roundoff(format_) > unit_roundoff(formats.coarsest)),
        rounds_(coarser_ || (formats.stored != DType::kUndefined && formats.stored != y.dtype)),
        few_bits_(formats.subnormal),
        fits_bfloat16_(y.undecided && format_ == DType::kFloat16) {
    for (size_t p = 0; p < kPrecisions; ++p) {
      const double factor = p == 0 ? 2 + std::sqrt(length_) : 2;
      of_[p].scale = bound_.v[p] == kInfinity ? kInfinity : bound_.v[p] * factor;
      of_[p].step = bound_.t;
      of_[p].limit = is_exact() ? 0 : limit_of_output(static_cast<Precision>(p));
    }
    if (kernel_.name == "sigmoid" || kernel_.name == "silu")
      of_[static_cast<size_t>(Precision::kLow)].step += Limits::kSigmoidStep;
  }

  [[nodiscard]] bool is_comparable() const { return comparable_; }

  // Null: the kernel has no such answer for the block, or one of another size.
  void add(std::span<const double> found, const Answer* answer, int64_t first, int64_t step) {
    comparable_ = comparable_ && answer != nullptr;
    if (!comparable_) return;
    const Part part{found, *answer, first, step};
    if (is_exact())
      compare_exactly(part);
    else
      compare_rounded(part);
  }

  [[nodiscard]] Judgement finish() const {
    Judgement result;
    result.variant = variant_;
    result.format = format_;
    result.coarser = coarser_;
    result.fits_bfloat16 = fits_bfloat16_;
    result.shape = shape_;
    result.elements = elements_;
    result.units_of.fill(kInfinity);
    for (size_t p = 0; p < kPrecisions; ++p) {
      if (of_[p].scale != kInfinity && (p == 0 || !is_exact())) result.units_of[p] = of_[p].units;
    }
    choose_precision(result);
    const OfPrecision& chosen = of_[static_cast<size_t>(result.precision)];
    result.wrong = chosen.wrong;
    result.place = chosen.place;
    result.worst_value = chosen.worst_value;
    result.worst_expected = chosen.worst_expected;
    if (result.place) result.place->multiple_of = block_of(*result.place, shape_, result.wrong);
    if (chosen.worst >= 0) result.worst = index_of(chosen.worst, shape_);
    const double squares = sums_.squares.total(), errors = sums_.errors.total();
    result.relative_error = squares > 0 ? std::sqrt(errors / squares) : errors > 0 ? kInfinity : 0;
    if (!is_exact()) {
      judge_slope(result, chosen);
      for (size_t p = 0; p < kPrecisions && values_.size() >= kFewValues && squares > 0; ++p) {
        if (of_[p].scale != kInfinity) result.rounding_of[p] = relative_rounding(of_[p], squares);
      }
    }
    return result;
  }

 private:
  // The worst element, the wrong ones and the sums of one precision.
  struct OfPrecision {
    double scale = kInfinity;  // v (2 + g); infinite: it cannot apply
    double step = 0, limit = 0;
    double units = 0;   // the largest
    double spread = 0;  // of the products of elements with their error
    int64_t worst = -1, wrong = 0;
    double worst_value = 0, worst_expected = 0;
    std::optional<Box> place;
  };

  [[nodiscard]] static DType format_of(const Array& y, const DeviceTraits& device) {
    if (y.undecided && is_low(device.usual)) return device.usual;
    return y.effective == DType::kUndefined ? y.dtype : y.effective;
  }
  // A move that is stored with fewer bits than its operands rounds.
  [[nodiscard]] bool is_exact() const {
    return !is_float(dtype_) || (kernel_.arithmetic == Arithmetic::kExact && !rounds_);
  }
  [[nodiscard]] double limit_of_output(Precision precision) const {
    return kernel_.arithmetic == Arithmetic::kExact ? Limits::kUnits : limit_of(kernel_, precision, format_);
  }

  // The number that the output's type stores for a value, as for a constant of the call; NaN if that is not known.
  [[nodiscard]] double stored_value(double value) const {
    switch (kind_of(dtype_)) {
      case DTypeKind::kBool: return std::isnan(value) ? value : value != 0 ? 1 : 0;
      case DTypeKind::kInteger: {
        if (!(std::fabs(value) < 0x1p53)) return std::nan("");
        const int bits = std::min(info(dtype_).bits, 53);
        const double most = std::ldexp(1.0, is_unsigned(dtype_) ? bits : bits - 1);
        const double whole = std::trunc(value);
        return whole >= most || whole < (is_unsigned(dtype_) ? 0 : -most) ? std::nan("") : whole;
      }
      default: return nearest_number(value, dtype_);
    }
  }

  // Numbers that stored_value() returns as they are.
  [[nodiscard]] kernels::StoredNumbers stored_numbers() const {
    const DTypeKind kind = kind_of(dtype_);
    if (kind == DTypeKind::kBool) return {.least = 0, .beyond = 2, .whole = true};
    if (kind == DTypeKind::kInteger) {
      const int bits = std::min(info(dtype_).bits, 53);
      const double beyond = std::ldexp(1.0, is_unsigned(dtype_) ? bits : bits - 1);
      return {.least = is_unsigned(dtype_) ? 0 : -beyond, .beyond = beyond, .whole = true};
    }
    kernels::StoredNumbers numbers{.least = std::numeric_limits<double>::lowest(), .beyond = kInfinity};
    const FloatFormat format = info(dtype_).traits.format;
    if (format.exponent_bits == 0 || dtype_ == DType::kFloat64) return numbers;
    numbers.zero_bits = (uint64_t{1} << static_cast<unsigned>(52 - format.mantissa_bits)) - 1;
    numbers.smallest = std::ldexp(1, 1 - format.bias);
    return numbers;
  }

  // Elements [begin, end) of what was found and of the answer.
  struct Part {
    std::span<const double> found;
    const Answer& answer;
    int64_t first, step;  // of the output: see OutputJudge::add()
    [[nodiscard]] kernels::JudgedBlock block(size_t begin, size_t count) const {
      const double* const terms = answer.terms.empty() ? nullptr : answer.terms.data() + begin;
      return {found.data() + begin, answer.y.values.data() + begin, terms, count};
    }
    [[nodiscard]] int64_t place(size_t i) const { return first + static_cast<int64_t>(i) * step; }
  };

  // Adds blocks that are surely right at once; others, and what is left at the end, element by element.
  template <class AddBlock, class AddElement>
  void for_each_block(const Part& part, const AddBlock& add_block, const AddElement& add_element) {
    const size_t size = part.found.size();
    for (size_t begin = 0; begin < size; begin += kernels::kJudgeBlock) {
      const size_t count = std::min(kernels::kJudgeBlock, size - begin);
      const size_t lanes = count - count % kernels::kJudgeLanes;
      const size_t added = add_block(part.block(begin, lanes)) ? lanes : 0;
      elements_ += static_cast<int64_t>(added);
      for (size_t i = begin + added; i < begin + count; ++i) add_element(i);
    }
  }

  void compare_exactly(const Part& part) {
    const kernels::StoredNumbers numbers = stored_numbers();
    for_each_block(
        part, [&](const kernels::JudgedBlock& block) { return kernels::add_if_equal(block, numbers, sums_); },
        [&](size_t i) {
          const double found = part.found[i], expected = stored_value(part.answer.y.values[i]);
          if (std::isnan(expected)) return;
          ++elements_;
          const double error = std::isinf(expected) && expected == found ? 0 : std::fabs(found - expected);
          if (std::isfinite(expected)) count(i, expected, found, error);
          if (error == 0) return;
          const double units =
              std::isnan(error) ? kInfinity : error / std::max(std::fabs(expected) * 0x1p-24, 0x1p-126);
          note(of_.front(), part.place(i), found, expected, units);
        });
  }

  void compare_rounded(const Part& part) {
    note_values(part.found);
    const double u = bound_.u, below_overflow = 1 - 2 * u;
    const double largest = std::min(largest_value(dtype_), Limits::kLargest) * below_overflow;
    const double largest_of_format = largest_value(format_);
    kernels::RoundingRule rule{.u = u, .largest = std::min(largest, largest_of_format * below_overflow)};
    std::array<OfPrecision*, kPrecisions> bounds{};
    for (OfPrecision& of : of_) {
      if (of.scale == kInfinity) continue;
      rule.of[rule.bounds] = {of.scale, of.step};
      bounds[rule.bounds++] = &of;
    }
    const auto add_block = [&](const kernels::JudgedBlock& block) {
      for (size_t k = 0; k < rule.bounds; ++k) rule.of[k].most = std::min(bounds[k]->units, bounds[k]->limit);
      return kernels::add_if_rounded(block, rule, sums_);
    };
    const std::vector<double>&values = part.answer.y.values, &terms = part.answer.terms;
    for_each_block(part, add_block, [&](size_t i) {
      const double found = part.found[i], expected = values[i], magnitude = std::fabs(expected);
      const double size = terms.empty() ? magnitude : terms[i];
      if (!(magnitude <= largest) || !std::isfinite(size)) return;
      // A device writes Inf or the largest number where its format overflows, whatever dtype the file has.
      if (magnitude > largest_of_format * below_overflow &&
          (!std::isfinite(found) || std::fabs(found) == largest_of_format))
        return;
      ++elements_;
      const double error = std::isfinite(found) ? std::fabs(found - expected) : kInfinity;
      count(i, expected, found, error);
      for (size_t k = 0; k < rule.bounds; ++k) {
        OfPrecision& of = *bounds[k];
        const double rounding = u * magnitude + of.scale * size;
        sums_.spread[k].add(i, expected * expected * rounding * rounding);
        const double bound = rounding + of.step;
        if (error > of.units * bound || error > of.limit * bound)
          note(of, part.place(i), found, expected, error / bound);
      }
    });
    for (size_t k = 0; k < rule.bounds; ++k) bounds[k]->spread = sums_.spread[k].total();
  }

  void note_values(std::span<const double> found) {
    // One value everywhere.
    if (found.size() > 1 && std::memcmp(found.data(), found.data() + 1, found.size_bytes() - sizeof(double)) == 0)
      found = found.first(1);
    for (size_t i = 0; i < found.size() && values_.size() < kFewValues; ++i) {
      if (!std::isfinite(found[i]) || (i > 0 && found[i] == found[i - 1])) continue;
      if (std::find(values_.begin(), values_.end(), found[i]) == values_.end()) values_.push_back(found[i]);
    }
  }

  // The first precision that fits, else the one that is nearest to its limit.
  void choose_precision(Judgement& result) const {
    double nearest = kInfinity;
    for (size_t p = 0; p < kPrecisions; ++p) {
      if (result.units_of[p] == kInfinity && p > 0) continue;
      const double share = is_exact() ? 0 : result.units_of[p] / of_[p].limit;
      if (p > 0 && share >= nearest) continue;
      nearest = share;
      result.precision = static_cast<Precision>(p);
      if (share <= 1) break;
    }
    result.units = result.units_of[static_cast<size_t>(result.precision)];
    result.limit = of_[static_cast<size_t>(result.precision)].limit;
    result.verdict = result.units > result.limit ? Judgement::Verdict::kWrong : Judgement::Verdict::kRight;
  }

  // True if rounding errors of the elements have nothing in common: those of a shared mean or sum, of equal values, and of subnormal
  // operands, if they were rounded when they were dumped, do.
  [[nodiscard]] bool rounds_independently() const {
    if (few_bits_) return false;
    if (kernel_.arithmetic == Arithmetic::kNormalisation || kernel_.arithmetic == Arithmetic::kTranscendental)
      return false;
    return values_.size() >= kFewValues;
  }

  [[nodiscard]] double relative_rounding(const OfPrecision& of, double squares) const {
    const auto elements = static_cast<double>(elements_);
    return std::sqrt(elements * (of.spread / squares + of.step * of.step) / squares);
  }

  // A common factor shows in all elements together before it shows in one.
  void judge_slope(Judgement& result, const OfPrecision& chosen) const {
    const double squares = sums_.squares.total(), products = sums_.products.total();
    if (elements_ < Limits::kSlopeElements || squares == 0 || !std::isfinite(products)) return;
    result.slope = products / squares;
    if (result.is_wrong() || result.precision == Precision::kTensor || !rounds_independently()) return;
    const double chance = Limits::kUnits * std::sqrt(chosen.spread) / squares;
    const double most = std::max(Limits::kSlope * bound_.u, chance);
    if (std::fabs(*result.slope - 1) > most) result.verdict = Judgement::Verdict::kWrong;
  }

  void count(size_t i, double expected, double found, double error) {
    sums_.squares.add(i, expected * expected);
    sums_.errors.add(i, error * error);
    sums_.products.add(i, expected * found);
  }

  void note(OfPrecision& of, int64_t place, double found, double expected, double units) const {
    if (units > of.units) {
      of.units = units;
      of.worst = place;
      of.worst_value = found;
      of.worst_expected = expected;
    }
    if (!(units > of.limit)) return;
    ++of.wrong;
    const std::vector<int64_t> index = index_of(place, shape_);
    if (!of.place) of.place = Box{index, index};
    for (size_t axis = 0; axis < index.size(); ++axis) {
      of.place->from[axis] = std::min(of.place->from[axis], index[axis]);
      of.place->to[axis] = std::max(of.place->to[axis], index[axis]);
    }
  }

  static constexpr size_t kFewValues = Limits::kSlopeElements / 4;

  Shape shape_;
  DType dtype_;
  const Kernel& kernel_;
  double length_;
  std::string_view variant_;
  DType format_;
  Bound bound_;
  bool coarser_, rounds_, few_bits_, fits_bfloat16_, comparable_ = true;
  std::array<OfPrecision, kPrecisions> of_;
  int64_t elements_ = 0;
  kernels::JudgeSums sums_;     // spread: by place among the precisions that can apply
  std::vector<double> values_;  // some that differ
};

OutputJudge::OutputJudge(const Array& y, const Kernel& kernel, const OperandFormats& formats,
                         const DeviceTraits& device)
    : y_{.shape = y.shape, .dtype = y.dtype, .effective = y.effective, .undecided = y.undecided, .known = y.known},
      kernel_(kernel),
      formats_(formats),
      device_(device) {}

OutputJudge::~OutputJudge() = default;

void OutputJudge::add(std::span<const double> found, const Output& expected, int64_t first, int64_t step) {
  if (answers_.empty()) {
    for (const Answer& answer : expected.answers) answers_.emplace_back(y_, kernel_, formats_, device_, answer);
  }
  size_t count = found.size();
  if (y_.known >= 0) count = std::min(count, static_cast<size_t>(std::max<int64_t>(0, y_.known - first)));
  follows_copy_ = expected.follows_copy;
  for (size_t i = 0; i < answers_.size(); ++i) {
    const Answer* answer = i < expected.answers.size() ? &expected.answers[i] : nullptr;
    if (answer != nullptr && answer->y.values.size() != found.size()) answer = nullptr;
    answers_[i].add(found.first(count), answer, first, step);
  }
}

Judgement OutputJudge::finish() const {
  Judgement best;
  best.why = {Reason::kShape, {}};
  for (size_t i = 0; i < answers_.size(); ++i) {
    if (!answers_[i].is_comparable()) continue;
    Judgement judgement = answers_[i].finish();
    judgement.answer = i;
    if (best.verdict == Judgement::Verdict::kNotJudged || share_of(judgement) < share_of(best))
      best = std::move(judgement);
  }
  if (best.verdict != Judgement::Verdict::kNotJudged && best.elements == 0) {
    best.verdict = Judgement::Verdict::kNotJudged;
    best.why = {Reason::kFormat, "no finite element"};
  }
  best.follows_copy = follows_copy_;
  return best;
}

void allow_rounding_of_copy(const Call& call, std::span<const double> found, Output& output) {
  if (call.copied == DType::kUndefined) return;
  const Maybe<Tensor> copy = call.tensor(output.name);
  if (!copy || (*copy)->values.size() != found.size()) return;
  output.follows_copy = true;
  for (Answer& answer : output.answers) {
    if (answer.y.values.size() != found.size()) continue;
    for (size_t i = 0; i < found.size(); ++i) {
      double& expected = answer.y.values[i];
      const double most = spacing_at(call.copied, (*copy)->values[i]) / 2;
      if (std::fabs(found[i] - expected) <= most)
        expected = found[i];
      else if (std::isfinite(found[i]))
        expected += std::copysign(most, found[i] - expected);
    }
  }
}

Judgement judge(const Array& y, const Kernel& kernel, const Output& output, const OperandFormats& formats,
                const DeviceTraits& device) {
  OutputJudge judge(y, kernel, formats, device);
  judge.add(y.values, output, 0);
  Judgement judgement = judge.finish();
  if (judgement.why.reason == Reason::kShape) judgement.why.what = output.name;
  return judgement;
}

namespace {

// Reads rows of an output. The elements of a row that is no range of the file lie in one block of its outer index.
class RowReader {
 public:
  RowReader(const Array& y, AxisView view) : y_(y), view_(view) {}

  Maybe<std::vector<double>> read(int64_t row) {
    const int64_t outer = row / view_.inner, within = row % view_.inner, size = view_.length * view_.inner;
    if (outer != outer_) {
      MSDUMP_TRY(block_, elements_of(y_, outer * size, size, buffer_));
      outer_ = outer;
    }
    std::vector<double> elements(static_cast<size_t>(view_.length));
    for (int64_t i = 0; i < view_.length; ++i) elements[static_cast<size_t>(i)] = block_[i * view_.inner + within];
    return elements;
  }
  [[nodiscard]] int64_t place(int64_t row) const {
    return row / view_.inner * view_.length * view_.inner + row % view_.inner;
  }

 private:
  const Array& y_;
  const AxisView view_;
  std::vector<double> buffer_;
  const double* block_ = nullptr;
  int64_t outer_ = -1;
};

}  // namespace

namespace {

Maybe<bool> are_equal(const Array& x, const Array& y) {
  const int64_t size = size_of(x.shape);
  if (size != size_of(y.shape)) return false;
  std::vector<double> of_x, of_y;
  for (int64_t first = 0; first < size; first += kBlockElements) {
    const int64_t count = std::min(kBlockElements, size - first);
    MSDUMP_TRY(const double* const left, elements_of(x, first, count, of_x));
    MSDUMP_TRY(const double* const right, elements_of(y, first, count, of_y));
    if (!std::equal(left, left + count, right)) return false;
  }
  return true;
}

}  // namespace

Maybe<Judgement> judge_sample(const Array& y, const Kernel& kernel, const SampledOutput& expected,
                              const OperandFormats& formats, const DeviceTraits& device) {
  const AxisView view = expected.rows;
  if (view.outer * view.length * view.inner != size_of(y.shape)) return unjudged(Reason::kShape, expected.name);
  OutputJudge judge(y, kernel, formats, device);
  RowReader reader(y, view);
  const auto judge_rows = [&](const std::vector<int64_t>& rows) {
    return expected.compute(
        rows, [&](int64_t row, std::vector<double> values, std::vector<double> terms) -> Maybe<void> {
          MSDUMP_TRY(const std::vector<double> found, reader.read(row));
          Output output{expected.name, {}};
          output.answers.push_back({Array{{view.length}, std::move(values)}, std::move(terms), expected.length, {}});
          judge.add(found, output, reader.place(row), view.inner);
          return {};
        });
  };
  std::vector<int64_t> rows = sampled_rows(view.outer * view.inner);
  MSDUMP_CHECK_OK(judge_rows(rows));
  Judgement judgement = judge.finish();
  if (judgement.verdict == Judgement::Verdict::kNotJudged) return judgement;
  const Bound bound = bound_of(kernel, judgement.format, formats, device);
  ProjectionCheck check(view, bound.u, bound.v[static_cast<size_t>(judgement.precision)], Limits::kUnits);
  std::vector<double> buffer;
  MSDUMP_CHECK_OK(expected.project([&](const ProjectedBlock& block) -> Maybe<void> {
    const int64_t size = view.length * view.inner;
    MSDUMP_TRY(const double* const found, elements_of(y, block.first_outer * size, block.outers * size, buffer));
    check.add(block, found);
    return {};
  }));
  std::vector<int64_t> suspects = check.suspects();
  std::erase_if(suspects, [&](int64_t row) { return std::binary_search(rows.begin(), rows.end(), row); });
  if (!suspects.empty()) {
    MSDUMP_CHECK_OK(judge_rows(suspects));
    judgement = judge.finish();
  }
  if (judgement.is_wrong() && expected.view) {
    MSDUMP_TRY(const bool is_view, are_equal(y, *expected.view));
    if (is_view) {
      judgement.verdict = Judgement::Verdict::kRight;
      judgement.units = 0;
      judgement.units_of.fill(0);
      judgement.wrong = 0;
      judgement.place = std::nullopt;
    }
  }
  const double rms = check.root_mean_square();
  judgement.sampled = rms > 0 ? check.smallest_certain() / rms : 0;
  return judgement;
}

}  // namespace msdump::recompute
