// PlacementEvidence: what is known of tensors, beyond their differences, if the sides of a comparison are sharded differently.
//
//   known      the placement is established, so a difference is real; else local tensors may have been assembled wrongly
//   contents   a hash of the local tensors on all ranks; 0 if it is unknown or proves nothing. It identifies the producer
//              of an input whatever their placements are, also among calls that only one side has
//   programs   the ranks that run the same calls (compare/match/placement/sharded_side.h); the calls of a program are in
//              order
//   broken     a collective whose ranks did not receive what was sent. It needs no reference
//   apart      the first divergence of the candidate's replicas. It needs no reference either, but reads the whole
//              candidate, so it is asked for only if nothing else is wrong
//   not_finite the ranks on which the candidate has NaN or infinities; none if the reference has some, too. It is taken
//              from elements, and only if a verdict is kNan
//
// Local tensors that are read, each once, and not again if the pairing has read it:
//   * of the candidate, those with as many elements as one of a tensor that it alone has, and those of collectives
//   * of a reference on several ranks, all
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/match/placement/sharded_pairing.h"
#include "compare/pair/tensor_diff.h"
#include "io/run_context.h"

namespace msdump {

struct BrokenExchange {
  std::vector<int64_t> ranks;  // at fault; empty if unknown
  std::string reason;
};

struct ReplicasApart {
  TensorId tensor;
  bool is_parameter = false;
  std::vector<int64_t> ranks;  // that diverged; the whole group if that is unknown
  std::string reason;
};

struct PlacementEvidence {
  std::vector<bool> known;    // by Pairing::tensors, as the others
  std::vector<bool> alike;    // known, and nearly all sampled elements agree, or the user stated the placement
  std::vector<bool> uneven;   // the candidate's replicas differ
  std::vector<bool> parts;    // each rank of the candidate has a shard
  bool both_sharded = false;  // the reference has several ranks, too
  std::vector<uint64_t> contents_a, contents_b;
  std::vector<uint32_t> programs;             // the candidate's, by Pairing::operators; UINT32_MAX if unknown
  std::map<TensorId, BrokenExchange> broken;  // by the tensor that shows it, in Pairing::tensors
  std::optional<ReplicasApart> apart;
  std::map<TensorId, std::vector<int64_t>> not_finite;
};

// The compared sides that the evidence is taken from.
struct ComparedShards {
  const ShardedSide &a, &b;
  const Pairing& pairing;
  const std::vector<PlacementNote>& notes;     // by Pairing::tensors
  const std::vector<TensorDiff>& diffs;        // by Pairing::tensors
  const DumpWithGraph &candidate, &reference;  // the dumps that `a` and `b` are made of
};

// Files that cannot be read are reported by the comparison. An error if interrupted.
Result<PlacementEvidence> placement_evidence(const ComparedShards& shards, const RunContext& context);
// PlacementEvidence::apart. None if replicas of the reference diverge, too.
Result<std::optional<ReplicasApart>> replicas_apart(const ComparedShards& shards, const RunContext& context);

}  // namespace msdump
