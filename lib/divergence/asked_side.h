// AskedSide: the graph of one side of a comparison, with the question (graph/arguments/questions.h) and the pair of each operator.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/containers.h"
#include "compare/limits.h"
#include "compare/match/pairing.h"
#include "graph/arguments/questions.h"
#include "graph/flow/data_flow.h"

namespace msdump {

// Operators of one side that are followed from one, to the first ones of both sides.
inline constexpr ReachedLimit kFollowedLimit = {
    "operators_followed", kMostFollowed,
    "operators that one side alone has were followed so far, and what reads them further on was not"};

class AskedSide {
 public:
  // Slots of operators of both sides that read values which are known to be the same.
  using SameSlots = std::set<std::pair<OperatorId, uint32_t>>;
  // The objects must outlive it, but for the values. `of_a`: the candidate. `constants`: unprinted_constants() of this side.
  AskedSide(const CompareSide& dump, const Pairing& pairing, bool of_a, const QuestionTerms& terms,
            SameValues constants, const SameSlots& same);

  [[nodiscard]] const OpGraph& graph() const { return *dump_.graph; }
  [[nodiscard]] const GraphQuestions& questions() const { return questions_; }
  // In Pairing::operators; kNoId: no file is of it.
  [[nodiscard]] OperatorId pair(OpId op) const { return pairs_[op]; }
  [[nodiscard]] bool is_paired(OpId op) const {
    return pairs_[op] != kNoId && pairing_.operators[pairs_[op]].is_paired();
  }
  // kNoId: this side does not have it.
  [[nodiscard]] OpId op_of(OperatorId pair) const;
  [[nodiscard]] std::span<const OpId> readers(OpId op) const { return readers_.of(op); }

  // True for gradients, and for what reads them.
  [[nodiscard]] bool is_backward(OpId op) const { return backward_[op]; }
  // True if a gradient goes into it and comes out, not only masks and what the forward pass left.
  [[nodiscard]] bool passes_gradient(OpId op) const;

  [[nodiscard]] bool is_new(OpId op, const AskedSide& other) const {
    return !questions_.is_left_out(op) && !other.questions_.any(questions_.of(op));
  }
  // True if the other side asks all that leads to the operator.
  [[nodiscard]] bool is_frontier(OpId op, const AskedSide& other) const;

  // The value that an input reads, as a number that is equal for outputs of partners.
  [[nodiscard]] uint64_t source(OpId op, const InputEdge& edge) const;
  // "net.fc.weight", "Mul-op3", "0.5": what an input reads.
  [[nodiscard]] std::string source_name(OpId op, const InputEdge& edge) const;

  // The first operators of both sides that read what `op` leads to, with the slots that they read it in. Those of `rewritten` count as
  // operators of one side.
  using JointReaders = std::map<OperatorId, std::set<uint32_t>>;
  // `between`: takes the operators between `op` and them; may be null.
  [[nodiscard]] JointReaders joint_readers(OpId op, const std::set<OperatorId>& rewritten, ReachedLimits& limits,
                                           std::set<OperatorId>* between = nullptr) const;

 private:
  [[nodiscard]] InputEdge behind_moves(InputEdge edge) const;
  // The operator that a value comes from; kNoId for anything else.
  [[nodiscard]] OpId asked(const InputEdge& edge) const { return behind_moves(edge).op; }
  [[nodiscard]] SameValues with_slots(SameValues values, const SameSlots& same) const;
  void find_backward();

  const CompareSide& dump_;
  const Pairing& pairing_;
  const bool of_a_;
  const SameValues same_;
  const GraphQuestions questions_;
  std::vector<bool> backward_;     // by operator of the graph
  std::vector<OperatorId> pairs_;  // likewise
  EdgeLists<OpId> readers_;        // likewise
};

}  // namespace msdump
