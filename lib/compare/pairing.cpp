#include "compare/pairing.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/text.h"
#include "compare/alignment.h"
#include "compare/common_name.h"
#include "graph/op_name.h"

namespace msdump {
namespace {

using Numbers = std::set<std::optional<int64_t>>;

Numbers ranks_of(const std::vector<SequencedOp>& operators) {
  Numbers numbers;
  for (const SequencedOp& one : operators) numbers.insert(one.rank);
  return numbers;
}

Numbers steps_of(const CompareSide& side) {
  Numbers numbers;
  for (const TensorRecord& tensor : *side.tensors) {
    numbers.insert(side.index->folders()[side.index->files()[tensor.file].folder].identity.step);
  }
  return numbers;
}

// A number as it counts in a comparison: one alone on its side stands for whatever the other side's is.
std::optional<int64_t> counted(std::optional<int64_t> number, bool alone) { return alone ? std::nullopt : number; }

class Pairer {
 public:
  Pairer(const CompareSide& a, const CompareSide& b, const NameMap* map) : side_a_(a), side_b_(b), map_(map) {
    result_.a = operators_of(a);
    result_.b = operators_of(b);
    lone_rank_ = ranks_of(result_.a).size() <= 1 && ranks_of(result_.b).size() <= 1;
    lone_step_ = steps_of(a).size() <= 1 && steps_of(b).size() <= 1;
    result_.other_framework = is_pytorch(result_.a) != is_pytorch(result_.b);
    partner_of_b_.assign(result_.b.size(), kNoOperator);
    partner_of_a_.assign(result_.a.size(), kNoOperator);
    how_.assign(result_.b.size(), PairedBy::kNothing);
  }

  Pairing run() {
    if (map_ != nullptr) by_map();
    if (map_ != nullptr || !by_names()) {
      by_place();
      by_names_left();
    }
    order_operators();
    for (uint32_t i = 0; i < result_.operators.size(); ++i) pair_tensors(i);
    return std::move(result_);
  }

 private:
  using NameKey = std::tuple<std::optional<int64_t>, std::string, std::string>;

  [[nodiscard]] NameKey key(const SequencedOp& one) const {
    return {counted(one.rank, lone_rank_), normalised_op_name(one.name), std::string(one.type)};
  }

  // Each name at its only place; kNoOperator where several operators have it.
  [[nodiscard]] std::map<NameKey, uint32_t> names(const std::vector<SequencedOp>& operators) const {
    std::map<NameKey, uint32_t> result;
    for (uint32_t i = 0; i < operators.size(); ++i) {
      const auto [at, added] = result.try_emplace(key(operators[i]), i);
      if (!added) at->second = kNoOperator;
    }
    return result;
  }

  void pair(uint32_t a, uint32_t b, PairedBy how) {
    partner_of_a_[a] = b;
    partner_of_b_[b] = a;
    how_[b] = how;
  }

  void by_map() {
    taken_a_.assign(result_.a.size(), false);
    taken_b_.assign(result_.b.size(), false);
    std::map<std::pair<std::optional<int64_t>, std::string>, uint32_t> places;
    for (uint32_t i = 0; i < result_.b.size(); ++i)
      places.try_emplace({counted(result_.b[i].rank, lone_rank_), normalised_op_name(result_.b[i].name)}, i);
    for (uint32_t i = 0; i < result_.a.size(); ++i) {
      const auto reference = map_->reference_of(result_.a[i].name);
      if (!reference) continue;
      taken_a_[i] = true;  // also where the user says that it has no partner
      const auto found = places.find({counted(result_.a[i].rank, lone_rank_), normalised_op_name(*reference)});
      if (reference->empty() || found == places.end() || taken_b_[found->second]) continue;
      taken_b_[found->second] = true;
      pair(i, found->second, PairedBy::kUser);
    }
  }

  // The same names on both sides, each once.
  bool by_names() {
    const auto in_a = names(result_.a), in_b = names(result_.b);
    if (in_a.size() != in_b.size()) return false;
    for (const auto& [name, place] : in_a) {
      const auto found = in_b.find(name);
      if (place == kNoOperator || found == in_b.end() || found->second == kNoOperator) return false;
    }
    for (const auto& [name, place] : in_a) pair(place, in_b.at(name), PairedBy::kName);
    return true;
  }

  void by_place() {
    for (const auto& rank : lone_rank_ ? Numbers{std::nullopt} : ranks_of(result_.b)) {
      const std::vector<uint32_t> a = of_rank(result_.a, rank, taken_a_), b = of_rank(result_.b, rank, taken_b_);
      const auto keys_a = keys(side_a_, result_.a, a), keys_b = keys(side_b_, result_.b, b);
      for (const AlignedPair& aligned : align(keys_a, keys_b)) {
        // The first levels know neighbours only where there is a graph that says what flows where.
        const bool flow = aligned.level < 2 && has_flow(side_a_) && has_flow(side_b_);
        pair(a[aligned.a], b[aligned.b], flow ? PairedBy::kNeighbours : PairedBy::kSequence);
      }
    }
  }

  [[nodiscard]] std::vector<uint32_t> of_rank(const std::vector<SequencedOp>& operators, std::optional<int64_t> rank,
                                              const std::vector<bool>& taken) const {
    std::vector<uint32_t> places;
    for (uint32_t i = 0; i < operators.size(); ++i) {
      if (counted(operators[i].rank, lone_rank_) == rank && (taken.empty() || !taken[i])) places.push_back(i);
    }
    return places;
  }

  static std::vector<std::vector<uint64_t>> keys(const CompareSide& side, const std::vector<SequencedOp>& all,
                                                 const std::vector<uint32_t>& places) {
    std::vector<std::vector<uint64_t>> levels = alignment_keys(side, all);
    for (std::vector<uint64_t>& level : levels) {
      std::vector<uint64_t> chosen;
      for (const uint32_t place : places) chosen.push_back(level[place]);
      level = std::move(chosen);
    }
    return levels;
  }

  // Numbers count calls: of names that are told apart by them alone equal ones prove nothing.
  void by_names_left() {
    const auto in_a = names_without_numbers(result_.a), in_b = names_without_numbers(result_.b);
    for (const auto& [name, a] : in_a) {
      const auto found = in_b.find(name);
      if (a == kNoOperator || found == in_b.end() || found->second == kNoOperator) continue;
      if (!taken_a_.empty() && taken_a_[a]) continue;
      if (partner_of_a_[a] == kNoOperator && partner_of_b_[found->second] == kNoOperator)
        pair(a, found->second, PairedBy::kLeftName);
    }
  }

  [[nodiscard]] std::map<NameKey, uint32_t> names_without_numbers(const std::vector<SequencedOp>& operators) const {
    std::map<NameKey, uint32_t> result;
    for (uint32_t i = 0; i < operators.size(); ++i) {
      const SequencedOp& one = operators[i];
      const NameKey key{counted(one.rank, lone_rank_), normalised_op_name(name_without_numbers(one.name)),
                        std::string(one.type)};
      const auto [at, added] = result.try_emplace(key, i);
      if (!added) at->second = kNoOperator;
    }
    return result;
  }

  // In the order of b; operators of a alone behind the one that stands before them there.
  void order_operators() {
    std::map<uint32_t, std::vector<uint32_t>> alone_behind;  // by the place in b, +1
    uint32_t behind = 0;
    for (uint32_t i = 0; i < result_.a.size(); ++i) {
      if (partner_of_a_[i] != kNoOperator) {
        behind = partner_of_a_[i] + 1;
      } else {
        alone_behind[behind].push_back(i);
      }
    }
    const auto add_alone = [&](uint32_t place) {
      const auto found = alone_behind.find(place);
      if (found == alone_behind.end()) return;
      for (const uint32_t a : found->second) result_.operators.push_back({a, kNoOperator, PairedBy::kNothing, 0});
    };
    add_alone(0);
    for (uint32_t b = 0; b < result_.b.size(); ++b) {
      result_.operators.push_back({partner_of_b_[b], b, how_[b], confidence(how_[b])});
      add_alone(b + 1);
    }
  }

  static double confidence(PairedBy how) {
    switch (how) {
      case PairedBy::kName: return 1;
      case PairedBy::kNeighbours: return 0.9;
      case PairedBy::kSequence: return 0.7;
      case PairedBy::kLeftName: return 0.5;
      case PairedBy::kUser: return 1;
      case PairedBy::kNothing: return 0;
    }
    return 0;
  }

  struct SlotKey {
    std::optional<int64_t> step;
    uint32_t occurrence;
    Io io;
    std::string_view slot;
    uint32_t beside = 0;  // of several in one slot
    bool operator<(const SlotKey& other) const {
      if (step != other.step) return step < other.step;
      if (occurrence != other.occurrence) return occurrence < other.occurrence;
      if (io != other.io) return io < other.io;
      if (slot != other.slot) return natural_less(slot, other.slot);
      return beside < other.beside;
    }
  };

  [[nodiscard]] SlotKey slot_key(const CompareSide& side, uint32_t tensor) const {
    const TensorRecord& record = (*side.tensors)[tensor];
    const auto& step = side.index->folders()[side.index->files()[record.file].folder].identity.step;
    return {counted(step, lone_step_), record.occurrence, record.name.io,
            record.name.io == Io::kParameter ? common_parameter_name(record.name.slot) : record.name.slot, 0};
  }

  // The slot may be another one by the user's word.
  [[nodiscard]] SlotKey key_of_a(const OpPair& pair, uint32_t tensor) {
    SlotKey key = slot_key(side_a_, tensor);
    if (map_ == nullptr || pair.how != PairedBy::kUser) return key;
    const NameFacts& name = (*side_a_.tensors)[tensor].name;
    auto reference = map_->reference_of(result_.a[pair.a].name, name.io, name.slot);
    if (!reference || normalised_op_name(reference->op_name) != normalised_op_name(result_.b[pair.b].name)) return key;
    key.io = reference->io;
    key.slot = slots_.emplace_back(std::move(reference->slot));
    return key;
  }

  void pair_tensors(uint32_t place) {
    const OpPair& pair = result_.operators[place];
    std::map<SlotKey, TensorPair> slots;
    if (pair.a != kNoOperator) {
      for (const uint32_t tensor : result_.a[pair.a].tensors) slots[key_of_a(pair, tensor)].a = tensor;
    }
    if (pair.b != kNoOperator) {
      for (const uint32_t tensor : result_.b[pair.b].tensors) slots[slot_key(side_b_, tensor)].b = tensor;
    }
    if (pair.b != kNoOperator && is_commutative(result_.b[pair.b].type)) swap_operands(slots);
    if (result_.other_framework && pair.how != PairedBy::kUser && pair.b != kNoOperator)
      pair_by_shapes(slots, result_.b[pair.b].name.ends_with(".backward"));
    for (auto& [key, tensors] : slots) {
      tensors.op = place;
      result_.tensors.push_back(tensors);
    }
  }

  static bool is_commutative(std::string_view type) {
    static constexpr std::array<std::string_view, 8> kTypes = {"Mul",   "Add",   "Maximum",    "Minimum",
                                                               "Equal", "AddV2", "LogicalAnd", "LogicalOr"};
    return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
  }

  // Versions of MindSpore do not agree on which operand comes first; their shapes tell.
  void swap_operands(std::map<SlotKey, TensorPair>& slots) const {
    for (auto& [key, first] : slots) {
      if (key.io != Io::kInput || key.slot != "0") continue;
      SlotKey other = key;
      other.slot = "1";
      const auto found = slots.find(other);
      if (found == slots.end()) return;
      TensorPair& second = found->second;
      for (const uint32_t tensor : {first.a, first.b, second.a, second.b}) {
        if (tensor == kNoTensor) return;
      }
      if (!same_shape(first.a, first.b) && same_shape(first.a, second.b) && same_shape(second.a, first.b))
        std::swap(first.a, second.a);
    }
  }

  // The two frameworks do not pass arguments in the same slots: of those with other shapes, or without a partner, the
  // first with the first of its shape.
  void pair_by_shapes(std::map<SlotKey, TensorPair>& slots, bool backward) const {
    std::vector<std::pair<SlotKey, uint32_t>> left_a, left_b;
    std::set<Io> settled = {Io::kParameter};
    for (const Io io : {Io::kInput, Io::kOutput}) {
      if (in_one_form(slots, io)) settled.insert(io);
    }
    for (auto& [key, pair] : slots) {
      if (settled.count(key.io) > 0) continue;
      if (pair.a != kNoTensor) left_a.emplace_back(key, pair.a);
      if (pair.b != kNoTensor) left_b.emplace_back(key, pair.b);
      pair.a = pair.b = kNoTensor;
    }
    for (auto& [key, a] : left_a) {
      // Gradients come in an order of their own.
      if (backward && key.io == Io::kOutput && number_like(left_b, key, a) > 1) continue;
      const auto found = std::find_if(left_b.begin(), left_b.end(), [&](const auto& other) {
        return other.second != kNoTensor && is_same_place(key, other.first) && same_shape(a, other.second);
      });
      if (found == left_b.end()) continue;
      slots[found->first] = {0, a, found->second};
      a = found->second = kNoTensor;
    }
    for (const auto& [key, a] : left_a) {
      if (a == kNoTensor) continue;
      SlotKey free = key;  // beside what the reference has in that slot
      while (slots[free].a != kNoTensor || slots[free].b != kNoTensor) ++free.beside;
      slots[free].a = a;
    }
    for (const auto& [key, b] : left_b) {
      if (b == kNoTensor) continue;
      SlotKey free = key;
      while (slots[free].a != kNoTensor || slots[free].b != kNoTensor) ++free.beside;
      slots[free].b = b;
    }
    std::erase_if(slots, [](const auto& slot) { return slot.second.a == kNoTensor && slot.second.b == kNoTensor; });
  }

  // Has each side the same slots of this io, with the same shapes?
  [[nodiscard]] bool in_one_form(const std::map<SlotKey, TensorPair>& slots, Io io) const {
    return std::all_of(slots.begin(), slots.end(), [&](const auto& slot) {
      const TensorPair& pair = slot.second;
      return slot.first.io != io || (pair.a != kNoTensor && pair.b != kNoTensor && same_shape(pair.a, pair.b));
    });
  }

  [[nodiscard]] long number_like(const std::vector<std::pair<SlotKey, uint32_t>>& others, const SlotKey& key,
                                 uint32_t a) const {
    return std::count_if(others.begin(), others.end(), [&](const auto& other) {
      return other.second != kNoTensor && is_same_place(key, other.first) && same_shape(a, other.second);
    });
  }

  static bool is_same_place(const SlotKey& a, const SlotKey& b) {
    return a.step == b.step && a.occurrence == b.occurrence && a.io == b.io;
  }

  [[nodiscard]] bool same_shape(uint32_t a, uint32_t b) const {
    const Shape *const left = (*side_a_.tensors)[a].shape, *const right = (*side_b_.tensors)[b].shape;
    return left != nullptr && right != nullptr && *left == *right;
  }

  // By what modules and calls are named after.
  static bool is_pytorch(const std::vector<SequencedOp>& operators) {
    return std::any_of(operators.begin(), operators.end(), [](const SequencedOp& one) {
      return one.name.starts_with("Module.") || one.name.starts_with("Torch.");
    });
  }

  const CompareSide &side_a_, &side_b_;
  const NameMap* map_;
  Pairing result_;
  bool lone_rank_ = false, lone_step_ = false;
  std::vector<uint32_t> partner_of_a_, partner_of_b_;
  std::vector<PairedBy> how_;            // by operator of b
  std::vector<bool> taken_a_, taken_b_;  // by the map; empty without one
  std::deque<std::string> slots_;        // that the map names
};

}  // namespace

std::string_view explanation(PairedBy how) {
  static constexpr std::array<std::string_view, 6> kTexts = {
      "by name",   "by its neighbours in the graph", "by its place in the sequence", "by name alone", "by --map",
      "no partner"};
  return kTexts[static_cast<size_t>(how)];
}

Pairing pair_sides(const CompareSide& a, const CompareSide& b, const NameMap* map) { return Pairer(a, b, map).run(); }

Pairing pair_single(const CompareSide& a, const CompareSide& b) {
  Pairing pairing;
  pairing.a = operators_of(a);
  pairing.b = operators_of(b);
  const auto with_tensor = [](const std::vector<SequencedOp>& operators) {
    const auto found =
        std::find_if(operators.begin(), operators.end(), [](const SequencedOp& one) { return !one.tensors.empty(); });
    return static_cast<uint32_t>(found - operators.begin());
  };
  pairing.operators.push_back({with_tensor(pairing.a), with_tensor(pairing.b), PairedBy::kName, 1});
  pairing.tensors.push_back({0, 0, 0});
  return pairing;
}

}  // namespace msdump
