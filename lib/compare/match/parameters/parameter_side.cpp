#include "compare/match/parameters/parameter_side.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "dump/layouts/family.h"
#include "dump/names/checkpoint_path.h"

namespace msdump {

bool is_checkpoint(const CompareSide& side) {
  return !side.tensors->empty() &&
         std::all_of(side.tensors->begin(), side.tensors->end(), [&](const TensorRecord& one) {
           if (one.name.io != Io::kParameter || one.name.slot != "0" || !one.name.timestamp.empty()) return false;
           const IndexedFile& file = side.index->files()[one.file];
           return (file.family != nullptr && info(file.family->kind()).holds_parameters) ||
                  !checkpoint_of_array(file.shown_name()).empty();
         });
}

ParameterSide::ParameterSide(const CompareSide& side, const NameMap* map, const ParameterFiles* files)
    : side_(side), samples_(*side.index, *side.tensors) {
  static const ParameterFile kNoFile;
  const bool checkpoint = is_checkpoint(side_);
  const std::vector<TensorRecord>& all = *side_.tensors;
  const auto step_of = [&](const TensorRecord& tensor) { return place_of(*side_.index, tensor).step; };
  std::set<int64_t> steps;
  for (const TensorRecord& tensor : all) {
    const auto step = tensor.name.io == Io::kParameter ? step_of(tensor) : std::nullopt;
    if (files == nullptr && step) steps.insert(*step);
  }
  steps_ = files == nullptr ? std::vector(steps.begin(), steps.end()) : files->steps;
  std::set<std::pair<std::optional<int64_t>, std::string>> known;  // of a dump, by rank
  for (RecordId i{0}; i < all.size(); ++i) {
    std::string name = all[i].name.io == Io::kParameter ? parameter_of(all[i].name) : std::string();
    if (name.empty()) {
      ++others_;
      continue;
    }
    const ParameterFile* file = &kNoFile;
    if (files != nullptr) {
      const auto found = files->files.find(all[i].file);
      if (found == files->files.end()) continue;
      file = &found->second;
    } else if (const auto step = step_of(all[i]); step && *step != steps_.front()) {
      continue;
    }
    // A dump has a parameter once for each call of its module. The first is what the step began with.
    if (!checkpoint && !known.emplace(place_of(*side_.index, all[i]).rank, name).second) continue;
    const std::string_view key = all[i].name.op_name;
    const bool with_path = file->tells() && !file->path.empty();
    items_.push_back({i, file, file->name_of(name, true),
                      with_path ? fmt::format("{}:{}", file->path, key) : file->name_of(key, false)});
  }
  std::vector<std::string> names;
  for (const Item& item : items_)
    names.push_back(map != nullptr && map->renames() ? map->path_renamed(item.name) : item.name);
  parsed_ = parameter_names(names);
  for (uint32_t i = 0; i < size(); ++i) {
    const auto [found, added] = class_names_.try_emplace(parsed_[i].pattern, static_cast<uint32_t>(classes_.size()));
    if (added) classes_.push_back({parsed_[i].pattern, {}});
    items_[i].of_class = found->second;
    classes_[found->second].members.try_emplace(parsed_[i].numbers, i);
  }
}

std::optional<uint32_t> ParameterSide::class_named(const std::string& pattern) const {
  const auto found = class_names_.find(pattern);
  return found == class_names_.end() ? std::nullopt : std::optional(found->second);
}

const Shape* ParameterSide::shape(uint32_t item) const {
  const TensorRecord& tensor = record(item);
  if (tensor.shape == nullptr || !tensor.has_elements || tensor.broken) return nullptr;
  return element_count(*tensor.shape).value_or(0) > 0 ? tensor.shape : nullptr;
}

std::vector<uint32_t> ParameterSide::free_classes() const {
  std::set<uint32_t> found;
  for (const Item& item : items_) {
    if (item.is_free) found.insert(item.of_class);
  }
  return {found.begin(), found.end()};
}

std::vector<uint32_t> ParameterSide::free_members(uint32_t of_class) const {
  std::vector<uint32_t> found;
  for (const auto& [numbers, item] : classes_[of_class].members) {
    if (is_free(item)) found.push_back(item);
  }
  return found;
}

uint32_t ParameterSide::free_member(uint32_t of_class, const std::vector<int64_t>& numbers) const {
  const auto found = classes_[of_class].members.find(numbers);
  return found == classes_[of_class].members.end() || !is_free(found->second) ? kNoItem : found->second;
}

void ParameterLinks::add(ParameterLink link) {
  for (const Side side : kBothSides) {
    if (link.items[side] != kNoItem) of(side).take(link.items[side]);
  }
  links_.push_back(std::move(link));
}

void ParameterLinks::tell(const std::string& kind, const std::string& text) {
  const auto [place, added] = places_.try_emplace({kind, text}, told_.size());
  if (added) told_.push_back({kind, text, 0});
  ++told_[place->second].count;
}

}  // namespace msdump
