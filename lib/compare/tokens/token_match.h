// match_sequences(): finds the sequences of one side among those of the other by their tokens, and the order in which the
// common tokens of both are compared.
//
// Tokens are taken once each, the most certain first:
//   1. equal ones, in their order: several samples of a prompt may be equal
//   2. one that is the beginning of the other: a rollout does not read the last token that it writes, and pads may follow
//   3. the same without a row of equal tokens in front: padding on the left
//   4. one that is a part of the other, at the same position: its first tokens came from a cache; else at any position
//   5. those with the longest common beginning, of at least half of the shorter one
// Cost: that of sorting the sequences by their tokens; for 4. at most kMostCompared comparisons.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/tokens/token_rows.h"

namespace msdump {

// Tokens [begin, begin + count) of the reference's sequence `b` are those of the candidate's `a` from begin + shift on. Several
// sequences of one side may be parts of one of the other.
struct MatchedSequence {
  uint32_t a = 0, b = 0;
  int64_t begin = 0, count = 0, shift = 0;
  bool operator==(const MatchedSequence&) const = default;
};

struct TokenMatch {
  std::vector<MatchedSequence> sequences;  // in the order of the reference's, and of their tokens
  int64_t tokens = 0;                      // that both sides have
  bool cut_short = false;                  // kMostCompared was reached
};

inline constexpr uint64_t kMostCompared = uint64_t{1} << 22;

[[nodiscard]] TokenMatch match_sequences(const std::vector<TokenSequence>& a, const std::vector<TokenSequence>& b);

}  // namespace msdump
