#include "torch/zero.h"

#include <algorithm>

#include "torch/dtensor.h"

namespace msdump::torch {
namespace {

constexpr size_t kMostParameters = 100'000, kLongestParameter = 1024;

bool is_dict(const Pickle& pickle, const PickleValue& value) {
  return value.kind == PickleKind::kDict ||
         (value.kind == PickleKind::kCall && class_of(pickle, value) == "OrderedDict");
}

bool is_name(const PickleValue& value) {
  return value.kind == PickleKind::kText && value.text.size() <= kLongestParameter;
}

// False if the dict has anything but names and shapes, or too many of them.
bool add_shapes(const Pickle& pickle, PickleRef ref, size_t& names, ZeroShapes::Group& group) {
  if (!is_dict(pickle, pickle[ref])) return false;
  const std::vector<PickleRef>& pairs = pickle[ref].items;
  for (size_t i = 1; i < pairs.size(); i += 2) {
    const PickleValue& name = pickle[pairs[i - 1]];
    auto shape = integers_of(pickle, pairs[i], kMaxRank);
    if (!is_name(name) || !shape || ++names > kMostParameters) return false;
    group.emplace_back(name.text, std::move(*shape));
  }
  return true;
}

}  // namespace

ZeroShapes zero_shapes_of(const Pickle& pickle) {
  ZeroShapes shapes;
  size_t names = 0;
  const auto groups = attribute_of(pickle, pickle.root, "param_shapes");
  if (!groups || pickle[*groups].kind != PickleKind::kList) return {};
  for (const PickleRef ref : pickle[*groups].items) {
    if (shapes.groups.size() == kMostParameters || !add_shapes(pickle, ref, names, shapes.groups.emplace_back()))
      return {};
  }
  const auto frozen = attribute_of(pickle, pickle.root, "frozen_param_shapes");
  if (frozen && pickle[*frozen].kind != PickleKind::kNone && !add_shapes(pickle, *frozen, names, shapes.frozen))
    return {};
  const auto shared = attribute_of(pickle, pickle.root, "shared_params");
  if (!shared || !is_dict(pickle, pickle[*shared])) return shapes;
  const std::vector<PickleRef>& pairs = pickle[*shared].items;
  for (size_t i = 1; i < pairs.size() && ++names <= kMostParameters; i += 2) {
    const PickleValue &alias = pickle[pairs[i - 1]], &name = pickle[pairs[i]];
    if (is_name(alias) && is_name(name)) shapes.shared.emplace_back(alias.text, name.text);
  }
  return shapes;
}

std::optional<int64_t> zero_ranks_of(const Pickle& pickle) {
  const auto state = attribute_of(pickle, pickle.root, "optimizer_state_dict");
  const auto count = state ? attribute_of(pickle, *state, "partition_count") : std::nullopt;
  if (!count) return std::nullopt;
  if (pickle[*count].kind == PickleKind::kInt) return pickle[*count].number;
  const auto counts = integers_of(pickle, *count, kMostParameters);
  return counts && !counts->empty() ? std::optional(*std::max_element(counts->begin(), counts->end())) : std::nullopt;
}

}  // namespace msdump::torch
