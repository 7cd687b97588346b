// ParameterSide: the parameters of one side of a comparison, and which of them have a partner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compare/match/op_sequence.h"
#include "compare/match/pairing.h"
#include "compare/match/parameters/parameter_files.h"
#include "compare/match/parameters/parameter_names.h"
#include "compare/match/parameters/parameter_views.h"
#include "compare/match/rename/name_map.h"

namespace msdump {

// True if all tensors are parameters, in files that are checkpoints or in arrays that convert wrote of them.
[[nodiscard]] bool is_checkpoint(const CompareSide& side);

inline constexpr uint32_t kNoItem = UINT32_MAX;

// Parameters whose names differ only in the numbers of layers, experts, ..
struct ParameterClass {
  std::string pattern;
  std::map<std::vector<int64_t>, uint32_t> members;  // items, by their numbers
};

class ParameterSide {
 public:
  // `map` renames parts of the names. `files` are those of a checkpoint that is compared with another, and outlive this; the
  // names begin with what they say. Both may be null.
  ParameterSide(const CompareSide& side, const NameMap* map, const ParameterFiles* files);
  ParameterSide(const ParameterSide&) = delete;

  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(items_.size()); }
  [[nodiscard]] RecordId tensor(uint32_t item) const { return items_[item].tensor; }
  [[nodiscard]] const TensorRecord& record(uint32_t item) const { return (*side_.tensors)[items_[item].tensor]; }
  [[nodiscard]] const std::string& name(uint32_t item) const { return items_[item].name; }  // before `map` renames it
  // With the path of its file, if the file is a part of the name.
  [[nodiscard]] const std::string& shown_name(uint32_t item) const { return items_[item].shown_name; }
  [[nodiscard]] const ParameterFile& file(uint32_t item) const { return *items_[item].file; }
  [[nodiscard]] const ParameterName& parsed(uint32_t item) const { return parsed_[item]; }
  [[nodiscard]] FolderIdentity place(uint32_t item) const { return place_of(*side_.index, record(item)); }
  // Null for a parameter that cannot be read or has no elements.
  [[nodiscard]] const Shape* shape(uint32_t item) const;

  [[nodiscard]] const std::vector<ParameterClass>& classes() const { return classes_; }
  [[nodiscard]] uint32_t class_of(uint32_t item) const { return items_[item].of_class; }
  [[nodiscard]] const std::string& pattern(uint32_t item) const { return classes_[class_of(item)].pattern; }

  [[nodiscard]] bool is_free(uint32_t item) const { return items_[item].is_free; }
  void take(uint32_t item) { items_[item].is_free = false; }
  [[nodiscard]] std::optional<uint32_t> class_named(const std::string& pattern) const;
  [[nodiscard]] std::vector<uint32_t> free_classes() const;
  [[nodiscard]] std::vector<uint32_t> free_members(uint32_t of_class) const;
  // The free member with these numbers, or kNoItem.
  [[nodiscard]] uint32_t free_member(uint32_t of_class, const std::vector<int64_t>& numbers) const;

  [[nodiscard]] TensorSamples& samples() { return samples_; }
  [[nodiscard]] const std::vector<double>& values(uint32_t item) { return samples_.of(tensor(item)).values; }
  [[nodiscard]] SampledTensor sampled(uint32_t item) { return {samples_, tensor(item)}; }

  // Tensors of the dump that are no parameters.
  [[nodiscard]] uint64_t others() const { return others_; }
  // The steps of the dump, ascending, of which the first is compared.
  [[nodiscard]] const std::vector<int64_t>& steps() const { return steps_; }

 private:
  struct Item {
    RecordId tensor;
    const ParameterFile* file = nullptr;
    std::string name, shown_name;
    uint32_t of_class = 0;
    bool is_free = true;
  };

  const CompareSide& side_;
  TensorSamples samples_;
  std::vector<Item> items_;
  std::vector<ParameterName> parsed_;  // by item
  std::vector<ParameterClass> classes_;
  std::unordered_map<std::string, uint32_t> class_names_;
  std::vector<int64_t> steps_;
  uint64_t others_ = 0;
};

// Two parameters that belong together, and how.
struct ParameterLink {
  Sides<uint32_t> items = {kNoItem, kNoItem};  // one may be missing, and the note says why
  PairedBy how = PairedBy::kName;
  std::string note = {};                        // "transposed", "part 1 of 3: qkv = concat(q, k, v; axis 0)"
  Sides<std::optional<TensorView>> views = {};  // what is compared; none: all elements
  uint32_t part = 0;                            // number of the part, of the side with a view; 0: no part

  [[nodiscard]] bool is_pair() const { return items.a != kNoItem && items.b != kNoItem; }
};

class ParameterLinks {
 public:
  ParameterLinks(ParameterSide& a, ParameterSide& b) : sides_{&a, &b} {}

  [[nodiscard]] ParameterSide& of(Side side) { return *sides_[side]; }
  [[nodiscard]] std::vector<ParameterLink>& all() { return links_; }

  // False for parameters of two versions, ranks or files: equal values do not make them one parameter.
  [[nodiscard]] bool may_link(uint32_t a, uint32_t b) const {
    const ParameterFile &of_a = sides_.a->file(a), &of_b = sides_.b->file(b);
    const bool same_file = of_a.name == of_b.name || of_a.name.empty() || of_b.name.empty();
    return same_file && of_a.step == of_b.step && of_a.rank == of_b.rank;
  }
  // Adds the link and takes its items.
  void add(ParameterLink link);
  // Counts a relation of a class of names: "renamed", "w = concat(q, k; axis 0)".
  void tell(const std::string& kind, const std::string& text);
  [[nodiscard]] const std::vector<FoundRelation>& told() const { return told_; }

  ReachedLimits limits;

 private:
  Sides<ParameterSide*> sides_;
  std::vector<ParameterLink> links_;
  std::vector<FoundRelation> told_;
  std::map<std::pair<std::string, std::string>, size_t> places_;  // indices in told_
};

}  // namespace msdump
