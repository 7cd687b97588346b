#include "compare/match/cut/layout/element_samples.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "tensor/dtype_kind.h"

namespace msdump {
namespace {

constexpr int64_t kSamples = 192, kFewSamples = 32;
constexpr double kAgrees = 0.25;  // of the median deviation
// So many of the first values agree, or nothing fits. Of values with an error of a half a quarter agrees.
constexpr size_t kFirstLook = 16, kFirstAgree = 2, kSecondLook = 48, kSecondAgree = 9;
constexpr double kLeastCosine = 0.5;  // of the first values

// Calls `see` with every value of the copies and its counterpart until it returns false. The copies take turns, so that the
// first values are of all of them.
template <class See>
void for_each_pair(const std::vector<double>& copies, const std::vector<double>& values, const See& see) {
  const size_t size = values.size(), count = size == 0 ? 0 : copies.size() / size;
  for (size_t first = 0; first < count; ++first) {
    size_t copy = first;
    for (size_t i = 0; i < size; ++i) {
      if (!see(copies[copy * size + i], values[i])) return;
      if (++copy == count) copy = 0;
    }
  }
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Of a piece; none where the place is not in its part. The segments of an axis are in the order of the whole.
std::optional<int64_t> element_at(const std::vector<int64_t>& place,
                                  const std::vector<std::vector<AxisSegment>>& segments, const Shape& piece) {
  int64_t at = 0;
  for (size_t axis = 0; axis < place.size(); ++axis) {
    const auto& of_axis = segments[axis];
    const auto after = std::upper_bound(of_axis.begin(), of_axis.end(), place[axis],
                                        [](int64_t wanted, const AxisSegment& one) { return wanted < one.to; });
    if (after == of_axis.begin()) return std::nullopt;
    const AxisSegment& found = *std::prev(after);
    if (place[axis] >= found.to + found.size) return std::nullopt;
    at = at * piece[axis] + found.from + place[axis] - found.to;
  }
  return at;
}

// The elements of a piece that are at these places. Where it has one range of each axis, other layouts put the piece to other
// places, of which the elements are those at the same distance from its begin: all are read at once.
void fetch(PieceValues& pieces, size_t piece, const std::vector<std::vector<AxisSegment>>& segments,
           const ElementSamples::Places& places) {
  if (pieces.are_kept()) return;
  const Shape& own = pieces.shapes()[piece];
  const bool plain = std::all_of(segments.begin(), segments.end(), [](const auto& axis) { return axis.size() == 1; });
  std::vector<int64_t> elements;
  for (const std::vector<int64_t>& place : places) {
    if (const auto at = element_at(place, segments, own)) elements.push_back(*at);
    if (!plain) continue;
    int64_t at = 0;
    for (size_t axis = 0; axis < own.size(); ++axis) at = at * own[axis] + place[axis] % own[axis];
    elements.push_back(at);
  }
  pieces.fetch(piece, std::move(elements));
}

}  // namespace

ElementSamples::Places ElementSamples::places_of(const Shape& shape, bool few) {
  constexpr uint64_t kMixer = 0x9E37'79B9'7F4A'7C15;
  const int64_t count = element_count(shape).value_or(0), samples = std::min(count, few ? kFewSamples : kSamples);
  std::vector<std::vector<int64_t>> places;
  int64_t stride = samples * 3 / 8 | 1;
  while (std::gcd(samples, stride) != 1) stride += 2;
  for (int64_t number = 0; number < samples; ++number) {
    const int64_t step = count / samples, i = number * stride % samples;
    int64_t at =
        i * step + static_cast<int64_t>((static_cast<uint64_t>(i + 1) * kMixer >> 20) % static_cast<uint64_t>(step));
    std::vector<int64_t> place(shape.size());
    for (size_t axis = shape.size(); axis-- > 0;) {
      place[axis] = at % shape[axis];
      at /= shape[axis];
    }
    places.push_back(std::move(place));
  }
  return places;
}

bool ElementSamples::reduces_equals(PieceValues& pieces, const CutLayout& layout) {
  constexpr int64_t kFewest = 8, kMost = 64;
  const int64_t count = element_count(pieces.shapes().front()).value_or(0);
  if (count < kFewest) return false;
  const auto are_equal = [&](size_t one, size_t other) {
    bool constant = true;
    std::vector<int64_t> looked_at;
    for (int64_t i = 0; i < std::min(count, kMost); ++i) looked_at.push_back(i * (count / std::min(count, kMost)));
    pieces.fetch(one, looked_at);
    pieces.fetch(other, looked_at);
    for (const int64_t at : looked_at) {
      const double value = pieces.at(one, at);
      if (value != pieces.at(other, at)) return false;
      constant = constant && value == pieces.at(one, 0);
    }
    return !constant;
  };
  return any_terms(layout, [&](size_t one, size_t other) {
    return pieces.shapes()[one] == pieces.shapes()[other] && are_equal(one, other);
  });
}

bool ElementSamples::is_other_number(PieceValues& a, PieceValues& b) {
  constexpr double kSlack = 0.02;
  const auto number_of = [](PieceValues& pieces) -> std::optional<double> {
    for (size_t piece = 0; piece < pieces.shapes().size(); ++piece) {
      const bool one = element_count(pieces.shapes()[piece]) == 1;
      if (!one || pieces.at(piece, 0) != pieces.at(0, 0)) return std::nullopt;
    }
    return pieces.at(0, 0);
  };
  const std::optional<double> of_a = number_of(a), of_b = number_of(b);
  if (!of_a || !of_b || !std::isfinite(*of_a / *of_b) || *of_a == 0) return false;
  const double ratio = std::abs(*of_a / *of_b), multiple = std::max(ratio, 1 / ratio);
  return *of_a / *of_b < 0 || std::abs(multiple - std::round(multiple)) > kSlack * multiple;
}

bool ElementSamples::tell(const std::vector<double>& /*a*/, const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [&](double value) { return value != values.front(); });
}

std::vector<double> ElementSamples::values_of(PieceValues& pieces, const CutLayout& layout, int64_t copy,
                                              const Shape& whole, const Places& places) {
  const PieceShapes shapes(pieces.shapes());
  std::vector<std::pair<size_t, std::vector<std::vector<AxisSegment>>>> parts;  // by rank
  for (int64_t rank = 0; rank < layout.ranks(); ++rank) {
    if (layout.copy_of(rank) != copy) continue;
    auto& [piece, segments] = parts.emplace_back(static_cast<size_t>(rank), segments_of(layout, rank, shapes, whole));
    for (std::vector<AxisSegment>& of_axis : segments)
      std::sort(of_axis.begin(), of_axis.end(), [](const auto& x, const auto& y) { return x.to < y.to; });
  }
  for (const auto& [piece, segments] : parts) fetch(pieces, piece, segments, places);
  const bool largest = layout.has(CutRole::kMax);
  const bool reduced = largest || layout.adds();
  std::vector<double> values;
  values.reserve(places.size());
  for (const std::vector<int64_t>& place : places) {
    std::optional<double> value;
    for (const auto& [piece, segments] : parts) {
      const auto at = element_at(place, segments, pieces.shapes()[piece]);
      if (!at) continue;
      const double own = pieces.at(piece, *at);
      value = !value ? own : largest ? larger_or_nan(*value, own) : *value + own;
      if (!reduced) break;
    }
    values.push_back(value.value_or(0));
  }
  return values;
}

ElementSamples::Target::Target(std::vector<double> values, double roundoff, const Shape&)
    : values_(std::move(values)), roundoff_(roundoff) {
  std::vector<double> finite;
  for (const double value : values_) {
    if (std::isfinite(value)) finite.push_back(value);
  }
  if (finite.empty()) return;
  if (values_.size() == 1) {
    near_ = kSameNumber * std::abs(values_.front());
    return;
  }
  const double middle = median(finite);
  for (double& value : finite) value = std::abs(value - middle);
  // Of a tensor that is mostly one value: of the others.
  const double smallest = 1e-6 * *std::max_element(finite.begin(), finite.end());
  std::erase_if(finite, [&](double deviation) { return deviation <= smallest; });
  if (!finite.empty()) near_ = kAgrees * median(finite);
}

Nearness ElementSamples::Target::nearness(const std::vector<double>& a, double factor, bool hurry) const {
  double squares = 0, distance = 0;
  size_t agree = 0, seen = 0;
  for_each_pair(a, values_, [&](double own, double wanted) {
    if (hurry && ((seen == kFirstLook && agree < kFirstAgree) || (seen == kSecondLook && agree < kSecondAgree)))
      return false;
    ++seen;
    const double value = own * factor;
    const bool equal = value == wanted || (std::isnan(value) && std::isnan(wanted));
    if (equal || std::abs(value - wanted) <= near_ + roundoff_ * std::abs(wanted)) ++agree;
    if (!std::isfinite(value) || !std::isfinite(wanted)) return true;
    squares += wanted * wanted;
    distance += (value - wanted) * (value - wanted);
    return true;
  });
  const double error = distance == 0 ? 0 : std::sqrt(distance / std::max(squares, 1e-300));
  return {seen == 0 ? 1 : static_cast<double>(agree) / static_cast<double>(seen), error};
}

double ElementSamples::Target::scaled_agreement(const std::vector<double>& a) const {
  constexpr size_t kFewest = 16;  // elements: of fewer, some factor fits too easily
  if (values_.size() < kFewest) return 0;
  double product = 0, squares = 0, wanted_squares = 0;
  size_t seen = 0;
  for_each_pair(a, values_, [&](double value, double wanted) {
    if (seen++ == kFirstLook && product * product < kLeastCosine * kLeastCosine * squares * wanted_squares) {
      product = 0;
      return false;
    }
    if (!std::isfinite(value) || !std::isfinite(wanted)) return true;
    product += value * wanted;
    squares += value * value;
    wanted_squares += wanted * wanted;
    return true;
  });
  const double factor = product / squares;
  return std::isfinite(factor) && factor != 0 ? nearness(a, factor).agreement : 0;
}

}  // namespace msdump
