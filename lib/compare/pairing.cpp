#include "compare/pairing.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/text.h"
#include "compare/alignment.h"
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
  Pairer(const CompareSide& a, const CompareSide& b) : side_a_(a), side_b_(b) {
    result_.a = operators_of(a);
    result_.b = operators_of(b);
    lone_rank_ = ranks_of(result_.a).size() <= 1 && ranks_of(result_.b).size() <= 1;
    lone_step_ = steps_of(a).size() <= 1 && steps_of(b).size() <= 1;
    partner_of_b_.assign(result_.b.size(), kNoOperator);
    partner_of_a_.assign(result_.a.size(), kNoOperator);
    how_.assign(result_.b.size(), PairedBy::kNothing);
  }

  Pairing run() {
    if (!by_names()) {
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
      const std::vector<uint32_t> a = of_rank(result_.a, rank), b = of_rank(result_.b, rank);
      const auto keys_a = keys(side_a_, result_.a, a), keys_b = keys(side_b_, result_.b, b);
      for (const AlignedPair& aligned : align(keys_a, keys_b)) {
        // The first levels know neighbours only where there is a graph.
        const bool flow = aligned.level < 2 && side_a_.graph != nullptr && side_b_.graph != nullptr;
        pair(a[aligned.a], b[aligned.b], flow ? PairedBy::kNeighbours : PairedBy::kSequence);
      }
    }
  }

  [[nodiscard]] std::vector<uint32_t> of_rank(const std::vector<SequencedOp>& operators,
                                              std::optional<int64_t> rank) const {
    std::vector<uint32_t> places;
    for (uint32_t i = 0; i < operators.size(); ++i) {
      if (counted(operators[i].rank, lone_rank_) == rank) places.push_back(i);
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
      case PairedBy::kNothing: return 0;
    }
    return 0;
  }

  struct SlotKey {
    std::optional<int64_t> step;
    uint32_t occurrence;
    Io io;
    std::string_view slot;
    bool operator<(const SlotKey& other) const {
      if (step != other.step) return step < other.step;
      if (occurrence != other.occurrence) return occurrence < other.occurrence;
      if (io != other.io) return io < other.io;
      return slot != other.slot && natural_less(slot, other.slot);
    }
  };

  [[nodiscard]] SlotKey slot_key(const CompareSide& side, uint32_t tensor) const {
    const TensorRecord& record = (*side.tensors)[tensor];
    const auto& step = side.index->folders()[side.index->files()[record.file].folder].identity.step;
    return {counted(step, lone_step_), record.occurrence, record.name.io, record.name.slot};
  }

  void pair_tensors(uint32_t place) {
    const OpPair& pair = result_.operators[place];
    std::map<SlotKey, TensorPair> slots;
    if (pair.a != kNoOperator) {
      for (const uint32_t tensor : result_.a[pair.a].tensors) slots[slot_key(side_a_, tensor)].a = tensor;
    }
    if (pair.b != kNoOperator) {
      for (const uint32_t tensor : result_.b[pair.b].tensors) slots[slot_key(side_b_, tensor)].b = tensor;
    }
    for (auto& [key, tensors] : slots) {
      tensors.op = place;
      result_.tensors.push_back(tensors);
    }
  }

  const CompareSide &side_a_, &side_b_;
  Pairing result_;
  bool lone_rank_ = false, lone_step_ = false;
  std::vector<uint32_t> partner_of_a_, partner_of_b_;
  std::vector<PairedBy> how_;  // by operator of b
};

}  // namespace

std::string_view explanation(PairedBy how) {
  static constexpr std::array<std::string_view, 5> kTexts = {
      "by name", "by its neighbours in the graph", "by its place in the sequence", "by name alone", "no partner"};
  return kTexts[static_cast<size_t>(how)];
}

Pairing pair_sides(const CompareSide& a, const CompareSide& b) { return Pairer(a, b).run(); }

}  // namespace msdump
