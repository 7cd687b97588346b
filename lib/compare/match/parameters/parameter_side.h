// The parameters of one side of a comparison, and which of them have a partner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compare/match/op_sequence.h"
#include "compare/match/parameters/parameter_names.h"
#include "compare/match/parameters/parameter_values.h"
#include "compare/match/rename/name_map.h"

namespace msdump {

// Is all of it parameters, in files that are checkpoints?
[[nodiscard]] bool is_checkpoint(const CompareSide& side);

inline constexpr uint32_t kNoItem = UINT32_MAX;

// Parameters whose names differ only in the numbers of layers, experts, ..
struct ParameterClass {
  std::string pattern;
  std::map<std::vector<int64_t>, uint32_t> members;  // items, by their numbers
};

class ParameterSide {
 public:
  // `map` renames parts of the names; may be null.
  ParameterSide(const CompareSide& side, const NameMap* map);
  ParameterSide(const ParameterSide&) = delete;

  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(items_.size()); }
  [[nodiscard]] uint32_t tensor(uint32_t item) const { return items_[item]; }
  [[nodiscard]] const TensorRecord& record(uint32_t item) const { return (*side_.tensors)[items_[item]]; }
  [[nodiscard]] const std::string& name(uint32_t item) const { return names_[item]; }  // without the map
  [[nodiscard]] const ParameterName& parsed(uint32_t item) const { return parsed_[item]; }
  [[nodiscard]] std::optional<int64_t> rank(uint32_t item) const;
  // Null for a parameter that nothing is known of, or that has no elements.
  [[nodiscard]] const Shape* shape(uint32_t item) const;

  [[nodiscard]] const std::vector<ParameterClass>& classes() const { return classes_; }
  [[nodiscard]] uint32_t class_of(uint32_t item) const { return class_of_[item]; }

  [[nodiscard]] bool is_free(uint32_t item) const { return free_[item]; }
  void take(uint32_t item) { free_[item] = false; }
  [[nodiscard]] std::optional<uint32_t> class_named(const std::string& pattern) const;
  // Classes that have a free member.
  [[nodiscard]] std::vector<uint32_t> free_classes() const;
  // The free member with these numbers, or kNoItem.
  [[nodiscard]] uint32_t free_member(uint32_t of_class, const std::vector<int64_t>& numbers) const;

  [[nodiscard]] ParameterValues& values() { return values_; }
  [[nodiscard]] std::span<const double> values(uint32_t item) { return values_.of(items_[item]); }

  // Tensors of the dump that are no parameters.
  [[nodiscard]] uint64_t others() const { return others_; }
  // Of several steps the first is compared.
  [[nodiscard]] const std::vector<int64_t>& steps() const { return steps_; }

 private:
  void choose(bool checkpoint);
  void classify();

  const CompareSide& side_;
  ParameterValues values_;
  std::vector<uint32_t> items_;  // in the list of tensors
  std::vector<std::string> names_;
  std::vector<ParameterName> parsed_;
  std::vector<ParameterClass> classes_;
  std::unordered_map<std::string, uint32_t> class_names_;
  std::vector<uint32_t> class_of_;
  std::vector<bool> free_;
  std::vector<int64_t> steps_;
  uint64_t others_ = 0;
};

}  // namespace msdump
