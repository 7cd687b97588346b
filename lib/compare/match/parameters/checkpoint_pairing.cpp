#include "compare/match/parameters/checkpoint_pairing.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

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

// Why the local tensors are no global one; empty if they are on one rank.
std::string problem_of(const ShardedSide& side, RecordId tensor, Side which) {
  const std::vector<int64_t>& ranks = side.ranks(tensor);
  if (ranks.size() < 2) return {};
  const std::vector<const TensorRecord*>& locals = side.members(tensor).records;
  const auto lost = std::find(locals.begin(), locals.end(), nullptr);
  if (lost != locals.end()) return lacking_text(ranks[static_cast<size_t>(lost - locals.begin())], which);
  return fmt::format("the parts of ranks {} of the {} do not make it up", text_of_ranks(ranks), name_of(which));
}

// The notes of tensors that have been paired again.
std::vector<PlacementNote> notes_again(std::vector<PlacementNote> notes, const Pairing& before, const Pairing& now,
                                       const Sides<std::unique_ptr<ShardedSide>>& shards) {
  std::map<std::pair<RecordId, RecordId>, size_t> known;
  for (size_t i = 0; i < before.tensors.size(); ++i)
    known.emplace(std::pair(before.tensors[i].a, before.tensors[i].b), i);
  std::vector<PlacementNote> again;
  for (const TensorPair& pair : now.tensors) {
    const auto found = known.find({pair.a, pair.b});
    PlacementNote& note = again.emplace_back();
    if (found != known.end()) note = std::move(notes[found->second]);
    if (!pair.is_paired() || !note.layout.empty() || !note.reference_layout.empty() || !note.unreadable.empty())
      continue;
    for (const Side side : kBothSides) {
      // The others are views of tensors that lie on one rank.
      if (note.problem.empty() && pair[side] < shards[side]->size())
        note.problem = problem_of(*shards[side], pair[side], side);
    }
  }
  return again;
}

}  // namespace

Result<PairedCheckpoints> pair_checkpoints(const ShardedInput& a, const ShardedInput& b, const NameMap* map,
                                           const PlacementRules* layouts, const RunContext& context) {
  Sides<ParameterFiles> files = parameter_files(a.side, b.side);
  Sides<CompareSide> sides = {a.side, b.side};
  PairedCheckpoints result;
  Pairing before;
  if (ranks_of(a.side).size() > 1 || ranks_of(b.side).size() > 1) {
    Sides<CompareSide> locals = sides;
    for (const Side side : kBothSides) {
      result.locals[side] = locals_of(sides[side], files[side]);
      locals[side].tensors = &result.locals[side]->tensors;
    }
    if (sharding_differs(locals.a, locals.b)) {
      MSDUMP_TRY(PairedShards paired, pair_sharded({locals.a, a.tables}, {locals.b, b.tables}, map, layouts, context));
      before = std::move(paired.pairing);
      result.notes = std::move(paired.notes);
      for (const Side side : kBothSides) {
        result.shards[side] = std::move(paired[side]);
        sides[side] = result.shards[side]->side();
        // The names of the local parameters say the rest.
        for (auto& [file, place] : files[side].files) place = {std::move(place.step), {}, {}, {}};
      }
    } else {
      result.locals = {};
    }
  }
  MSDUMP_TRY(PairedParameters paired, pair_parameters(sides.a, sides.b, map, {&files.a, &files.b}, context.cancel));
  static_cast<PairedParameters&>(result) = std::move(paired);
  if (result.shards.a != nullptr) {
    result.notes = notes_again(std::move(result.notes), before, result.pairing, result.shards);
    result.pairing.limits.insert(before.limits.begin(), before.limits.end());
  }
  return result;
}

}  // namespace msdump
