#include "compare/match/pairing.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "base/hash_slots.h"
#include "compare/match/alignment.h"
#include "compare/match/device/device_pairing.h"
#include "compare/match/graph_match.h"
#include "compare/match/replaced_ops.h"
#include "compare/match/tensor_pairing.h"
#include "graph/name_table.h"
#include "graph/op_name.h"

namespace msdump {
namespace {

// How many times fewer disagreements make a graph more certain than names.
constexpr size_t kClearly = 4;

using Numbers = std::set<std::optional<int64_t>>;

Numbers ranks_of(const std::vector<SequencedOp>& operators) {
  Numbers numbers;
  const std::optional<int64_t>* last = nullptr;
  for (const SequencedOp& one : operators) {
    if (last == nullptr || *last != one.rank) numbers.insert(one.rank);
    last = &one.rank;
  }
  return numbers;
}

Numbers steps_of(const CompareSide& side) {
  std::vector<bool> has_tensors(side.index->folders().size(), false);
  for (const TensorRecord& tensor : *side.tensors) has_tensors[side.index->files()[tensor.file].folder] = true;
  Numbers numbers;
  for (size_t i = 0; i < has_tensors.size(); ++i) {
    if (has_tensors[i]) numbers.insert(side.index->folders()[i].identity.step);
  }
  return numbers;
}

// The number to compare: none if each side has a single one.
std::optional<int64_t> counted(std::optional<int64_t> number, bool alone) { return alone ? std::nullopt : number; }

// By the prefixes of modules and calls.
bool is_pytorch(const std::vector<SequencedOp>& operators) {
  return std::any_of(operators.begin(), operators.end(), [](const SequencedOp& one) {
    return one.name.starts_with("Module.") || one.name.starts_with("Torch.");
  });
}

// Operators of one side by rank, type and name, with or without the numbers in it.
class OpNames {
 public:
  // Ranks are compared only where there are several.
  OpNames(const std::vector<SequencedOp>& operators, bool lone_rank, bool numbered)
      : operators_(operators), lone_rank_(lone_rank), numbered_(numbered), places_(operators.size()) {
    named_.reserve(operators.size());
    for (uint32_t i = 0; i < operators.size(); ++i) {
      const uint32_t found = places_.find_or_add(hash_of(operators[i]), static_cast<uint32_t>(named_.size()),
                                                 [&](uint32_t named) { return is_same(named, operators[i]); });
      if (found == named_.size()) {
        named_.push_back({i, false});
      } else {
        named_[found].several = several_ = true;
      }
    }
  }

  [[nodiscard]] bool any_twice() const { return several_; }
  // The only operator with the name of `one`, which may be from the other side; kNoOperator if there are none or several.
  [[nodiscard]] uint32_t find(const SequencedOp& one) {
    const uint32_t found = places_.find(hash_of(one), [&](uint32_t named) { return is_same(named, one); });
    return found == HashSlots::kNone || named_[found].several ? kNoOperator : named_[found].place;
  }
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

  uint64_t hash_of(const SequencedOp& one) {
    name_.assign(numbered_ ? std::string_view(one.name) : (plain_ = name_without_numbers(one.name)));
    const uint64_t hash = mix_hash(name_hash(name_.full()), name_hash(one.type));
    return lone_rank_ ? hash : mix_hash(hash, static_cast<uint64_t>(one.rank.value_or(-1)));
  }

  [[nodiscard]] bool is_same(uint32_t named, const SequencedOp& one) const {
    return is_equal(operators_[named_[named].place], one);
  }

  [[nodiscard]] bool is_equal(const SequencedOp& a, const SequencedOp& b) const {
    if (a.type != b.type || (!lone_rank_ && a.rank != b.rank)) return false;
    return numbered_ ? same_name(a.name, b.name)
                     : same_name(name_without_numbers(a.name), name_without_numbers(b.name));
  }

  const std::vector<SequencedOp>& operators_;
  const bool lone_rank_, numbered_;
  HashSlots places_;
  std::vector<Named> named_;
  bool several_ = false;
  NormalName name_;
  std::string plain_;
};

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
      if (map_ == nullptr && pair_with_device(result_, side_a_, side_b_, lone_step_)) return std::move(result_);
      by_place();
      by_names_left();
      by_replacement();
    }
    order_operators();
    result_.tensors.reserve(std::max(side_a_.tensors->size(), side_b_.tensors->size()));
    TensorPairer tensors(side_a_, side_b_, {map_, lone_step_, result_.other_framework});
    for (uint32_t i = 0; i < result_.operators.size(); ++i) tensors.pair(result_, i);
    return std::move(result_);
  }

 private:
  void pair(uint32_t a, uint32_t b, PairedBy how) {
    partner_of_a_[a] = b;
    partner_of_b_[b] = a;
    how_[b] = how;
  }

  std::pair<const GraphSide&, const GraphSide&> graphs() {
    if (!graph_a_) {
      graph_a_ = graph_side(side_a_, result_.a, lone_rank_);
      graph_b_ = graph_side(side_b_, result_.b, lone_rank_);
    }
    return {*graph_a_, *graph_b_};
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
      taken_a_[i] = true;  // also when it is mapped to no partner
      const auto found = places.find({counted(result_.a[i].rank, lone_rank_), normalised_op_name(*reference)});
      if (reference->empty() || found == places.end() || taken_b_[found->second]) continue;
      taken_b_[found->second] = true;
      pair(i, found->second, PairedBy::kUser);
    }
  }

  // True when both sides have the same names, each once.
  bool by_names() {
    const auto named = partners_by_name();
    if (!named) return false;
    const Partners partners = checked_by_graph(*named);
    for (uint32_t i = 0; i < partners.size(); ++i)
      pair(i, partners[i], partners[i] == (*named)[i] ? PairedBy::kName : PairedBy::kNeighbours);
    return true;
  }

  std::optional<Partners> partners_by_name() {
    if (result_.a.size() != result_.b.size()) return std::nullopt;
    OpNames names(result_.b, lone_rank_, true);
    if (names.any_twice()) return std::nullopt;
    Partners partners(result_.a.size());
    std::vector<bool> taken(result_.b.size(), false);
    uint32_t next = 0;  // usually the order is the same
    for (size_t i = 0; i < partners.size(); ++i) {
      const uint32_t found = names.is_at(next, result_.a[i]) ? next : names.find(result_.a[i]);
      if (found == kNoOperator || taken[found]) return std::nullopt;
      taken[found] = true;
      partners[i] = found;
      next = found + 1;
    }
    return partners;
  }

  // The same names throughout may be numbered otherwise: save_graphs does that. The graphs decide if they agree nearly
  // everywhere when paired without names. A faulty operator or two is not enough.
  [[nodiscard]] Partners checked_by_graph(const Partners& named) {
    if (!has_flow(side_a_) || !has_flow(side_b_)) return named;
    const auto [a, b] = graphs();
    const size_t of_names = disagreements(a, b, named);
    if (of_names == 0) return named;
    Partners partners = match_graphs(a, b);
    complete(partners, named);
    return kClearly * disagreements(a, b, partners) < of_names ? partners : named;
  }

  // Of the operators without a partner, first those with the same name, then in their order.
  void complete(Partners& partners, const Partners& named) const {
    std::vector<bool> taken(partners.size(), false);
    for (const uint32_t partner : partners) {
      if (partner != kNoOperator) taken[partner] = true;
    }
    for (uint32_t i = 0; i < partners.size(); ++i) {
      if (partners[i] != kNoOperator || taken[named[i]]) continue;
      partners[i] = named[i];
      taken[named[i]] = true;
    }
    const auto key = [this](const SequencedOp& one) {
      return std::tuple(counted(one.rank, lone_rank_), name_without_numbers(one.name), one.type);
    };
    std::map<decltype(key(result_.b[0])), std::deque<uint32_t>> left;
    for (uint32_t i = 0; i < taken.size(); ++i) {
      if (!taken[i]) left[key(result_.b[i])].push_back(i);
    }
    for (uint32_t i = 0; i < partners.size(); ++i) {
      if (partners[i] != kNoOperator) continue;
      std::deque<uint32_t>& same = left[key(result_.a[i])];
      partners[i] = same.front();
      same.pop_front();
    }
  }

  void by_place() {
    auto all_a = alignment_keys(side_a_, result_.a), all_b = alignment_keys(side_b_, result_.b);
    pair_by_graph(all_a, all_b);
    const RankPlaces by_rank_a = by_rank(result_.a, taken_a_), by_rank_b = by_rank(result_.b, taken_b_);
    for (const auto& [rank, b] : by_rank_b) {
      const auto found = by_rank_a.find(rank);
      if (found == by_rank_a.end()) continue;
      const std::vector<uint32_t>& a = found->second;
      for (const AlignedPair& aligned : align(chosen(all_a, a), chosen(all_b, b))) {
        if (partner_of_a_[a[aligned.a]] != kNoOperator) continue;
        // Only a graph with a data flow gives the first levels neighbours.
        const bool flow = aligned.level < 2 && has_flow(side_a_) && has_flow(side_b_);
        pair(a[aligned.a], b[aligned.b], flow ? PairedBy::kNeighbours : PairedBy::kSequence);
      }
    }
  }

  // Partners get a key of their own on every level: the others are aligned between those that are in order.
  void pair_by_graph(std::vector<std::vector<uint64_t>>& keys_a, std::vector<std::vector<uint64_t>>& keys_b) {
    if (!has_flow(side_a_) || !has_flow(side_b_)) return;
    const auto [graph_a, graph_b] = graphs();
    const Partners partners = match_graphs(graph_a, graph_b);
    for (uint32_t a = 0; a < partners.size(); ++a) {
      const uint32_t b = partners[a];
      if (b == kNoOperator || (!taken_a_.empty() && taken_a_[a]) || (!taken_b_.empty() && taken_b_[b])) continue;
      pair(a, b, PairedBy::kNeighbours);
      const uint64_t key = mix_hash(name_hash("partners"), b);
      for (size_t level = 0; level < keys_a.size(); ++level) keys_a[level][a] = keys_b[level][b] = key;
    }
  }

  using RankPlaces = std::map<std::optional<int64_t>, std::vector<uint32_t>>;
  [[nodiscard]] RankPlaces by_rank(const std::vector<SequencedOp>& operators, const std::vector<bool>& taken) const {
    RankPlaces places;
    for (uint32_t i = 0; i < operators.size(); ++i) {
      if (taken.empty() || !taken[i]) places[counted(operators[i].rank, lone_rank_)].push_back(i);
    }
    return places;
  }

  static std::vector<std::vector<uint64_t>> chosen(const std::vector<std::vector<uint64_t>>& all,
                                                   const std::vector<uint32_t>& places) {
    if (places.size() == all.front().size()) return all;
    std::vector<std::vector<uint64_t>> levels(all.size());
    for (size_t level = 0; level < all.size(); ++level) {
      levels[level].reserve(places.size());
      for (const uint32_t place : places) levels[level].push_back(all[level][place]);
    }
    return levels;
  }

  // Numbers count calls: names that differ only in their numbers prove nothing.
  void by_names_left() {
    const auto is_left = [](uint32_t partner) { return partner == kNoOperator; };
    if (std::none_of(partner_of_a_.begin(), partner_of_a_.end(), is_left) ||
        std::none_of(partner_of_b_.begin(), partner_of_b_.end(), is_left))
      return;
    OpNames in_a(result_.a, lone_rank_, false), in_b(result_.b, lone_rank_, false);
    for (uint32_t a = 0; a < result_.a.size(); ++a) {
      if (partner_of_a_[a] != kNoOperator || (!taken_a_.empty() && taken_a_[a]) || !in_a.is_alone(a)) continue;
      const uint32_t b = in_b.find(result_.a[a]);
      if (b != kNoOperator && partner_of_b_[b] == kNoOperator) pair(a, b, PairedBy::kLeftName);
    }
  }

  // What the map says has no partner keeps none.
  void by_replacement() {
    if (map_ != nullptr || !has_flow(side_a_) || !has_flow(side_b_)) return;
    const auto [a, b] = graphs();
    for (const uint32_t op : pair_replaced({a.flow, partner_of_a_}, {b.flow, partner_of_b_}))
      how_[partner_of_a_[op]] = PairedBy::kReplaced;
  }

  // In the order of b; an operator of a alone follows its predecessor in a.
  void order_operators() {
    constexpr uint32_t kEnd = UINT32_MAX;
    std::vector<uint32_t> first(result_.b.size() + 1, kEnd), last(result_.b.size() + 1, kEnd);  // by place in b, plus 1
    std::vector<uint32_t> next(result_.a.size(), kEnd);
    uint32_t after = 0;
    for (uint32_t i = 0; i < result_.a.size(); ++i) {
      if (partner_of_a_[i] != kNoOperator) {
        after = partner_of_a_[i] + 1;
        continue;
      }
      (last[after] == kEnd ? first[after] : next[last[after]]) = i;
      last[after] = i;
    }
    result_.operators.reserve(result_.a.size() + result_.b.size());
    const auto add_alone = [&](size_t place) {
      for (uint32_t a = first[place]; a != kEnd; a = next[a])
        result_.operators.push_back({a, kNoOperator, PairedBy::kNothing, 0});
    };
    add_alone(0);
    for (uint32_t b = 0; b < result_.b.size(); ++b) {
      result_.operators.push_back({partner_of_b_[b], b, how_[b], confidence(how_[b])});
      add_alone(b + size_t{1});
    }
  }

  static double confidence(PairedBy how) {
    switch (how) {
      case PairedBy::kName: return 1;
      case PairedBy::kNeighbours: return 0.9;
      case PairedBy::kSequence: return 0.7;
      case PairedBy::kLeftName: return 0.5;
      case PairedBy::kUser: return 1;
      case PairedBy::kCompiler: return 0.9;
      case PairedBy::kValues: return 0.6;
      case PairedBy::kReplaced: return 0.8;
      case PairedBy::kNothing: return 0;
    }
    return 0;
  }

  const CompareSide &side_a_, &side_b_;
  const NameMap* map_;
  Pairing result_;
  bool lone_rank_ = false, lone_step_ = false;
  std::optional<GraphSide> graph_a_, graph_b_;  // as soon as one asks
  std::vector<uint32_t> partner_of_a_, partner_of_b_;
  std::vector<PairedBy> how_;            // by operator of b
  std::vector<bool> taken_a_, taken_b_;  // by the map; empty without one
};

}  // namespace

std::string_view explanation(PairedBy how) {
  static constexpr std::array<std::string_view, 9> kTexts = {"by name",
                                                             "by its neighbours in the graph",
                                                             "by its place in the sequence",
                                                             "by name alone",
                                                             "by --map",
                                                             "by what the compiler made of it",
                                                             "by their values",
                                                             "by its place, as another operator",
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
