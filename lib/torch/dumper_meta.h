// What SGLang's dumper says of the tensor in a file {"value": tensor, "meta": {..}}:
//
//   dims                    an axis of the tensor a word, with the parallel axes that shard it: "t h[tp]"; the script gives it
//   sglang_parallel_info    {"tp_rank": 1, "tp_size": 2, ..}: the rank and size of the process in each parallel axis;
//   megatron_parallel_info  a key that ends in "_error" says that they are unknown
//   rank, step, name, ..    as in the name of the file (dump/names/dumper_name.h), and not read
// compare/match/placement/distribution.h has the syntax of `dims`.
// Source: sglang python/sglang/srt/debug_utils/dumper.py, and comparator/ beside it for the meaning, of 2026.
#pragma once

#include <string>

#include "torch/pickle.h"

namespace msdump::torch {

// {"dims":"t h[tp]","parallel":{"tp":{"rank":1,"size":2}}}, with the axes of more than one process. Empty if the root of the
// pickle is no such dict, has no `dims`, or `dims` has more than 1 KiB.
[[nodiscard]] std::string dumper_distribution_of(const Pickle& pickle);

}  // namespace msdump::torch
