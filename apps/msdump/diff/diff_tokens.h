// The tokens of a comparison by tokens (--tokens), for people and as machine output has them.
#pragma once

#include <string>
#include <vector>

#include "divergence/dump_diff.h"
#include "report/row_type.h"
#include "report/value.h"

namespace msdump::cli {

// "tokens: 5 sequences, 83 tokens are compared (candidate: 9 passes, packed; reference: padded 5x24)", and a line for each fused
// projection; empty unless tokens are compared.
[[nodiscard]] std::string tokens_text(const DiffResult& run);
// "first at sequence 2, position 7 (token 1234; candidate: step 3, row 1); 12 of 83 tokens are beyond rounding"; empty if
// not known.
[[nodiscard]] std::string wrong_tokens_text(const DiffResult& run);
// `tokens` of the document; null unless tokens are compared.
[[nodiscard]] report::Value tokens_value(const DiffResult& run);
[[nodiscard]] const report::ObjectType& tokens_type();
// `tokens` of the page's data (report/page/page_data.h), and sentences on it; null and none unless tokens are compared.
[[nodiscard]] report::Value token_map_value(const DiffResult& run);
[[nodiscard]] std::vector<std::string> token_map_texts(const DiffResult& run);
// `tokens` of a row; null for a tensor without rows of tokens.
[[nodiscard]] report::Value row_tokens_value(const DiffResult& run, TensorId tensor);
[[nodiscard]] const report::ObjectType& row_tokens_type();

}  // namespace msdump::cli
