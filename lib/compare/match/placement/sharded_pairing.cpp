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
#include "compare/limits.h"
#include "compare/match/placement/expert_splits.h"
#include "compare/match/placement/placement_choices.h"
#include "compare/match/placement/sharded_match.h"
#include "compare/match/placement/value_partners.h"
#include "compare/statistics/statistic_diff.h"
#include "graph/flow/communication.h"

namespace msdump {
namespace {

std::vector<int64_t> known_ranks(const std::vector<int64_t>& ranks) {
  std::vector<int64_t> known = ranks;
  std::erase_if(known, [](int64_t rank) { return rank < 0; });
  return known;
}

// Assembles the global tensors of both sides by the placements that were found. Among replicas that differ, the one that is
// furthest from the other side is compared.
class GlobalTensors {
 public:
  explicit GlobalTensors(ShardedMatch& match) : match_(match) {}

  Status run() {
    match_.result.notes.resize(match_.fits.size());
    std::vector<Sides<TensorPieces>> pieces(match_.fits.size());
    match_.context.pool.parallel_for(static_cast<int64_t>(match_.fits.size()), [&](int64_t i) {
      const auto place = static_cast<size_t>(i);
      if (!match_.fits[place] || match_.context.cancel.cancelled()) return;
      pieces[place] =
          replicas_of(match_.result.pairing.tensors[place], *match_.fits[place], match_.result.notes[place]);
    });
    MSDUMP_CHECK_OK(match_.context.cancel.check());
    if (has_more_copies_) {
      match_.limits.insert(
          {"different_copies", kFewTried, "of more copies of a tensor that differ, not all were compared"});
    }
    for (size_t i = 0; i < match_.fits.size(); ++i) {
      const TensorPair& pair = match_.result.pairing.tensors[i];
      const PlacementFit* const fit = match_.fits[i] ? &*match_.fits[i] : nullptr;
      std::string& problem = match_.result.notes[i].problem;
      if (pair.is_paired()) problem = match_.problem_of(Side::kCandidate, pair.a, fit);
      if (pair.is_paired() && problem.empty()) problem = match_.problem_of(Side::kReference, pair.b, fit);
      if (fit == nullptr) {
        if (pair.is_paired() && problem.empty()) find_lost_part(pair, match_.result.notes[i]);
        continue;
      }
      PlacementNote& note = match_.result.notes[i];
      const std::vector<int64_t>&ranks_a = match_.result.a->ranks(pair.a), &ranks_b = match_.result.b->ranks(pair.b);
      note.layout = text_of(fit->a, ranks_a);
      note.reference_layout = text_of(fit->b, ranks_b);
      note.ranks = known_ranks(ranks_a);
      if (note.ranks.empty()) note.ranks = known_ranks(ranks_b);
      note.confidence = fit->confidence;
      note.is_established = fit->is_established;
      note.a = fit->a;
      note.b = fit->b;
      for (const Side side : kBothSides) match_.result[side]->set_pieces(pair[side], std::move(pieces[i][side]));
    }
    return {};
  }

 private:
  void find_lost_part(const TensorPair& pair, PlacementNote& note) const {
    for (const Side side : kBothSides) {
      const ShardedSide& own = *match_.result[side];
      const std::vector<int64_t>& ranks = own.ranks(pair[side]);
      for (size_t i = 0; ranks.size() > 1 && i < ranks.size(); ++i) {
        const TensorRecord* const& part = own.members(pair[side]).records[i];
        if (part != nullptr && !was_unreadable(own, *part) && ok(match_.locals_of(side, {&part, 1}))) continue;
        if (part == nullptr) {
          note.lacking = lacking_text(ranks[i], side);
        } else {
          note.unreadable = fmt::format("the part of rank {} of the {} cannot be read", ranks[i], name_of(side));
        }
        return;
      }
    }
  }

  // True if the file could not be read in the search for a placement, though it may be now.
  [[nodiscard]] static bool was_unreadable(const ShardedSide& side, const TensorRecord& part) {
    const DumpIndex& index = *side.side().index;
    return side.contents().failures().has(index.path_of(index.files()[part.file]));
  }

  [[nodiscard]] TensorPieces replica(Side side, const TensorPair& pair, const PlacementFit& fit, int64_t copy) const {
    return pieces_of(fit[side], match_.result[side]->members(pair[side]).records, fit.global, copy);
  }

  // The replicas that are compared. The reference's are trusted to be equal, except for parameters.
  [[nodiscard]] Sides<TensorPieces> replicas_of(const TensorPair& pair, const PlacementFit& fit, PlacementNote& note) {
    Sides<TensorPieces> pieces = {replica(Side::kCandidate, pair, fit, 0), replica(Side::kReference, pair, fit, 0)};
    for (const Side side : kBothSides) {
      if (side == Side::kReference && match_.result.b->tensors()[pair.b].name.io != Io::kParameter) break;
      const std::vector<int64_t> different = different_copies(side, pair[side], fit[side], note);
      if (different.size() < 2) continue;
      Sides<TensorPieces> tried = pieces;
      double most = -1;
      for (const int64_t copy : different) {
        tried[side] = replica(side, pair, fit, copy);
        const double error = error_of(pair, tried);
        if (error <= most) continue;
        most = error;
        pieces[side] = tried[side];
      }
    }
    return pieces;
  }

  [[nodiscard]] double error_of(const TensorPair& pair, const Sides<TensorPieces>& pieces) const {
    TensorRecord whole = match_.result.a->tensors()[pair.a], other = match_.result.b->tensors()[pair.b];
    TensorView view_a, view_b;
    view_a.pieces = &pieces.a;
    view_b.pieces = &pieces.b;
    whole.view = &view_a;
    other.view = &view_b;
    return error_between({match_.inputs.a, *match_.tables.a}, whole, {match_.inputs.b, *match_.tables.b}, other,
                         match_.context);
  }

  // A replica of each content, that of the most frequent content first.
  [[nodiscard]] std::vector<int64_t> different_copies(Side side, RecordId tensor, const Placement& placement,
                                                      PlacementNote& note) {
    const int64_t copies = placement.copies();
    if (copies < 2) return {0};
    const auto digests = match_.digests_of(side, tensor);
    if (!digests || digests->empty()) return {0};
    std::vector<uint64_t> of_copy(static_cast<size_t>(copies), 1);
    for (size_t rank = 0; rank < digests->size(); ++rank) {
      uint64_t& all = of_copy[static_cast<size_t>(placement.copy_of(static_cast<int64_t>(rank)))];
      all = mix_hash(all, (*digests)[rank]);
    }
    std::map<uint64_t, std::pair<size_t, int64_t>> kinds;  // how many, and the first of them
    for (int64_t copy = 0; copy < copies; ++copy)
      ++kinds.try_emplace(of_copy[static_cast<size_t>(copy)], 0, copy).first->second.first;
    if (kinds.size() < 2) return {0};
    const auto usual = std::max_element(kinds.begin(), kinds.end(), [](const auto& x, const auto& y) {
      return std::pair(x.second.first, -x.second.second) < std::pair(y.second.first, -y.second.second);
    });
    note.uneven = note.uneven || side == Side::kCandidate;
    std::vector<int64_t> different = {usual->second.second};
    for (const auto& [digest, kind] : kinds) {
      if (digest != usual->first && different.size() < kFewTried) different.push_back(kind.second);
    }
    if (different.size() < kinds.size()) has_more_copies_ = true;
    return different;
  }

  ShardedMatch& match_;
  std::atomic<bool> has_more_copies_ = false;
};

std::vector<double> factors_of(const Placement& placement) {
  return placement.factor == 1 ? std::vector<double>() : std::vector<double>{placement.factor};
}

// Pairs the collectives of one side alone. A collective reads the output of another call. Its partner is the value of the
// other side that goes into it, because the global tensor stays the same.
class CollectivePartners {
 public:
  explicit CollectivePartners(ShardedMatch& match) : match_(match) {}

  Status run() {
    for (const Side side : kBothSides) MSDUMP_CHECK_OK(pair_collectives(side));
    return {};
  }

 private:
  Status pair_collectives(Side side) {
    Pairing& pairing = match_.result.pairing;
    std::map<OperatorId, std::vector<TensorId>> collectives;  // by operator of the pairing: its pairs
    std::set<Shape> shapes;
    for (TensorId i{0}; i < pairing.tensors.size(); ++i) {
      TensorPair& pair = pairing.tensors[i];
      if (pair.is_paired() || pair[side] == kNoId || !is_communication(pairing.op_type(pair.op))) continue;
      collectives[pair.op].push_back(i);
      pair.alone = Alone::kCommunication;
      const Shape* const shape = match_.result[side]->tensors()[pair[side]].shape;
      if (shape != nullptr) shapes.insert(*shape);
    }
    if (collectives.empty()) return {};
    MSDUMP_TRY(const auto sources, sources_by_contents(side, shapes));
    const Groups groups = groups_of(match_.inputs[side]);
    for (const auto& [op, pairs] : collectives) {
      if (!is_within(side, op, pairs, groups)) continue;
      MSDUMP_TRY(const std::optional<TensorId> source, source_of(side, op, pairs, sources));
      if (source) {
        add_partner(side, op, pairs, pairing.tensors[*source][opposite(side)], *match_.fits[*source]);
      } else {
        find_partner(side, op, pairs);
      }
    }
    return {};
  }

  // The ranks of the group of each call, by call, rank and step.
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

  // True unless the group has ranks that run another program, such as the pipeline stages that share a weight. Such a
  // collective reduces more than one global tensor. A send or receive moves less than one.
  [[nodiscard]] bool is_within(Side side, OperatorId op, const std::vector<TensorId>& pairs,
                               const Groups& groups) const {
    const SequencedOp& own = match_.result.pairing.operators_of(side)[match_.result.pairing.operators[op][side]];
    const RecordId tensor = match_.result.pairing.tensors[pairs.front()][side];
    const std::vector<int64_t>& ranks = match_.result[side]->ranks(tensor);
    if (ranks.size() < 2 || sends(own)) return false;
    const auto step = step_of(*match_.inputs[side].index, match_.result[side]->tensors()[tensor]);
    return std::all_of(ranks.begin(), ranks.end(), [&](int64_t rank) {
      const auto group = groups.find({own.name, rank, step});
      return group == groups.end() || std::all_of(group->second.begin(), group->second.end(), [&](int64_t other) {
               return std::binary_search(ranks.begin(), ranks.end(), other);
             });
    });
  }

  using Sources = std::map<uint64_t, std::vector<std::pair<OperatorId, TensorId>>>;  // by contents: operator and pair

  // The tensors of these shapes that have a partner with known placements.
  Result<Sources> sources_by_contents(Side side, const std::set<Shape>& shapes) const {
    Sources sources;
    for (TensorId i{0}; i < match_.result.pairing.tensors.size(); ++i) {
      const TensorPair& pair = match_.result.pairing.tensors[i];
      if (!pair.is_paired() || !match_.fits[i]) continue;
      const Shape* const shape = match_.result[side]->tensors()[pair[side]].shape;
      if (shape == nullptr || !shapes.contains(*shape)) continue;
      MSDUMP_TRY(const uint64_t contents, match_.contents_of(side, pair[side]));
      sources[contents].emplace_back(pair.op, i);
    }
    return sources;
  }

  // The last tensor before the collective that equals its first input.
  Result<std::optional<TensorId>> source_of(Side side, OperatorId op, const std::vector<TensorId>& pairs,
                                            const Sources& sources) const {
    for (const TensorId i : pairs) {
      const RecordId tensor = match_.result.pairing.tensors[i][side];
      if (match_.result[side]->tensors()[tensor].name.io != Io::kInput) continue;
      MSDUMP_TRY(const uint64_t contents, match_.contents_of(side, tensor));
      const auto found = sources.find(contents);
      if (contents == 0 || found == sources.end()) continue;
      std::optional<TensorId> last;
      for (const auto& [of, source] : found->second) {
        if (of < op) last = source;
      }
      if (last) return last;
    }
    return std::nullopt;
  }

  // If the producer of the input has no partner: tries the tensors of the other side, the nearest first.
  void find_partner(Side side, OperatorId op, const std::vector<TensorId>& pairs) {
    const Pairing& pairing = match_.result.pairing;
    const auto reads = [&](TensorId i) {
      return match_.result[side]->tensors()[pairing.tensors[i][side]].name.io == Io::kInput;
    };
    const auto input = std::find_if(pairs.begin(), pairs.end(), reads);
    if (input == pairs.end()) return;
    const RecordId tensor = pairing.tensors[*input][side];
    const TensorRecord& record = match_.result[side]->tensors()[tensor];
    LocalTensors own = match_.locals_of(side, tensor);
    if (!ok(own) || record.shape == nullptr) return;
    const auto of_step = step_of(*match_.inputs[side].index, record);
    std::vector<TensorId> near;  // pairs, by their distance
    const auto count = static_cast<uint32_t>(pairing.tensors.size());
    constexpr auto kNear = static_cast<uint32_t>(kMostFollowed);
    const uint32_t first = *input > kNear ? *input - kNear : 0, end = std::min(count, *input + kNear);
    for (TensorId i(first); i < end; ++i) {
      const RecordId other = pairing.tensors[i][opposite(side)];
      if (other == kNoId) continue;
      const Sides<RecordId> both = sides_from(side, tensor, other);
      if (match_.may_be_one(both.a, both.b) &&
          step_of(*match_.inputs[opposite(side)].index, match_.result[opposite(side)]->tensors()[other]) == of_step)
        near.push_back(i);
    }
    const auto distance = [&](TensorId i) {
      const OperatorId at = pairing.tensors[i].op;
      return at > op ? at - op : op - at;
    };
    std::stable_sort(near.begin(), near.end(), [&](TensorId x, TensorId y) { return distance(x) < distance(y); });
    const bool has_more = near.size() > kMostTried, is_far = first > 0 || end < count;
    if (has_more) near.resize(kMostTried);
    for (const TensorId i : near) {
      const RecordId value = pairing.tensors[i][opposite(side)];
      LocalTensors other = match_.locals_of(opposite(side), value);
      const Sides<LocalTensors*> both = sides_from(side, &own, &other);
      const auto fit_by = [&](PlacementQuery::Effort effort) {
        return find_placement(*both.a, *both.b, {"", match_.factors, effort, {}}, match_.prior);
      };
      const std::optional<PlacementFit> fit = fit_by(PlacementQuery::Effort::kQuick);
      // A small sample of a tensor that is almost all zeros is near many others.
      if (is_like(fit) && is_like(fit_by(PlacementQuery::Effort::kUsual)))
        return add_partner(side, op, pairs, value, *fit);
    }
    if (has_more) match_.leave_out_calls();
    if (is_far) {
      match_.limits.insert({"collective_neighbours", kMostFollowed,
                            "the value that a collective reads was looked for among the tensors near it alone"});
    }
  }

  // An error of 1 is that of zeros, so a match has less.
  [[nodiscard]] static bool is_like(const std::optional<PlacementFit>& fit) {
    return fit && fit->agreement >= kFits && fit->is_informative && fit->error < 1;
  }

  void add_partner(Side side, OperatorId op, const std::vector<TensorId>& pairs, RecordId value,
                   const PlacementFit& of_input) {
    std::vector<ShardedMatch::Twin> twins;
    for (const TensorId i : pairs) {
      const RecordId tensor = match_.result.pairing.tensors[i][side];
      const bool input = match_.result[side]->tensors()[tensor].name.io == Io::kInput;
      std::optional<PlacementFit> fit = input ? of_input : collective_fit(side, tensor, value, of_input);
      if (!fit) return;
      twins.push_back({i, value, *std::move(fit)});
    }
    match_.add_partner(side, op, twins);
  }

  // The placement of an output. If its values do not show it, that of the input with replicas in place of what was reduced.
  [[nodiscard]] std::optional<PlacementFit> collective_fit(Side side, RecordId tensor, RecordId value,
                                                           const PlacementFit& input) const {
    LocalTensors own = match_.locals_of(side, tensor), other = match_.locals_of(opposite(side), value);
    const PlacementQuery query{"", {factors_of(input.a), factors_of(input.b)}, PlacementQuery::Effort::kUsual, {}};
    const ShardedMatch::Stated stated = match_.stated_of(side, tensor);
    std::optional<PlacementFit> found =
        match_.find_stated(sides_from(side, &own, &other), query, sides_from(side, stated, {}));
    if (found && (found->agreement >= kFits || stated.placement == (*found)[side])) return found;
    // The elements of a list of outputs are parts of different ranks.
    if (result_is_list(side, tensor)) return std::nullopt;
    PlacementFit meant = input;
    meant[side] = meant[side].after_reduction();
    meant.confidence /= 2;
    meant.is_established = true;
    if (ok(own) && fits_shapes(meant[side], shapes_of(own), meant.global)) return meant;
    return found;
  }

  [[nodiscard]] bool result_is_list(Side side, RecordId tensor) const {
    return match_.result[side]->tensors()[tensor].name.slot.find('.') != std::string_view::npos;
  }

  ShardedMatch& match_;
};

// The similarity of the networks by their pairs alone, because shards have other shapes.
Likeness likeness_of_shards(const Pairing& pairing) {
  const bool any = std::any_of(pairing.tensors.begin(), pairing.tensors.end(),
                               [](const TensorPair& pair) { return pair.is_paired(); });
  Likeness likeness;
  if (!any) likeness.comparable = std::min(pairing.a.size(), pairing.b.size());
  return likeness;
}

}  // namespace

std::string lacking_text(int64_t rank, Side side) {
  return fmt::format("rank {} of the {} does not have it", rank, name_of(side));
}

double error_between(const ShardedInput& of_a, const TensorRecord& a, const ShardedInput& of_b, const TensorRecord& b,
                     const RunContext& context) {
  const auto diff = diff_records({*of_a.side.index, of_a.tables}, a, {*of_b.side.index, of_b.tables}, b, {}, context);
  return diff ? diff->error().value_or(INFINITY) : -1;
}

Result<PairedShards> pair_sharded(const ShardedInput& a, const ShardedInput& b, const NameMap* map,
                                  const PlacementRules* stated, const RunContext& context) {
  ShardedMatch match(a, b, stated, context);
  PairedShards& result = match.result;
  const auto pair_again_by_names = [&] {
    result.pairing = pair_sides(result.a->side(), result.b->side(), map);
    return match.find_placements();
  };
  MSDUMP_CHECK_OK(pair_again_by_names());
  MSDUMP_TRY(const Sides<ExpertSplits> splits, find_expert_splits(match));
  if (!splits.a.empty() || !splits.b.empty()) {
    for (const Side side : kBothSides) result[side] = std::make_unique<ShardedSide>(*result[side], splits[side]);
    MSDUMP_CHECK_OK(pair_again_by_names());
  }
  if (map == nullptr) {
    MSDUMP_TRY(const std::vector<SequencedOpId> partners, partners_by_values(match));
    result.pairing = pair_again(result.a->side(), result.b->side(), result.pairing, partners);
    MSDUMP_CHECK_OK(match.find_placements());
  }
  result.pairing.is_sharded = true;
  if (map == nullptr) MSDUMP_CHECK_OK(pair_value_twins(match));
  MSDUMP_CHECK_OK(CollectivePartners(match).run());
  result.pairing.likeness = likeness_of_shards(result.pairing);
  MSDUMP_CHECK_OK(GlobalTensors(match).run());
  result.pairing.limits.merge(match.limits);
  result.pairing.limits.merge(match.limits_of_placements());
  return std::move(result);
}

}  // namespace msdump
