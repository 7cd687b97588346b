// settle_token_root(): the root of two runs that are compared token by token. The operator at which the error of a token jumps
// (compare/tokens/token_errors.h) takes the place of roots that are estimated from the errors of whole tensors: a fault of one
// token is small among many, and two programs of one network share too few calls to learn from. Values that differ by themselves,
// such as weights, remain roots.
#pragma once

#include "divergence/dump_diff.h"

namespace msdump {

class PairRows;
struct TokenErrors;

// Also settles which differences follow from the root. If no token jumps, as after a weight that differs a little, the first
// token of the root becomes the first wrong one.
void settle_token_root(DiffResult& run, const PairRows& pairs, TokenErrors& errors);

}  // namespace msdump
