#include "compare/pair/error_axes.h"

#include <algorithm>
#include <cmath>

namespace msdump {
namespace {

struct Rule {
  double stands_out, carries;
};
constexpr Rule kRules[] = {{1.5, 0.9}, {4, 0.5}};
constexpr size_t kMostRanges = 8;
constexpr int kLargestExponent = 1000;  // the factor for the smallest number would not be finite

double factor_for(double max_abs) {
  if (!(max_abs > 0)) return 1;
  int exponent = 1024;
  if (std::isfinite(max_abs)) (void)std::frexp(max_abs, &exponent);
  return std::ldexp(1.0, std::min(-exponent, kLargestExponent));
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

// Elements up to the end of the row, or of the bin where a bin has several indices.
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
  for (size_t bin = 0; bin < axis.bins.size() && ranges.size() <= kMostRanges; ++bin) {
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
      if (some.ranges.size() > kMostRanges || some.carried < rule.carries) continue;
      found = std::move(some);
      break;
    }
    result.axes.push_back(std::move(found));
  }
  return result;
}

}  // namespace msdump
