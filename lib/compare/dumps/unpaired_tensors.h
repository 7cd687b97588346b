// Tensors and operators without a partner: why they have none, and what they show.
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
#include "graph/lines/source_lines.h"
#include "io/worker_pool.h"

namespace msdump {

// The names compared with a name: so many operators before and after its place in the pairing.
inline constexpr uint32_t kNamesAround = 100;
// The operators without a partner whose nearest name is searched, per side. More mean that the two dumps are not runs of one
// network, and a near name proves nothing.
inline constexpr uint32_t kNamesAsked = 200;

// For each of Pairing::operators without a partner, but with tensors: the operator of the other side with the nearest name
// (edit_distance of base/text.h; '/', '\\', '.' and blanks count as '_'), the first of several. At most a third of the name may
// differ. kNoOperator for all others.
[[nodiscard]] std::vector<uint32_t> nearest_names(const Pairing& pairing, WorkerPool& pool);

// A dump with the errors of the list of its tensors.
struct ListedSide {
  const CompareSide& side;
  const std::vector<Error>& failures;
};

// Says why a tensor of one dump has no partner in the other. The first that applies:
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
  // Rank, step, op type, op name, io and slot, by the file's name; without io and slot it holds all of the operator.
  using FileKey = std::tuple<Number, Number, std::string, std::string, std::optional<Io>, std::string>;

  struct Content {
    std::set<int64_t> ranks, steps;
    std::map<FileKey, std::string> unreadable;                     // with the message
    std::map<std::pair<Number, std::string>, uint32_t> operators;  // with a partner, by rank and name
  };
  [[nodiscard]] Content content_of(Side side, const std::vector<Error>& failures) const;
  [[nodiscard]] const std::string* unreadable_in(Side side, const Identity& identity) const;
  [[nodiscard]] bool several_ranks() const { return contents_.a.ranks.size() > 1 || contents_.b.ranks.size() > 1; }
  [[nodiscard]] std::string known_reason(const TensorPair& pair) const;
  [[nodiscard]] std::string hint(Side missing, uint32_t op) const;

  const Sides<const CompareSide*> dumps_;
  const Pairing& pairing_;
  std::vector<uint32_t> nearest_;  // by Pairing::operators: an operator of the other side, or kNoOperator
  Sides<Content> contents_;
};

// Tensors that changed places: two pairs that differ, although the candidate's tensor of each is the reference's tensor of the
// other. Weights of two layers that were loaded crosswise look like two wrong weights; they stay paired by name.
//
// Maximum, minimum, mean and deviation must be equal to the last bit. Constant tensors, and tensors that share these with a
// third one, prove nothing.
//
// Returns two of Pairing::tensors each, in their order. `diffs` by Pairing::tensors.
[[nodiscard]] std::vector<std::pair<uint32_t, uint32_t>> exchanged_tensors(const Pairing& pairing,
                                                                           const std::vector<TensorDiff>& diffs);

// A line of the script that made calls on one side alone: "12 calls at train.py:87 exist only in the reference".
struct OneSidedLine {
  bool of_reference = false;
  const SourceFrame* frame = nullptr;
  std::vector<uint32_t> operators;  // in Pairing::operators; one for each call and rank
  uint32_t shared = 0;              // calls of this line with a partner
};

// Ordered by their first operators. Left out are operators without tensors, without a line, of a step that the other side
// lacks, or without a partner for a known reason. Empty for two frameworks, which have operators of their own.
[[nodiscard]] std::vector<OneSidedLine> one_sided_lines(const Pairing& pairing, const OperatorLines& a,
                                                        const OperatorLines& b);

}  // namespace msdump
