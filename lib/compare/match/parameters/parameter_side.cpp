#include "compare/match/parameters/parameter_side.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace msdump {

ParameterSide::ParameterSide(const CompareSide& side, const NameMap* map)
    : side_(side), values_(*side.index, *side.tensors) {
  choose();
  std::vector<std::string> renamed = names_;
  if (map != nullptr && map->renames()) {
    for (std::string& name : renamed) name = map->path_renamed(name);
  }
  parsed_ = parameter_names(renamed);
  classify();
  free_.assign(items_.size(), true);
}

void ParameterSide::choose() {
  const auto step_of = [&](const TensorRecord& tensor) {
    return side_.index->folders()[side_.index->files()[tensor.file].folder].identity.step;
  };
  std::set<int64_t> steps;
  const std::vector<TensorRecord>& all = *side_.tensors;
  for (uint32_t i = 0; i < all.size(); ++i) {
    std::string name = all[i].name.io == Io::kParameter ? parameter_of(all[i].name) : std::string();
    if (name.empty()) {
      ++others_;
      continue;
    }
    const auto step = step_of(all[i]);
    if (step) steps.insert(*step);
    // Of one that a step has more than once the first is what it began with.
    if (all[i].occurrence > 0) continue;
    items_.push_back(i);
    names_.push_back(std::move(name));
  }
  steps_.assign(steps.begin(), steps.end());
  if (steps_.size() < 2) return;
  size_t kept = 0;
  for (size_t i = 0; i < items_.size(); ++i) {
    const auto step = step_of(all[items_[i]]);
    if (step && *step != steps_.front()) continue;
    items_[kept] = items_[i];
    if (kept != i) names_[kept] = std::move(names_[i]);
    ++kept;
  }
  items_.resize(kept);
  names_.resize(kept);
}

void ParameterSide::classify() {
  std::unordered_map<std::string_view, uint32_t> known;
  for (uint32_t i = 0; i < size(); ++i) {
    const auto [found, added] = known.try_emplace(parsed_[i].pattern, static_cast<uint32_t>(classes_.size()));
    if (added) classes_.push_back({parsed_[i].pattern, {}});
    class_of_.push_back(found->second);
    classes_[found->second].members.try_emplace(parsed_[i].numbers, i);
  }
}

std::optional<int64_t> ParameterSide::rank(uint32_t item) const {
  return side_.index->folders()[side_.index->files()[record(item).file].folder].identity.rank;
}

const Shape* ParameterSide::shape(uint32_t item) const {
  const Shape* const shape = record(item).shape;
  return shape != nullptr && element_count(*shape).value_or(0) > 0 ? shape : nullptr;
}

std::vector<uint32_t> ParameterSide::free_classes() const {
  std::vector<bool> any(classes_.size(), false);
  for (uint32_t i = 0; i < size(); ++i) {
    if (free_[i]) any[class_of_[i]] = true;
  }
  std::vector<uint32_t> result;
  for (uint32_t i = 0; i < any.size(); ++i) {
    if (any[i]) result.push_back(i);
  }
  return result;
}

uint32_t ParameterSide::free_member(uint32_t of_class, const std::vector<int64_t>& numbers) const {
  const auto found = classes_[of_class].members.find(numbers);
  return found == classes_[of_class].members.end() || !free_[found->second] ? kNoItem : found->second;
}

}  // namespace msdump
