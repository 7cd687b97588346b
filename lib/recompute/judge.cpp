#include "recompute/judge.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/containers.h"

namespace msdump::recompute {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_low(DType dtype) {
  return kind_of(dtype) == DTypeKind::kFloat && dtype != DType::kFloat32 && dtype != DType::kFloat64;
}

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

double largest_value(DType dtype) {
  const auto limits = float_limits(dtype);
  return limits ? limits->largest : Limits::kLargest;
}

struct Bound {
  double u = 0, t = 0;
  std::array<double, kPrecisions> v{};  // infinite: cannot apply
};

Bound bound_of(const Kernel& kernel, DType format, const OperandFormats& formats, const DeviceTraits& device) {
  Bound bound;
  bound.u = unit_roundoff(format);
  bound.t = smallest_step(format);
  bound.v.fill(kInfinity);
  const bool is_double = formats.stored == DType::kFloat64 && format == DType::kFloat64;
  bound.v[static_cast<size_t>(Precision::kFloat32)] = is_double ? 0x1p-50 : 0x1p-24;
  // A device of 16 bits casts parameters when it reads them; its optimizers compute in float32.
  const bool casts =
      is_low(device.usual) && kernel.arithmetic != Arithmetic::kOptimizer && kernel.arithmetic != Arithmetic::kExact;
  if (is_low(format) || casts) {
    double coarsest = is_low(formats.coarsest) ? unit_roundoff(formats.coarsest) : 0;
    if (casts) coarsest = std::max(coarsest, unit_roundoff(device.usual));
    bound.v[static_cast<size_t>(Precision::kLow)] = std::max(coarsest, bound.u);
  }
  if (device.tensor_cores && format == DType::kFloat32)
    bound.v[static_cast<size_t>(Precision::kTensor)] = kernel.arithmetic == Arithmetic::kProduct ? 0x1p-11 : 0x1p-13;
  return bound;
}

double limit_of(const Kernel& kernel, Precision precision) {
  return precision == Precision::kFloat32 ? kernel.limit : std::min(kernel.limit, 16.0);
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

// Judges against one answer.
class AnswerJudge {
 public:
  // Elements that the file lacks are at the end.
  AnswerJudge(const Array& y, const Kernel& kernel, const Answer& answer, const OperandFormats& formats,
              const DeviceTraits& device)
      : y_(y),
        kernel_(kernel),
        answer_(answer),
        formats_(formats),
        format_(format_of(device)),
        bound_(bound_of(kernel, format_, formats, device)),
        count_(y.known < 0 ? y.values.size() : static_cast<size_t>(y.known)) {}

  Judgement run() {
    result_.variant = answer_.variant;
    result_.format = format_;
    if (!is_float(y_.dtype)) {
      compare_exactly();
    } else if (kernel_.arithmetic == Arithmetic::kExact && !rounds()) {
      compare_exactly();
    } else {
      compare_rounded();
    }
    finish();
    return std::move(result_);
  }

 private:
  [[nodiscard]] DType format_of(const DeviceTraits& device) const {
    if (y_.undecided && is_low(device.usual)) return device.usual;
    return y_.effective == DType::kUndefined ? y_.dtype : y_.effective;
  }
  // True if the output is stored with fewer bits than the operands.
  [[nodiscard]] bool rounds() const { return formats_.stored != DType::kUndefined && formats_.stored != y_.dtype; }

  // What an element of an integer type holds; NaN: unknown.
  [[nodiscard]] double stored_value(double value) const {
    switch (kind_of(y_.dtype)) {
      case DTypeKind::kBool: return std::isnan(value) ? value : value != 0 ? 1 : 0;
      case DTypeKind::kInteger: {
        if (!(std::fabs(value) < 0x1p53)) return std::nan("");
        const int bits = std::min(info(y_.dtype).bits, 53);
        const double most = std::ldexp(1.0, is_unsigned(y_.dtype) ? bits : bits - 1);
        const double whole = std::trunc(value);
        return whole >= most || whole < (is_unsigned(y_.dtype) ? 0 : -most) ? std::nan("") : whole;
      }
      default: return value;
    }
  }

  void compare_exactly() {
    double units = 0;
    for (size_t i = 0; i < count_; ++i) {
      const double expected = stored_value(answer_.y.values[i]), found = y_.values[i];
      if (std::isnan(expected)) continue;
      ++result_.elements;
      const double error = std::isinf(expected) && expected == found ? 0 : std::fabs(found - expected);
      count(expected, found, error);
      if (error == 0) continue;
      const double own = std::isnan(error) ? kInfinity : error / std::max(std::fabs(expected) * 0x1p-24, 0x1p-126);
      note(i, expected, own, 0);
      units = std::max(units, own);
    }
    result_.units_of.fill(kInfinity);
    result_.units_of[0] = result_.units = units;
    result_.limit = 0;
    result_.verdict = units > 0 ? Judgement::Verdict::kWrong : Judgement::Verdict::kRight;
  }

  [[nodiscard]] double terms(size_t i) const {
    return answer_.terms.empty() ? std::fabs(answer_.y.values[i]) : answer_.terms[i];
  }

  void compare_rounded() {
    const bool sigmoid = kernel_.name == "sigmoid" || kernel_.name == "silu";
    const double largest = std::min(largest_value(y_.dtype), Limits::kLargest) * (1 - 2 * bound_.u);
    const double g = std::sqrt(answer_.length);
    std::array<double, kPrecisions> units{};
    for (size_t i = 0; i < count_; ++i) {
      const double expected = answer_.y.values[i], found = y_.values[i];
      if (!(std::fabs(expected) <= largest)) continue;
      const double size = terms(i);
      if (!std::isfinite(size)) continue;
      ++result_.elements;
      const double error = std::isfinite(found) ? std::fabs(found - expected) : kInfinity;
      count(expected, found, error);
      if (error == 0) continue;
      for (size_t p = 0; p < kPrecisions; ++p) {
        if (bound_.v[p] == kInfinity) continue;
        const double factor = p == 0 ? 2 + g : 2;
        const double step = sigmoid && p == static_cast<size_t>(Precision::kLow) ? Limits::kSigmoidStep : 0;
        units[p] = std::max(units[p],
                            error / (bound_.u * std::fabs(expected) + bound_.t + step + bound_.v[p] * factor * size));
      }
    }
    for (size_t p = 0; p < kPrecisions; ++p) result_.units_of[p] = bound_.v[p] == kInfinity ? kInfinity : units[p];
    choose_precision();
    if (answer_.projection) project();
    find_wrong(g, sigmoid, largest);
    judge_slope(g);
  }

  void project() {
    const Projection& projection = *answer_.projection;
    if (projection.rows * projection.columns != static_cast<int64_t>(count_)) return;
    ProjectionResult found = compare_projection(projection, y_.values.data(), bound_.u,
                                                bound_.v[static_cast<size_t>(result_.precision)], Limits::kUnits);
    result_.suspects = std::move(found.suspects);
    double squares = 0;
    for (const double value : y_.values) squares += std::isfinite(value) ? value * value : 0;
    const double rms = std::sqrt(squares / std::max<double>(1, static_cast<double>(count_)));
    result_.sampled = rms > 0 ? found.smallest_certain / rms : 0;
  }

  // The first precision that fits, else the one that is nearest to its limit.
  void choose_precision() {
    double nearest = kInfinity;
    for (size_t p = 0; p < kPrecisions; ++p) {
      if (result_.units_of[p] == kInfinity && p > 0) continue;
      const auto precision = static_cast<Precision>(p);
      const double share = result_.units_of[p] / limit_of_output(precision);
      if (p > 0 && share >= nearest) continue;
      nearest = share;
      result_.precision = precision;
      if (share <= 1) break;
    }
    result_.units = result_.units_of[static_cast<size_t>(result_.precision)];
    result_.limit = limit_of_output(result_.precision);
    result_.verdict = result_.units > result_.limit ? Judgement::Verdict::kWrong : Judgement::Verdict::kRight;
  }

  // A move into a narrower format rounds once.
  [[nodiscard]] double limit_of_output(Precision precision) const {
    return kernel_.arithmetic == Arithmetic::kExact ? Limits::kUnits : limit_of(kernel_, precision);
  }

  void find_wrong(double g, bool sigmoid, double largest) {
    const auto p = static_cast<size_t>(result_.precision);
    const double factor = p == 0 ? 2 + g : 2;
    const double step = sigmoid && result_.precision == Precision::kLow ? Limits::kSigmoidStep : 0;
    for (size_t i = 0; i < count_; ++i) {
      const double expected = answer_.y.values[i], found = y_.values[i];
      if (!(std::fabs(expected) <= largest) || !std::isfinite(terms(i)) || found == expected) continue;
      const double error = std::isfinite(found) ? std::fabs(found - expected) : kInfinity;
      note(i, expected, error / (bound_.u * std::fabs(expected) + bound_.t + step + bound_.v[p] * factor * terms(i)),
           result_.limit);
    }
  }

  // True if rounding errors of the elements have nothing in common: those of a shared mean or sum, and of equal values, do.
  [[nodiscard]] bool rounds_independently() const {
    if (kernel_.arithmetic == Arithmetic::kNormalisation || kernel_.arithmetic == Arithmetic::kTranscendental)
      return false;
    std::set<double> values;
    for (size_t i = 0; i < count_ && values.size() < Limits::kSlopeElements / 4; ++i) values.insert(y_.values[i]);
    return values.size() >= Limits::kSlopeElements / 4;
  }

  // A common factor shows in all elements together before it shows in one.
  void judge_slope(double g) {
    if (result_.elements < Limits::kSlopeElements || squares_ == 0 || !std::isfinite(products_)) return;
    result_.slope = products_ / squares_;
    if (result_.is_wrong() || result_.precision == Precision::kTensor || !rounds_independently()) return;
    const auto p = static_cast<size_t>(result_.precision);
    double spread = 0;
    for (size_t i = 0; i < count_; ++i) {
      const double expected = answer_.y.values[i];
      if (!std::isfinite(expected) || !std::isfinite(terms(i))) continue;
      const double error = bound_.u * std::fabs(expected) + bound_.v[p] * (p == 0 ? 2 + g : 2) * terms(i);
      spread += expected * expected * error * error;
    }
    const double chance = Limits::kUnits * std::sqrt(spread) / squares_;
    const double most = std::max(Limits::kSlope * bound_.u, chance);
    if (std::fabs(*result_.slope - 1) > most) result_.verdict = Judgement::Verdict::kWrong;
  }

  void count(double expected, double found, double error) {
    if (!std::isfinite(expected)) return;
    squares_ += expected * expected;
    errors_ += error * error;
    products_ += expected * found;
  }

  void note(size_t i, double expected, double units, double limit) {
    if (units > worst_units_) {
      worst_units_ = units;
      worst_ = static_cast<int64_t>(i);
      result_.worst_value = y_.values[i];
      result_.worst_expected = expected;
    }
    if (!(units > limit)) return;
    ++result_.wrong;
    const std::vector<int64_t> index = index_of(static_cast<int64_t>(i), y_.shape);
    if (!result_.place) result_.place = Box{index, index};
    for (size_t axis = 0; axis < index.size(); ++axis) {
      result_.place->from[axis] = std::min(result_.place->from[axis], index[axis]);
      result_.place->to[axis] = std::max(result_.place->to[axis], index[axis]);
    }
  }

  void finish() {
    result_.shape = y_.shape;
    if (result_.place) result_.place->multiple_of = block_of(*result_.place, y_.shape, result_.wrong);
    if (worst_ >= 0) result_.worst = index_of(worst_, y_.shape);
    result_.relative_error = squares_ > 0 ? std::sqrt(errors_ / squares_) : errors_ > 0 ? kInfinity : 0;
  }

  const Array& y_;
  const Kernel& kernel_;
  const Answer& answer_;
  const OperandFormats& formats_;
  const DType format_;
  const Bound bound_;
  const size_t count_;
  Judgement result_;
  double squares_ = 0, errors_ = 0, products_ = 0, worst_units_ = 0;
  int64_t worst_ = -1;
};

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
  if (array.dtype != DType::kFloat32) return;
  bool fits_bfloat16 = true, fits_float16 = true;
  int telling = 0;  // values with more than three bits of mantissa
  for (const double value : array.values) {
    if (value == 0 || !std::isfinite(value)) continue;
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
    fits_bfloat16 = fits_bfloat16 && (bits & 0xFFFFU) == 0;
    fits_float16 = fits_float16 && fits_half(value, bits);
    if ((bits & 0xF'FFFFU) != 0) ++telling;
    if (!fits_bfloat16 && !fits_float16) return;
  }
  array.undecided = telling < Limits::kFormatValues;
  if (!array.undecided) array.effective = fits_bfloat16 ? DType::kBfloat16 : DType::kFloat16;
}

void OperandFormats::add(const OperandFormats& other) {
  if (other.stored == DType::kUndefined) return;
  const bool none = stored == DType::kUndefined;
  if (none || unit_roundoff(other.coarsest) > unit_roundoff(coarsest)) coarsest = other.coarsest;
  if (none || unit_roundoff(other.stored) < unit_roundoff(stored)) stored = other.stored;
}

OperandFormats formats_of(const Call& call) {
  OperandFormats formats;
  for (const auto& [name, values] : call.values()) {
    for (const Value& value : values) {
      if (!value.tensor || !is_float(value.tensor->dtype)) continue;
      formats.add({value.tensor->effective, value.tensor->dtype});
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

Judgement judge(const Array& y, const Kernel& kernel, const Output& output, const OperandFormats& formats,
                const DeviceTraits& device) {
  Judgement best;
  best.why = {Reason::kShape, output.name};
  for (const Answer& answer : output.answers) {
    if (answer.y.values.size() != y.values.size()) continue;
    Judgement judgement = AnswerJudge(y, kernel, answer, formats, device).run();
    if (best.verdict == Judgement::Verdict::kNotJudged || share_of(judgement) < share_of(best))
      best = std::move(judgement);
  }
  if (best.verdict != Judgement::Verdict::kNotJudged && best.elements == 0) {
    best.verdict = Judgement::Verdict::kNotJudged;
    best.why = {Reason::kFormat, "no finite element"};
  }
  return best;
}

}  // namespace msdump::recompute
