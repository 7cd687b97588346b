#include "compare/match/cut/cut_pairing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "base/hash_slots.h"
#include "base/numbers.h"
#include "base/text.h"
#include "compare/match/op_sequence.h"
#include "compare/pair/tensor_diff.h"
#include "dump/elements/host_tensor.h"
#include "graph/flow/communication.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

constexpr double kCertain = 0.8;              // confidence
constexpr double kLike = 0.9, kUnlike = 0.6;  // agreement
constexpr size_t kMostTried = 64;             // operators for one
constexpr size_t kMostTrials = 4000;          // of a run: where nothing fits, nothing will
constexpr size_t kMostFactors = 16;
constexpr size_t kMostDifferent = 8;  // copies of a tensor

std::vector<int64_t> known_ranks(const std::vector<int64_t>& ranks) {
  std::vector<int64_t> known = ranks;
  std::erase_if(known, [](int64_t rank) { return rank < 0; });
  return known;
}

std::vector<double> only(double factor) { return factor == 1 ? std::vector<double>() : std::vector<double>{factor}; }

class CutPairer {
 public:
  CutPairer(const CompareSide& a, const CompareSide& b, const LayoutRules* layouts, const RunContext& context)
      : context_(context), layouts_(layouts), whole_a_(a), whole_b_(b), index_a_(a.index), index_b_(b.index) {
    result_.a = std::make_unique<CutSide>(a);
    result_.b = std::make_unique<CutSide>(b);
  }

  Result<PairedCuts> run(const NameMap* map) {
    result_.pairing = pair_sides(result_.a->side(), result_.b->side(), map);
    MSDUMP_CHECK_OK(find_layouts());
    MSDUMP_CHECK_OK(split_experts(map));
    const CompareSide a = result_.a->side(), b = result_.b->side();
    if (map == nullptr) {
      MSDUMP_TRY(const std::vector<uint32_t> partners, partners_by_values());
      result_.pairing = pair_again(a, b, result_.pairing, partners);
      MSDUMP_CHECK_OK(find_layouts());
    }
    result_.pairing.of_cuts = true;
    result_.pairing.likeness = {};
    result_.pairing.likeness.by_name = true;  // shapes tell nothing here
    MSDUMP_CHECK_OK(pair_collectives());
    MSDUMP_CHECK_OK(put_together());
    return std::move(result_);
  }

 private:
  // One of the sides, and the other.
  struct Cut {
    CutSide *own, *other;
    const DumpIndex *own_index, *other_index;
    bool of_a;
    [[nodiscard]] uint32_t own_of(const TensorPair& pair) const { return of_a ? pair.a : pair.b; }
    [[nodiscard]] uint32_t other_of(const TensorPair& pair) const { return of_a ? pair.b : pair.a; }
    [[nodiscard]] uint32_t own_of(const OpPair& pair) const { return of_a ? pair.a : pair.b; }
  };

  [[nodiscard]] bool paired(const TensorPair& pair) const { return pair.a != kNoTensor && pair.b != kNoTensor; }

  [[nodiscard]] CutQuestion question_of(const TensorPair& pair) const {
    const TensorRecord &a = result_.a->tensors()[pair.a], &b = result_.b->tensors()[pair.b];
    CutQuestion question;
    question.kind = fmt::format("{}|{}|{}", name_without_numbers(a.name.op_name), name_of(a.name.io), a.name.slot);
    for (const TensorRecord* const one : {&a, &b})
      question.kind += one->shape == nullptr ? "|" : "|" + describe(*one->shape);
    const auto entry = parse_msprobe_entry(a.name.op_name);
    const bool reduced = entry && entry->kind == MsprobeEntryKind::kParameterGradients;  // by now, if they are at all
    if (!reduced && forward_entry_of(a.name.op_name)) {
      question.factors_a = factors_a_;
      question.factors_b = factors_b_;
    }
    return question;
  }

  [[nodiscard]] std::optional<CutFit> fit_of(const TensorPair& pair, CutQuestion::Effort effort) const {
    PieceValues a(*index_a_, result_.a->members(pair.a).records), b(*index_b_, result_.b->members(pair.b).records);
    CutQuestion question = question_of(pair);
    question.effort = effort;
    return find_stated(a, b, question, stated_of(true, pair.a), stated_of(false, pair.b));
  }

  // ---- what the user knows

  // The line of the file for a tensor that lies on several ranks, and its layout, if so many ranks can have it.
  struct Stated {
    const StatedLayout* line = nullptr;
    std::optional<CutLayout> layout;
  };

  [[nodiscard]] Stated stated_of(bool of_a, uint32_t tensor) const {
    const CutSide& side = of_a ? *result_.a : *result_.b;
    const std::vector<int64_t>& ranks = side.ranks(tensor);
    if (layouts_ == nullptr || ranks.size() < 2) return {};
    const NameFacts& name = side.tensors()[tensor].name;
    const StatedLayout* const line = layouts_->layout_of({name.op_name, name.io, name.slot, ranks, !of_a});
    if (line == nullptr) return {};
    return {line, layout_for(*line, static_cast<int64_t>(ranks.size()))};
  }

  // One that does not fit the shapes is told when all are paired.
  [[nodiscard]] std::optional<CutFit> find_stated(PieceValues& a, PieceValues& b, CutQuestion question,
                                                  const Stated& of_a, const Stated& of_b) const {
    question.stated_a = of_a.layout;
    question.stated_b = of_b.layout;
    std::optional<CutFit> fit = find_layout(a, b, question, prior_);
    if (fit || (!of_a.layout && !of_b.layout)) return fit;
    question.stated_a.reset();
    question.stated_b.reset();
    return find_layout(a, b, question, prior_);
  }

  [[nodiscard]] std::string problem_of(bool of_a, uint32_t tensor, const CutFit* fit) const {
    const Stated stated = stated_of(of_a, tensor);
    if (stated.line == nullptr) return {};
    if (fit != nullptr && stated.layout && *stated.layout == (of_a ? fit->a : fit->b)) return {};
    const CutSide& side = of_a ? *result_.a : *result_.b;
    const Shape* const shape = side.tensors()[tensor].shape;
    return fmt::format("{}:{}: {} does not fit {} on ranks {}", layouts_->path(), stated.line->line, stated.line->text,
                       shape == nullptr ? "a tensor" : describe(*shape), text_of_ranks(side.ranks(tensor)));
  }

  // ---- operators that are paired by their place, but not by their values

  // By operator of the pairing: do its tensors fit?
  [[nodiscard]] std::vector<bool> operators_that_fit() const {
    std::vector<bool> fit(result_.pairing.operators.size(), true);
    for (size_t i = 0; i < fits_.size(); ++i) {
      const TensorPair& pair = result_.pairing.tensors[i];
      if (paired(pair) && (!fits_[i] || fits_[i]->agreement < kUnlike)) fit[pair.op] = false;
    }
    for (size_t i = 0; i < fit.size(); ++i) {
      const OpPair& pair = result_.pairing.operators[i];
      fit[i] = fit[i] && pair.a != kNoOperator && pair.b != kNoOperator;
    }
    return fit;
  }

  // By operator of the candidate. Where the tensors of two partners do not fit, or there is none, another one of the
  // type nearby whose tensors all do.
  Result<std::vector<uint32_t>> partners_by_values() {
    allow_all_factors();  // those of wrong partners say nothing
    const Pairing& pairing = result_.pairing;
    std::vector<uint32_t> partners(pairing.a.size(), kNoOperator);
    std::vector<bool> taken(pairing.b.size(), false);
    using Kind = std::tuple<std::string_view, std::optional<int64_t>, bool>;  // type, step, backward
    std::map<Kind, std::vector<uint32_t>> open_b;
    std::vector<uint32_t> open_a;
    const std::vector<bool> fit = operators_that_fit();
    for (size_t i = 0; i < fit.size(); ++i) {
      const OpPair& pair = pairing.operators[i];
      if (pair.a != kNoOperator) partners[pair.a] = pair.b;
      if (fit[i]) continue;
      if (pair.a != kNoOperator) open_a.push_back(pair.a);
      if (pair.b != kNoOperator) open_b[kind_of(pairing.b[pair.b])].push_back(pair.b);
    }
    std::vector<uint32_t> owner(pairing.b.size(), kNoOperator);
    for (uint32_t a = 0; a < partners.size(); ++a) {
      if (partners[a] != kNoOperator) owner[partners[a]] = a;
    }
    size_t trials = 0;
    std::map<Kind, size_t> next;  // where the search begins: partners mostly come in order
    for (const uint32_t a : open_a) {
      MSDUMP_CHECK_OK(context_.cancel.check());
      const auto found = open_b.find(kind_of(pairing.a[a]));
      if (found == open_b.end()) continue;
      const std::vector<uint32_t>& choice = found->second;
      size_t& begin = next[found->first];
      for (size_t tried = 0; tried < std::min(choice.size(), kMostTried); ++tried) {
        const size_t place = (begin + tried) % choice.size();
        const uint32_t b = choice[place];
        if (taken[b] || ++trials > kMostTrials || !all_fit(pairing.a[a], pairing.b[b])) continue;
        if (owner[b] != kNoOperator && owner[b] != a) partners[owner[b]] = kNoOperator;
        if (partners[a] != kNoOperator && owner[partners[a]] == a) owner[partners[a]] = kNoOperator;
        partners[a] = b;
        owner[b] = a;
        taken[b] = true;
        begin = place + 1;
        break;
      }
    }
    pair_between(partners);
    part_others(partners);
    return partners;
  }

  // Two calls whose tensors no layout makes wholes of one shape are not the same, whatever their places are.
  void part_others(std::vector<uint32_t>& partners) const {
    const Pairing& pairing = result_.pairing;
    const auto slot_of = [](const TensorRecord& record) {
      return std::tuple(record.name.io, record.name.slot, record.occurrence);
    };
    for (uint32_t a = 0; a < partners.size(); ++a) {
      if (partners[a] == kNoOperator) continue;
      for (const uint32_t x : pairing.a[a].tensors) {
        for (const uint32_t y : pairing.b[partners[a]].tensors) {
          const TensorRecord &one = result_.a->tensors()[x], &other = result_.b->tensors()[y];
          if (slot_of(one) != slot_of(other) || step_of(*index_a_, one) != step_of(*index_b_, other)) continue;
          PieceValues values_a(*index_a_, result_.a->members(x).records),
              values_b(*index_b_, result_.b->members(y).records);
          if (!values_a.ok() || !values_b.ok() || fit_of({0, x, y}, CutQuestion::Effort::kQuick)) continue;
          partners[a] = kNoOperator;
          break;
        }
        if (partners[a] == kNoOperator) break;
      }
    }
  }

  // What is left: the same kind between the same partners.
  void pair_between(std::vector<uint32_t>& partners) const {
    const Pairing& pairing = result_.pairing;
    std::vector<bool> taken(pairing.b.size(), false);
    for (const uint32_t b : partners) {
      if (b != kNoOperator) taken[b] = true;
    }
    std::vector<uint32_t> next(partners.size() + 1, static_cast<uint32_t>(pairing.b.size()));
    for (size_t a = partners.size(); a-- > 0;) next[a] = partners[a] == kNoOperator ? next[a + 1] : partners[a];
    uint32_t before = 0;
    for (uint32_t a = 0; a < partners.size(); ++a) {
      if (partners[a] != kNoOperator) {
        before = partners[a] + 1;
        continue;
      }
      const auto end = static_cast<uint32_t>(std::min<uint64_t>(next[a + 1], before + uint64_t{kMostTried}));
      for (uint32_t b = before; b < end; ++b) {
        if (taken[b] || kind_of(pairing.a[a]) != kind_of(pairing.b[b])) continue;
        partners[a] = b;
        taken[b] = true;
        before = b + 1;
        break;
      }
    }
  }

  // Do all tensors of the two that have a slot in common hold the same values, one of them values that tell?
  [[nodiscard]] bool all_fit(const SequencedOp& a, const SequencedOp& b) const {
    bool tells = false;
    size_t outputs = 0;
    for (const uint32_t x : a.tensors) {
      const TensorRecord& one = result_.a->tensors()[x];
      for (const uint32_t y : b.tensors) {
        const TensorRecord& other = result_.b->tensors()[y];
        const bool same = one.name.io == other.name.io && one.name.slot == other.name.slot &&
                          one.occurrence == other.occurrence && step_of(*index_a_, one) == step_of(*index_b_, other);
        if (!same) continue;
        const std::optional<CutFit> fit = fit_of({0, x, y}, CutQuestion::Effort::kQuick);
        if (!fit || fit->agreement < kLike) return false;
        tells = tells || fit->tells;
        if (one.name.io == Io::kOutput) ++outputs;
      }
    }
    return tells && outputs > 0;
  }
  static std::optional<int64_t> step_of(const DumpIndex& index, const TensorRecord& record) {
    return place_of(index, record).step;
  }

  // ---- experts: calls under one name that are another one on each rank

  // A weight whose elements are others on some of the ranks.
  struct Weight {
    uint32_t op = 0, tensor = 0;               // of the side
    std::vector<std::vector<size_t>> classes;  // of ranks that have the same elements, by place
  };

  static std::tuple<std::string_view, std::optional<int64_t>, bool> kind_of(const SequencedOp& op) {
    return {op.type, op.step, forward_entry_of(op.name).has_value()};
  }

  Status split_experts(const NameMap* map) {
    const std::vector<bool> fit = operators_that_fit();
    MSDUMP_TRY(const std::vector<Weight> in_a, weights_of(*result_.a, *index_a_, fit, true));
    MSDUMP_TRY(const std::vector<Weight> in_b, weights_of(*result_.b, *index_b_, fit, false));
    const CutSplits splits_a = splits_of(*result_.a, in_a, *index_a_, *result_.b, in_b, *index_b_);
    const CutSplits splits_b = splits_of(*result_.b, in_b, *index_b_, *result_.a, in_a, *index_a_);
    if (splits_a.empty() && splits_b.empty()) return {};
    MSDUMP_TRY(const CutSplits all_a, with_neighbours(splits_a, true, fit));
    MSDUMP_TRY(const CutSplits all_b, with_neighbours(splits_b, false, fit));
    result_.a = std::make_unique<CutSide>(whole_a_, all_a);
    result_.b = std::make_unique<CutSide>(whole_b_, all_b);
    result_.pairing = pair_sides(result_.a->side(), result_.b->side(), map);
    return find_layouts();
  }

  // Of operators that have no partner, or none that fits.
  Result<std::vector<Weight>> weights_of(const CutSide& side, const DumpIndex& index, const std::vector<bool>& fit,
                                         bool of_a) const {
    std::vector<Weight> weights;
    for (size_t i = 0; i < fit.size(); ++i) {
      const OpPair& pair = result_.pairing.operators[i];
      const uint32_t op = of_a ? pair.a : pair.b;
      if (fit[i] || op == kNoOperator) continue;
      for (const uint32_t tensor : side.operators()[op].tensors) {
        const TensorRecord& record = side.tensors()[tensor];
        const auto& records = side.members(tensor).records;
        if (records.size() < 2 || record.name.io == Io::kOutput || record.shape == nullptr || record.shape->size() < 2)
          continue;
        PieceValues values(index, records);
        const bool alike = values.ok() && std::all_of(values.shapes().begin(), values.shapes().end(),
                                                      [&](const Shape& one) { return one == *record.shape; });
        if (!alike) continue;
        MSDUMP_TRY(const std::vector<uint64_t> digests, values.digests(context_.cancel));
        Weight weight{op, tensor, classes_of(digests)};
        if (weight.classes.size() > 1) weights.push_back(std::move(weight));
      }
    }
    return weights;
  }

  static std::vector<std::vector<size_t>> classes_of(const std::vector<uint64_t>& digests) {
    std::vector<std::vector<size_t>> classes;
    std::map<uint64_t, size_t> known;
    for (size_t place = 0; place < digests.size(); ++place) {
      const auto [found, is_new] = known.try_emplace(digests[place], classes.size());
      if (is_new) classes.emplace_back();
      classes[found->second].push_back(place);
    }
    const bool even = std::all_of(classes.begin(), classes.end(),
                                  [&](const auto& one) { return one.size() == classes.front().size(); });
    return even ? classes : std::vector<std::vector<size_t>>();
  }

  // Those of which two classes are the weights of different calls of the other side.
  [[nodiscard]] CutSplits splits_of(const CutSide& own, const std::vector<Weight>& weights, const DumpIndex& own_index,
                                    const CutSide& other, const std::vector<Weight>& others,
                                    const DumpIndex& other_index) const {
    struct Place {
      uint32_t op;
      const TensorRecord* record;
    };
    using Kind = std::tuple<std::string_view, std::optional<int64_t>, bool, Io, std::string_view, Shape>;
    const auto kind = [](const SequencedOp& op, const TensorRecord& record) {
      return std::tuple_cat(kind_of(op), std::tuple(record.name.io, record.name.slot, *record.shape));
    };
    std::map<Kind, std::vector<Place>> known;  // on the other side: single pieces
    std::map<uint32_t, const Weight*> split_there;
    for (const Weight& one : others) split_there[one.tensor] = &one;
    for (uint32_t op = 0; op < other.operators().size(); ++op) {
      for (const uint32_t tensor : other.operators()[op].tensors) {
        const TensorRecord& record = other.tensors()[tensor];
        if (record.shape == nullptr || record.name.io == Io::kOutput || record.shape->size() < 2) continue;
        std::vector<Place>& places = known[kind(other.operators()[op], record)];
        const auto split = split_there.find(tensor);
        if (split == split_there.end()) {
          places.push_back({op, other.members(tensor).records.front()});
          continue;
        }
        for (const std::vector<size_t>& one : split->second->classes)
          places.push_back({op, other.members(tensor).records[one.front()]});
      }
    }
    CutSplits splits;
    for (const Weight& weight : weights) {
      const SequencedOp& op = own.operators()[weight.op];
      const auto found = known.find(kind(op, own.tensors()[weight.tensor]));
      if (found == known.end()) continue;
      std::set<const TensorRecord*> matched;
      for (const std::vector<size_t>& one : weight.classes) {
        const TensorRecord* const piece = own.members(weight.tensor).records[one.front()];
        for (const Place& place : found->second) {
          if (place.record == nullptr || matched.contains(place.record) ||
              !same_values(own_index, piece, other_index, place.record))
            continue;
          matched.insert(place.record);
          break;
        }
      }
      if (matched.size() > 1) add_split(own, weight.tensor, op, weight.classes, splits);
    }
    return splits;
  }

  [[nodiscard]] bool same_values(const DumpIndex& index_a, const TensorRecord* a, const DumpIndex& index_b,
                                 const TensorRecord* b) const {
    PieceValues left(index_a, std::span(&a, 1)), right(index_b, std::span(&b, 1));
    const std::optional<CutFit> fit = find_layout(left, right, {}, prior_);
    return fit && fit->tells && fit->agreement >= kLike;
  }

  static void add_split(const CutSide& side, uint32_t tensor, const SequencedOp& op,
                        const std::vector<std::vector<size_t>>& classes, CutSplits& splits) {
    const std::vector<int64_t>& ranks = side.ranks(tensor);
    for (uint32_t part = 0; part < classes.size(); ++part) {
      for (const size_t place : classes[part]) splits.try_emplace({op.name, op.step, ranks[place]}, part);
    }
  }

  // Also the calls between those that are split, which read what these write, and the backward calls of all of them.
  Result<CutSplits> with_neighbours(CutSplits splits, bool of_a, const std::vector<bool>& fit) const {
    const CutSide& side = of_a ? *result_.a : *result_.b;
    const Cut cut = cut_of(of_a);
    using PartOfRank = std::map<int64_t, uint32_t>;
    const auto parts_of = [&](const SequencedOp& op, const std::string& name) {
      PartOfRank parts;
      if (op.tensors.empty()) return parts;
      for (const int64_t rank : side.ranks(op.tensors.front())) {
        const auto found = splits.find({name, op.step, rank});
        if (found != splits.end()) parts[rank] = found->second;
      }
      return parts;
    };
    const auto split = [&](const SequencedOp& op, const PartOfRank& parts) {
      for (const auto& [rank, part] : parts) splits.try_emplace({op.name, op.step, rank}, part);
    };
    std::vector<uint32_t> open;
    for (size_t i = 0; i < fit.size(); ++i) {
      const OpPair& pair = result_.pairing.operators[i];
      const uint32_t op = of_a ? pair.a : pair.b;
      if (op != kNoOperator && !fit[i]) open.push_back(op);
    }
    std::map<uint64_t, PartOfRank> written;  // by contents
    const auto note = [&](const SequencedOp& op, const PartOfRank& parts) -> Status {
      for (const uint32_t tensor : op.tensors) {
        MSDUMP_TRY(const uint64_t contents, contents_of(cut, tensor));
        if (contents != 0) written.try_emplace(contents, parts);
      }
      return {};
    };
    for (const SequencedOp& op : side.operators()) {
      const PartOfRank parts = parts_of(op, op.name);
      if (!parts.empty()) MSDUMP_CHECK_OK(note(op, parts));
    }
    for (const uint32_t index : open) {
      const SequencedOp& op = side.operators()[index];
      if (is_communication(op.type) || !parts_of(op, op.name).empty()) continue;
      PartOfRank parts;
      if (const auto forward = forward_entry_of(op.name)) parts = parts_of(op, *forward);
      for (const uint32_t tensor : op.tensors) {
        if (!parts.empty() || side.tensors()[tensor].name.io == Io::kOutput) continue;
        MSDUMP_TRY(const uint64_t contents, contents_of(cut, tensor));
        const auto found = written.find(contents);
        if (contents != 0 && found != written.end()) parts = found->second;
      }
      if (parts.empty()) continue;
      split(op, parts);
      MSDUMP_CHECK_OK(note(op, parts));
    }
    return splits;
  }

  // ---- collectives of one side

  Status pair_collectives() {
    for (const bool of_a : {true, false}) MSDUMP_CHECK_OK(pair_collectives(cut_of(of_a)));
    return {};
  }

  [[nodiscard]] Cut cut_of(bool of_a) const {
    return of_a ? Cut{result_.a.get(), result_.b.get(), index_a_, index_b_, true}
                : Cut{result_.b.get(), result_.a.get(), index_b_, index_a_, false};
  }

  // What a collective reads is what another call wrote: it has the partner of that.
  Status pair_collectives(const Cut& cut) {
    Pairing& pairing = result_.pairing;
    std::map<uint32_t, std::vector<uint32_t>> collectives;  // by operator of the pairing: its pairs
    std::set<Shape> shapes;
    for (uint32_t i = 0; i < pairing.tensors.size(); ++i) {
      TensorPair& pair = pairing.tensors[i];
      if (paired(pair) || cut.own_of(pair) == kNoTensor || !is_communication(pairing.op_type(pair.op))) continue;
      collectives[pair.op].push_back(i);
      pair.alone = Alone::kCommunication;
      const Shape* const shape = cut.own->tensors()[cut.own_of(pair)].shape;
      if (shape != nullptr) shapes.insert(*shape);
    }
    if (collectives.empty()) return {};
    MSDUMP_TRY(const auto sources, sources_by_contents(cut, shapes));
    const Groups groups = groups_of(cut.of_a ? whole_a_ : whole_b_);
    for (const auto& [op, pairs] : collectives) {
      if (!is_within(cut, op, pairs, groups)) continue;
      MSDUMP_TRY(const std::optional<uint32_t> source, source_of(cut, op, pairs, sources));
      if (source) {
        add_partner(cut, op, pairs, cut.other_of(pairing.tensors[*source]), *fits_[*source]);
      } else {
        find_partner(cut, op, pairs);
      }
    }
    return {};
  }

  // By call, rank and step: the ranks of its group.
  using Groups = std::map<std::tuple<std::string_view, int64_t, std::optional<int64_t>>, std::set<int64_t>>;

  static Groups groups_of(const CompareSide& side) {
    Groups groups;
    if (side.arguments == nullptr) return groups;
    for (const CallArgument& argument : *side.arguments) {
      if (argument.value.kind != CallValue::Kind::kGroup) continue;
      const FolderIdentity& folder = side.index->folders()[side.index->files()[argument.table].folder].identity;
      std::set<int64_t>& ranks = groups[{argument.op_name, folder.rank.value_or(-1), folder.step}];
      for (const std::string_view rank : split(group_of_ranks(argument.value.text, folder.rank), ' ')) {
        if (const auto number = parse_i64(rank)) ranks.insert(*number);
      }
    }
    return groups;
  }

  // A collective whose group has ranks that run another program, as the stages that share a weight, carries more than the
  // pieces of one whole; one end of a connection less.
  [[nodiscard]] bool is_within(const Cut& cut, uint32_t op, const std::vector<uint32_t>& pairs,
                               const Groups& groups) const {
    const SequencedOp& own =
        (cut.of_a ? result_.pairing.a : result_.pairing.b)[cut.own_of(result_.pairing.operators[op])];
    const uint32_t tensor = cut.own_of(result_.pairing.tensors[pairs.front()]);
    const std::vector<int64_t>& ranks = cut.own->ranks(tensor);
    if (ranks.size() < 2 || sends(own)) return false;
    const auto step = place_of(*cut.own_index, cut.own->tensors()[tensor]).step;
    return std::all_of(ranks.begin(), ranks.end(), [&](int64_t rank) {
      const auto group = groups.find({own.name, rank, step});
      return group == groups.end() || std::all_of(group->second.begin(), group->second.end(), [&](int64_t other) {
               return std::binary_search(ranks.begin(), ranks.end(), other);
             });
    });
  }

  using Sources = std::map<uint64_t, std::vector<std::pair<uint32_t, uint32_t>>>;  // by contents: operator and pair

  [[nodiscard]] Result<uint64_t> contents_of(const Cut& cut, uint32_t tensor) const {
    PieceValues values(*cut.own_index, cut.own->members(tensor).records);
    if (!values.ok()) return 0;
    MSDUMP_TRY(const std::vector<uint64_t> digests, values.digests(context_.cancel));
    uint64_t all = cut.own->members(tensor).ranks + 1;
    for (const uint64_t digest : digests) all = mix_hash(all, digest);
    return all;
  }

  // The tensors of these shapes that have a partner and fit it.
  Result<Sources> sources_by_contents(const Cut& cut, const std::set<Shape>& shapes) const {
    Sources sources;
    for (uint32_t i = 0; i < result_.pairing.tensors.size(); ++i) {
      const TensorPair& pair = result_.pairing.tensors[i];
      if (!paired(pair) || !fits_[i]) continue;
      const Shape* const shape = cut.own->tensors()[cut.own_of(pair)].shape;
      if (shape == nullptr || !shapes.contains(*shape)) continue;
      MSDUMP_TRY(const uint64_t contents, contents_of(cut, cut.own_of(pair)));
      sources[contents].emplace_back(pair.op, i);
    }
    return sources;
  }

  // The last tensor before the collective that its first input is.
  Result<std::optional<uint32_t>> source_of(const Cut& cut, uint32_t op, const std::vector<uint32_t>& pairs,
                                            const Sources& sources) const {
    for (const uint32_t i : pairs) {
      const uint32_t tensor = cut.own_of(result_.pairing.tensors[i]);
      if (cut.own->tensors()[tensor].name.io != Io::kInput) continue;
      MSDUMP_TRY(const uint64_t contents, contents_of(cut, tensor));
      const auto found = sources.find(contents);
      if (contents == 0 || found == sources.end()) continue;
      std::optional<uint32_t> last;
      for (const auto& [of, source] : found->second) {
        if (of < op) last = source;
      }
      if (last) return last;
    }
    return std::nullopt;
  }

  // Nothing that has a partner wrote what it reads: any tensor of the other side that it may be, the nearest first.
  void find_partner(const Cut& cut, uint32_t op, const std::vector<uint32_t>& pairs) {
    const Pairing& pairing = result_.pairing;
    const auto reads = [&](uint32_t i) {
      return cut.own->tensors()[cut.own_of(pairing.tensors[i])].name.io == Io::kInput;
    };
    const auto input = std::find_if(pairs.begin(), pairs.end(), reads);
    if (input == pairs.end()) return;
    const uint32_t tensor = cut.own_of(pairing.tensors[*input]);
    const TensorRecord& record = cut.own->tensors()[tensor];
    PieceValues own(*cut.own_index, cut.own->members(tensor).records);
    if (!own.ok() || record.shape == nullptr) return;
    const auto of_step = step_of(*cut.own_index, record);
    std::vector<uint32_t> near;  // pairs, by their distance
    for (uint32_t i = 0; i < pairing.tensors.size(); ++i) {
      const uint32_t other = cut.other_of(pairing.tensors[i]);
      if (other == kNoTensor) continue;
      const TensorRecord& known = cut.other->tensors()[other];
      const Shape* const shape = cut.other->members(other).records.front() == nullptr
                                     ? nullptr
                                     : cut.other->members(other).records.front()->shape;
      if (shape != nullptr && shape->size() == record.shape->size() && step_of(*cut.other_index, known) == of_step)
        near.push_back(i);
    }
    const auto distance = [&](uint32_t i) {
      const uint32_t at = pairing.tensors[i].op;
      return at > op ? at - op : op - at;
    };
    std::stable_sort(near.begin(), near.end(), [&](uint32_t x, uint32_t y) { return distance(x) < distance(y); });
    if (near.size() > kMostTried) near.resize(kMostTried);
    for (const uint32_t i : near) {
      const uint32_t value = cut.other_of(pairing.tensors[i]);
      PieceValues other(*cut.other_index, cut.other->members(value).records);
      const CutQuestion question{"", factors_a_, factors_b_, CutQuestion::Effort::kQuick, {}, {}};
      const std::optional<CutFit> fit =
          cut.of_a ? find_layout(own, other, question, prior_) : find_layout(other, own, question, prior_);
      if (!fit || fit->agreement < kLike || !fit->tells) continue;
      return add_partner(cut, op, pairs, value, *fit);
    }
  }

  void add_partner(const Cut& cut, uint32_t op, const std::vector<uint32_t>& pairs, uint32_t value,
                   const CutFit& of_input) {
    Pairing& pairing = result_.pairing;
    std::vector<std::pair<uint32_t, CutFit>> fits;
    for (const uint32_t i : pairs) {
      const uint32_t tensor = cut.own_of(pairing.tensors[i]);
      const bool input = cut.own->tensors()[tensor].name.io == Io::kInput;
      std::optional<CutFit> fit = input ? of_input : collective_fit(cut, tensor, value, of_input);
      if (!fit) return;
      fits.emplace_back(i, *std::move(fit));
    }
    std::vector<SequencedOp>& others = cut.of_a ? pairing.b : pairing.a;
    OpPair& both = pairing.operators[op];
    SequencedOp partner = (cut.of_a ? pairing.a : pairing.b)[cut.own_of(both)];
    partner.op = kNoIndex;
    partner.tensors.clear();
    for (auto& [i, fit] : fits) {
      TensorPair& pair = pairing.tensors[i];
      const uint32_t added = cut.other->add_tensor(value, cut.own->tensors()[cut.own_of(pair)]);
      (cut.of_a ? pair.b : pair.a) = added;
      pair.alone = Alone::kUnknown;
      partner.tensors.push_back(added);
      fits_[i] = std::move(fit);
    }
    (cut.of_a ? both.b : both.a) = static_cast<uint32_t>(others.size());
    both.how = PairedBy::kValues;
    both.confidence = confidence(both.how);
    others.push_back(std::move(partner));
  }

  // What a collective leaves: the same whole. Where its values are not those, what is meant: all have the sum.
  [[nodiscard]] std::optional<CutFit> collective_fit(const Cut& cut, uint32_t tensor, uint32_t value,
                                                     const CutFit& input) const {
    PieceValues own(*cut.own_index, cut.own->members(tensor).records),
        other(*cut.other_index, cut.other->members(value).records);
    const CutQuestion question{"", only(input.a.factor), only(input.b.factor), CutQuestion::Effort::kUsual, {}, {}};
    const Stated stated = stated_of(cut.of_a, tensor);
    std::optional<CutFit> found =
        cut.of_a ? find_stated(own, other, question, stated, {}) : find_stated(other, own, question, {}, stated);
    if (found && (found->agreement >= kLike || stated.layout == (cut.of_a ? found->a : found->b))) return found;
    CutFit meant = input;
    for (CutDim& dim : (cut.of_a ? meant.a : meant.b).dims) {
      if (dim.role == CutRole::kSum || dim.role == CutRole::kMean) dim.role = CutRole::kCopy;
    }
    meant.confidence /= 2;
    meant.known = true;
    // Of a list, each tensor is another rank's part.
    if (cut.own->tensors()[tensor].name.slot.find('.') != std::string_view::npos) return std::nullopt;
    if (own.ok() && fits_shapes(cut.of_a ? meant.a : meant.b, own.shapes(), meant.whole)) return meant;
    return found;
  }

  // ---- layouts

  // The certain ones first; the others by what these have taught.
  Status find_layouts() {
    const std::vector<TensorPair>& pairs = result_.pairing.tensors;
    fits_.assign(pairs.size(), std::nullopt);
    prior_ = {};
    allow_all_factors();
    for (const bool first : {true, false}) {
      context_.pool.parallel_for(static_cast<int64_t>(pairs.size()), [&](int64_t i) {
        const TensorPair& pair = pairs[static_cast<size_t>(i)];
        std::optional<CutFit>& fit = fits_[static_cast<size_t>(i)];
        if (context_.cancel.cancelled() || !paired(pair) || (!first && (!fit || fit->confidence >= kCertain))) return;
        fit = fit_of(pair, first ? CutQuestion::Effort::kUsual : CutQuestion::Effort::kThorough);
      });
      MSDUMP_CHECK_OK(context_.cancel.check());
      if (!first) break;
      for (size_t i = 0; i < pairs.size(); ++i) {
        if (fits_[i] && fits_[i]->confidence >= kCertain) prior_.add(question_of(pairs[i]).kind, *fits_[i]);
      }
      choose_factors();
    }
    return {};
  }

  void allow_all_factors() {
    factors_a_ = possible_factors(ranks_of(whole_a_).size());
    factors_b_ = possible_factors(ranks_of(whole_b_).size());
  }

  // 1/2, 1/4, .. of so many ranks.
  static std::vector<double> possible_factors(size_t ranks) {
    std::vector<double> factors;
    for (size_t i = 2; i <= ranks && factors.size() < kMostFactors; ++i) {
      if (ranks % i == 0) factors.push_back(1 / static_cast<double>(i));
    }
    return factors;
  }

  // All gradients of a run are too large by the same factor: that of most. Those with another one are looked at again.
  void choose_factors() {
    std::map<std::pair<double, double>, size_t> counts;
    for (const std::optional<CutFit>& fit : fits_) {
      if (fit && fit->tells && fit->confidence >= kCertain && (fit->a.factor != 1 || fit->b.factor != 1))
        ++counts[{fit->a.factor, fit->b.factor}];
    }
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& x, const auto& y) { return x.second < y.second; });
    const std::pair<double, double> chosen = most == counts.end() ? std::pair(1.0, 1.0) : most->first;
    factors_a_ = only(chosen.first);
    factors_b_ = only(chosen.second);
    for (std::optional<CutFit>& fit : fits_) {
      const auto allowed = [](double factor, double known) { return factor == 1 || factor == known; };
      if (fit && (!allowed(fit->a.factor, chosen.first) || !allowed(fit->b.factor, chosen.second))) fit->confidence = 0;
    }
  }

  Status put_together() {
    result_.notes.resize(fits_.size());
    std::vector<TensorPieces> pieces(fits_.size());
    context_.pool.parallel_for(static_cast<int64_t>(fits_.size()), [&](int64_t i) {
      const auto place = static_cast<size_t>(i);
      if (!fits_[place] || context_.cancel.cancelled()) return;
      pieces[place] = candidate_pieces(result_.pairing.tensors[place], *fits_[place], result_.notes[place]);
    });
    MSDUMP_CHECK_OK(context_.cancel.check());
    for (size_t i = 0; i < fits_.size(); ++i) {
      const TensorPair& pair = result_.pairing.tensors[i];
      const CutFit* const fit = fits_[i] ? &*fits_[i] : nullptr;
      std::string& problem = result_.notes[i].problem;
      if (paired(pair)) problem = problem_of(true, pair.a, fit);
      if (paired(pair) && problem.empty()) problem = problem_of(false, pair.b, fit);
      if (fit == nullptr) continue;
      CutNote& note = result_.notes[i];
      const std::vector<int64_t>&ranks_a = result_.a->ranks(pair.a), &ranks_b = result_.b->ranks(pair.b);
      note.layout = text_of(fits_[i]->a, ranks_a);
      note.reference_layout = text_of(fits_[i]->b, ranks_b);
      note.ranks = known_ranks(ranks_a);
      if (note.ranks.empty()) note.ranks = known_ranks(ranks_b);
      note.confidence = fits_[i]->confidence;
      note.known = fits_[i]->known;
      note.a = fits_[i]->a;
      note.b = fits_[i]->b;
      result_.a->set_pieces(pair.a, std::move(pieces[i]));
      result_.b->set_pieces(pair.b, pieces_of(*result_.b, pair.b, fits_[i]->b, fits_[i]->whole, 0));
    }
    return {};
  }

  // Of copies that are not equal the one that is furthest from the reference is compared.
  [[nodiscard]] TensorPieces candidate_pieces(const TensorPair& pair, const CutFit& fit, CutNote& note) const {
    const auto of_copy = [&](int64_t copy) { return pieces_of(*result_.a, pair.a, fit.a, fit.whole, copy); };
    const std::vector<int64_t> different = different_copies(pair.a, fit.a, note);
    if (different.size() < 2) return of_copy(0);
    TensorRecord whole = result_.a->tensors()[pair.a], other = result_.b->tensors()[pair.b];
    const TensorPieces reference = pieces_of(*result_.b, pair.b, fit.b, fit.whole, 0);
    TensorView view_b, view_a;
    view_b.pieces = &reference;
    other.view = &view_b;
    int64_t worst = 0;
    double most = -1;
    for (const int64_t copy : different) {
      const TensorPieces pieces = of_copy(copy);
      view_a.pieces = &pieces;
      whole.view = &view_a;
      // What cannot be read is reported when it is compared.
      auto opened = open_pair(*index_a_, whole, *index_b_, other);
      if (!opened) continue;
      const auto diff = diff_tensors(opened->left, opened->right, {}, context_.cancel);
      const double error = diff ? diff->metrics.relative_l2.value_or(INFINITY) : -1;
      if (error <= most) continue;
      most = error;
      worst = copy;
    }
    return of_copy(worst);
  }

  // One of each kind, the most frequent first; the ranks of the others are noted.
  [[nodiscard]] std::vector<int64_t> different_copies(uint32_t tensor, const CutLayout& layout, CutNote& note) const {
    const int64_t copies = layout.copies();
    if (copies < 2) return {0};
    PieceValues values(*index_a_, result_.a->members(tensor).records);
    if (!values.ok()) return {0};
    const auto digests = values.digests(context_.cancel);
    if (!digests) return {0};
    std::vector<uint64_t> of_copy(static_cast<size_t>(copies), 1);
    for (size_t rank = 0; rank < digests->size(); ++rank) {
      uint64_t& all = of_copy[static_cast<size_t>(layout.copy_of(static_cast<int64_t>(rank)))];
      all = mix_hash(all, (*digests)[rank]);
    }
    std::map<uint64_t, std::pair<size_t, int64_t>> kinds;  // how many, and the first of them
    for (int64_t copy = 0; copy < copies; ++copy)
      ++kinds.try_emplace(of_copy[static_cast<size_t>(copy)], 0, copy).first->second.first;
    if (kinds.size() < 2) return {0};
    const auto usual = std::max_element(kinds.begin(), kinds.end(), [](const auto& x, const auto& y) {
      return std::pair(x.second.first, -x.second.second) < std::pair(y.second.first, -y.second.second);
    });
    const std::vector<int64_t>& ranks = result_.a->ranks(tensor);
    for (size_t rank = 0; rank < ranks.size() && usual->second.first * 2 > of_copy.size(); ++rank) {
      if (of_copy[static_cast<size_t>(layout.copy_of(static_cast<int64_t>(rank)))] != usual->first)
        note.odd.push_back(ranks[rank]);
    }
    std::vector<int64_t> different = {usual->second.second};
    for (const auto& [digest, kind] : kinds) {
      if (digest != usual->first && different.size() < kMostDifferent) different.push_back(kind.second);
    }
    return different;
  }

  // The parts of one of the copies.
  static TensorPieces pieces_of(const CutSide& side, uint32_t tensor, const CutLayout& layout, const Shape& whole,
                                int64_t copy) {
    const std::vector<const TensorRecord*>& records = side.members(tensor).records;
    std::vector<Shape> shapes;
    for (const TensorRecord* const record : records) shapes.push_back(*record->shape);
    TensorPieces pieces;
    pieces.shape = whole;
    pieces.factor = layout.factor;
    for (const CutDim& dim : layout.dims) {
      if (dim.role == CutRole::kMean) pieces.factor /= static_cast<double>(dim.extent);
    }
    pieces.added = layout.has(CutRole::kSum) || layout.has(CutRole::kMean);
    for (int64_t rank = 0; rank < static_cast<int64_t>(records.size()); ++rank) {
      if (layout.copy_of(rank) != copy) continue;
      for (PieceBox& box : boxes_of(layout, rank, shapes, whole)) {
        box.piece = static_cast<uint32_t>(pieces.records.size());
        pieces.boxes.push_back(std::move(box));
      }
      pieces.records.push_back(records[static_cast<size_t>(rank)]);
    }
    const bool one = pieces.records.size() == 1 && pieces.factor == 1 && pieces.records.front()->shape != nullptr &&
                     *pieces.records.front()->shape == whole;
    if (one) pieces.boxes.clear();
    return pieces;
  }

  const RunContext& context_;
  const LayoutRules* const layouts_;
  const CompareSide whole_a_, whole_b_;  // handles
  const DumpIndex *const index_a_, *const index_b_;
  PairedCuts result_;
  CutPrior prior_;
  std::vector<double> factors_a_, factors_b_;  // of gradients
  std::vector<std::optional<CutFit>> fits_;    // by Pairing::tensors
};

}  // namespace

Result<PairedCuts> pair_cuts(const CompareSide& a, const CompareSide& b, const NameMap* map, const LayoutRules* layouts,
                             const RunContext& context) {
  return CutPairer(a, b, layouts, context).run(map);
}

}  // namespace msdump
