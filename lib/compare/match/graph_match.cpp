#include "compare/match/graph_match.h"

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/containers.h"
#include "compare/limits.h"
#include "compare/match/op_sequence.h"
#include "compare/sample/tensor_samples.h"
#include "graph/arguments/questions.h"

namespace msdump {

OpNames::OpNames(const std::vector<SequencedOp>& operators, const std::vector<bool>& left_out, ComparedPlaces places,
                 bool numbered)
    : operators_(operators), compared_(places), numbered_(numbered), places_(operators.size()) {
  named_.reserve(operators.size());
  for (SequencedOpId i{0}; i < operators.size(); ++i) {
    if (left_out[i]) continue;
    const uint32_t found = places_.find_or_add(hash_of(operators[i]), static_cast<uint32_t>(named_.size()),
                                               [&](uint32_t named) { return is_same(named, operators[i]); });
    if (found == named_.size()) {
      named_.push_back({i, false});
    } else {
      named_[found].several = several_ = true;
    }
  }
}

SequencedOpId OpNames::find(const SequencedOp& one) {
  const uint32_t found = places_.find(hash_of(one), [&](uint32_t named) { return is_same(named, one); });
  return found == HashSlots::kNone || named_[found].several ? kNoId : named_[found].place;
}

uint64_t OpNames::hash_of(const SequencedOp& one) {
  name_.assign(numbered_ ? std::string_view(one.name) : (plain_ = name_without_numbers(one.name)));
  return compared_.hash_of(one, mix_hash(name_hash(name_.full()), name_hash(one.type)));
}

bool OpNames::is_equal(const SequencedOp& a, const SequencedOp& b) const {
  if (a.type != b.type || compared_.of(a) != compared_.of(b)) return false;
  return numbered_ ? same_name(a.name, b.name) : same_name(name_without_numbers(a.name), name_without_numbers(b.name));
}

namespace {

struct KeyedOp {
  uint64_t key = 0;
  SequencedOpId op;
  bool operator<(const KeyedOp& other) const { return key != other.key ? key < other.key : op < other.op; }
};

class GraphMatcher {
 public:
  GraphMatcher(const GraphSide& a, const GraphSide& b)
      : a_(a), b_(b), partner_of_a_(a.kinds.size(), kNoId), partner_of_b_(b.kinds.size(), kNoId) {}

  Partners run(ReachedLimits& limits) {
    pair_questions();
    for (size_t round = 0;; ++round) {
      if (round == kMostRounds) {
        limits.insert(
            {"graph_rounds", kMostRounds, "graphs were matched in so many rounds, and further ones might go on"});
        break;
      }
      const size_t before = paired_;
      for (int circles = 2; circles >= 0; --circles) pair_equal(circles, true);
      if (paired_ == before) pair_equal(2, false);
      if (paired_ == before) break;
    }
    return std::move(partner_of_a_);
  }

 private:
  void pair_questions() {
    const auto asked = [](const GraphSide& side) {
      std::vector<KeyedOp> ops;
      for (SequencedOpId op{0}; op < side.questions.size(); ++op) {
        if (side.questions[op] != 0) ops.push_back({side.questions[op], op});
      }
      std::sort(ops.begin(), ops.end());
      return ops;
    };
    const std::vector<KeyedOp> a = asked(a_), b = asked(b_);
    for_each_key(a, b, [&](std::span<const KeyedOp> in_a, std::span<const KeyedOp> in_b) {
      if (in_a.size() == 1 && in_b.size() == 1) join(in_a.front().op, in_b.front().op);
    });
    spread();
    // Operators with one question are told apart by their readers, which spread() followed. The rest is paired in order.
    for_each_key(a, b, [&](std::span<const KeyedOp> in_a, std::span<const KeyedOp> in_b) {
      auto next = in_b.begin();
      for (const KeyedOp& one : in_a) {
        if (partner_of_a_[one.op] != kNoId) continue;
        next = std::find_if(next, in_b.end(), [&](const KeyedOp& other) { return partner_of_b_[other.op] == kNoId; });
        if (next == in_b.end()) return;
        join(one.op, next->op);
      }
    });
    spread();
  }

  void pair_equal(int circles, bool lone) {
    const std::vector<KeyedOp> a = unpaired(a_, partner_of_a_, circles, [](SequencedOpId op) { return op; });
    const std::vector<KeyedOp> b =
        unpaired(b_, partner_of_b_, circles, [this](SequencedOpId op) { return partner_of_b_[op]; });
    for_each_key(a, b, [&](std::span<const KeyedOp> in_a, std::span<const KeyedOp> in_b) {
      if (in_a.size() != in_b.size() || (lone && in_a.size() > 1)) return;
      pair(in_a.front().op, in_b.front().op);
      spread();
    });
  }

  // The operators without a partner, keyed by their kind and `circles` rounds of neighbours. `number` gives a paired
  // operator the number that it shares with its partner.
  template <class Number>
  static std::vector<KeyedOp> unpaired(const GraphSide& side, const Partners& partners, int circles,
                                       const Number& number) {
    std::vector<uint64_t> keys(side.kinds);
    for (SequencedOpId op{0}; op < keys.size(); ++op) {
      if (partners[op] != kNoId) keys[op] = mix_hash(number(op), keys[op]);
    }
    for (int circle = 0; circle < circles; ++circle) keys = side.flow.with_neighbours(keys);
    std::vector<KeyedOp> ops;
    for (SequencedOpId op{0}; op < keys.size(); ++op) {
      if (partners[op] == kNoId && (circles > 0 || reads_weight(side, op))) ops.push_back({keys[op], op});
    }
    std::sort(ops.begin(), ops.end());
    return ops;
  }

  static bool reads_weight(const GraphSide& side, SequencedOpId op) {
    const auto parameters = side.flow.parameters(op);
    return std::any_of(parameters.begin(), parameters.end(), [](const auto& one) { return one.is_weight; });
  }

  // Calls visit(operators of a, operators of b) for each key that both sides have.
  template <class Visit>
  static void for_each_key(std::span<const KeyedOp> a, std::span<const KeyedOp> b, const Visit& visit) {
    while (!a.empty() && !b.empty()) {
      const uint64_t key = std::min(a.front().key, b.front().key);
      const auto take = [key](std::span<const KeyedOp>& ops) {
        const auto end = std::find_if(ops.begin(), ops.end(), [&](const KeyedOp& one) { return one.key != key; });
        const auto taken = ops.first(static_cast<size_t>(end - ops.begin()));
        ops = ops.subspan(taken.size());
        return taken;
      };
      const auto in_a = take(a), in_b = take(b);
      if (!in_a.empty() && !in_b.empty()) visit(in_a, in_b);
    }
  }

  void pair(SequencedOpId a, SequencedOpId b) {
    if (partner_of_a_[a] == kNoId && partner_of_b_[b] == kNoId && a_.kinds[a] == b_.kinds[b]) join(a, b);
  }

  void join(SequencedOpId a, SequencedOpId b) {
    partner_of_a_[a] = b;
    partner_of_b_[b] = a;
    ++paired_;
    fresh_.emplace_back(a, b);
  }

  void spread() {
    while (!fresh_.empty()) {
      const auto [a, b] = fresh_.back();
      fresh_.pop_back();
      const auto in_a = a_.flow.producers(a), in_b = b_.flow.producers(b);
      for (auto x = in_a.begin(), y = in_b.begin(); x != in_a.end() && y != in_b.end();) {
        if (x->slot == y->slot) pair(x->op, y->op);
        const bool next_a = x->slot <= y->slot, next_b = y->slot <= x->slot;
        x += next_a ? 1 : 0;
        y += next_b ? 1 : 0;
      }
      const auto readers_a = readers(a_, partner_of_a_, a), readers_b = readers(b_, partner_of_b_, b);
      for_each_key(readers_a, readers_b, [&](std::span<const KeyedOp> of_a, std::span<const KeyedOp> of_b) {
        if (of_a.size() == 1 && of_b.size() == 1) pair(of_a.front().op, of_b.front().op);
      });
    }
  }

  static std::vector<KeyedOp> readers(const GraphSide& side, const Partners& partners, SequencedOpId op) {
    std::vector<KeyedOp> found;
    for (const SequencedOpId reader : side.flow.consumers(op)) {
      if (partners[reader] == kNoId) found.push_back({side.kinds[reader], reader});
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end(), [](auto& x, auto& y) { return x.op == y.op; }), found.end());
    return found;
  }

  const GraphSide &a_, &b_;
  Partners partner_of_a_, partner_of_b_;
  size_t paired_ = 0;
  std::vector<std::pair<SequencedOpId, SequencedOpId>> fresh_;
};

SameValues sampled_constants(const GraphSource& source) {
  SameValues values;
  TensorSamples samples(*source.side.index, *source.side.tensors);
  for (const SequencedOp& one : source.operators) {
    if (one.op == kNoId || one.tensors.empty()) continue;
    for (const InputEdge& edge : inputs_of(*source.side.graph, one.op)) {
      if (edge.from != InputEdge::From::kConstant || edge.constant.find("[...]") == std::string_view::npos) continue;
      const std::string slot = std::to_string(edge.slot);
      const auto dumped = std::find_if(one.tensors.begin(), one.tensors.end(), [&](RecordId tensor) {
        const NameFacts& name = (*source.side.tensors)[tensor].name;
        return name.io == Io::kInput && name.slot == slot;
      });
      if (dumped == one.tensors.end()) continue;
      const TensorSamples::Sample& sample = samples.of(*dumped);
      if (sample.values.empty()) continue;
      uint64_t hash = static_cast<uint64_t>(sample.count);
      for (const double value : sample.values) hash = mix_hash(hash, std::bit_cast<uint64_t>(value));
      values.try_emplace({one.op, edge.slot}, hash);
    }
  }
  return values;
}

}  // namespace

Sides<SameValues> unprinted_constants(const GraphSource& a, const GraphSource& b) {
  Sides<SameValues> constants = {sampled_constants(a), sampled_constants(b)};
  const auto values_of = [](const SameValues& values) {
    std::unordered_set<uint64_t> all;
    for (const auto& [place, value] : values) all.insert(value);
    return all;
  };
  const std::unordered_set<uint64_t> in_a = values_of(constants.a), in_b = values_of(constants.b);
  std::erase_if(constants.a, [&](const auto& one) { return in_b.count(one.second) == 0; });
  std::erase_if(constants.b, [&](const auto& one) { return in_a.count(one.second) == 0; });
  return constants;
}

GraphSide graph_side(const CompareSide& side, const std::vector<SequencedOp>& operators, ComparedPlaces places) {
  GraphSide result{SequenceFlow(side, operators), kinds_of(side, operators), {}};
  for (SequencedOpId op{0}; op < operators.size(); ++op) {
    uint64_t& kind = result.kinds[op];
    for (const auto& [slot, name, is_weight] : result.flow.parameters(op)) kind = mix_hash(mix_hash(kind, slot), name);
    kind = places.hash_of(operators[op], kind);
  }
  return result;
}

void ask_graphs(const GraphSource& of_a, GraphSide& a, const GraphSource& of_b, GraphSide& b, ComparedPlaces places) {
  if (!a.flow.known() || !b.flow.known() || !of_one_compiler(*of_a.side.graph, *of_b.side.graph)) return;
  const QuestionTerms terms = common_terms(*of_a.side.graph, *of_b.side.graph);
  const Sides<SameValues> constants = unprinted_constants(of_a, of_b);
  const auto ask = [&](const GraphSource& source, GraphSide& side, const SameValues& known) {
    const GraphQuestions questions(*source.side.graph, terms, known);
    side.questions.assign(source.operators.size(), 0);
    for (SequencedOpId op{0}; op < source.operators.size(); ++op) {
      const SequencedOp& one = source.operators[op];
      if (one.op != kNoId) side.questions[op] = places.hash_of(one, questions.of(one.op));
    }
  };
  ask(of_a, a, constants.a);
  ask(of_b, b, constants.b);
}

Partners match_graphs(const GraphSide& a, const GraphSide& b, ReachedLimits& limits) {
  if (!a.flow.known() || !b.flow.known()) return Partners(a.kinds.size(), kNoId);
  return GraphMatcher(a, b).run(limits);
}

size_t disagreements(const GraphSide& a, const GraphSide& b, const Partners& partners) {
  size_t inputs = 0, agreeing = 0, kinds = 0;
  for (SequencedOpId op{0}; op < partners.size(); ++op) {
    const SequencedOpId partner = partners[op];
    if (partner == kNoId) continue;
    if (a.kinds[op] != b.kinds[partner]) ++kinds;
    const auto in_a = a.flow.producers(op), in_b = b.flow.producers(partner);
    inputs += in_a.size() + in_b.size();
    for (auto x = in_a.begin(), y = in_b.begin(); x != in_a.end() && y != in_b.end();) {
      const bool next_a = x->slot <= y->slot, next_b = y->slot <= x->slot;
      if (next_a && next_b && partners[x->op] == y->op) agreeing += 2;
      x += next_a ? 1 : 0;
      y += next_b ? 1 : 0;
    }
  }
  return inputs - agreeing + kinds;
}

namespace {

// The numbers of neighbours that two operators have in common.
struct Common {
  size_t producers = 0, readers = 0;
};

// The operator of `to` without a partner in the place of `op` of `from`; kNoId if there is none, or several.
SequencedOpId in_place_of(const PairedSide& from, const PairedSide& to, SequencedOpId op, ReachedLimits& limits) {
  std::map<SequencedOpId, Common> found;
  bool has_more = false;
  for (const auto& [slot, producer] : from.flow.producers(op)) {
    const SequencedOpId partner = from.partners[producer];
    if (partner == kNoId) continue;
    if (to.flow.consumers(partner).size() > kMostTried) {
      has_more = true;
      continue;
    }
    for (const SequencedOpId reader : to.flow.consumers(partner)) {
      if (to.partners[reader] == kNoId) ++found[reader].producers;
    }
  }
  for (const SequencedOpId reader : from.flow.consumers(op)) {
    const SequencedOpId partner = from.partners[reader];
    if (partner == kNoId) continue;
    if (to.flow.producers(partner).size() > kMostTried) {
      has_more = true;
      continue;
    }
    for (const auto& [slot, producer] : to.flow.producers(partner)) {
      if (to.partners[producer] == kNoId) ++found[producer].readers;
    }
  }
  const bool is_first = from.flow.producers(op).empty(), is_last = from.flow.consumers(op).empty();
  SequencedOpId best;
  size_t most = 0;
  for (const auto& [other, common] : found) {
    if (common.producers == 0 && !(is_first && to.flow.producers(other).empty())) continue;
    if (common.readers == 0 && !(is_last && to.flow.consumers(other).empty())) continue;
    const size_t both = common.producers + common.readers;
    if (both == most) best = kNoId;
    if (both > most) best = other;
    most = std::max(most, both);
  }
  if (has_more && best == kNoId) {
    limits.insert({"replaced_neighbours", kMostTried,
                   "an operator in the place of another was not looked for among all readers of a tensor"});
  }
  return best;
}

}  // namespace

std::vector<SequencedOpId> pair_replaced(const PairedSide& a, const PairedSide& b, ReachedLimits& limits) {
  std::vector<SequencedOpId> left;
  for (SequencedOpId i{0}; i < a.partners.size(); ++i) {
    if (a.partners[i] == kNoId) left.push_back(i);
  }
  std::vector<SequencedOpId> replaced;
  for (size_t round = 0;; ++round) {
    if (round == kMostRounds) {
      limits.insert(
          {"replaced_rounds", kMostRounds,
           "operators in the place of others were looked for in so many rounds, and further ones might go on"});
      break;
    }
    const size_t paired = std::erase_if(left, [&](SequencedOpId op) {
      const SequencedOpId other = in_place_of(a, b, op, limits);
      if (other == kNoId || in_place_of(b, a, other, limits) != op) return false;
      a.partners[op] = other;
      b.partners[other] = op;
      replaced.push_back(op);
      return true;
    });
    if (paired == 0) break;
  }
  return replaced;
}

}  // namespace msdump
