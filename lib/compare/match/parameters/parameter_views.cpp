#include "compare/match/parameters/parameter_views.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/numbers.h"
#include "compare/limits.h"

namespace msdump {
namespace {

Shape shape_of(const TensorView& view) {
  Shape shape;
  for (const TensorView::Axis& axis : view.axes) shape.push_back(axis.extent);
  return shape;
}

// An axis as (outer, p, q, inner), with p and q exchanged.
TensorView exchanged(const TensorView& view, size_t axis, int64_t p, int64_t q, int64_t inner) {
  TensorView result = view;
  const auto [rows, stride] = view.axes[axis];
  const auto at = result.axes.begin() + static_cast<std::ptrdiff_t>(axis);
  const std::vector<TensorView::Axis> axes = {
      {rows / (p * q * inner), p * q * inner * stride}, {q, inner * stride}, {p, q * inner * stride}, {inner, stride}};
  result.axes.insert(result.axes.erase(at), axes.begin(), axes.end());
  return result;
}

void add_regrouped(const TensorView& view, size_t axis, std::vector<NamedView>& views) {
  const int64_t rows = view.axes[axis].extent;
  const std::string turned = fmt::format("{}{}", view.is_run() ? "" : "transposed, ", axis == 0 ? "rows" : "columns");
  const auto add = [&](int64_t p, int64_t q, int64_t inner, const std::string& text) {
    views.push_back({exchanged(view, axis, p, q, inner), turned + text});
  };
  for (const int64_t q : divisors_of(rows)) {
    if (q < 2 || q > rows / 2) continue;
    if (rows % (2 * q) == 0) {
      const std::string heads = fmt::format("{} heads", rows / (2 * q));
      add(2, q, 1, fmt::format(" of {} as rotary pairs, halves in the candidate", heads));
      add(q, 2, 1, fmt::format(" of {} as rotary halves, pairs in the candidate", heads));
    }
    for (const int64_t p : {2, 3}) {
      if (rows % (p * q) != 0 || rows == 2 * q) continue;
      add(p, q, rows / (p * q), fmt::format(" in {} groups of {} parts, {} parts in the candidate", q, p, p));
      add(q, p, rows / (p * q), fmt::format(" in {} parts, {} groups of {} in the candidate", p, q, p));
    }
  }
}

}  // namespace

std::vector<NamedView> permuted_views(const Shape& from, const Shape& to) {
  const TensorView plain = view_of(without_ones(from));
  const Shape wanted = without_ones(to);
  std::vector<NamedView> views;
  if (plain.axes.size() != wanted.size() || wanted.size() < 2 || wanted.size() > kMostAxes) return views;
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
  if (shape_of(plain) == wanted) add_regrouped(plain, 0, views);
  if (plain.axes.size() == 2) {
    std::swap(plain.axes[0], plain.axes[1]);
    if (shape_of(plain) != wanted) return views;
    for (const size_t axis : {size_t{0}, size_t{1}}) add_regrouped(plain, axis, views);
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
    std::reverse(view.axes.begin(), view.axes.end());
    const auto own = view.axes.end() - static_cast<std::ptrdiff_t>(place.axis) - 2;
    std::swap(own[0], own[1]);  // the groups stay outside
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

double likeness_of_view(const SampledTensor& from, const TensorView& view, std::span<const double> to) {
  const auto compared = [&](size_t most) {
    return likeness(from.samples.of(from.tensor, view, most), to.first(std::min(to.size(), most))).value_or(0);
  };
  if (is_constant(to) || compared(kFirstPoints) < kUnlike) return 0;
  const double alike = compared(kSamplePoints);
  return alike < kAlike ? 0 : alike;
}

std::optional<NearestView> nearest_view(const SampledTensor& from, const SampledTensor& to,
                                        const std::vector<NamedView>& views) {
  NearestView best;
  const std::vector<double>& values = to.samples.of(to.tensor).values;
  for (size_t i = 0; i < views.size(); ++i) {
    const double found = likeness_of_view(from, views[i].view, values);
    if (found > best.likeness) best = {i, found};
  }
  return best.likeness > 0 ? std::optional(best) : std::nullopt;
}

}  // namespace msdump
