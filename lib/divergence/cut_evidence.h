// What two runs that are cut differently over their ranks know of a tensor beyond how it differs.
//
//   known      its layout is: what differs then differs. Of a tensor whose layout is not known a difference may be of the
//              parts that were put together wrongly
//   contents   a number for the elements of its parts on all ranks, so that an input is known by what wrote it whatever
//              layout each was given, and also by calls that one side alone has. 0: not known, or proves nothing
//   programs   the ranks that run the same calls (compare/match/placement/sharded_side.h): the calls of a program ran one after the other
//   broken     a collective that did not give the candidate's ranks what went in, which needs no reference
//   apart      the first place where ranks of the candidate that hold copies leave each other, which needs no reference,
//              either. Asked for where nothing else is wrong, since it reads the whole candidate
//   not_finite the ranks on which it has NaN or infinities; none where the reference has some, too. Read only if a verdict
//              is kNan, and of elements alone
//
// Read are the parts of tensors that have as many elements as one that the candidate alone has, and those of a reference
// that lies on several ranks: each once, and not again where the pairing has read it. Read are further the tensors of the
// candidate's collectives.
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
  std::vector<int64_t> ranks;  // on which it lies; empty: nobody can tell
  std::string reason;
};

struct ReplicasApart {
  uint32_t tensor = 0;  // in Pairing::tensors
  bool is_parameter = false;
  std::vector<int64_t> ranks;  // that left; where nobody can tell, all that were equal
  std::string reason;
};

struct CutEvidence {
  std::vector<bool> known;    // by Pairing::tensors, as the others
  std::vector<bool> alike;    // nearly all elements agree under its layout
  std::vector<bool> uneven;   // copies of the candidate are not equal
  std::vector<bool> parts;    // each rank of the candidate has a part of its own
  std::vector<bool> made_up;  // the call is the reference's alone, and the candidate's value another one's
  bool both_cut = false;      // the reference lies on several ranks too
  std::vector<uint64_t> contents_a, contents_b;
  std::vector<uint32_t> programs;             // of the candidate, by Pairing::operators; kNoOperator: of none
  std::map<uint32_t, BrokenExchange> broken;  // by the tensor that shows it, in Pairing::tensors
  std::optional<ReplicasApart> apart;
  std::map<uint32_t, std::vector<int64_t>> not_finite;
};

// What the evidence is taken from.
struct ComparedCuts {
  const ShardedSide &a, &b;
  const Pairing& pairing;
  const std::vector<PlacementNote>& notes;     // by Pairing::tensors
  const std::vector<TensorDiff>& diffs;        // by Pairing::tensors
  const DumpWithGraph &candidate, &reference;  // of which `a` and `b` are made
};

// Files that cannot be read are reported where they are compared; an error when interrupted.
Result<CutEvidence> cut_evidence(const ComparedCuts& cuts, const RunContext& context);
// CutEvidence::apart. Nothing where copies of the reference leave each other, too.
Result<std::optional<ReplicasApart>> replicas_apart(const ComparedCuts& cuts, const RunContext& context);

}  // namespace msdump
