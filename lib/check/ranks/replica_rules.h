// Rule replica_mismatch: the first place where ranks that hold copies of the same tensors (replica_table.h) leave each
// other.
//
//   parameter   equal in the first step, no longer later; or in the first step unlike what its siblings hold: the ranks with
//               which it shares most parameters, of which the others agree, or which hold nearly the same
//   operator    the same inputs on ranks that got the same output before, or that do on most ranks: another output
//   input       a tensor that no operator of the dump made, equal in the first step; other data than the siblings' are
//               no mismatch
// These are not faults: data and activations that no two ranks share, shards, experts, constants and masks (equal by
// chance), what operators make that cut out the part of a rank, and all that follows from an earlier place.
// A difference within the rounding is a note. One finding for the ranks that left; what follows is counted in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/rules/finding.h"
#include "check/rules/rules.h"
#include "check/values/tensor_facts.h"
#include "io/run_context.h"

namespace msdump::check {

// Where a rank left its siblings first.
struct FirstApart {
  enum class Kind : uint8_t { kOperator, kParameter, kInput };
  Kind kind = Kind::kOperator;
  uint32_t tensor = kNone;            // on the rank that left, or on one of those that nobody can tell apart
  uint32_t sibling = kNone;           // what another rank has there
  std::vector<int64_t> ranks, group;  // ranks: that left; empty: nobody can tell
  std::string reason;
};
[[nodiscard]] std::string_view name_of(FirstApart::Kind kind);  // "operator", ...

// All facts must have been read, with digests. An error only when interrupted.
Result<std::optional<FirstApart>> judge_replicas(const CheckedDump& dump, const FactsReader& facts,
                                                 const RuleSet& rules, const RunContext& context,
                                                 std::vector<Finding>& findings);

// Of a dump that is not checked otherwise: nothing where ranks differ by rounding alone. Reads all tensors, once each; one
// that cannot be read is left out. An error only when interrupted.
Result<std::optional<FirstApart>> first_apart(const DumpWithGraph& dump, const RunContext& context);

}  // namespace msdump::check
