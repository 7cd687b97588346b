// RunPasses: the forward passes of one side of a comparison, and its tensors joined over them.
//
// A pass is a step of the dump, or one of the calls of the token embedding in a step: of a rollout engine for each chunk of prompts
// and each token that it writes, of a trainer for each batch. Calls of an operator are counted from 0 in each pass.
//
// Ranks that read the same tokens, as in tensor parallelism, run a pass together. Those that read others, as in data or context
// parallelism, run passes of their own: the first rank of each group is one rank of the joined side, the second another.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compare/match/op_sequence.h"
#include "compare/tokens/token_rows.h"
#include "io/run_context.h"

namespace msdump {

// The tensors with the ids of the tokens, one a pass.
struct TokenIds {
  std::vector<RecordId> records;              // of the first rank that has any; by step, then in the order of the calls
  std::vector<std::vector<RecordId>> others;  // likewise of each other rank that has them
  std::string problem;                        // why there are none
};

// Reads no elements. With `statistics`, tensors of which only statistics were dumped: their shapes tell how many rows there are.
[[nodiscard]] TokenIds find_token_ids(const CompareSide& side, bool statistics = false);
// True if the ids of a step that both sides have, or of the only step of each, have other shapes.
[[nodiscard]] bool rows_differ(const CompareSide& a, const TokenIds& ids_a, const CompareSide& b,
                               const TokenIds& ids_b);

struct RunPasses {
  struct Part {
    uint32_t pass = 0;
    RecordId record;
  };
  // A tensor of an operator, by pass, ascending.
  using Parts = std::vector<Part>;

  std::vector<SequencedOp> operators;  // as they follow each other; `tensors` are indices in `tensors`
  std::vector<Parts> tensors;
  std::vector<std::string_view> op_names;     // by tensor
  std::vector<uint32_t> occurrences;          // by tensor: counts the calls of an operator whose name does not
  std::deque<std::string> names;              // of operators whose calls are counted anew
  std::vector<TokenInputs> inputs;            // by pass
  std::vector<std::optional<int64_t>> steps;  // by pass
  std::vector<std::optional<int64_t>> ranks;  // by pass: the first that runs it
  uint32_t groups = 1;                        // of ranks that read the same tokens
};

// Bound of the tokens of a side.
inline constexpr int64_t kMostTokens = int64_t{1} << 24;

// An error if interrupted, if ids cannot be read, beyond kMostTokens, and where ranks read different tokens: if one has no ids, or
// if the groups are not of one size.
Result<RunPasses> run_passes(const CompareSide& side, const TokenIds& ids, const CancelToken& cancel);

}  // namespace msdump
