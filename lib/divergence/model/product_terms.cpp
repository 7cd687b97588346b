#include "divergence/model/product_terms.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace msdump {
namespace {

double spatial(const Shape& shape) {
  double size = 1;
  for (size_t axis = 2; axis < shape.size(); ++axis) size *= static_cast<double>(shape[axis]);
  return size;
}

}  // namespace

double gain_ratio(double numerator, double denominator) {
  constexpr double kMostGain = 1e12;
  if (numerator == 0) return 0;
  return denominator > 0 ? std::min(numerator / denominator, kMostGain) : kMostGain;
}

double terms_of(std::string_view family, const KnownInput& x, const KnownInput& w, const KnownOutput& y) {
  const double nx = x.error.elements, nw = w.error.elements, ny = y.error.elements;
  if (ny == 0) return 1;
  if (family.find("conv") == std::string_view::npos) {
    double batch = 1;
    if (x.shape.size() > 2 && w.shape.size() > 2) {
      for (size_t axis = 0; axis + 2 < y.shape.size(); ++axis) batch *= static_cast<double>(y.shape[axis]);
    }
    return std::max(1.0, std::sqrt(nx * nw / ny / std::max(1.0, batch)));
  }
  struct Part {
    const Shape* shape;
    double elements;
  };
  std::array<Part, 3> parts = {Part{&x.shape, nx}, Part{&w.shape, nw}, Part{&y.shape, ny}};
  // The weight is the one with the smallest window, whose channels another has; maps may be as small.
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& one, const Part& other) { return spatial(*one.shape) < spatial(*other.shape); });
  for (const Part& weight : parts) {
    if (weight.shape->empty() || weight.shape->front() == 0) continue;
    const auto channels = static_cast<double>(weight.shape->front());
    double map = 0;
    for (const Part& part : parts) {
      if (&part == &weight || part.shape->size() < 2) continue;
      if (static_cast<double>((*part.shape)[1]) == channels)
        map = map == 0 ? part.elements : std::min(map, part.elements);
    }
    if (map > 0) return std::max(1.0, map * weight.elements / channels / ny);
  }
  return 1;
}

}  // namespace msdump
