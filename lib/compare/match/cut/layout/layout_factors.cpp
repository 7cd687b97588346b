#include "compare/match/cut/layout/layout_factors.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/enum_table.h"

namespace msdump {
namespace {

constexpr int kGroups = 3, kFactor = 4, kBothAdd = 1;
constexpr auto kCosts = enum_table<CutRole, int>(1, 3, 3, 3, 2, 4, 4);

int complexity_of(const CutLayout& layout) {
  int complexity = 0;
  for (const CutDim& dim : layout.dims) complexity += msdump::complexity_of(dim);
  return complexity + (layout.factor == 1 ? 0 : kFactor);
}

}  // namespace

int complexity_of(const CutDim& dim) { return kCosts[dim.role] + (dim.groups.empty() ? 0 : kGroups); }

std::vector<ScaledLayout> scaled_layouts(CutLayout layout, const std::vector<double>& gradient, bool is_stated) {
  const std::vector<CutDim> dims = layout.dims;
  std::vector<ScaledLayout> all;
  if (is_stated) {
    double factor = layout.factor;
    for (const CutDim& dim : dims) {
      if (dim.role == CutRole::kMean) factor /= static_cast<double>(dim.extent);
    }
    const int complexity = complexity_of(layout);
    all.push_back({factor, std::move(layout), complexity});
    return all;
  }
  all.push_back({1, std::move(layout), 0});
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].role != CutRole::kSum) continue;
    const size_t known = all.size();
    for (size_t other = 0; other < known; ++other) {
      ScaledLayout next = all[other];
      next.factor /= static_cast<double>(dims[i].extent);
      next.layout.dims[i].role = CutRole::kMean;
      all.push_back(std::move(next));
    }
  }
  const size_t without = all.size();
  for (const double factor : gradient) {
    for (size_t other = 0; other < without; ++other) {
      ScaledLayout next = all[other];
      next.factor *= factor;
      next.layout.factor = factor;
      all.push_back(std::move(next));
    }
  }
  for (ScaledLayout& one : all) one.complexity = complexity_of(one.layout);
  return all;
}

int complexity_of(const ScaledLayout& a, const ScaledLayout& b) {
  const std::vector<CutDim>&of_a = a.layout.dims, &of_b = b.layout.dims;
  const bool one_rule = std::any_of(of_a.begin(), of_a.end(), [&](const CutDim& one) {
    return !one.groups.empty() && std::any_of(of_b.begin(), of_b.end(), [&](const CutDim& other) {
      return one.role == other.role && one.axis == other.axis && one.groups == other.groups;
    });
  });
  const bool both_add = a.layout.adds() && b.layout.adds(), more = of_a.size() > 1 || of_b.size() > 1;
  return a.complexity + b.complexity - (one_rule ? kGroups : 0) + (both_add && more ? kBothAdd : 0);
}

std::string key_of(const CutLayout& layout) {
  std::string key;
  for (const CutDim& dim : layout.dims)
    key += fmt::format("{}{}.{}:{} ", name_of(dim.role), dim.axis, dim.extent, fmt::join(dim.groups, ":"));
  return key + (layout.factor == 1 ? "" : fmt::format("*{}", layout.factor));
}

}  // namespace msdump
