#include "divergence/placement_evidence.h"

#include <algorithm>
#include <set>
#include <utility>

#include "check/ranks/collective_rules.h"
#include "check/ranks/replica_rules.h"
#include "compare/match/placement/placement_search.h"
#include "compare/pair/pair_reader.h"
#include "dump/elements/host_tensor.h"
#include "kernels/reduce/reduce.h"
#include "tensor/dtype.h"

namespace msdump {
namespace {

// The member of TensorPair for one side.
using OfPair = RecordId TensorPair::*;

// The elements of the local tensor on the first rank; 0 if unknown.
int64_t elements_of(const ShardedSide& side, RecordId tensor) {
  const TensorRecord* const piece = side.members(tensor).records.front();
  return piece == nullptr || piece->shape == nullptr ? 0 : element_count(*piece->shape).value_or(0);
}

// The element counts of local tensors that this side alone has. Counts, because views have other shapes.
std::set<int64_t> sizes_alone(const ShardedSide& side, const Pairing& pairing, OfPair own, OfPair other) {
  std::set<int64_t> sizes;
  for (const TensorPair& pair : pairing.tensors) {
    if (pair.*own != kNoId && pair.*other == kNoId) sizes.insert(elements_of(side, pair.*own));
  }
  return sizes;
}

// PlacementEvidence::contents of one side. `sizes` are the element counts of local tensors to read; null for all.
Result<std::vector<uint64_t>> find_contents(const ShardedSide& side, const Pairing& pairing, OfPair own,
                                            const std::set<int64_t>* sizes, const RunContext& context) {
  std::vector<uint64_t> contents(pairing.tensors.size(), 0);
  context.pool.parallel_for(static_cast<int64_t>(contents.size()), [&](int64_t i) {
    const RecordId tensor = pairing.tensors[static_cast<size_t>(i)].*own;
    if (tensor == kNoId || context.cancel.cancelled()) return;
    if (sizes != nullptr && !sizes->contains(elements_of(side, tensor))) return;
    const ShardedSide::Members& members = side.members(tensor);
    const Result<LocalContents::Digests> digests = side.contents().of(members.records, context.cancel);
    if (digests && !digests->alike)
      contents[static_cast<size_t>(i)] = contents_number(members.ranks, digests->of_pieces);
  });
  MSDUMP_CHECK_OK(context.cancel.check());
  return contents;
}

Result<std::map<TensorId, BrokenExchange>> find_broken(const ComparedShards& shards, const RunContext& context) {
  const DumpWithGraph& candidate = shards.candidate;
  const std::vector<TensorPair>& pairs = shards.pairing.tensors;
  if (ranks_of(candidate).size() < 2) return {};  // one rank exchanges nothing
  MSDUMP_TRY(const std::vector<check::Finding> findings, check::broken_exchanges(candidate, context));
  std::map<const TensorRecord*, const check::Finding*> by_record;
  for (const check::Finding& finding : findings) by_record.emplace(&(*candidate.tensors)[finding.tensor], &finding);
  std::map<TensorId, BrokenExchange> broken;
  for (TensorId tensor{0}; tensor < pairs.size() && !findings.empty(); ++tensor) {
    if (pairs[tensor].a == kNoId) continue;
    for (const TensorRecord* const record : shards.a.members(pairs[tensor].a).records) {
      const auto found = by_record.find(record);
      if (found != by_record.end())
        broken.try_emplace(tensor, BrokenExchange{found->second->ranks, found->second->message});
    }
  }
  return broken;
}

// False if the elements cannot be read.
bool has_not_finite(const ShardedSide& side, const TensorRecord* piece, const CancelToken& cancel) {
  if (piece == nullptr || !piece->has_elements || piece->broken) return false;
  auto tensor = HostTensor::open(*side.side().index, *piece, {});
  if (!tensor || !kernels::can_reduce(tensor->dtype()) || kind_of(tensor->dtype()) != DTypeKind::kFloat) return false;
  kernels::ReduceRule counts;
  counts.sum = counts.squares = counts.extremes = false;
  kernels::ChunkStatistics state = kernels::start_statistics(counts);
  const Status read = for_each_slab(*tensor, cancel, [&](std::span<const std::byte> bytes, int64_t count) {
    const kernels::ReduceLane lane{tensor->dtype(), bytes.data(), count, &state};
    kernels::reduce({&lane, 1}, counts);
  });
  return read && state.nan + state.negative_inf + state.positive_inf > 0;
}

std::vector<int64_t> ranks_not_finite(const ShardedSide& side, RecordId tensor, const CancelToken& cancel) {
  std::vector<int64_t> ranks;
  const std::vector<const TensorRecord*>& pieces = side.members(tensor).records;
  for (size_t place = 0; place < pieces.size(); ++place) {
    if (has_not_finite(side, pieces[place], cancel)) ranks.push_back(side.ranks(tensor)[place]);
  }
  return ranks;
}

// PlacementEvidence::not_finite, for tensors that only the candidate has and for pairs with the verdict kNan.
Result<std::map<TensorId, std::vector<int64_t>>> find_not_finite(const ComparedShards& shards,
                                                                 const RunContext& context) {
  const std::vector<TensorDiff>& diffs = shards.diffs;
  const auto is_nan = [](const TensorDiff& diff) { return diff.verdict == Verdict::kNan; };
  if (std::none_of(diffs.begin(), diffs.end(), is_nan)) return {};
  std::vector<std::vector<int64_t>> ranks(diffs.size());
  context.pool.parallel_for(static_cast<int64_t>(diffs.size()), [&](int64_t i) {
    const auto tensor = static_cast<size_t>(i);
    const TensorPair& pair = shards.pairing.tensors[tensor];
    const bool asked = pair.b == kNoId || is_nan(diffs[tensor]);
    if (!asked || pair.a == kNoId || context.cancel.cancelled()) return;
    ranks[tensor] = ranks_not_finite(shards.a, pair.a, context.cancel);
    if (pair.b != kNoId && !ranks_not_finite(shards.b, pair.b, context.cancel).empty()) ranks[tensor].clear();
  });
  MSDUMP_CHECK_OK(context.cancel.check());
  std::map<TensorId, std::vector<int64_t>> found;
  for (TensorId tensor{0}; tensor < ranks.size(); ++tensor) {
    if (!ranks[tensor].empty()) found.emplace(tensor, std::move(ranks[tensor]));
  }
  return found;
}

}  // namespace

Result<PlacementEvidence> placement_evidence(const ComparedShards& shards, const RunContext& context) {
  const ShardedSide &a = shards.a, &b = shards.b;
  const Pairing& pairing = shards.pairing;
  const std::vector<PlacementNote>& notes = shards.notes;
  PlacementEvidence evidence;
  evidence.both_sharded =
      std::any_of(notes.begin(), notes.end(), [](const PlacementNote& note) { return !note.b.dims.empty(); });
  for (size_t i = 0; i < notes.size(); ++i) {
    const PlacementNote& note = notes[i];
    // A tensor on one rank of each side needs no placement. If both sides are sharded, similar tensors do not establish
    // one. Statistics never do, because they do not show the order of elements.
    const bool whole = note.a.dims.empty() && note.b.dims.empty();
    evidence.known.push_back(whole ||
                             (note.is_established && !evidence.both_sharded && !shards.diffs[i].by_statistics));
    evidence.alike.push_back(evidence.known.back() && note.confidence >= kFits);
    evidence.uneven.push_back(note.uneven);
    evidence.parts.push_back(note.a.is_sharded());
  }
  // Partners that the pairing made up come after the side's own operators.
  for (const OpPair& pair : pairing.operators)
    evidence.programs.push_back(pair.a < a.operators().size() ? a.program_of(pair.a) : UINT32_MAX);
  const std::set<int64_t> sizes = sizes_alone(a, pairing, &TensorPair::a, &TensorPair::b);
  MSDUMP_TRY(evidence.contents_a, find_contents(a, pairing, &TensorPair::a, &sizes, context));
  evidence.contents_b.assign(pairing.tensors.size(), 0);
  if (evidence.both_sharded) {
    MSDUMP_TRY(evidence.contents_b, find_contents(b, pairing, &TensorPair::b, nullptr, context));
  }
  MSDUMP_TRY(evidence.broken, find_broken(shards, context));
  MSDUMP_TRY(evidence.not_finite, find_not_finite(shards, context));
  return evidence;
}

Result<std::optional<ReplicasApart>> replicas_apart(const ComparedShards& shards, const RunContext& context) {
  if (ranks_of(shards.candidate).size() < 2) return std::nullopt;
  MSDUMP_TRY(const std::optional<check::FirstDivergence> first,
             check::find_first_divergence(shards.candidate, context));
  if (!first) return std::nullopt;
  if (ranks_of(shards.reference).size() > 1) {
    MSDUMP_TRY(const std::optional<check::FirstDivergence> of_reference,
               check::find_first_divergence(shards.reference, context));
    if (of_reference) return std::nullopt;
  }
  const TensorRecord* const record = &(*shards.candidate.tensors)[first->tensor];
  const std::vector<TensorPair>& pairs = shards.pairing.tensors;
  for (TensorId tensor{0}; tensor < pairs.size(); ++tensor) {
    if (pairs[tensor].a == kNoId) continue;
    const std::vector<const TensorRecord*>& pieces = shards.a.members(pairs[tensor].a).records;
    if (std::find(pieces.begin(), pieces.end(), record) == pieces.end()) continue;
    return ReplicasApart{tensor, first->kind == check::FirstDivergence::Kind::kParameter,
                         first->diverged.empty() ? first->group : first->diverged, first->reason};
  }
  return std::nullopt;
}

}  // namespace msdump
