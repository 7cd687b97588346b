// Rule replica_mismatch: the first place at which a tensor that ranks share is not equal on them (replica_divergence.h).
//
//   parameter   equal in the first step and different later; or in the first step different from its siblings: the ranks
//               that share most parameters with it. The other siblings agree, or hold nearly the same values
//   operator    another output of the same inputs, on ranks that had the same output before, or on a minority of ranks
//   input       a tensor that no operator of the dump made, equal in the first step. Different data is no mismatch
//
// A difference within the rounding is a note. One finding covers all ranks that diverged and counts the divergences that
// follow from it. These differences are no faults:
//   * data and activations of one rank, shards, experts
//   * constants and masks, parts that an operator cuts out for each rank
//   * everything that follows from an earlier divergence
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "check/rules/rule_context.h"
#include "io/run_context.h"

namespace msdump::check {

// The first divergence of a rank from its siblings.
struct FirstDivergence {
  enum class Kind : uint8_t { kOperator, kParameter, kInput };
  Kind kind = Kind::kOperator;
  TensorId tensor;                       // on a rank that diverged; on any rank if there is no majority
  TensorId sibling;                      // the same tensor on another rank
  std::vector<int64_t> diverged, group;  // diverged: empty if there is no majority
  std::string reason;
};
[[nodiscard]] std::string_view name_of(FirstDivergence::Kind kind);  // "operator", ...

// All facts must have been read, with digests. An error only when interrupted.
Result<std::optional<FirstDivergence>> judge_replicas(RuleContext& context);

// The first divergence beyond rounding, for a dump that is not checked otherwise. Reads all tensors once; one that cannot be
// read is left out. An error only when interrupted.
Result<std::optional<FirstDivergence>> find_first_divergence(const DumpWithGraph& dump, const RunContext& run);

}  // namespace msdump::check
