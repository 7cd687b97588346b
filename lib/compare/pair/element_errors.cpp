#include "compare/pair/element_errors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "compare/limits.h"
#include "compare/pair/pair_reader.h"
#include "compare/pair/tensor_diff.h"
#include "dump/elements/host_tensor.h"
#include "kernels/pair/pair_dtype.h"
#include "tensor/dtype.h"

namespace msdump {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
void subtract(const std::byte* a, const std::byte* b, size_t count, double* distances) {
  for (size_t i = 0; i < count; ++i) {
    const T x = load<T>(a + i * sizeof(T)), y = load<T>(b + i * sizeof(T));
    const auto larger = static_cast<uint64_t>(std::max(x, y)), smaller = static_cast<uint64_t>(std::min(x, y));
    distances[i] = static_cast<double>(larger - smaller);
  }
}

// The distance of a pair with a value that is not finite: 0 if both are the same, else NaN.
double mismatch(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b ? 0 : kNan; }

double modulus(double re, double im) {
  int exponent = 0;
  (void)std::frexp(std::max(std::abs(re), std::abs(im)), &exponent);
  const double x = std::ldexp(re, -exponent), y = std::ldexp(im, -exponent);
  return std::ldexp(std::sqrt(x * x + y * y), exponent);
}

double complex_distance(const double* a, const double* b) {
  const auto is_nan = [](const double* x) { return std::isnan(x[0]) || std::isnan(x[1]); };
  const auto is_finite = [](const double* x) { return std::isfinite(x[0]) && std::isfinite(x[1]); };
  if (is_finite(a) && is_finite(b)) {
    const double re = a[0] - b[0], im = a[1] - b[1];
    if (std::isfinite(re) && std::isfinite(im)) return modulus(re, im);
    return std::numeric_limits<double>::infinity();
  }
  return (is_nan(a) && is_nan(b)) || (a[0] == b[0] && a[1] == b[1]) ? 0 : kNan;
}

}  // namespace

PairDistances::PairDistances(DType dtype, double scale)
    : dtype_(dtype),
      complex_(kind_of(dtype) == DTypeKind::kComplex),
      scale_(scale),
      block_(std::make_unique<Block>()) {}

std::span<const double> PairDistances::of(const std::byte* a, const std::byte* b, int64_t count) {
  const auto number = static_cast<size_t>(count);
  const std::span<const double> distances(block_->distances, number);
  if (dtype_ == DType::kInt64) {
    subtract<int64_t>(a, b, number, block_->distances);
    return distances;
  }
  if (dtype_ == DType::kUint64) {
    subtract<uint64_t>(a, b, number, block_->distances);
    return distances;
  }
  const DType wide = complex_ ? DType::kComplex128 : DType::kFloat64;
  kernels::widen_to(dtype_, wide, a, count, reinterpret_cast<std::byte*>(block_->a));
  kernels::widen_to(dtype_, wide, b, count, reinterpret_cast<std::byte*>(block_->b));
  if (scale_ != 1) {
    for (size_t i = 0; i < (complex_ ? 2 : 1) * number; ++i) block_->a[i] /= scale_;
  }
  if (complex_) {
    take_complex(number);
  } else {
    take_real(number);
  }
  return distances;
}

void PairDistances::take_real(size_t count) {
  Block& block = *block_;
  bool all_finite = true;
  for (size_t i = 0; i < count; ++i) {
    block.distances[i] = std::abs(block.a[i] - block.b[i]);
    all_finite &= block.distances[i] <= std::numeric_limits<double>::max();
  }
  if (all_finite) return;
  for (size_t i = 0; i < count; ++i) {
    if (!std::isfinite(block.a[i]) || !std::isfinite(block.b[i])) block.distances[i] = mismatch(block.a[i], block.b[i]);
  }
}

void PairDistances::take_complex(size_t count) {
  Block& block = *block_;
  for (size_t i = 0; i < count; ++i) block.distances[i] = complex_distance(block.a + 2 * i, block.b + 2 * i);
}

namespace {

size_t bytes_of_element(DType dtype) { return info(dtype).bits < 8 ? 1 : static_cast<size_t>(info(dtype).bits) / 8; }

std::optional<double> finite_or_nothing(double distance) {
  return std::isnan(distance) ? std::nullopt : std::optional(distance);
}

}  // namespace

report::Value element_value(DType dtype, const std::byte* at) {
  switch (info(dtype).npy_dtype) {
    case DType::kBool: return *at != std::byte{0};
    case DType::kInt64: return load<int64_t>(at);
    case DType::kUint64: return load<uint64_t>(at);
    case DType::kComplex64:
    case DType::kComplex128: {
      double parts[2] = {};
      kernels::widen_to(dtype, DType::kComplex128, at, 1, reinterpret_cast<std::byte*>(parts));
      if (info(dtype).npy_dtype == DType::kComplex128) return report::List{parts[0], parts[1]};
      return report::List{static_cast<float>(parts[0]), static_cast<float>(parts[1])};
    }
    default: break;
  }
  double value = 0;
  kernels::widen_to(dtype, DType::kFloat64, at, 1, reinterpret_cast<std::byte*>(&value));
  switch (info(dtype).npy_dtype) {
    case DType::kFloat64: return value;
    case DType::kFloat16:
    case DType::kFloat32: return static_cast<float>(value);
    default: return static_cast<int64_t>(value);
  }
}

WorstElements::WorstElements(size_t number, DType stored_a, DType stored_b)
    : number_(std::min(number, kMostStated)), dtype_a_(stored_a), dtype_b_(stored_b) {}

bool WorstElements::is_worse(const Candidate& x, const Candidate& y) {
  if (std::isnan(x.distance) != std::isnan(y.distance)) return std::isnan(x.distance);
  if (!std::isnan(x.distance) && x.distance != y.distance) return x.distance > y.distance;
  return x.at < y.at;
}

void WorstElements::add(const PairSlab& slab, int64_t from, std::span<const double> distances) {
  for (size_t i = 0; i < distances.size() && number_ > 0; ++i) {
    // A later element never replaces an equal one; NaN compares unequal to everything.
    const double least = heap_.size() < number_ ? 0 : heap_.front().distance;
    if (distances[i] <= least || std::isnan(least)) continue;
    keep(slab, from + static_cast<int64_t>(i), distances[i]);
  }
}

void WorstElements::keep(const PairSlab& slab, int64_t in_slab, double distance) {
  Candidate candidate;
  candidate.distance = distance;
  candidate.at = static_cast<uint64_t>(slab.first + in_slab);
  const size_t bytes_a = bytes_of_element(dtype_a_), bytes_b = bytes_of_element(dtype_b_);
  std::memcpy(candidate.a.data(), slab.stored_a + static_cast<size_t>(in_slab) * bytes_a, bytes_a);
  std::memcpy(candidate.b.data(), slab.stored_b + static_cast<size_t>(in_slab) * bytes_b, bytes_b);
  if (heap_.size() == number_) {
    std::pop_heap(heap_.begin(), heap_.end(), is_worse);
    heap_.pop_back();
  }
  heap_.push_back(candidate);
  std::push_heap(heap_.begin(), heap_.end(), is_worse);
}

std::vector<WorstElement> WorstElements::finish(const Shape& shape) && {
  std::sort_heap(heap_.begin(), heap_.end(), is_worse);
  std::vector<WorstElement> elements;
  elements.reserve(heap_.size());
  for (const Candidate& one : heap_) {
    elements.push_back({index_of_element(one.at, shape), element_value(dtype_a_, one.a.data()),
                        element_value(dtype_b_, one.b.data()), finite_or_nothing(one.distance)});
  }
  return elements;
}

Result<WorstElement> read_pair_at(HostTensor& a, HostTensor& b, uint64_t at) {
  if (a.count() != b.count() || at >= static_cast<uint64_t>(a.count())) {
    return fail(
        make_error(ErrorCode::kShapeMismatch, "{} against {}: no pair {}", describe(a.shape()), describe(b.shape()), at)
            .with_path(a.path()));
  }
  MSDUMP_TRY(PairReader reader, PairReader::open(a, b, static_cast<int64_t>(at), 1));
  MSDUMP_TRY(const std::optional<PairSlab> pair, reader.next(CancelToken()));
  const double distance = PairDistances(reader.dtype()).of(pair->a, pair->b, 1)[0];
  return WorstElement{index_of_element(at, a.shape()), element_value(a.dtype(), pair->stored_a),
                      element_value(b.dtype(), pair->stored_b), finite_or_nothing(distance)};
}

namespace {

struct Rule {
  double stands_out, carries;
};
constexpr Rule kRules[] = {{1.5, 0.9}, {4, 0.5}};

double factor_for(double max_abs) {
  if (!(max_abs > 0)) return 1;
  int exponent = 1024;
  if (std::isfinite(max_abs)) (void)std::frexp(max_abs, &exponent);
  return std::ldexp(1.0, std::min(-exponent, std::numeric_limits<double>::max_exponent - 1));
}

}  // namespace

bool ErrorAxes::is_local() const {
  return std::any_of(axes.begin(), axes.end(), [](const AxisError& axis) { return !axis.ranges.empty(); });
}

void AxisErrors::Bin::add(const Bin& other) {
  squares += other.squares;
  max_abs = std::max(max_abs, other.max_abs);
  mismatches += other.mismatches;
}

// `count` is at most run().
bool AxisErrors::Axis::advance(int64_t count) {
  index += count;
  in_bin += count;
  if (index == extent) {
    index = in_bin = 0;
    bin = 0;
    return true;
  }
  if (width == 1) {
    bin = static_cast<size_t>(index);
  } else if (in_bin == width) {
    in_bin = 0;
    ++bin;
  }
  return false;
}

// The number of elements up to the end of the row, or of the bin if a bin has several indices.
int64_t AxisErrors::Axis::run() const { return width == 1 ? extent - index : std::min(width - in_bin, extent - index); }

AxisErrors::AxisErrors(const Shape& shape, double max_abs) : factor_(factor_for(max_abs)) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] <= 1) continue;
    const int64_t width = ceil_div(shape[axis], kMostAxisBins);
    const auto bins = static_cast<size_t>(ceil_div(shape[axis], width));
    axes_.push_back({axis, shape[axis], width, std::vector<Bin>(bins), 0, 0, 0});
  }
}

void AxisErrors::add(std::span<const double> distances) {
  while (!distances.empty() && !axes_.empty()) {
    Axis& inner = axes_.back();
    const int64_t count = std::min(inner.run(), static_cast<int64_t>(distances.size()));
    const Bin row = add_row(distances.first(static_cast<size_t>(count)));
    if (row.squares > 0 || row.mismatches > 0) {
      all_.add(row);
      for (Axis& axis : axes_) {
        if (&axis != &inner) axis.bins[axis.bin].add(row);
      }
    }
    distances = distances.subspan(static_cast<size_t>(count));
    if (inner.advance(count)) next_row();
  }
}

// Adds to the bins of the innermost axis and returns the sum for the other axes.
AxisErrors::Bin AxisErrors::add_row(std::span<const double> distances) {
  Axis& inner = axes_.back();
  Bin row;
  size_t bin = inner.bin;
  for (const double distance : distances) {
    if (std::isnan(distance)) {
      ++row.mismatches;
      ++inner.bins[bin].mismatches;
    } else if (distance > 0) {
      const double part = std::min(distance * factor_, 1.0), square = part * part;
      row.squares += square;
      row.max_abs = std::max(row.max_abs, distance);
      inner.bins[bin].squares += square;
      inner.bins[bin].max_abs = std::max(inner.bins[bin].max_abs, distance);
    }
    bin += inner.width == 1 ? 1 : 0;
  }
  return row;
}

void AxisErrors::next_row() {
  for (size_t axis = axes_.size() - 1; axis-- > 0;) {
    if (!axes_[axis].advance(1)) return;
  }
}

// The bins that stand out by a rule, neighbours joined. Stops at one range more than is allowed.
AxisError AxisErrors::standing_out(const Axis& axis, double factor) const {
  AxisError result{axis.number, axis.extent, {}, 0};
  std::vector<AxisRange>& ranges = result.ranges;
  for (size_t bin = 0; bin < axis.bins.size() && ranges.size() <= kFewTried; ++bin) {
    const Bin& here = axis.bins[bin];
    const int64_t first = static_cast<int64_t>(bin) * axis.width, end = std::min(first + axis.width, axis.extent);
    const double share = all_.mismatches > 0
                             ? static_cast<double>(here.mismatches) / static_cast<double>(all_.mismatches)
                             : here.squares / all_.squares;
    if (share < factor * static_cast<double>(end - first) / static_cast<double>(axis.extent)) continue;
    if (ranges.empty() || ranges.back().last + 1 != first) ranges.push_back({first, first, 0, 0, 0});
    AxisRange& range = ranges.back();
    range.last = end - 1;
    range.share += share;
    range.max_abs = std::max(range.max_abs, here.max_abs);
    range.mismatches += here.mismatches;
    result.carried += share;
  }
  return result;
}

ErrorAxes AxisErrors::finish() const {
  ErrorAxes result;
  result.of_mismatches = all_.mismatches > 0;
  if (all_.mismatches == 0 && all_.squares == 0) return result;
  for (const Axis& axis : axes_) {
    AxisError found{axis.number, axis.extent, {}, 0};
    for (const Rule& rule : kRules) {
      AxisError some = standing_out(axis, rule.stands_out);
      if (some.ranges.size() > kFewTried || some.carried < rule.carries) continue;
      found = std::move(some);
      break;
    }
    result.axes.push_back(std::move(found));
  }
  return result;
}

Result<SecondLook> look_again(HostTensor& a, HostTensor& b, const TensorDiff& diff, const SecondLookOptions& options,
                              const CancelToken& cancel) {
  SecondLook look;
  const bool differs =
      diff.verdict == Verdict::kClose || diff.verdict == Verdict::kDiffer || diff.verdict == Verdict::kNan;
  if (!differs || (options.worst == 0 && !options.by_axis)) return look;
  MSDUMP_TRY(PairReader reader, PairReader::open(a, b));
  PairDistances distances(reader.dtype(), options.scale);
  WorstElements worst(options.worst, a.dtype(), b.dtype());
  AxisErrors axes(a.shape(), diff.metrics->max_abs.value_or(0) / options.scale);
  const int64_t bytes = std::max(info(reader.dtype()).bits / 8, 1);
  MSDUMP_CHECK_OK(reader.for_each(cancel, [&](const PairSlab& slab) {
    for (int64_t from = 0; from < slab.count; from += kernels::kPairBlock) {
      const int64_t count = std::min(kernels::kPairBlock, slab.count - from);
      const auto block = distances.of(slab.a + from * bytes, slab.b + from * bytes, count);
      worst.add(slab, from, block);
      if (options.by_axis) axes.add(block);
    }
  }));
  look.worst = std::move(worst).finish(a.shape());
  if (options.by_axis) look.axes = axes.finish();
  return look;
}

namespace {

class PicturePainter {
 public:
  explicit PicturePainter(const Shape& shape) {
    const size_t axes = shape.size();
    if (axes > 0) picture_.columns = std::max<int64_t>(shape[axes - 1], 1);
    if (axes > 1) picture_.rows = std::max<int64_t>(shape[axes - 2], 1);
    const auto cut = [](int64_t extent, int64_t& size, int64_t& cells) {
      size = (extent + kMostMapCells - 1) / kMostMapCells;
      cells = (extent + size - 1) / size;
    };
    cut(picture_.rows, picture_.cell_height, picture_.cells_down);
    cut(picture_.columns, picture_.cell_width, picture_.cells_across);
    picture_.cells.resize(static_cast<size_t>(picture_.cells_down * picture_.cells_across));
  }

  // Adds the distances of the next elements in C order, without a division for each.
  void add(std::span<const double> distances) {
    for (const double distance : distances) {
      double& cell = picture_.cells[row_cell_ + cell_];
      count(distance);
      cell = std::max(cell, std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance);
      if (++in_cell_ == picture_.cell_width) {
        in_cell_ = 0;
        ++cell_;
      }
      if (++column_ == picture_.columns) next_row();
    }
  }

  ErrorPicture finish() && {
    for (size_t i = 0; i < bins_.size(); ++i) {
      if (bins_[i] > 0) picture_.bins[static_cast<int>(i) - kZeroBin] = bins_[i];
    }
    return std::move(picture_);
  }

 private:
  void count(double distance) {
    if (distance == 0) {
      ++picture_.equal;
    } else if (!std::isfinite(distance)) {
      ++picture_.mismatches;
    } else {
      ++bins_[static_cast<size_t>(static_cast<int>(std::floor(std::log10(distance) * kBinsPerDecade)) + kZeroBin)];
    }
  }

  void next_row() {
    column_ = in_cell_ = 0;
    cell_ = 0;
    row_ = row_ + 1 == picture_.rows ? 0 : row_ + 1;
    row_cell_ = static_cast<size_t>(row_ / picture_.cell_height * picture_.cells_across);
  }

  // Doubles have decades from -324 to 308.
  static constexpr int kZeroBin = 325 * kBinsPerDecade, kBins = 640 * kBinsPerDecade;

  ErrorPicture picture_;
  std::vector<uint64_t> bins_ = std::vector<uint64_t>(kBins);
  int64_t column_ = 0, row_ = 0, in_cell_ = 0;  // of the next element
  size_t cell_ = 0, row_cell_ = 0;
};

}  // namespace

Result<ErrorPicture> picture_error(HostTensor& a, HostTensor& b, double scale, const CancelToken& cancel) {
  MSDUMP_TRY(PairReader reader, PairReader::open(a, b));
  PairDistances distances(reader.dtype(), scale);
  PicturePainter painter(a.shape());
  const int64_t bytes = std::max(info(reader.dtype()).bits / 8, 1);
  MSDUMP_CHECK_OK(reader.for_each(cancel, [&](const PairSlab& slab) {
    for (int64_t from = 0; from < slab.count; from += kernels::kPairBlock) {
      const int64_t count = std::min(kernels::kPairBlock, slab.count - from);
      painter.add(distances.of(slab.a + from * bytes, slab.b + from * bytes, count));
    }
  }));
  return std::move(painter).finish();
}

Result<std::optional<PairPicture>> picture_pair(const PictureSide& a, const PictureSide& b, const TensorDiff& diff,
                                                double scale, const CancelToken& cancel) {
  const bool differs =
      diff.verdict == Verdict::kClose || diff.verdict == Verdict::kDiffer || diff.verdict == Verdict::kNan;
  if (!differs || diff.by_statistics) return std::optional<PairPicture>();
  MSDUMP_TRY(HostPair opened, open_pair(a.index, a.tensor, b.index, b.tensor));
  HostTensor &left = opened.left, &right = opened.right;
  PairPicture picture;
  MSDUMP_TRY(picture.error, picture_error(left, right, scale, cancel));
  MSDUMP_TRY(picture.look, look_again(left, right, diff, {kPictureWorst, true, scale}, cancel));
  return std::optional(std::move(picture));
}

}  // namespace msdump
