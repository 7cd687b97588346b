// Operators of one side by place, type and name, to look up those of the other side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/hash_slots.h"
#include "graph/join/dump_operators.h"
#include "graph/name_table.h"

namespace msdump {

// Where operators are compared: those of one rank and step. Each number counts only if it distinguishes operators.
struct ComparedPlaces {
  bool ranks = true, steps = true;

  using Place = std::pair<std::optional<int64_t>, std::optional<int64_t>>;
  [[nodiscard]] Place of(const SequencedOp& one) const {
    return {ranks ? one.rank : std::nullopt, steps ? one.step : std::nullopt};
  }
  [[nodiscard]] uint64_t hash_of(const SequencedOp& one, uint64_t hash) const;
};

// The numbers in names are left out unless they are `numbered`.
class OpNames {
 public:
  // `operators` outlives this; of those that are `left_out` nothing is known.
  OpNames(const std::vector<SequencedOp>& operators, const std::vector<bool>& left_out, ComparedPlaces places,
          bool numbered);

  [[nodiscard]] bool any_twice() const { return several_; }
  // The only operator with the name of `one`, which may be from the other side; UINT32_MAX if there are none or several.
  [[nodiscard]] uint32_t find(const SequencedOp& one);
  [[nodiscard]] bool is_alone(uint32_t place) { return find(operators_[place]) == place; }
  // Equal to find(one) == place when no name occurs twice, but without a look-up.
  [[nodiscard]] bool is_at(uint32_t place, const SequencedOp& one) const {
    return place < operators_.size() && is_equal(operators_[place], one);
  }

 private:
  struct Named {
    uint32_t place;
    bool several;
  };
  uint64_t hash_of(const SequencedOp& one);
  [[nodiscard]] bool is_same(uint32_t named, const SequencedOp& one) const {
    return is_equal(operators_[named_[named].place], one);
  }
  [[nodiscard]] bool is_equal(const SequencedOp& a, const SequencedOp& b) const;

  const std::vector<SequencedOp>& operators_;
  const ComparedPlaces compared_;
  const bool numbered_;
  HashSlots places_;
  std::vector<Named> named_;
  bool several_ = false;
  NormalName name_;
  std::string plain_;
};

}  // namespace msdump
