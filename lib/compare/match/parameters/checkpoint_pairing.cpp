#include "compare/match/parameters/checkpoint_pairing.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/numbers.h"
#include "compare/limits.h"
#include "compare/match/placement/placement_choices.h"
#include "compare/match/placement/sharded_match.h"

namespace msdump {
namespace {

std::unique_ptr<LocalParameters> locals_of(const CompareSide& side, const ParameterFiles& files) {
  auto locals = std::make_unique<LocalParameters>();
  for (const TensorRecord& tensor : *side.tensors) {
    const auto file = files.files.find(tensor.file);
    if (file == files.files.end()) continue;
    TensorRecord& local = locals->tensors.emplace_back(tensor);
    local.occurrence = 0;  // counts equal keys of several files
    const std::string name = file->second.name_of(tensor.name.op_name, false);
    if (name != tensor.name.op_name) local.name.op_name = locals->names.keep(name);
  }
  return locals;
}

// Leaves out what was added under the name of a partner: each parameter is compared once, and pair_parameters() ties others.
void remove_added(PairedShards& paired) {
  for (const Side side : kBothSides) {
    ShardedSide& own = *paired[side];
    for (TensorPair& pair : paired.pairing.tensors) {
      if (pair[side] != kNoId && own.original(pair[side]) != pair[side]) pair[side] = kNoId;
    }
    own.remove_added();
  }
}

constexpr ReachedLimit kRoundsLimit = {"assembled_parameters", kMostRounds,
                                       "not all ways to put the parts of parameters together were tried"};

// Says why the local tensors are no global one, unless they are on one rank. One that a single rank has may be whole, which
// its shape then shows.
void add_reason(const ShardedSide& side, RecordId tensor, Side which, PlacementNote& note) {
  const std::vector<int64_t>& ranks = side.ranks(tensor);
  if (ranks.size() < 2) return;
  const std::vector<const TensorRecord*>& locals = side.members(tensor).records;
  const auto lost = std::find(locals.begin(), locals.end(), nullptr);
  if (lost == locals.end()) {
    note.problem = fmt::format("the parts of ranks {} of the {} do not make it up", ranges_text(ranks), name_of(which));
  } else {
    const auto count = static_cast<size_t>(std::count(locals.begin(), locals.end(), nullptr));
    (count + 1 == locals.size() ? note.lacking : note.problem) =
        lacking_text(ranks[static_cast<size_t>(lost - locals.begin())], which);
  }
}

// Global tensors of parameters that pair_sharded() found no partner for, or one whose values are others: the other side may have
// their values joined, divided, transposed or under another name. They are assembled as their parts allow, one way after the
// other, until one of them gets a partner.
//
//   begin(), then pair_parameters() and next() as long as it says so, then choose_replicas() and notes_of()
class AssembledParameters {
 public:
  // `layouts` may be null.
  AssembledParameters(const Sides<std::unique_ptr<ShardedSide>>& shards, const PlacementRules* layouts,
                      const CancelToken& cancel)
      : shards_(shards), layouts_(layouts), cancel_(cancel) {}

  // `before`: what pair_sharded() found.
  Status begin(PairedShards before) {
    const std::vector<TensorPair>& pairs = before.pairing.tensors;
    for (size_t i = 0; i < pairs.size(); ++i)
      before_.emplace(std::pair(pairs[i].a, pairs[i].b), std::move(before.notes[i]));
    MSDUMP_CHECK_OK(find(pairs));
    take_next_ways();
    return {};
  }

  // Assembles those without a partner in their next way. False if there is none to pair again.
  Result<bool> next(const PairedParameters& paired) {
    settle(paired);
    MSDUMP_CHECK_OK(find(paired.pairing.tensors));
    return take_next_ways();
  }

  // Takes, where replicas differ, the replica with the largest error against the partner.
  template <class ErrorOf>
  void choose_replicas(const PairedParameters& paired, const ErrorOf& error_of) {
    for (const TensorPair& pair : paired.pairing.tensors) {
      for (const Side side : kBothSides) {
        if (!pair.is_paired()) continue;
        const Parameter* const one = parameter_of(side, paired.tensors[side][pair[side]]);
        if (one == nullptr || !one->is_settled || !one->differs || one->taken().is_sharded()) continue;
        std::optional<std::pair<double, TensorPieces>> worst;
        for (int64_t copy = 0; copy < one->taken().copies(); ++copy) {
          TensorPieces pieces = pieces_of(one->taken(), locals(*one), *locals(*one).front()->shape, copy);
          shards_[side]->set_pieces(one->tensor, pieces);
          const double error = error_of(paired.tensors.a[pair.a], paired.tensors.b[pair.b]);
          if (!worst || error > worst->first) worst = {error, std::move(pieces)};
        }
        shards_[side]->set_pieces(one->tensor, std::move(worst->second));
      }
    }
  }

  // The notes of the pairs.
  [[nodiscard]] std::vector<PlacementNote> notes_of(const PairedParameters& paired) const {
    std::vector<PlacementNote> notes;
    for (const TensorPair& pair : paired.pairing.tensors) {
      PlacementNote& note = notes.emplace_back();
      const auto found = before_.find({pair.a, pair.b});
      if (found != before_.end()) note = found->second;
      if (!pair.is_paired()) continue;
      for (const Side side : kBothSides) {
        const Parameter* const one = parameter_of(side, paired.tensors[side][pair[side]]);
        if (one == nullptr || !one->is_settled) continue;
        note.ranks = shards_[side]->ranks(one->tensor);
        const Placement& placement = one->taken();
        (side == Side::kCandidate ? note.layout : note.reference_layout) = text_of(placement, note.ranks);
        (side == Side::kCandidate ? note.a : note.b) = placement;
        note.confidence = paired.pairing.operators[pair.op].confidence;
      }
      if (!note.layout.empty() || !note.reference_layout.empty() || !note.unreadable.empty()) continue;
      for (const Side side : kBothSides) {
        // The others are views of tensors that lie on one rank.
        if (note.problem.empty() && pair[side] < shards_[side]->size())
          add_reason(*shards_[side], pair[side], side, note);
      }
    }
    return notes;
  }

  void add_reached_limit(ReachedLimits& limits) const {
    if (rounds_ > kMostRounds) limits.insert(kRoundsLimit);
  }

 private:
  struct Parameter {
    Side side;
    RecordId tensor;
    TensorPieces before;
    bool has_shape = false;  // `before` has the shape of the partner of the same name
    std::vector<Placement> ways = {};
    size_t way = 0;        // the next; the last is `before`
    bool differs = false;  // the parts have different elements
    bool is_settled = false;

    [[nodiscard]] const Placement& taken() const { return ways[way - 1]; }
  };

  [[nodiscard]] Parameter* parameter_of(Side side, const TensorRecord& tensor) const {
    const auto found = by_pieces_[side].find(tensor.pieces());
    return found == by_pieces_[side].end() ? nullptr : found->second;
  }

  [[nodiscard]] std::span<const TensorRecord* const> locals(const Parameter& one) const {
    return shards_[one.side]->members(one.tensor).records;
  }

  [[nodiscard]] TensorPieces assembled(const Parameter& one) const {
    const Placement& way = one.ways[one.way];
    return pieces_of(way, locals(one), global_of(way, locals(one)), 0);
  }

  // A name alone proves no order of the elements, unless the shape is that of the partner.
  void settle(const PairedParameters& paired) {
    for (TensorId i{0}; i < paired.pairing.tensors.size(); ++i) {
      const TensorPair& pair = paired.pairing.tensors[i];
      if (!pair.is_paired()) continue;
      const TensorRecord &a = paired.tensors.a[pair.a], &b = paired.tensors.b[pair.b];
      if (a.shape == nullptr || b.shape == nullptr || without_ones(*a.shape) != without_ones(*b.shape)) continue;
      const bool by_values =
          !paired.pairing.notes[i].empty() || paired.pairing.operators[pair.op].how == PairedBy::kValues;
      for (const Side side : kBothSides) {
        Parameter* const one = parameter_of(side, paired.tensors[side][pair[side]]);
        if (one != nullptr && one->way <= one->ways.size() && (by_values || !one->has_shape)) one->is_settled = true;
      }
    }
  }

  // Adds those of `pairs` whose values do not show how they are assembled.
  Status find(const std::vector<TensorPair>& pairs) {
    bool added = false;
    for (const TensorPair& pair : pairs) {
      const auto found = before_.find({pair.a, pair.b});
      const PlacementNote* const note = pair.is_paired() && found != before_.end() ? &found->second : nullptr;
      if (note != nullptr && note->is_established) continue;
      for (const Side side : kBothSides) {
        if (pair[side] == kNoId || pair[side] >= shards_[side]->size()) continue;
        const TensorPieces* const pieces = shards_[side]->tensors()[pair[side]].pieces();
        if (by_pieces_[side].contains(pieces)) continue;
        Parameter one{side, pair[side], *pieces, note != nullptr && !(note->layout + note->reference_layout).empty()};
        MSDUMP_CHECK_OK(find_ways(one));
        if (one.ways.empty()) continue;
        by_pieces_[side].emplace(pieces, &parameters_.emplace_back(std::move(one)));
        added = true;
      }
    }
    // Parts of a joined parameter are found together.
    for (Parameter& one : parameters_) {
      if (added && !one.is_settled) one.way = 0;
    }
    return {};
  }

  // True if there was one.
  bool take_next_ways() {
    bool any = false;
    if (++rounds_ > kMostRounds) {
      for (Parameter& one : parameters_) {
        if (!one.is_settled) one.way = std::max(one.way, one.ways.size());
      }
    }
    for (Parameter& one : parameters_) {
      if (one.is_settled || one.way > one.ways.size()) continue;
      shards_[one.side]->set_pieces(one.tensor, one.way == one.ways.size() ? one.before : assembled(one));
      ++one.way;
      any = true;
    }
    return any;
  }

  // Parts that lie one after the other along an axis in the order of the ranks, or replicas.
  Status find_ways(Parameter& one) const {
    const auto parts = locals(one);
    const bool whole = std::all_of(parts.begin(), parts.end(), [](const TensorRecord* part) {
      return part != nullptr && part->shape != nullptr && part->has_elements;
    });
    if (parts.size() < 2 || !whole) return {};
    std::vector<Shape> shapes;
    for (const TensorRecord* const part : parts) shapes.push_back(*part->shape);
    if (auto stated = stated_of(*shards_[one.side], one.side, one.tensor, layouts_).placement) {
      if (fits_shapes(*stated, shapes, global_of(*stated, parts))) one.ways = {*std::move(stated)};
      return {};
    }
    MSDUMP_TRY(const LocalContents::Digests digests, shards_[one.side]->contents().of(parts, cancel_));
    const auto count = static_cast<int64_t>(digests.of_pieces.size());
    if (count == 0) return {};
    std::map<uint64_t, int64_t> places;  // of the contents, in the order of the ranks
    std::vector<int64_t> of_rank;
    for (const uint64_t digest : digests.of_pieces)
      of_rank.push_back(places.try_emplace(digest, static_cast<int64_t>(places.size())).first->second);
    const auto different = static_cast<int64_t>(places.size());
    one.differs = different > 1;
    const int64_t copies = count / different;
    const auto is_order = [&](bool shards_first) {
      for (int64_t rank = 0; rank < count; ++rank) {
        if (of_rank[static_cast<size_t>(rank)] != (shards_first ? rank % different : rank / copies)) return false;
      }
      return copies * different == count;
    };
    for (uint32_t axis = 0; one.differs && axis < shapes.front().size(); ++axis) {
      for (const bool shards_first : {true, false}) {
        if (!is_order(shards_first)) continue;
        Placement way{{{different, PlacementRole::kConcat, axis}}};
        if (copies > 1) way.dims.insert(shards_first ? way.dims.end() : way.dims.begin(), {copies});
        if (fits_shapes(way, shapes, global_of(way, parts))) one.ways.push_back(std::move(way));
        break;
      }
    }
    if (LocalShapes(shapes).are_equal) one.ways.push_back({{{count}}});
    return {};
  }

  // The shape that the parts of a replica have together.
  static Shape global_of(const Placement& placement, std::span<const TensorRecord* const> parts) {
    Shape global = *parts.front()->shape;
    for (uint32_t axis = 0; axis < global.size(); ++axis) {
      int64_t all = 0, others = 1;
      for (const PlacementDim& dim : placement.dims) {
        if (dim.role != PlacementRole::kCopy && !(dim.traits().shards() && dim.axis == axis)) others *= dim.extent;
      }
      for (size_t rank = 0; rank < parts.size(); ++rank) {
        const Shape& shape = *parts[rank]->shape;
        if (shape.size() == global.size() && placement.copy_of(static_cast<int64_t>(rank)) == 0) all += shape[axis];
      }
      global[axis] = all / others;
    }
    return global;
  }

  const Sides<std::unique_ptr<ShardedSide>>& shards_;
  const PlacementRules* const layouts_;
  const CancelToken& cancel_;
  std::map<std::pair<RecordId, RecordId>, PlacementNote> before_;  // by tensors of the sides
  std::deque<Parameter> parameters_;
  Sides<std::map<const TensorPieces*, Parameter*>> by_pieces_;
  size_t rounds_ = 0;
};

}  // namespace

Result<PairedCheckpoints> pair_checkpoints(const ShardedInput& a, const ShardedInput& b, const NameMap* map,
                                           const PlacementRules* layouts, const RunContext& context) {
  Sides<ParameterFiles> files = parameter_files(a.side, b.side);
  Sides<CompareSide> sides = {a.side, b.side};
  PairedCheckpoints result;
  std::optional<PairedShards> divided;
  if (ranks_of(a.side).size() > 1 || ranks_of(b.side).size() > 1) {
    Sides<CompareSide> locals = sides;
    for (const Side side : kBothSides) {
      result.locals[side] = locals_of(sides[side], files[side]);
      locals[side].tensors = &result.locals[side]->tensors;
    }
    if (sharding_differs(locals.a, locals.b)) {
      MSDUMP_TRY(divided, pair_sharded({locals.a, a.tables}, {locals.b, b.tables}, map, layouts, context));
      remove_added(*divided);
      for (const Side side : kBothSides) {
        result.shards[side] = std::move((*divided)[side]);
        sides[side] = result.shards[side]->side();
        // The names of the local parameters say the rest.
        for (auto& [file, place] : files[side].files) place = {std::move(place.step), {}, {}, {}};
      }
    } else {
      result.locals = {};
    }
  }
  PairedParameters& parameters = result;
  const auto pair = [&]() -> Status {
    MSDUMP_TRY(parameters, pair_parameters(sides.a, sides.b, map, {&files.a, &files.b}, context.cancel));
    return {};
  };
  if (!divided) {
    MSDUMP_CHECK_OK(pair());
    return result;
  }
  const ReachedLimits limits = divided->pairing.limits;
  bool again = false;
  AssembledParameters assembled(result.shards, layouts, context.cancel);
  MSDUMP_CHECK_OK(assembled.begin(*std::move(divided)));
  do {
    MSDUMP_CHECK_OK(pair());
    MSDUMP_TRY(again, assembled.next(parameters));
  } while (again);
  assembled.choose_replicas(parameters, [&](const TensorRecord& of_a, const TensorRecord& of_b) {
    return error_between(a, of_a, b, of_b, context);
  });
  result.notes = assembled.notes_of(parameters);
  result.pairing.limits.insert(limits.begin(), limits.end());
  assembled.add_reached_limit(result.pairing.limits);
  return result;
}

}  // namespace msdump
