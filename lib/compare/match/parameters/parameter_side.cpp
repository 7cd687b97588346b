#include "compare/match/parameters/parameter_side.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace msdump {

bool is_checkpoint(const CompareSide& side) {
  return !side.tensors->empty() &&
         std::all_of(side.tensors->begin(), side.tensors->end(), [&](const TensorRecord& one) {
           const bool named = info(side.index->files()[one.file].kind).holds_parameters;
           return named && one.name.io == Io::kParameter && one.name.slot == "0" && one.name.timestamp.empty();
         });
}

ParameterSide::ParameterSide(const CompareSide& side, const NameMap* map, const ParameterFiles& files)
    : side_(side), samples_(*side.index, *side.tensors) {
  choose(is_checkpoint(side), files);
  std::vector<std::string> renamed = names_;
  if (map != nullptr && map->renames()) {
    for (std::string& name : renamed) name = map->path_renamed(name);
  }
  parsed_ = parameter_names(renamed);
  classify();
  free_.assign(items_.size(), true);
}

void ParameterSide::choose(bool checkpoint, const ParameterFiles& files) {
  const auto step_of = [&](const TensorRecord& tensor) {
    return side_.index->folders()[side_.index->files()[tensor.file].folder].identity.step;
  };
  std::vector<std::pair<RecordId, std::string>> parameters;
  std::set<int64_t> steps;
  const std::vector<TensorRecord>& all = *side_.tensors;
  for (RecordId i{0}; i < all.size(); ++i) {
    std::string name = all[i].name.io == Io::kParameter ? parameter_of(all[i].name) : std::string();
    if (name.empty()) {
      ++others_;
      continue;
    }
    if (const auto step = step_of(all[i])) steps.insert(*step);
    parameters.emplace_back(i, std::move(name));
  }
  steps_.assign(steps.begin(), steps.end());
  std::set<std::pair<std::optional<int64_t>, std::string_view>> known;  // of a dump, by rank
  for (auto& [tensor, name] : parameters) {
    const auto step = step_of(all[tensor]);
    if (files.empty() && step && *step != steps_.front()) continue;
    items_.push_back(tensor);
    // A dump has a parameter once for each call of its module. The first is what the step began with.
    if (!checkpoint && !known.emplace(rank(size() - 1), name).second) {
      items_.pop_back();
      continue;
    }
    const auto file = files.find(all[tensor].file);
    const ParameterFile known = file == files.end() ? ParameterFile() : file->second;
    const std::string_view key = all[tensor].name.op_name;
    shown_names_.push_back(known.path.empty() ? std::string(key) : fmt::format("{}:{}", known.path, key));
    names_.push_back(known.name.empty() ? name : fmt::format("{}.{}", known.name, name));
    files_.push_back(known.name);
  }
  if (!files.empty()) steps_.clear();
}

void ParameterSide::classify() {
  for (uint32_t i = 0; i < size(); ++i) {
    const auto [found, added] = class_names_.try_emplace(parsed_[i].pattern, static_cast<uint32_t>(classes_.size()));
    if (added) classes_.push_back({parsed_[i].pattern, {}});
    class_of_.push_back(found->second);
    classes_[found->second].members.try_emplace(parsed_[i].numbers, i);
  }
}

std::optional<uint32_t> ParameterSide::class_named(const std::string& pattern) const {
  const auto found = class_names_.find(pattern);
  return found == class_names_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<int64_t> ParameterSide::rank(uint32_t item) const {
  return side_.index->folders()[side_.index->files()[record(item).file].folder].identity.rank;
}

const Shape* ParameterSide::shape(uint32_t item) const {
  const TensorRecord& tensor = record(item);
  const Shape* const shape = tensor.shape;
  return shape != nullptr && tensor.has_elements && !tensor.broken && element_count(*shape).value_or(0) > 0 ? shape
                                                                                                            : nullptr;
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

void ParameterLinks::add(ParameterLink link) {
  if (link.a != kNoItem) a_.take(link.a);
  if (link.b != kNoItem) b_.take(link.b);
  links_.push_back(std::move(link));
}

void ParameterLinks::tell(const std::string& kind, const std::string& text, uint64_t count) {
  const auto [place, added] = places_.try_emplace({kind, text}, told_.size());
  if (added) told_.push_back({kind, text, 0});
  told_[place->second].count += count;
}

std::vector<FoundRelation> ParameterLinks::told() const { return told_; }

}  // namespace msdump
