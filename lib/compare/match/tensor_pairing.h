// TensorPairer: pairs the tensors of two paired operators by io, slot, step and occurrence (pairing.h).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "compare/match/pairing.h"
#include "compare/match/rename/name_map.h"

namespace msdump {

class TensorPairer {
 public:
  struct Rule {
    const NameMap* map = nullptr;  // outlives this
    bool lone_step = false;        // each side has a single step
    bool other_framework = false;
  };
  // Appends to `pairing`, which outlives this.
  TensorPairer(const CompareSide& a, const CompareSide& b, const Rule& rule, Pairing& pairing)
      : a_(a), b_(b), rule_(rule), pairing_(pairing) {}

  // Appends the pairs of the operator pair at `place`.
  void pair(OperatorId place);

 private:
  struct SlotKey {
    std::optional<int64_t> step;
    uint32_t dump = 0, occurrence = 0;
    Io io = Io::kInput;
    std::string_view slot;
    uint32_t beside = 0;  // counts several in one slot

    bool operator<(const SlotKey& other) const;
  };
  using Place = std::tuple<std::optional<int64_t>, uint32_t, uint32_t, Io>;
  static Place place_of(const SlotKey& key) { return {key.step, key.dump, key.occurrence, key.io}; }
  struct ByShape {
    std::vector<size_t> items;
    size_t paired = 0;  // the first of `items` are paired
  };
  struct Keyed {
    SlotKey key;
    RecordId tensor;
  };
  using Slots = std::map<SlotKey, TensorPair>;

  [[nodiscard]] SlotKey slot_key(Side side, RecordId tensor) const;
  [[nodiscard]] SlotKey key_of_a(const OpPair& pair, RecordId tensor);
  void fill(Side side, const std::vector<RecordId>& tensors, std::vector<Keyed>& slots) const;
  void pair_in_order(OperatorId place);
  void pair_with_care(OperatorId place);
  void swap_operands(Slots& slots) const;
  void pair_by_shapes(Slots& slots, bool backward) const;
  [[nodiscard]] bool in_one_form(const Slots& slots, Io io) const;
  [[nodiscard]] bool same_shape(RecordId a, RecordId b) const;

  const CompareSide &a_, &b_;
  const Rule rule_;
  Pairing& pairing_;
  std::vector<Keyed> slots_a_, slots_b_;
  std::deque<std::string> names_;  // slots from the map
};

}  // namespace msdump
