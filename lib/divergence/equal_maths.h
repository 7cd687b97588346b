// EqualMaths: whether both sides compute a value by the same mathematics, written in two ways.
//
// The operators of one side between the last values that both have and the value are its region. Both regions are computed in
// double precision from the candidate's values. If the results agree to nine digits, what the files differ by is rounding, and
// how the value is written is no fault; unless the candidate's way loses more digits than coarse arithmetic does. Of tensors that
// only statistics are known of, values are drawn between the least and the largest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/checked_dump.h"
#include "divergence/asked_side.h"
#include "divergence/runs/run_view.h"
#include "recompute/recompute.h"

namespace msdump {

class EqualMaths {
 public:
  // Must outlive it.
  explicit EqualMaths(const RunView& view);

  // Sets the questions and pairs that find() uses. Call it first, and again with each new AskedSide; both must outlive the calls of find().
  void set_asked(const AskedSide& a, const AskedSide& b);

  // How one way is another one: the operators that are written otherwise, and what reads the values that both ways lead to.
  struct Rewriting {
    std::set<OperatorId> operators;  // `suspect`, and operators behind it that have a wrong partner
    std::set<OperatorId> members;    // of all regions
    AskedSide::JointReaders readers;
  };
  // None if `suspect`, an operator that is asked something else or that one side alone has, leads to other values there, or if that
  // cannot be computed. `known` are rewritten, too. Cost: regions of up to 32 operators and 2^20 elements, and once the edges of the
  // candidate.
  [[nodiscard]] std::optional<Rewriting> find(OperatorId suspect, const RunPlace& place,
                                              const std::set<OperatorId>& known, ReachedLimits& limits) const;

 private:
  struct Side {
    explicit Side(const CompareSide& side);
    // kNoId: it has none there.
    [[nodiscard]] ExecutionId run_of(OpId op, const RunPlace& place) const;
    [[nodiscard]] OpId op_of(ExecutionId run) const;
    [[nodiscard]] uint64_t source(ExecutionId run, uint32_t slot) const;

    const AskedSide* asked = nullptr;
    check::CheckedDump dump;
    recompute::Questions questions;
    recompute::TensorReader reader;
    std::map<std::pair<OpId, RunPlace>, ExecutionId> runs;
  };

  using Operators = std::set<OperatorId>;
  enum class Sameness : uint8_t { kOther, kZeros, kSame };

  [[nodiscard]] bool have_one_type(OperatorId pair) const;
  [[nodiscard]] bool is_mispaired(OperatorId pair) const;
  // Operators of `apart` count as operators of one side. Adds the members of the regions.
  [[nodiscard]] Sameness compare(OperatorId reader, uint32_t slot, const RunPlace& place, const Operators& apart,
                                 Operators& members, ReachedLimits& limits) const;
  [[nodiscard]] bool is_member(const Side& side, ExecutionId run, const Operators& apart) const;
  [[nodiscard]] std::optional<std::vector<ExecutionId>> region_before(const Side& side, ExecutionId last,
                                                                      const Operators& apart) const;
  [[nodiscard]] recompute::Maybe<recompute::Array> compute(const Side& side, ExecutionId reader, const RunInput& input,
                                                           const Operators& apart, Operators& into) const;
  // The candidate's tensor of a value that both sides have; kNoId: none.
  [[nodiscard]] TensorId candidate_tensor(uint64_t source, const RunPlace& place) const;
  [[nodiscard]] static bool rounds_to_integers(const Side& side, const recompute::Question& question);
  [[nodiscard]] bool is_compared(TensorId tensor) const;
  // Opens a tensor of the candidate; numbers from its count of tensors on are tensors of the reference.
  [[nodiscard]] recompute::Maybe<recompute::Array> open(TensorId tensor, const Shape* shape) const;
  [[nodiscard]] recompute::Maybe<recompute::Array> draw(TensorId tensor, const Shape* shape) const;
  // True if what the candidate has is no further from `value` than coarse arithmetic leads to.
  [[nodiscard]] bool is_near(TensorId written, const recompute::Array& value) const;

  const RunView& view_;
  Side a_, b_;
  Operators mispaired_;          // their outputs have other shapes
  std::vector<TensorId> pairs_;  // in Pairing::tensors; by tensor of the candidate, then of the reference
  mutable std::map<RunPlace, std::unordered_map<uint64_t, TensorId>> values_;  // of the candidate, by source
};

}  // namespace msdump
