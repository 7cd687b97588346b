// Explains tensors and operators without a partner: why they have none, and what they show.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compare/match/pairing.h"
#include "compare/pair/tensor_diff.h"
#include "graph/lines/operator_lines.h"
#include "io/worker_pool.h"

namespace msdump {

// The operator of the other side with the nearest name, for each of Pairing::operators that has tensors and no partner;
// kNoId for all others. Names are compared by edit_distance() (base/text.h), without case and with '/', '\\', '.' and
// blanks as '_'. At most a third of the name may differ. The first of several counts.
[[nodiscard]] std::vector<SequencedOpId> nearest_names(const Pairing& pairing, WorkerPool& pool);

// A dump, with the errors in the list of its tensors.
struct ListedSide {
  const CompareSide& side;
  const std::vector<Error>& failures;
};

// UnpairedReasons: why a tensor of one dump has no partner in the other. The first that applies:
//
//   1. the other side's file cannot be read: the pair is skipped, not unmatched
//   2. a compiler for the device changed the operators: skipped, with the change (Alone)
//   3. the other side has no such rank, or no such step
//   4. the operator has no partner: names the partner of the operator of its name, else the nearest name
class UnpairedReasons {
 public:
  // The dumps and the pairing must outlive this.
  UnpairedReasons(const Sides<ListedSide>& dumps, const Pairing& pairing, WorkerPool& pool);

  // The verdict and its reason for a pair with one tensor. Thread-safe.
  [[nodiscard]] TensorDiff explain(const TensorPair& pair) const;

 private:
  using Number = std::optional<int64_t>;
  // Rank, step, op type, op name, io and slot of a file. Without io and slot, it holds all tensors of the operator.
  using FileKey = std::tuple<Number, Number, std::string, std::string, std::optional<Io>, std::string>;

  struct Content {
    std::set<int64_t> ranks, steps;
    std::map<FileKey, std::string> unreadable;  // the message, by file
    // Operators with a partner, by rank and name; empty if no operator lacks one.
    std::map<std::pair<Number, std::string>, OperatorId> operators;
  };
  [[nodiscard]] Content content_of(Side side, const std::vector<Error>& failures) const;
  [[nodiscard]] const std::string* unreadable_in(Side side, const Identity& identity) const;
  [[nodiscard]] bool several_ranks() const { return contents_.a.ranks.size() > 1 || contents_.b.ranks.size() > 1; }
  // The name of the tensor's dump, if the other side lacks that dump; else empty.
  [[nodiscard]] std::string_view lone_dump_of(const TensorPair& pair) const;
  [[nodiscard]] std::string known_reason(const TensorPair& pair) const;
  [[nodiscard]] std::string hint(Side missing, OperatorId op) const;

  const Sides<const CompareSide*> dumps_;
  const Pairing& pairing_;
  std::vector<SequencedOpId> nearest_;  // by Pairing::operators: an operator of the other side, or kNoId
  Sides<Content> contents_;
};

// Exchanged tensors: two pairs that differ, although the candidate's tensor of each is the reference's of the other. Weights
// of two layers that were loaded crosswise look like two wrong weights; they stay paired by name.
//
// Two tensors are the same if maximum, minimum, mean and deviation are bitwise equal. Constant tensors prove nothing, nor do
// several pairs with the same statistics on both sides.
//
// Returns two indices in Pairing::tensors each, in ascending order. `diffs` is indexed by Pairing::tensors.
[[nodiscard]] std::vector<std::pair<TensorId, TensorId>> exchanged_tensors(const Pairing& pairing,
                                                                           const std::vector<TensorDiff>& diffs);

// A line of the script that made calls on one side alone: "12 calls at train.py:87 exist only in the reference".
struct OneSidedLine {
  bool of_reference = false;
  const SourceFrame* frame = nullptr;
  std::vector<OperatorId> operators;  // one for each call and rank
  uint32_t shared = 0;                // calls of this line with a partner
};

// Lines ordered by their first operators. Operators without tensors or a line are left out. So are those that are unpaired
// for a known reason, and those of a step that the other side lacks. Empty for two frameworks, which have operators of their
// own.
[[nodiscard]] std::vector<OneSidedLine> one_sided_lines(const Pairing& pairing, const OperatorLines& a,
                                                        const OperatorLines& b);

}  // namespace msdump
