// TokenView: a comparison of two runs that read the same tokens in other forms, such as a rollout with a training step. Both
// sides have one row for each token that they have in common (token_side.h); pairing, metrics and roots work on these as on one
// pass.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "compare/match/pairing.h"
#include "compare/match/rename/name_map.h"
#include "compare/sides.h"
#include "compare/tokens/token_match.h"
#include "compare/tokens/token_side.h"
#include "compare/tokens/token_use.h"
#include "io/run_context.h"

namespace msdump {

class TokenTexts;
struct TokenErrors;

struct TokenView : Sides<std::unique_ptr<TokenSide>> {
  TokenMatch match;
  std::optional<NameMap> names;                 // of the candidate's modules in the reference
  std::vector<FoundRelation> relations;         // of fused projections and their parts
  uint64_t rows_mapped = 0, rows_unmapped = 0;  // pairs of tensors that are compared by tokens, and that are not
  ReachedLimits limits;
  std::shared_ptr<const TokenErrors> errors;  // null until all pairs are compared
  std::shared_ptr<const TokenTexts> texts;    // null: no tokenizer is known

  [[nodiscard]] const TokenSide& of(Side side) const { return *(*this)[side]; }
};

// "padded 5x24", "packed 21", "9 passes, packed"
[[nodiscard]] std::string form_of(const TokenSide& side);

// Null if rows are compared as they are. An error if interrupted; with kAlways also if the tokens are not known.
Result<std::unique_ptr<TokenView>> view_tokens(const CompareSide& a, const CompareSide& b, TokenUse use,
                                               const RunContext& context);

// Adds the tensors of a pair as two without a partner.
void add_parted(const TensorPair& pair, Alone why, std::vector<TensorPair>& pairs);

// True if statistics alone were dumped, and their shapes show that the two sides read the tokens in other forms. Then nothing
// tells which rows belong together.
[[nodiscard]] bool statistics_of_other_rows(const CompareSide& a, const CompareSide& b);
// Parts the pairs of other shapes, which are of other rows.
void part_other_rows(const CompareSide& a, const CompareSide& b, Pairing& pairing);

// Gives the tensors that have the same name on both sides the rows that both have, for sides that are sharded differently: what
// ranks hold of these rows is put together then.
void align_names(TokenView& view);

// Gives the tensors of each pair the tokens that both have, and settles which are pairs (row_pairs.cpp). An error if
// interrupted.
Status settle_rows(TokenView& view, Pairing& pairing, const CancelToken& cancel);

}  // namespace msdump
