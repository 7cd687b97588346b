#include "compare/match/pairing.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/containers.h"
#include "base/text.h"
#include "compare/match/alignment.h"
#include "compare/match/compared_scope.h"
#include "compare/match/device/device_pairing.h"
#include "compare/match/graph_match.h"
#include "compare/match/rename/name_map.h"
#include "compare/match/tensor_pairing.h"
#include "graph/lines/code_lines.h"
#include "graph/op_name.h"
#include "msprobe/names.h"
#include "tensor/shape.h"

namespace msdump {
namespace {

const Shape& shape_of(const CompareSide& side, RecordId tensor) {
  static const Shape none;
  const Shape* const shape = (*side.tensors)[tensor].shape;
  return shape == nullptr ? none : *shape;
}

bool is_single(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](int64_t dim) { return dim == 1; });
}

size_t comparable_operators(const CompareSide& side, const std::vector<SequencedOp>& operators,
                            const std::vector<bool>& outside) {
  size_t comparable = 0;
  for (size_t i = 0; i < operators.size(); ++i) {
    const std::vector<RecordId>& tensors = operators[i].tensors;
    const auto has_shape = [&](RecordId tensor) { return !is_single(shape_of(side, tensor)); };
    if (!outside[i] && std::any_of(tensors.begin(), tensors.end(), has_shape)) ++comparable;
  }
  return comparable;
}

// `outside` is true for operators that do not count.
Likeness likeness_of(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                     const Sides<std::vector<bool>>& outside) {
  Likeness result;
  result.comparable =
      std::min(comparable_operators(a, pairing.a, outside.a), comparable_operators(b, pairing.b, outside.b));
  OperatorId last;  // pairs of tensors are in the order of the operators
  for (const TensorPair& pair : pairing.tensors) {
    if (!pair.is_paired() || pair.op == last) continue;
    const Shape &shape = shape_of(a, pair.a), &other = shape_of(b, pair.b);
    if (is_single(shape) || (shape != other && without_ones(shape) != without_ones(other))) continue;
    ++result.alike;
    last = pair.op;
  }
  result.by_name = std::all_of(pairing.operators.begin(), pairing.operators.end(),
                               [](const OpPair& pair) { return pair.b == kNoId || pair.how == PairedBy::kName; });
  return result;
}

using Place = ComparedPlaces::Place;

class Pairer {
 public:
  Pairer(const CompareSide& a, const CompareSide& b, const NameMap* map)
      : side_a_(a), side_b_(b), map_(map != nullptr && map->renames() ? nullptr : map) {
    result_.a = operators_of(a);
    result_.b = operators_of(b);
    scope_ = compared_scope(a, b, result_);
    if (map != nullptr && map->renames())
      rename(result_.a, names_a_, [&](std::string_view name) { return map->path_renamed(name); });
    unwrap();
    result_.other_framework = is_pytorch(result_.a) != is_pytorch(result_.b);
    partner_of_b_.assign(result_.b.size(), kNoId);
    partner_of_a_.assign(result_.a.size(), kNoId);
    how_.assign(result_.b.size(), PairedBy::kNothing);
  }

  Pairing run() {
    if (map_ != nullptr) by_map();
    if (map_ != nullptr || !(by_names() || by_files())) {
      if (map_ == nullptr && names_a_.empty() && pair_with_device(result_, side_a_, side_b_, scope_.lone_step))
        return std::move(result_);
      by_position();
      by_names_left();
      pair_backward_calls();
      by_replacement();
    }
    return finish();
  }

  Pairing run(const Pairing& before, const std::vector<SequencedOpId>& partners) {
    result_.limits = before.limits;
    for (const OpPair& pair : before.operators) {
      if (pair.a == kNoId || partners[pair.a] == kNoId) continue;
      this->pair(pair.a, partners[pair.a], partners[pair.a] == pair.b ? pair.how : PairedBy::kValues);
    }
    return finish();
  }

 private:
  Pairing finish() {
    order_operators();
    restore(result_.a, names_a_);
    restore(result_.b, names_b_);
    result_.tensors.reserve(std::max(side_a_.tensors->size(), side_b_.tensors->size()));
    TensorPairer tensors(side_a_, side_b_, {map_, scope_.lone_step, result_.other_framework}, result_);
    for (OperatorId i{0}; i < result_.operators.size(); ++i) tensors.pair(i);
    result_.likeness = likeness_of(side_a_, side_b_, result_, scope_.outside);
    return std::move(result_);
  }

  // Renames the operators while they are paired; `names` keeps the true names for restore().
  template <class Renamed>
  static void rename(std::vector<SequencedOp>& operators, std::vector<SharedText>& names, const Renamed& renamed) {
    const bool first = names.empty();
    for (SequencedOp& one : operators) {
      if (first) names.push_back(one.name);
      one.name = renamed(one.name);
    }
  }
  static void restore(std::vector<SequencedOp>& operators, std::vector<SharedText>& names) {
    for (size_t i = 0; i < names.size(); ++i) operators[i].name = std::move(names[i]);
  }

  // Removes the wrappers that the modules of one side have, and those of the other do not.
  void unwrap() {
    const size_t a = wrappers_of(result_.a), b = wrappers_of(result_.b);
    const auto less = [](size_t wrappers) {
      return [wrappers](std::string_view name) { return without_wrappers(name, wrappers); };
    };
    if (map_ != nullptr || a == b) return;
    if (a > b) rename(result_.a, names_a_, less(a - b));
    if (b > a) rename(result_.b, names_b_, less(b - a));
  }

  void pair(SequencedOpId a, SequencedOpId b, PairedBy how) {
    partner_of_a_[a] = b;
    partner_of_b_[b] = a;
    how_[b] = how;
  }

  void unpair(SequencedOpId b) {
    if (b == kNoId || partner_of_b_[b] == kNoId) return;
    partner_of_a_[partner_of_b_[b]] = kNoId;
    partner_of_b_[b] = kNoId;
    how_[b] = PairedBy::kNothing;
  }

  std::pair<const GraphSide&, const GraphSide&> graphs() {
    if (!graph_a_) {
      graph_a_ = graph_side(side_a_, result_.a, scope_.places);
      graph_b_ = graph_side(side_b_, result_.b, scope_.places);
    }
    return {*graph_a_, *graph_b_};
  }

  Partners partners_by_graph() {
    (void)graphs();
    if (graph_a_->questions.empty())
      ask_graphs({side_a_, result_.a}, *graph_a_, {side_b_, result_.b}, *graph_b_, scope_.places);
    return match_graphs(*graph_a_, *graph_b_, result_.limits);
  }

  void by_map() {
    taken_a_.assign(result_.a.size(), false);
    taken_b_.assign(result_.b.size(), false);
    std::map<std::pair<Place, std::string>, SequencedOpId> named;
    for (SequencedOpId i{0}; i < result_.b.size(); ++i)
      named.try_emplace({scope_.places.of(result_.b[i]), normalised_op_name(result_.b[i].name)}, i);
    for (SequencedOpId i{0}; i < result_.a.size(); ++i) {
      const auto reference = map_->reference_of(result_.a[i].name);
      if (!reference) continue;
      taken_a_[i] = true;  // also if it is mapped to no partner
      auto found = named.find({scope_.places.of(result_.a[i]), normalised_op_name(*reference)});
      // msprobe's mapping of cells yields PyTorch's names.
      if (constexpr std::string_view kModule = "Module."; found == named.end() && reference->starts_with(kModule))
        found = named.find(
            {scope_.places.of(result_.a[i]), normalised_op_name("Cell." + reference->substr(kModule.size()))});
      if (reference->empty() || found == named.end() || taken_b_[found->second]) continue;
      taken_b_[found->second] = true;
      pair(i, found->second, PairedBy::kUser);
    }
  }

  // Pairs operators by name. False unless both sides have the same names, each once.
  bool by_names() {
    const auto named = partners_by_name();
    if (!named || !are_in_same_modules(*named) || lines_contradict(*named)) return false;
    const Partners partners = checked_by_graph(*named);
    for (SequencedOpId i{0}; i < partners.size(); ++i) {
      if (partners[i] == kNoId) continue;
      pair(i, partners[i], partners[i] == (*named)[i] ? PairedBy::kName : PairedBy::kNeighbours);
    }
    return true;
  }

  // Pairs a folder with the dump that it was made of: convert and check --golden keep the names of files, and the time stamps in
  // them. Files that have none, nor msprobe's record of their order, have nothing but their names. False unless each operator of one
  // side has its name in common with another operator of the other.
  bool by_files() {
    const bool part_is_a = result_.a.size() < result_.b.size();
    const CompareSide &part = part_is_a ? side_a_ : side_b_, &whole = part_is_a ? side_b_ : side_a_;
    const std::vector<SequencedOp>& of_part = part_is_a ? result_.a : result_.b;
    const std::vector<SequencedOp>& of_whole = part_is_a ? result_.b : result_.a;
    using FileName = std::tuple<std::string_view, Place, std::string_view, std::string_view>;
    const auto file_name = [&](const CompareSide& side, const SequencedOp& op, RecordId tensor) {
      const NameFacts& name = (*side.tensors)[tensor].name;
      return FileName(name.timestamp, scope_.places.of(op), name.op_type, name.op_name);
    };
    std::map<FileName, SequencedOpId> named;
    for (SequencedOpId i{0}; i < of_part.size(); ++i) {
      if (of_part[i].tensors.empty()) return false;
      const RecordId first = of_part[i].tensors.front();
      const TensorRecord& record = (*part.tensors)[first];
      if (record.name.timestamp.empty() && record.order != kNoOrder) return false;
      if (!named.try_emplace(file_name(part, of_part[i], first), i).second) return false;
    }
    Partners partners(of_part.size(), kNoId);
    size_t found = 0;
    for (SequencedOpId i{0}; i < of_whole.size(); ++i) {
      const auto is_named = [&](RecordId tensor) {
        const auto partner = named.find(file_name(whole, of_whole[i], tensor));
        if (partner == named.end() || partners[partner->second] != kNoId) return false;
        partners[partner->second] = i;
        return true;
      };
      found += std::any_of(of_whole[i].tensors.begin(), of_whole[i].tensors.end(), is_named) ? 1U : 0U;
    }
    if (found == 0 || found != of_part.size()) return false;
    for (SequencedOpId i{0}; i < partners.size(); ++i)
      part_is_a ? pair(i, partners[i], PairedBy::kName) : pair(partners[i], i, PairedBy::kName);
    return true;
  }

  // True for calls of msprobe, which have no data flow, on both sides.
  [[nodiscard]] bool are_calls() const { return !has_flow(side_a_) && !has_flow(side_b_); }

  // False if a call of msprobe is in another module than the call with its number: numbers count calls in their order.
  [[nodiscard]] bool are_in_same_modules(const Partners& partners) const {
    if (!are_calls()) return true;
    const auto all_of = [](const std::vector<SequencedOp>& operators) {
      std::vector<const SequencedOp*> all;
      for (const SequencedOp& one : operators) all.push_back(&one);
      return all;
    };
    const std::vector<uint64_t> in_a = modules_of(all_of(result_.a)), in_b = modules_of(all_of(result_.b));
    for (SequencedOpId i{0}; i < partners.size(); ++i) {
      if (partners[i] != kNoId && in_a[i] != in_b[partners[i]]) return false;
    }
    return true;
  }

  // True if a call was made by another line than the call with its name, and its own line makes as many of them on the other side.
  [[nodiscard]] bool lines_contradict(const Partners& partners) {
    if (!are_calls()) return false;
    const auto differ = [&](SequencedOpId a) {
      return partners[a] != kNoId && codes().a[a] != 0 && codes().b[partners[a]] != 0 &&
             codes().a[a] != codes().b[partners[a]];
    };
    std::vector<SequencedOpId> moved;
    for (SequencedOpId a{0}; a < partners.size(); ++a) {
      if (differ(a)) moved.push_back(a);
    }
    if (moved.empty()) return false;
    std::map<uint64_t, Sides<size_t>> counts;  // of the calls of each line
    const auto key = [&](Side side, SequencedOpId op) {
      const SequencedOp& one = result_.operators_of(side)[op];
      return scope_.places.hash_of(one, mix_hash(codes()[side][op], name_hash(name_without_numbers(one.name))));
    };
    for (const Side side : kBothSides) {
      for (SequencedOpId op{0}; op < result_.operators_of(side).size(); ++op) ++counts[key(side, op)][side];
    }
    return std::any_of(moved.begin(), moved.end(), [&](SequencedOpId a) {
      const Sides<size_t>& count = counts[key(Side::kCandidate, a)];
      return count.a == count.b;
    });
  }

  std::optional<Partners> partners_by_name() {
    const auto left_out = [](const std::vector<bool>& outside) {
      return std::count(outside.begin(), outside.end(), true);
    };
    const auto count_a = static_cast<std::ptrdiff_t>(result_.a.size()) - left_out(scope_.outside.a);
    if (count_a == 0 || count_a != static_cast<std::ptrdiff_t>(result_.b.size()) - left_out(scope_.outside.b))
      return std::nullopt;
    OpNames names(result_.b, scope_.outside.b, scope_.places, true);
    if (names.any_twice()) return std::nullopt;
    Partners partners(result_.a.size(), kNoId);
    std::vector<bool> taken(result_.b.size(), false);
    SequencedOpId next{0};  // usually the order is the same
    for (size_t i = 0; i < partners.size(); ++i) {
      if (scope_.outside.a[i]) continue;
      const SequencedOpId found = names.is_at(next, result_.a[i]) ? next : names.find(result_.a[i]);
      if (found == kNoId || taken[found]) return std::nullopt;
      taken[found] = true;
      partners[i] = found;
      next = SequencedOpId(found + 1);
    }
    return partners;
  }

  // The same names may be numbered differently, as save_graphs does. The graphs decide if they disagree less when paired
  // without names.
  [[nodiscard]] Partners checked_by_graph(const Partners& named) {
    if (!has_flow(side_a_) || !has_flow(side_b_)) return named;
    const auto [a, b] = graphs();
    const size_t of_names = disagreements(a, b, named);
    if (of_names == 0) return named;
    Partners partners = partners_by_graph();
    complete(partners, named);
    return disagreements(a, b, partners) < of_names ? partners : named;
  }

  // Pairs the operators that the graphs left: first those with the same name, then, in order, those whose names differ in
  // numbers. An operator is left without a partner if the graphs paired all that it could have.
  void complete(Partners& partners, const Partners& named) const {
    std::vector<bool> taken(partners.size(), false);
    for (const SequencedOpId partner : partners) {
      if (partner != kNoId) taken[partner] = true;
    }
    for (SequencedOpId i{0}; i < partners.size(); ++i) {
      if (partners[i] != kNoId || scope_.outside.a[i] || taken[named[i]]) continue;
      partners[i] = named[i];
      taken[named[i]] = true;
    }
    const auto key = [this](const SequencedOp& one) {
      return std::tuple(scope_.places.of(one), name_without_numbers(normalised_op_name(one.name)), one.type);
    };
    std::map<decltype(key(result_.b[0])), std::deque<SequencedOpId>> left;
    for (SequencedOpId i{0}; i < taken.size(); ++i) {
      if (!taken[i] && !scope_.outside.b[i]) left[key(result_.b[i])].push_back(i);
    }
    for (SequencedOpId i{0}; i < partners.size(); ++i) {
      if (partners[i] != kNoId || scope_.outside.a[i]) continue;
      std::deque<SequencedOpId>& same = left[key(result_.a[i])];
      if (same.empty()) continue;
      partners[i] = same.front();
      same.pop_front();
    }
  }

  void by_position() {
    all_keys_ = {alignment_keys(side_a_, result_.a), alignment_keys(side_b_, result_.b)};
    pair_by_graph(all_keys_.a, all_keys_.b);
    const ByPlace all_in_a = by_place(result_.a, taken_a_), all_in_b = by_place(result_.b, taken_b_);
    const bool calls = are_calls();
    for (const auto& [place, b] : all_in_b) {
      const auto found = all_in_a.find(place);
      if (found == all_in_a.end()) continue;
      if (calls) {
        align_calls(found->second, b);
      } else {
        align_operators(found->second, b, {chosen(all_keys_.a, found->second), chosen(all_keys_.b, b)});
      }
    }
  }

  void align_calls(const std::vector<SequencedOpId>& a, const std::vector<SequencedOpId>& b) {
    CallSequence calls_a = calls_at(Side::kCandidate, a), calls_b = calls_at(Side::kReference, b);
    for (const auto& [in_a, in_b] : pair_by_modules(calls_a, calls_b)) pair(a[in_a], b[in_b], PairedBy::kSequence);
    align_operators(a, b, {std::move(calls_a.keys), std::move(calls_b.keys)});
    for (const SequencedOpId call : a) {
      if (partner_of_a_[call] != kNoId && are_of_other_kinds(call, partner_of_a_[call])) unpair(partner_of_a_[call]);
    }
  }

  // True if one call counts and the other computes: a sum of indices is no partner of one of activations.
  [[nodiscard]] bool are_of_other_kinds(SequencedOpId a, SequencedOpId b) const {
    const auto computes = [](const CompareSide& side, const SequencedOp& call) -> std::optional<bool> {
      for (const RecordId tensor : call.tensors) {
        const NameFacts& name = (*side.tensors)[tensor].name;
        if (name.io == Io::kOutput) return kind_of(name.dtype) == DTypeKind::kFloat;
      }
      return std::nullopt;
    };
    const auto in_a = computes(side_a_, result_.a[a]), in_b = computes(side_b_, result_.b[b]);
    return in_a && in_b && *in_a != *in_b;
  }

  void align_operators(const std::vector<SequencedOpId>& a, const std::vector<SequencedOpId>& b,
                       const Sides<std::vector<std::vector<uint64_t>>>& keys) {
    // Only a data flow gives the keys of the first levels neighbours.
    const bool flow = has_flow(side_a_) && has_flow(side_b_);
    for (const AlignedPair& aligned : align(keys.a, keys.b, &result_.limits)) {
      if (partner_of_a_[a[aligned.a]] != kNoId || partner_of_b_[b[aligned.b]] != kNoId) continue;
      pair(a[aligned.a], b[aligned.b], flow && aligned.level < 2 ? PairedBy::kNeighbours : PairedBy::kSequence);
    }
  }

  using BackwardCalls = std::map<SequencedOpId, SequencedOpId>;  // by forward call
  [[nodiscard]] BackwardCalls backward_calls(Side side, const std::vector<SequencedOpId>& ops) const {
    const std::vector<SequencedOp>& operators = result_.operators_of(side);
    std::unordered_map<std::string_view, SequencedOpId> named;
    for (const SequencedOpId op : ops) named.try_emplace(operators[op].name, op);
    BackwardCalls backward;
    for (const SequencedOpId op : ops) {
      const auto entry = parse_msprobe_entry(operators[op].name);
      if (!entry || entry->kind != MsprobeEntryKind::kCall) continue;
      const auto forward = forward_entry_of(operators[op].name);
      const auto found = forward ? named.find(*forward) : named.end();
      if (found != named.end()) backward.try_emplace(found->second, op);
    }
    return backward;
  }

  // Gives backward calls the partners of their forward calls, and no others: modules count both passes apart.
  void pair_backward_calls() {
    if (!are_calls()) return;
    const ByPlace all_in_b = by_place(result_.b, taken_b_);
    for (const auto& [place, calls] : by_place(result_.a, taken_a_)) {
      const auto found = all_in_b.find(place);
      if (found == all_in_b.end()) continue;
      const BackwardCalls of_a = backward_calls(Side::kCandidate, calls);
      const BackwardCalls of_b = backward_calls(Side::kReference, found->second);
      std::set<SequencedOpId> backward_in_b;
      for (const auto& [forward, call] : of_b) backward_in_b.insert(call);
      for (const auto& [forward, call] : of_a) {
        const auto partner = of_b.find(partner_of_a_[forward]);
        const SequencedOpId before = partner_of_a_[call];
        if (partner == of_b.end()) {
          if (backward_in_b.contains(before)) unpair(before);
        } else if (before != partner->second) {
          unpair(before);
          unpair(partner->second);
          pair(call, partner->second, PairedBy::kSequence);
        }
      }
    }
  }

  CallSequence calls_at(Side side, const std::vector<SequencedOpId>& places) {
    CallSequence calls{chosen(all_keys_[side], places), {}, {}};
    for (const SequencedOpId at : places) {
      calls.operators.push_back(&result_.operators_of(side)[at]);
      calls.codes.push_back(codes()[side][at]);
    }
    return calls;
  }

  const Sides<std::vector<uint64_t>>& codes() {
    const auto codes_of = [](const CompareSide& side, const std::vector<SequencedOp>& operators) {
      std::vector<uint64_t> codes;
      for (const SequencedOp& one : operators) codes.push_back(side.code == nullptr ? 0 : side.code->key_of(one.op));
      return codes;
    };
    if (!codes_) codes_ = {codes_of(side_a_, result_.a), codes_of(side_b_, result_.b)};
    return *codes_;
  }

  // Gives partners a key of their own on every level, so that the others are aligned between those that are in order.
  void pair_by_graph(std::vector<std::vector<uint64_t>>& keys_a, std::vector<std::vector<uint64_t>>& keys_b) {
    if (!has_flow(side_a_) || !has_flow(side_b_)) return;
    const Partners partners = partners_by_graph();
    for (SequencedOpId a{0}; a < partners.size(); ++a) {
      const SequencedOpId b = partners[a];
      if (b == kNoId || (!taken_a_.empty() && taken_a_[a]) || (!taken_b_.empty() && taken_b_[b])) continue;
      pair(a, b, PairedBy::kNeighbours);
      const uint64_t key = mix_hash(name_hash("partners"), b);
      for (size_t level = 0; level < keys_a.size(); ++level) keys_a[level][a] = keys_b[level][b] = key;
    }
  }

  using ByPlace = std::map<Place, std::vector<SequencedOpId>>;
  [[nodiscard]] ByPlace by_place(const std::vector<SequencedOp>& operators, const std::vector<bool>& taken) const {
    ByPlace places;
    for (SequencedOpId i{0}; i < operators.size(); ++i) {
      if (taken.empty() || !taken[i]) places[scope_.places.of(operators[i])].push_back(i);
    }
    return places;
  }

  static std::vector<std::vector<uint64_t>> chosen(const std::vector<std::vector<uint64_t>>& all,
                                                   const std::vector<SequencedOpId>& places) {
    if (places.size() == all.front().size()) return all;
    std::vector<std::vector<uint64_t>> levels(all.size());
    for (size_t level = 0; level < all.size(); ++level) {
      levels[level].reserve(places.size());
      for (const SequencedOpId place : places) levels[level].push_back(all[level][place]);
    }
    return levels;
  }

  // Pairs names without numbers that occur once on each side. Numbers count calls and prove nothing.
  void by_names_left() {
    const auto is_left = [](SequencedOpId partner) { return partner == kNoId; };
    if (std::none_of(partner_of_a_.begin(), partner_of_a_.end(), is_left) ||
        std::none_of(partner_of_b_.begin(), partner_of_b_.end(), is_left))
      return;
    const bool calls = are_calls();
    OpNames in_a(result_.a, scope_.outside.a, scope_.places, false),
        in_b(result_.b, scope_.outside.b, scope_.places, false);
    for (SequencedOpId a{0}; a < result_.a.size(); ++a) {
      if (partner_of_a_[a] != kNoId || scope_.outside.a[a] || (!taken_a_.empty() && taken_a_[a]) || !in_a.is_alone(a))
        continue;
      if (is_numbered_constant(result_.a[a])) continue;
      const SequencedOpId b = in_b.find(result_.a[a]);
      if (b == kNoId || partner_of_b_[b] != kNoId || (calls && are_of_other_kinds(a, b))) continue;
      pair(a, b, PairedBy::kLeftName);
    }
  }

  // Pairs operators that stand in each other's place. Without effect if there is a map: what it gives no partner keeps none.
  void by_replacement() {
    if (map_ != nullptr || !has_flow(side_a_) || !has_flow(side_b_)) return;
    const auto [a, b] = graphs();
    for (const uint32_t op : pair_replaced({a.flow, partner_of_a_}, {b.flow, partner_of_b_}, result_.limits))
      how_[partner_of_a_[op]] = PairedBy::kReplaced;
  }

  // Lists the pairs in the order of b; an operator of a alone follows its predecessor in a.
  void order_operators() {
    std::vector<SequencedOpId> first(result_.b.size() + 1), last(result_.b.size() + 1);  // by index in b, plus 1
    std::vector<SequencedOpId> next(result_.a.size());
    uint32_t after = 0;
    for (SequencedOpId i{0}; i < result_.a.size(); ++i) {
      if (partner_of_a_[i] != kNoId) {
        after = partner_of_a_[i] + 1;
        continue;
      }
      (last[after] == kNoId ? first[after] : next[last[after]]) = i;
      last[after] = i;
    }
    const auto alone = std::count(partner_of_a_.begin(), partner_of_a_.end(), SequencedOpId());
    result_.operators.reserve(static_cast<size_t>(alone) + result_.b.size());
    const auto add_alone = [&](size_t place) {
      for (SequencedOpId a = first[place]; a != kNoId; a = next[a]) result_.operators.push_back({{a, kNoId}});
    };
    add_alone(0);
    for (SequencedOpId b{0}; b < result_.b.size(); ++b) {
      result_.operators.push_back({{partner_of_b_[b], b}, how_[b], confidence(how_[b])});
      add_alone(b + size_t{1});
    }
  }

  const CompareSide &side_a_, &side_b_;
  const NameMap* map_;
  Pairing result_;
  ComparedScope scope_;
  std::optional<GraphSide> graph_a_, graph_b_;          // made when they are first needed
  std::optional<Sides<std::vector<uint64_t>>> codes_;   // likewise
  Sides<std::vector<std::vector<uint64_t>>> all_keys_;  // alignment_keys(), by position
  std::vector<SequencedOpId> partner_of_a_, partner_of_b_;
  std::vector<PairedBy> how_;                  // by operator of b
  std::vector<SharedText> names_a_, names_b_;  // before they were renamed; empty if they were not
  std::vector<bool> taken_a_, taken_b_;        // by the map; empty without one
};

}  // namespace

std::string_view explanation(PairedBy how) {
  static constexpr auto kTexts = enum_table<PairedBy, std::string_view>(
      "by name", "by its neighbours in the graph", "by its place in the sequence", "by name alone", "by --map",
      "by what the compiler made of it", "by their values", "by its place, as another operator", "by name, renamed",
      "no partner");
  return kTexts[how];
}

double confidence(PairedBy how) {
  switch (how) {
    case PairedBy::kName: return 1;
    case PairedBy::kNeighbours: return 0.9;
    case PairedBy::kSequence: return 0.7;
    case PairedBy::kLeftName: return 0.5;
    case PairedBy::kUser: return 1;
    case PairedBy::kCompiler: return 0.9;
    case PairedBy::kValues: return 0.6;
    case PairedBy::kReplaced: return 0.8;
    case PairedBy::kRenamed: return 0.9;
    case PairedBy::kNothing: return 0;
  }
  return 0;
}

std::vector<bool> alone_for_known_reason(const Pairing& pairing) {
  std::vector<bool> alone(pairing.operators.size(), false);
  for (const TensorPair& pair : pairing.tensors) {
    if (pair.alone != Alone::kUnknown) alone[pair.op] = true;
  }
  return alone;
}

Pairing pair_sides(const CompareSide& a, const CompareSide& b, const NameMap* map) { return Pairer(a, b, map).run(); }

Pairing pair_again(const CompareSide& a, const CompareSide& b, const Pairing& before,
                   const std::vector<SequencedOpId>& partners) {
  return Pairer(a, b, nullptr).run(before, partners);
}

Pairing pair_single(const CompareSide& a, const CompareSide& b) {
  Pairing pairing;
  pairing.a = operators_of(a);
  pairing.b = operators_of(b);
  const auto with_tensor = [](const std::vector<SequencedOp>& operators) {
    const auto found =
        std::find_if(operators.begin(), operators.end(), [](const SequencedOp& one) { return !one.tensors.empty(); });
    return SequencedOpId(found - operators.begin());
  };
  pairing.operators.push_back({{with_tensor(pairing.a), with_tensor(pairing.b)}, PairedBy::kName, 1});
  pairing.tensors.push_back({{RecordId(0), RecordId(0)}, OperatorId(0)});
  return pairing;
}

}  // namespace msdump
