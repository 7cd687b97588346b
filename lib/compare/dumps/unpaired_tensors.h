// Which operator of the other side one without a partner may have been: the one with the nearest name (edit_distance of
// base/text.h) near its place in the pairing. '/', '\', '.' and blanks count as '_'.
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

// How many operators before and after a place are compared with it.
inline constexpr uint32_t kNamesAround = 100;
// The most operators without a partner, per side, that are looked up: with more, the two dumps are not runs of one
// network, and a near name means nothing.
inline constexpr uint32_t kNamesAsked = 200;

// For each of Pairing::operators that has no partner, but has tensors: the operator of the other side with the nearest
// name, if no more than a third of the name differs, the first of equally near ones. kNoOperator for all others.
[[nodiscard]] std::vector<uint32_t> nearest_names(const Pairing& pairing, WorkerPool& pool);

// Why a tensor of one dump has no partner in the other, in words:
//
//   1. the other side's file of it cannot be read: the pair is skipped, not unmatched
//   2. the other side has no such rank, or no such step
//   3. a compiler for the device made something else of the operators: skipped, with what it did (Alone)
//   4. the operator has no partner: what the operator of its name there is paired with, else the nearest name there

class NoPartner {
 public:
  // `failures`: of each side's list of tensors. The arguments must outlive this.
  NoPartner(const CompareSide& a, const std::vector<Error>& failures_a, const CompareSide& b,
            const std::vector<Error>& failures_b, const Pairing& pairing, WorkerPool& pool);

  // Of a pair with one tensor. Thread-safe.
  [[nodiscard]] TensorDiff explain(const TensorPair& pair) const;

 private:
  using Number = std::optional<int64_t>;
  // Rank, step, op type, op name, io and slot, by the file's name; without io and slot it holds all of the operator.
  using FileKey = std::tuple<Number, Number, std::string, std::string, std::optional<Io>, std::string>;

  struct Other {
    std::string_view called;
    std::set<int64_t> ranks, steps;
    std::map<FileKey, std::string> unreadable;                     // with the message
    std::map<std::pair<Number, std::string>, uint32_t> operators;  // that have a partner, by rank and name
  };
  [[nodiscard]] Other other_side(std::string_view called, const CompareSide& side, const std::vector<Error>& failures,
                                 bool is_a) const;
  static const std::string* unreadable_in(const Other& there, const Identity& identity);
  [[nodiscard]] bool several_ranks() const { return candidate_.ranks.size() > 1 || reference_.ranks.size() > 1; }
  // Of a tensor that is alone for a known reason.
  [[nodiscard]] std::string known_reason(const TensorPair& pair) const;
  [[nodiscard]] std::string hint(const Other& there, uint32_t op, bool only_a) const;

  const CompareSide &a_, &b_;
  const Pairing& pairing_;
  std::vector<uint32_t> nearest_;  // by Pairing::operators: an operator of the other side, or kNoOperator
  Other candidate_, reference_;
};

// Tensors that changed places: pairs that differ although the candidate's tensor of one is the reference's tensor of the
// other, both ways. Weights of two layers that were loaded crosswise look like two wrong weights; they stay paired by
// name.
//
// Maximum, minimum, mean and deviation must be equal to the last bit. Tensors that share theirs with a third one, or have
// one value alone, prove nothing.

// Two of Pairing::tensors each, in their order. `diffs` by Pairing::tensors.
[[nodiscard]] std::vector<std::pair<uint32_t, uint32_t>> exchanged_tensors(const Pairing& pairing,
                                                                           const std::vector<TensorDiff>& diffs);

// The calls that only one of two dumps has, by the line of the script that made them: "12 calls at train.py:87 exist only
// in the reference".

struct OneSidedLine {
  bool of_reference = false;
  const SourceFrame* frame = nullptr;
  std::vector<uint32_t> operators;  // in Pairing::operators; one for each call and rank
  uint32_t shared = 0;              // calls of this line that do have a partner
};

// In the order of the first operators. Left out: operators without tensors, without a line, of a step that the other side
// lacks, or alone for a known reason, such as those that a compiler inserted; and everything between two frameworks, which
// have operators of their own.
[[nodiscard]] std::vector<OneSidedLine> one_sided_lines(const Pairing& pairing, const OperatorLines& a,
                                                        const OperatorLines& b);

}  // namespace msdump
