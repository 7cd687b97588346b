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
#include "compare/pair/tensor_diff.h"
#include "compare/tokens/token_view.h"
#include "io/run_context.h"

namespace msdump {

// True if some rows have the same elements in other places, as Megatron's queries, keys and values, group by group.
[[nodiscard]] bool have_same_elements(std::span<const double> a, std::span<const double> b, size_t width);

struct WrongToken {
  uint32_t sequence = 0;  // of the reference
  int64_t position = 0, id = 0;
  uint32_t pass = 0;  // of the candidate
  int64_t row = 0;
  std::optional<int64_t> step;  // of the candidate's dump
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
};

// The token of the pair that was computed first; none for a pair without rows.
[[nodiscard]] std::optional<WrongToken> first_token(const TokenView& view, const TensorPair& pair);

// `rows` are the pairs to look at. An error if interrupted. Pairs that cannot be read are left out: the comparison reports them.
Result<TokenErrors> find_token_errors(const TokenView& view, const Pairing& pairing, const std::vector<TensorId>& rows,
                                      const std::vector<TensorDiff>& diffs, const ModuleTree& modules,
                                      const RunContext& context);

}  // namespace msdump
