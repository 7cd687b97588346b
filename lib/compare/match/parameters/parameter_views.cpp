#include "compare/match/parameters/parameter_views.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/numbers.h"
#include "kernels/pair/pair_dtype.h"

namespace msdump {
namespace {

constexpr size_t kFewest = 4, kFew = 16;  // values
constexpr double kNearOfFew = 0.05;

// The position of a point. The first kFirstPoints are spread, too, and irregular, so that they do not align with rows.
int64_t point_of(size_t place, int64_t count) {
  constexpr uint64_t kMixer = 0x9E37'79B9'7F4A'7C15;
  constexpr size_t kRounds = kPoints / kFirstPoints;
  const auto all = static_cast<uint64_t>(count);
  if (all <= kPoints) return static_cast<int64_t>(place);
  const size_t slot = place % kFirstPoints * kRounds + place / kFirstPoints;
  const uint64_t step = all / kPoints;
  return static_cast<int64_t>(slot * step + ((slot + 1) * kMixer >> 20) % step);
}

}  // namespace

HostTensor* ParameterValues::opened(RecordId tensor) {
  if (last_tensor_ == tensor) return last_ ? &*last_ : nullptr;
  last_tensor_ = tensor;
  last_.reset();
  const TensorRecord& record = tensors_[tensor];
  if (!record.has_elements || record.broken) return nullptr;
  if (auto made = HostTensor::open(index_, record, {})) {
    last_ = std::move(*made);
  } else {
    failures_.add(made.error());
  }
  const bool ordered = last_ && kernels::common_dtype(last_->dtype(), DType::kFloat64) == DType::kFloat64;
  if (!ordered) last_.reset();
  return last_ ? &*last_ : nullptr;
}

std::vector<double> ParameterValues::read(HostTensor& tensor, const TensorView* view, size_t most) {
  const int64_t count = view == nullptr ? tensor.count() : view->count();
  if (view != nullptr && (!tensor.direct() || view->last() >= tensor.count())) return {};
  std::array<std::byte, 16> element{};
  std::vector<double> values;
  for (size_t i = 0; i < most; ++i) {
    const int64_t point = point_of(i, count);
    if (point >= count) continue;
    if (const Status read = tensor.read(view == nullptr ? point : view->element(point), 1, element.data()); !read) {
      failures_.add(read.error());
      return {};
    }
    double value = 0;
    kernels::widen_to(tensor.dtype(), DType::kFloat64, element.data(), 1, reinterpret_cast<std::byte*>(&value));
    values.push_back(value);
  }
  return values;
}

std::span<const double> ParameterValues::of(RecordId tensor) {
  if (const auto found = known_.find(tensor); found != known_.end()) return found->second;
  if (known_.size() >= kMostKnown / 2) older_ = std::exchange(known_, {});
  if (auto known = older_.extract(tensor)) return known_.insert(std::move(known)).position->second;
  std::vector<double>& values = known_[tensor];
  if (HostTensor* const host = opened(tensor)) values = read(*host, nullptr, kPoints);
  return values;
}

std::vector<double> ParameterValues::of(RecordId tensor, const TensorView& view, size_t most) {
  HostTensor* const host = opened(tensor);
  return host == nullptr ? std::vector<double>() : read(*host, &view, most);
}

std::optional<double> value_distance(std::span<const double> a, std::span<const double> b) {
  const size_t common = std::min(a.size(), b.size());
  size_t count = 0;
  double sum_a = 0, sum_b = 0;
  const auto usable = [&](size_t i) { return std::isfinite(a[i]) && std::isfinite(b[i]); };
  for (size_t i = 0; i < common; ++i) {
    if (!usable(i)) continue;
    ++count;
    sum_a += a[i];
    sum_b += b[i];
  }
  if (count < kFewest) return std::nullopt;
  const double mean_a = sum_a / static_cast<double>(count), mean_b = sum_b / static_cast<double>(count);
  double aa = 0, bb = 0, difference = 0;
  for (size_t i = 0; i < common; ++i) {
    if (!usable(i)) continue;
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
    difference += (a[i] - b[i]) * (a[i] - b[i]);
  }
  if (aa == 0 && bb == 0) return std::nullopt;
  const double spread = std::min(aa, bb);
  return spread == 0 ? std::numeric_limits<double>::infinity() : std::sqrt(difference / spread);
}

bool is_near(double distance, size_t values) { return distance <= (values < kFew ? kNearOfFew : kNear); }

bool is_same_constant(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return false;
  const auto equal = [&](double value) { return value == a.front(); };
  return std::all_of(a.begin(), a.end(), equal) && std::all_of(b.begin(), b.end(), equal);
}

namespace {

constexpr size_t kMostPermuted = 4;  // dimensions

Shape shape_of(const TensorView& view) {
  Shape shape;
  for (const TensorView::Axis& axis : view.axes) shape.push_back(axis.extent);
  return shape;
}

// Axis 0 as (outer, p, q, inner), with p and q exchanged.
TensorView exchanged(const TensorView& view, int64_t p, int64_t q, int64_t inner) {
  TensorView result = view;
  const auto [rows, stride] = view.axes.front();
  const std::vector<TensorView::Axis> axes = {
      {rows / (p * q * inner), p * q * inner * stride}, {q, inner * stride}, {p, q * inner * stride}, {inner, stride}};
  result.axes.erase(result.axes.begin());
  result.axes.insert(result.axes.begin(), axes.begin(), axes.end());
  return result;
}

void add_regrouped(const TensorView& view, std::vector<NamedView>& views) {
  const int64_t rows = view.axes.front().extent;
  const std::string turned = view.is_run() ? "" : "transposed, ";
  const auto add = [&](int64_t p, int64_t q, int64_t inner, const std::string& text) {
    views.push_back({exchanged(view, p, q, inner), turned + text});
  };
  for (const int64_t q : divisors_of(rows)) {
    if (q < 2 || q > rows / 2) continue;
    if (rows % (2 * q) == 0) {
      const std::string heads = fmt::format("{} heads", rows / (2 * q));
      add(2, q, 1, fmt::format("rows of {} as rotary pairs, halves in the candidate", heads));
      add(q, 2, 1, fmt::format("rows of {} as rotary halves, pairs in the candidate", heads));
    }
    for (const int64_t p : {2, 3}) {
      if (rows % (p * q) != 0 || rows == 2 * q) continue;
      add(p, q, rows / (p * q), fmt::format("rows in {} groups of {} parts, {} parts in the candidate", q, p, p));
      add(q, p, rows / (p * q), fmt::format("rows in {} parts, {} groups of {} in the candidate", p, q, p));
    }
  }
}

}  // namespace

std::vector<NamedView> permuted_views(const Shape& from, const Shape& to) {
  const TensorView plain = view_of(without_ones(from));
  const Shape wanted = without_ones(to);
  std::vector<NamedView> views;
  if (plain.axes.size() != wanted.size() || wanted.size() < 2 || wanted.size() > kMostPermuted) return views;
  std::vector<size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), size_t{0});
  while (std::next_permutation(order.begin(), order.end())) {
    TensorView view;
    for (const size_t axis : order) view.axes.push_back(plain.axes[axis]);
    if (shape_of(view) != wanted) continue;
    view.shape = to;
    const std::string text =
        order.size() == 2 ? "transposed" : fmt::format("transposed: axes {}", fmt::join(order, ", "));
    views.push_back({std::move(view), text});
  }
  return views;
}

std::vector<NamedView> regrouped_views(const Shape& from, const Shape& to) {
  TensorView plain = view_of(without_ones(from));
  std::vector<NamedView> views;
  const Shape wanted = without_ones(to);
  if (plain.axes.empty()) return views;
  plain.shape = to;
  if (shape_of(plain) == wanted) add_regrouped(plain, views);
  if (plain.axes.size() == 2) {
    std::swap(plain.axes[0], plain.axes[1]);
    if (shape_of(plain) == wanted) add_regrouped(plain, views);
  }
  return views;
}

std::vector<JoinedPart> joined_places(const Shape& whole_shape, const Shape& part_shape) {
  const Shape whole = without_ones(whole_shape), part = without_ones(part_shape);
  std::vector<JoinedPart> places;
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    for (const bool transposed : {false, true}) {
      if (transposed && part.size() != 2) continue;
      const Shape lying = transposed ? Shape{part[1], part[0]} : part;
      Shape rest = whole;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
      int64_t extent = 1;
      if (lying.size() == whole.size()) {
        extent = lying[axis];
        rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(axis), extent);
      }
      if (rest == lying && extent < whole[axis]) places.push_back({axis, 1, 0, extent, transposed});
    }
  }
  return places;
}

TensorView joined_view(const Shape& whole_shape, const JoinedPart& place, const Shape& part) {
  const Shape whole = without_ones(whole_shape);
  TensorView view = view_of(whole);
  const TensorView::Axis axis = view.axes[place.axis];
  const auto at = view.axes.begin() + static_cast<std::ptrdiff_t>(place.axis);
  view.first = place.begin * axis.stride;
  *at = {place.groups, axis.extent / place.groups * axis.stride};
  view.axes.insert(at + 1, {place.extent, axis.stride});
  if (place.transposed) {
    // The axis of the parts is two axes of the view, or of extent 1.
    const bool other_first = place.axis > 0;
    const size_t others = view.axes.size() - 2;
    if (others == 1) {
      if (other_first) {
        std::rotate(view.axes.begin(), view.axes.begin() + 1, view.axes.end());
      } else {
        std::rotate(view.axes.begin(), view.axes.begin() + 2, view.axes.end());
      }
    } else {
      // The part is one index of an axis of its own: the two other axes are exchanged.
      std::vector<TensorView::Axis> rest;
      for (size_t i = 0; i < view.axes.size(); ++i) {
        if (i != place.axis && i != place.axis + 1) rest.push_back(view.axes[i]);
      }
      std::reverse(rest.begin(), rest.end());
      view.axes = std::move(rest);
    }
  }
  view.shape = part;
  return view;
}

TensorView first_rows(const Shape& shape, int64_t begin, int64_t count) {
  TensorView view = view_of(shape);
  view.first = begin * view.axes.front().stride;
  view.axes.front().extent = view.shape.front() = count;
  return view;
}

namespace {

constexpr double kHopeless = 0.8;  // distance of the first points

}  // namespace

std::optional<double> distance_of_view(const ValuedTensor& from, const TensorView& view, std::span<const double> to) {
  const auto first = from.values.of(from.tensor, view, kFirstPoints);
  const auto hope = value_distance(first, to.first(std::min(to.size(), first.size())));
  if (!hope || *hope > kHopeless) return std::nullopt;
  return value_distance(from.values.of(from.tensor, view), to);
}

std::optional<NearestView> nearest_view(const ValuedTensor& from, const ValuedTensor& to,
                                        const std::vector<NamedView>& views) {
  std::optional<NearestView> best;
  const std::span<const double> values = to.values.of(to.tensor);
  for (size_t i = 0; i < views.size(); ++i) {
    const auto distance = distance_of_view(from, views[i].view, values);
    if (distance && is_near(*distance, values.size()) && (!best || *distance < best->distance))
      best = NearestView{i, *distance};
  }
  return best;
}

}  // namespace msdump
