#include "compare/match/parameters/checkpoint_pairing.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/match/parameters/assembled_parameters.h"

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
