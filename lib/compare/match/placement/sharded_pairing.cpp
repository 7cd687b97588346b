#include "compare/match/placement/sharded_pairing.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/containers.h"
#include "base/numbers.h"
#include "base/text.h"
#include "compare/match/placement/expert_splits.h"
#include "compare/match/placement/placement_choices.h"
#include "compare/match/placement/sharded_match.h"
#include "compare/match/placement/value_partners.h"
#include "compare/statistics/statistic_diff.h"
#include "graph/flow/communication.h"

namespace msdump {
namespace {

// The tensors of both sides as wholes, put together from their pieces by the layouts that were found. Of copies that are not
// equal, the one that is furthest from the reference is compared.

constexpr size_t kMostDifferent = 8;  // copies of a tensor

std::vector<int64_t> known_ranks(const std::vector<int64_t>& ranks) {
  std::vector<int64_t> known = ranks;
  std::erase_if(known, [](int64_t rank) { return rank < 0; });
  return known;
}

class WholeTensors {
 public:
  explicit WholeTensors(CutMatch& match) : match_(match) {}

  Status run() {
    match_.result.notes.resize(match_.fits.size());
    std::vector<TensorPieces> pieces(match_.fits.size());
    match_.context.pool.parallel_for(static_cast<int64_t>(match_.fits.size()), [&](int64_t i) {
      const auto place = static_cast<size_t>(i);
      if (!match_.fits[place] || match_.context.cancel.cancelled()) return;
      pieces[place] =
          candidate_pieces(match_.result.pairing.tensors[place], *match_.fits[place], match_.result.notes[place]);
    });
    MSDUMP_CHECK_OK(match_.context.cancel.check());
    if (has_more_copies_) {
      match_.limits.insert(
          {"different_copies", kMostDifferent, "of more copies of a tensor that differ, not all were compared"});
    }
    for (size_t i = 0; i < match_.fits.size(); ++i) {
      const TensorPair& pair = match_.result.pairing.tensors[i];
      const CutFit* const fit = match_.fits[i] ? &*match_.fits[i] : nullptr;
      std::string& problem = match_.result.notes[i].problem;
      if (paired(pair)) problem = match_.problem_of(true, pair.a, fit);
      if (paired(pair) && problem.empty()) problem = match_.problem_of(false, pair.b, fit);
      if (fit == nullptr) {
        if (paired(pair) && problem.empty()) find_lost_part(pair, match_.result.notes[i]);
        continue;
      }
      CutNote& note = match_.result.notes[i];
      const std::vector<int64_t>&ranks_a = match_.result.a->ranks(pair.a), &ranks_b = match_.result.b->ranks(pair.b);
      note.layout = text_of(fit->a, ranks_a);
      note.reference_layout = text_of(fit->b, ranks_b);
      note.ranks = known_ranks(ranks_a);
      if (note.ranks.empty()) note.ranks = known_ranks(ranks_b);
      note.confidence = fit->confidence;
      note.known = fit->known;
      note.a = fit->a;
      note.b = fit->b;
      match_.result.a->set_pieces(pair.a, std::move(pieces[i]));
      match_.result.b->set_pieces(pair.b, pieces_of(fit->b, match_.result.b->members(pair.b).records, fit->whole, 0));
    }
    return {};
  }

 private:
  void find_lost_part(const TensorPair& pair, CutNote& note) const {
    for (const bool of_a : {true, false}) {
      const CutSide& side = of_a ? *match_.result.a : *match_.result.b;
      const uint32_t tensor = of_a ? pair.a : pair.b;
      const std::vector<int64_t>& ranks = side.ranks(tensor);
      for (size_t i = 0; ranks.size() > 1 && i < ranks.size(); ++i) {
        const TensorRecord* const& part = side.members(tensor).records[i];
        if (part != nullptr && !was_unreadable(side, *part) && ok(match_.pieces_of(of_a, {&part, 1}))) continue;
        const std::string rank = fmt::format("rank {} of the {}", ranks[i], of_a ? "candidate" : "reference");
        if (part == nullptr) {
          note.lacking = rank + " does not have it";
        } else {
          note.unreadable = "the part of " + rank + " cannot be read";
        }
        return;
      }
    }
  }

  // True if the file could not be read when a layout was looked for, though it may be now.
  [[nodiscard]] static bool was_unreadable(const CutSide& side, const TensorRecord& part) {
    const DumpIndex& index = *side.side().index;
    return side.contents().failures().has(index.path_of(index.files()[part.file]));
  }

  // Of copies that are not equal the one that is furthest from the reference is compared.
  [[nodiscard]] TensorPieces candidate_pieces(const TensorPair& pair, const CutFit& fit, CutNote& note) {
    const auto of_copy = [&](int64_t copy) {
      return pieces_of(fit.a, match_.result.a->members(pair.a).records, fit.whole, copy);
    };
    const std::vector<int64_t> different = different_copies(pair.a, fit.a, note);
    if (different.size() < 2) return of_copy(0);
    TensorRecord whole = match_.result.a->tensors()[pair.a], other = match_.result.b->tensors()[pair.b];
    const TensorPieces reference = pieces_of(fit.b, match_.result.b->members(pair.b).records, fit.whole, 0);
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
      const auto diff = diff_records({*match_.index_a, match_.tables_a}, whole, {*match_.index_b, match_.tables_b},
                                     other, {}, match_.context);
      const double error = diff ? diff->error().value_or(INFINITY) : -1;
      if (error <= most) continue;
      most = error;
      worst = copy;
    }
    return of_copy(worst);
  }

  // One of each kind, the most frequent first.
  [[nodiscard]] std::vector<int64_t> different_copies(uint32_t tensor, const CutLayout& layout, CutNote& note) {
    const int64_t copies = layout.copies();
    if (copies < 2) return {0};
    const auto digests = match_.digests_of(match_.cut_of(true), tensor);
    if (!digests || digests->empty()) return {0};
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
    note.uneven = true;
    std::vector<int64_t> different = {usual->second.second};
    for (const auto& [digest, kind] : kinds) {
      if (digest != usual->first && different.size() < kMostDifferent) different.push_back(kind.second);
    }
    if (different.size() < kinds.size()) has_more_copies_ = true;
    return different;
  }

  CutMatch& match_;
  std::atomic<bool> has_more_copies_ = false;
};

// Writes the pieces into the sides, and PairedCuts::notes. An error when interrupted.
Status put_together(CutMatch& match) { return WholeTensors(match).run(); }

// A collective of one side alone: what it reads is what another call wrote, and its partner is the value of the other side
// that goes into it. Whatever it does to the pieces, the whole stays the same.

// Adds these partners to the pairing. An error when interrupted or when a tensor cannot be read.
Status pair_collectives(CutMatch& match);

constexpr uint32_t kMostNear = 4096;  // tensors of the pairing, to either side of a collective

std::vector<double> factors_of(const CutLayout& layout) {
  return layout.factor == 1 ? std::vector<double>() : std::vector<double>{layout.factor};
}

class CollectivePartners {
 public:
  explicit CollectivePartners(CutMatch& match) : match_(match) {}

  Status run() {
    for (const bool of_a : {true, false}) MSDUMP_CHECK_OK(pair_collectives(match_.cut_of(of_a)));
    return {};
  }

 private:
  // What a collective reads is what another call wrote: it has the partner of that.
  Status pair_collectives(const CutMatch::OneSide& cut) {
    Pairing& pairing = match_.result.pairing;
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
    const Groups groups = groups_of(cut.of_a ? match_.whole_a : match_.whole_b);
    for (const auto& [op, pairs] : collectives) {
      if (!is_within(cut, op, pairs, groups)) continue;
      MSDUMP_TRY(const std::optional<uint32_t> source, source_of(cut, op, pairs, sources));
      if (source) {
        add_partner(cut, op, pairs, cut.other_of(pairing.tensors[*source]), *match_.fits[*source]);
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
      const std::string group = group_of_ranks(argument.value.text, folder.rank);
      for (const std::string_view rank : split(group, ' ')) {
        if (const auto number = parse_i64(rank)) ranks.insert(*number);
      }
    }
    return groups;
  }

  // A collective whose group has ranks that run another program, as the stages that share a weight, carries more than the
  // pieces of one whole; one end of a connection less.
  [[nodiscard]] bool is_within(const CutMatch::OneSide& cut, uint32_t op, const std::vector<uint32_t>& pairs,
                               const Groups& groups) const {
    const SequencedOp& own =
        (cut.of_a ? match_.result.pairing.a : match_.result.pairing.b)[cut.own_of(match_.result.pairing.operators[op])];
    const uint32_t tensor = cut.own_of(match_.result.pairing.tensors[pairs.front()]);
    const std::vector<int64_t>& ranks = cut.own->ranks(tensor);
    if (ranks.size() < 2 || sends(own)) return false;
    const auto step = step_of(*cut.own_index, cut.own->tensors()[tensor]);
    return std::all_of(ranks.begin(), ranks.end(), [&](int64_t rank) {
      const auto group = groups.find({own.name, rank, step});
      return group == groups.end() || std::all_of(group->second.begin(), group->second.end(), [&](int64_t other) {
               return std::binary_search(ranks.begin(), ranks.end(), other);
             });
    });
  }

  using Sources = std::map<uint64_t, std::vector<std::pair<uint32_t, uint32_t>>>;  // by contents: operator and pair

  // The tensors of these shapes that have a partner and fit it.
  Result<Sources> sources_by_contents(const CutMatch::OneSide& cut, const std::set<Shape>& shapes) const {
    Sources sources;
    for (uint32_t i = 0; i < match_.result.pairing.tensors.size(); ++i) {
      const TensorPair& pair = match_.result.pairing.tensors[i];
      if (!paired(pair) || !match_.fits[i]) continue;
      const Shape* const shape = cut.own->tensors()[cut.own_of(pair)].shape;
      if (shape == nullptr || !shapes.contains(*shape)) continue;
      MSDUMP_TRY(const uint64_t contents, match_.contents_of(cut, cut.own_of(pair)));
      sources[contents].emplace_back(pair.op, i);
    }
    return sources;
  }

  // The last tensor before the collective that its first input is.
  Result<std::optional<uint32_t>> source_of(const CutMatch::OneSide& cut, uint32_t op,
                                            const std::vector<uint32_t>& pairs, const Sources& sources) const {
    for (const uint32_t i : pairs) {
      const uint32_t tensor = cut.own_of(match_.result.pairing.tensors[i]);
      if (cut.own->tensors()[tensor].name.io != Io::kInput) continue;
      MSDUMP_TRY(const uint64_t contents, match_.contents_of(cut, tensor));
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
  void find_partner(const CutMatch::OneSide& cut, uint32_t op, const std::vector<uint32_t>& pairs) {
    const Pairing& pairing = match_.result.pairing;
    const auto reads = [&](uint32_t i) {
      return cut.own->tensors()[cut.own_of(pairing.tensors[i])].name.io == Io::kInput;
    };
    const auto input = std::find_if(pairs.begin(), pairs.end(), reads);
    if (input == pairs.end()) return;
    const uint32_t tensor = cut.own_of(pairing.tensors[*input]);
    const TensorRecord& record = cut.own->tensors()[tensor];
    CutPieces own = match_.pieces_of(cut.of_a, tensor);
    if (!ok(own) || record.shape == nullptr) return;
    const auto of_step = step_of(*cut.own_index, record);
    std::vector<uint32_t> near;  // pairs, by their distance
    const auto count = static_cast<uint32_t>(pairing.tensors.size());
    const uint32_t first = *input > kMostNear ? *input - kMostNear : 0, end = std::min(count, *input + kMostNear);
    for (uint32_t i = first; i < end; ++i) {
      const uint32_t other = cut.other_of(pairing.tensors[i]);
      if (other == kNoTensor) continue;
      const bool may_be = cut.of_a ? match_.may_be_one(tensor, other) : match_.may_be_one(other, tensor);
      if (may_be && step_of(*cut.other_index, cut.other->tensors()[other]) == of_step) near.push_back(i);
    }
    const auto distance = [&](uint32_t i) {
      const uint32_t at = pairing.tensors[i].op;
      return at > op ? at - op : op - at;
    };
    std::stable_sort(near.begin(), near.end(), [&](uint32_t x, uint32_t y) { return distance(x) < distance(y); });
    const bool has_more = near.size() > CutMatch::kMostTried, is_far = first > 0 || end < count;
    if (has_more) near.resize(CutMatch::kMostTried);
    for (const uint32_t i : near) {
      const uint32_t value = cut.other_of(pairing.tensors[i]);
      CutPieces other = match_.pieces_of(!cut.of_a, value);
      const auto fit_by = [&](CutQuestion::Effort effort) {
        const CutQuestion question{"", match_.factors_a, match_.factors_b, effort, {}, {}};
        return cut.of_a ? find_layout(own, other, question, match_.prior)
                        : find_layout(other, own, question, match_.prior);
      };
      const std::optional<CutFit> fit = fit_by(CutQuestion::Effort::kQuick);
      // Few elements of a tensor that is almost all zeros are near those of many others.
      if (is_like(fit) && is_like(fit_by(CutQuestion::Effort::kUsual))) return add_partner(cut, op, pairs, value, *fit);
    }
    if (has_more) match_.leave_out_calls();
    if (is_far) {
      match_.limits.insert({"collective_neighbours", kMostNear,
                            "the value that a collective reads was looked for among the tensors near it alone"});
    }
  }

  // Nearer than zeros are.
  [[nodiscard]] static bool is_like(const std::optional<CutFit>& fit) {
    return fit && fit->agreement >= CutMatch::kLike && fit->tells && fit->error < 1;
  }

  void add_partner(const CutMatch::OneSide& cut, uint32_t op, const std::vector<uint32_t>& pairs, uint32_t value,
                   const CutFit& of_input) {
    std::vector<CutMatch::Twin> twins;
    for (const uint32_t i : pairs) {
      const uint32_t tensor = cut.own_of(match_.result.pairing.tensors[i]);
      const bool input = cut.own->tensors()[tensor].name.io == Io::kInput;
      std::optional<CutFit> fit = input ? of_input : collective_fit(cut, tensor, value, of_input);
      if (!fit) return;
      twins.push_back({i, value, *std::move(fit)});
    }
    match_.add_partner(cut, op, twins);
  }

  // What a collective leaves: the same whole. Where its values are not those, what is meant: all have the sum or the largest.
  [[nodiscard]] std::optional<CutFit> collective_fit(const CutMatch::OneSide& cut, uint32_t tensor, uint32_t value,
                                                     const CutFit& input) const {
    CutPieces own = match_.pieces_of(cut.of_a, tensor), other = match_.pieces_of(!cut.of_a, value);
    const CutQuestion question{"", factors_of(input.a), factors_of(input.b), CutQuestion::Effort::kUsual, {}, {}};
    const CutMatch::Stated stated = match_.stated_of(cut.of_a, tensor);
    std::optional<CutFit> found = cut.of_a ? match_.find_stated(own, other, question, stated, {})
                                           : match_.find_stated(other, own, question, {}, stated);
    if (found && (found->agreement >= CutMatch::kLike || stated.layout == (cut.of_a ? found->a : found->b)))
      return found;
    CutFit meant = input;
    for (CutDim& dim : (cut.of_a ? meant.a : meant.b).dims) {
      if (is_reduced(dim.role)) dim.role = CutRole::kCopy;
    }
    meant.confidence /= 2;
    meant.known = true;
    // Of a list, each tensor is another rank's part.
    if (cut.own->tensors()[tensor].name.slot.find('.') != std::string_view::npos) return std::nullopt;
    if (ok(own) && fits_shapes(cut.of_a ? meant.a : meant.b, shapes_of(own), meant.whole)) return meant;
    return found;
  }

  CutMatch& match_;
};

Status pair_collectives(CutMatch& match) { return CollectivePartners(match).run(); }

// Shapes tell nothing here: two networks have no tensor in common.
Likeness likeness_of_cuts(const Pairing& pairing) {
  const bool any = std::any_of(pairing.tensors.begin(), pairing.tensors.end(),
                               [](const TensorPair& pair) { return pair.a != kNoTensor && pair.b != kNoTensor; });
  Likeness likeness;
  if (!any) likeness.comparable = std::min(pairing.a.size(), pairing.b.size());
  return likeness;
}

}  // namespace

Result<PairedCuts> pair_cuts(const CutInput& a, const CutInput& b, const NameMap* map, const LayoutRules* layouts,
                             const RunContext& context) {
  CutMatch match(a, b, layouts, context);
  PairedCuts& result = match.result;
  const auto pair_again_by_names = [&] {
    result.pairing = pair_sides(result.a->side(), result.b->side(), map);
    return match.find_layouts();
  };
  MSDUMP_CHECK_OK(pair_again_by_names());
  MSDUMP_TRY(const CutSplitsOfBoth splits, find_expert_splits(match));
  if (!splits.a.empty() || !splits.b.empty()) {
    result.a = std::make_unique<CutSide>(*result.a, splits.a);
    result.b = std::make_unique<CutSide>(*result.b, splits.b);
    MSDUMP_CHECK_OK(pair_again_by_names());
  }
  if (map == nullptr) {
    MSDUMP_TRY(const std::vector<uint32_t> partners, partners_by_values(match));
    result.pairing = pair_again(result.a->side(), result.b->side(), result.pairing, partners);
    MSDUMP_CHECK_OK(match.find_layouts());
  }
  result.pairing.of_cuts = true;
  if (map == nullptr) MSDUMP_CHECK_OK(pair_value_twins(match));
  MSDUMP_CHECK_OK(pair_collectives(match));
  result.pairing.likeness = likeness_of_cuts(result.pairing);
  MSDUMP_CHECK_OK(put_together(match));
  result.pairing.limits.merge(match.limits);
  result.pairing.limits.merge(match.limits_of_layouts());
  return std::move(result);
}

}  // namespace msdump
