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
#include "compare/match/placement/placement_choices.h"
#include "compare/match/placement/sharded_match.h"
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
    PairedShards& result = match_.result;
    result.notes.resize(match_.fits.size());
    std::vector<Sides<TensorPieces>> pieces(match_.fits.size());
    match_.context.pool.parallel_for(static_cast<int64_t>(match_.fits.size()), [&](int64_t i) {
      const auto place = static_cast<size_t>(i);
      if (!match_.fits[place] || match_.context.cancel.cancelled()) return;
      pieces[place] = replicas_of(result.pairing.tensors[place], *match_.fits[place], result.notes[place]);
    });
    MSDUMP_CHECK_OK(match_.context.cancel.check());
    if (has_more_copies_) {
      match_.limits.insert(
          {"different_copies", kFewTried, "of more copies of a tensor that differ, not all were compared"});
    }
    for (size_t i = 0; i < match_.fits.size(); ++i) {
      const TensorPair& pair = result.pairing.tensors[i];
      if (!pair.is_paired()) continue;
      const std::optional<PlacementFit>& fit = match_.fits[i];
      PlacementNote& note = result.notes[i];
      for (const Side side : kBothSides) {
        if (note.problem.empty()) note.problem = match_.problem_of(side, pair[side], fit);
      }
      if (!fit) {
        if (note.problem.empty()) find_lost_part(pair, note);
        continue;
      }
      const std::vector<int64_t>&ranks_a = result.a->ranks(pair.a), &ranks_b = result.b->ranks(pair.b);
      note.layout = text_of(fit->a, ranks_a);
      note.reference_layout = text_of(fit->b, ranks_b);
      note.ranks = known_ranks(ranks_a);
      if (note.ranks.empty()) note.ranks = known_ranks(ranks_b);
      note.confidence = fit->confidence;
      note.is_established = fit->is_established;
      note.a = fit->a;
      note.b = fit->b;
      for (const Side side : kBothSides) result[side]->set_pieces(pair[side], std::move(pieces[i][side]));
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
      if (side == Side::kReference && match_.record(side, pair.b).name.io != Io::kParameter) break;
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
    TensorRecord whole = match_.record(Side::kCandidate, pair.a), other = match_.record(Side::kReference, pair.b);
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

// Pairs the collectives of one side alone. A collective reads the output of another call. Its partner is the value of the
// other side that goes into it, because the global tensor stays the same.
class CollectivePartners {
 public:
  CollectivePartners(ShardedMatch& match, Side side)
      : match_(match), pairing_(match.result.pairing), side_(side), other_(opposite(side)) {}

  Status run() {
    std::map<OperatorId, std::vector<TensorId>> collectives;  // by operator of the pairing: its pairs
    std::set<Shape> shapes;
    for (TensorId i{0}; i < pairing_.tensors.size(); ++i) {
      TensorPair& pair = pairing_.tensors[i];
      if (pair.is_paired() || pair[side_] == kNoId || !is_communication(pairing_.op_type(pair.op))) continue;
      collectives[pair.op].push_back(i);
      pair.alone = Alone::kCommunication;
      const Shape* const shape = match_.record(side_, pair[side_]).shape;
      if (shape != nullptr) shapes.insert(*shape);
    }
    if (collectives.empty()) return {};
    MSDUMP_CHECK_OK(find_sources(shapes));
    find_groups();
    for (const auto& [op, pairs] : collectives) {
      if (!is_within(op, tensor_of(pairs.front()))) continue;
      MSDUMP_TRY(const std::optional<TensorId> source, source_of(op, pairs));
      if (source) {
        add_partner(op, pairs, pairing_.tensors[*source][other_], *match_.fits[*source]);
      } else {
        find_partner(op, pairs);
      }
    }
    return {};
  }

 private:
  [[nodiscard]] RecordId tensor_of(TensorId pair) const { return pairing_.tensors[pair][side_]; }
  [[nodiscard]] bool is_input(TensorId pair) const {
    return match_.record(side_, tensor_of(pair)).name.io == Io::kInput;
  }

  void find_groups() {
    const CompareSide& side = match_.inputs[side_];
    if (side.arguments == nullptr) return;
    for (const CallArgument& argument : *side.arguments) {
      if (argument.value.kind != CallValue::Kind::kGroup) continue;
      const FolderIdentity& folder = side.index->folders()[side.index->files()[argument.table].folder].identity;
      std::set<int64_t>& ranks = groups_[{argument.op_name, folder.rank.value_or(-1), folder.step}];
      const std::string group = group_of_ranks(argument.value.text, folder.rank);
      for (const std::string_view rank : split(group, ' ')) {
        if (const auto number = parse_i64(rank)) ranks.insert(*number);
      }
    }
  }

  // True unless the group has ranks that run another program, such as the pipeline stages that share a weight. Such a
  // collective reduces more than one global tensor. A send or receive moves less than one.
  [[nodiscard]] bool is_within(OperatorId op, RecordId tensor) const {
    const SequencedOp& own = pairing_.operators_of(side_)[pairing_.operators[op][side_]];
    const std::vector<int64_t>& ranks = match_.result[side_]->ranks(tensor);
    if (ranks.size() < 2 || sends(own)) return false;
    const auto step = match_.step_of(side_, tensor);
    return std::all_of(ranks.begin(), ranks.end(), [&](int64_t rank) {
      const auto group = groups_.find({own.name, rank, step});
      return group == groups_.end() ||
             std::includes(ranks.begin(), ranks.end(), group->second.begin(), group->second.end());
    });
  }

  // Finds the tensors of these shapes that have a partner with known placements.
  Status find_sources(const std::set<Shape>& shapes) {
    for (TensorId i{0}; i < pairing_.tensors.size(); ++i) {
      if (!pairing_.tensors[i].is_paired() || !match_.fits[i]) continue;
      const Shape* const shape = match_.record(side_, tensor_of(i)).shape;
      if (shape == nullptr || !shapes.contains(*shape)) continue;
      MSDUMP_TRY(const uint64_t contents, match_.contents_of(side_, tensor_of(i)));
      sources_[contents].push_back(i);
    }
    return {};
  }

  // The last tensor before the collective that equals its first input.
  Result<std::optional<TensorId>> source_of(OperatorId op, const std::vector<TensorId>& pairs) const {
    for (const TensorId i : pairs) {
      if (!is_input(i)) continue;
      MSDUMP_TRY(const uint64_t contents, match_.contents_of(side_, tensor_of(i)));
      const auto found = sources_.find(contents);
      if (contents == 0 || found == sources_.end()) continue;
      std::optional<TensorId> last;
      for (const TensorId source : found->second) {
        if (pairing_.tensors[source].op < op) last = source;
      }
      if (last) return last;
    }
    return std::nullopt;
  }

  // If the producer of the input has no partner: tries the tensors of the other side, the nearest first.
  void find_partner(OperatorId op, const std::vector<TensorId>& pairs) {
    const auto input = std::find_if(pairs.begin(), pairs.end(), [&](TensorId i) { return is_input(i); });
    if (input == pairs.end()) return;
    LocalTensors own = match_.locals_of(side_, tensor_of(*input));
    if (!ok(own)) return;
    std::vector<TensorId> near;  // pairs, by their distance
    const auto count = static_cast<uint32_t>(pairing_.tensors.size());
    constexpr auto kNear = static_cast<uint32_t>(kMostFollowed);
    const uint32_t first = *input > kNear ? *input - kNear : 0, end = std::min(count, *input + kNear);
    for (TensorId i(first); i < end; ++i) {
      const auto [a, b] = sides_from(side_, tensor_of(*input), pairing_.tensors[i][other_]);
      if (a != kNoId && b != kNoId && match_.may_be_one(a, b)) near.push_back(i);
    }
    const auto distance = [&](TensorId i) {
      const OperatorId at = pairing_.tensors[i].op;
      return at > op ? at - op : op - at;
    };
    std::stable_sort(near.begin(), near.end(), [&](TensorId x, TensorId y) { return distance(x) < distance(y); });
    const bool has_more = near.size() > kMostTried, is_far = first > 0 || end < count;
    if (has_more) near.resize(kMostTried);
    for (const TensorId i : near) {
      const RecordId value = pairing_.tensors[i][other_];
      LocalTensors other = match_.locals_of(other_, value);
      const Sides<LocalTensors*> both = sides_from(side_, &own, &other);
      const auto fit_by = [&](PlacementQuery::Effort effort) {
        return find_placement(*both.a, *both.b, {"", match_.factors, effort, {}}, match_.prior);
      };
      const std::optional<PlacementFit> fit = fit_by(PlacementQuery::Effort::kQuick);
      // A small sample of a tensor that is almost all zeros is near many others.
      if (is_like(fit) && is_like(fit_by(PlacementQuery::Effort::kUsual))) return add_partner(op, pairs, value, *fit);
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

  void add_partner(OperatorId op, const std::vector<TensorId>& pairs, RecordId value, const PlacementFit& of_input) {
    std::vector<ShardedMatch::Twin> twins;
    for (const TensorId i : pairs) {
      std::optional<PlacementFit> fit = is_input(i) ? of_input : collective_fit(tensor_of(i), value, of_input);
      if (!fit) return;
      twins.push_back({i, value, *std::move(fit)});
    }
    match_.add_partner(side_, op, twins);
  }

  // The placement of an output. If its values do not show it, that of the input with replicas in place of what was reduced.
  [[nodiscard]] std::optional<PlacementFit> collective_fit(RecordId tensor, RecordId value,
                                                           const PlacementFit& input) const {
    LocalTensors own = match_.locals_of(side_, tensor), other = match_.locals_of(other_, value);
    const PlacementQuery query{"", {{input.a.factor}, {input.b.factor}}, PlacementQuery::Effort::kUsual, {}};
    const Stated stated = match_.stated_of(side_, tensor);
    std::optional<PlacementFit> found =
        match_.find_stated(sides_from(side_, &own, &other), query, sides_from(side_, stated, {}));
    if (found && (found->agreement >= kFits || stated.placement == (*found)[side_])) return found;
    // The elements of a list of outputs are parts of different ranks.
    if (match_.record(side_, tensor).name.slot.find('.') != std::string_view::npos) return std::nullopt;
    PlacementFit meant = input;
    meant[side_] = meant[side_].after_reduction();
    meant.confidence /= 2;
    meant.is_established = true;
    if (ok(own) && fits_shapes(meant[side_], shapes_of(own), meant.global)) return meant;
    return found;
  }

  ShardedMatch& match_;
  Pairing& pairing_;
  const Side side_, other_;
  std::map<uint64_t, std::vector<TensorId>> sources_;  // by contents
  // The ranks of the group of each call, by call, rank and step.
  std::map<std::tuple<std::string_view, int64_t, std::optional<int64_t>>, std::set<int64_t>> groups_;
};

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
  for (const Side side : kBothSides) MSDUMP_CHECK_OK(CollectivePartners(match, side).run());
  // Shards have other shapes, so the pairs alone show whether the networks are alike.
  result.pairing.likeness = {};
  if (std::none_of(result.pairing.tensors.begin(), result.pairing.tensors.end(),
                   [](const TensorPair& pair) { return pair.is_paired(); }))
    result.pairing.likeness.comparable = std::min(result.pairing.a.size(), result.pairing.b.size());
  MSDUMP_CHECK_OK(GlobalTensors(match).run());
  result.pairing.limits.merge(match.limits);
  result.pairing.limits.merge(match.limits_of_placements());
  return std::move(result);
}

}  // namespace msdump
