// TokenErrors: which tokens of two runs differ beyond rounding, and where that begins.
//
// The error of a token in a tensor is the largest difference in its row, in units of the largest element of the row, or of a
// usual row if that is larger. Rounding makes it grow slowly from tensor to tensor, in the order of execution; a fault makes it
// jump, for some tokens or for all. A token of a sequence may have the errors of the tokens before it, which attention reads.
//
//   flip    a token for which rounding changes the order of a router's largest logits may have other experts. Its error from
//           there on is no jump
//   jump    the first tensor in which a token has more than kJump times the largest error that it and the tokens before it
//           had in the tensors before, and more than rounding
//   first   of the tokens of the jump, that which the side with more passes computed first: of a rollout, the first that is
//           wrong is what made others wrong
// Cost: each pair of tensors with rows is read once more.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "compare/match/module_tree.h"
#include "compare/match/pairing.h"
#include "compare/match/placement/sharded_side.h"
#include "compare/pair/tensor_diff.h"
#include "compare/tokens/token_heat.h"
#include "compare/tokens/token_view.h"
#include "io/run_context.h"

namespace msdump {

// The relative error up to which tensors of other slots, or elements in other places, have the same values.
inline constexpr double kSameValues = 0.05;

// True if some rows have the same elements in other places, as Megatron's queries, keys and values, group by group.
[[nodiscard]] bool have_same_elements(std::span<const double> a, std::span<const double> b, size_t width);

struct WrongToken {
  int64_t common = 0;     // row of the common order
  uint32_t sequence = 0;  // of the reference
  int64_t position = 0, id = 0;
  uint32_t pass = 0;  // of the candidate
  int64_t row = 0;
  std::optional<int64_t> step, rank;  // of the candidate's dump; no rank if all read the same tokens
  double error = 0;
};

// The errors of the tokens in one tensor.
struct TokenSummary {
  uint64_t tokens = 0, wrong = 0;  // that have a row, and that jump here
  double median = 0, largest = 0;
};

struct TokenJump {
  TensorId tensor;  // in Pairing::tensors
  WrongToken first;
  double before = 0;  // the largest error of the first token, and of those before it, in the tensors before
};

// How far the log-probabilities of the candidate, which drew the tokens, are from those of the reference. With the ratio r of the
// probabilities, reference over candidate, K1 is the mean of -log r, and K3 the mean of r - 1 - log r: estimates of the KL divergence.
struct LogProbs {
  TensorId tensor;
  uint64_t tokens = 0, clipped = 0;          // that no mask made 0; of these, with a ratio beyond 0.8 to 1.2
  double k1 = 0, k3 = 0, largest_ratio = 1;  // the ratio that is furthest from 1, or its inverse
};

struct TokenErrors {
  std::vector<std::optional<TokenSummary>> of_tensor;  // by Pairing::tensors
  std::vector<TensorId> order;                         // of execution
  std::optional<TokenJump> jump;
  std::optional<LogProbs> log_probs;  // of the last output with one number a token that none is above 0
  uint64_t flipped = 0;  // tokens for which rounding changed the order of a router's logits, before the jump
  TokenHeat heat;
  std::vector<TensorId> outputs;  // of `heat`
};

// The common rows of the tensors of a pairing; also of tensors that are assembled from those of several ranks, which read the same
// tokens.
class PairRows {
 public:
  // `sharded`: both or none. All outlive this.
  PairRows(const TokenView& view, const Sides<const ShardedSide*>& sharded) : view_(view), sharded_(sharded) {}

  [[nodiscard]] const TokenView& view() const { return view_; }
  [[nodiscard]] bool is_sharded() const { return sharded_.a != nullptr; }
  [[nodiscard]] const TensorRecord& record(Side side, RecordId tensor) const;
  // The rows of one tensor; null if it has none.
  [[nodiscard]] const std::vector<CommonRows>* of(Side side, RecordId tensor) const;
  // The rows of both; null unless they are the same.
  [[nodiscard]] const std::vector<CommonRows>* of(const TensorPair& pair) const;
  // True for one number a token.
  [[nodiscard]] bool is_number(Side side, RecordId tensor) const { return record(side, tensor).shape->size() == 1; }

 private:
  const TokenView& view_;
  const Sides<const ShardedSide*> sharded_;
};

// The token of the pair that was computed first; none for a pair without rows.
[[nodiscard]] std::optional<WrongToken> first_token(const PairRows& pairs, const TensorPair& pair);

// `rows` are the pairs to look at. An error if interrupted. Pairs that cannot be read are left out: the comparison reports them.
Result<TokenErrors> find_token_errors(const PairRows& pairs, const Pairing& pairing, const std::vector<TensorId>& rows,
                                      const std::vector<TensorDiff>& diffs, const ModuleTree& modules,
                                      const RunContext& context);

}  // namespace msdump
