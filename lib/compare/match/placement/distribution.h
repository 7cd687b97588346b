// placement_in(): the placement that a writer states with the local tensors (TensorRecord::distribution): DTensors of PyTorch,
// the layouts of MindSpore that msprobe writes (msprobe/dump_json.h), and the dims of SGLang's dumper. What is stated is not
// searched for.
//
// The dims of SGLang's dumper are what the script of a run states, for one tensor at a time:
//
//   dims         words separated by blanks, one for each axis of the tensor, then maybe "# declarations"
//   word         NAME, (NAME*NAME), or 1 for an axis of extent 1; then maybe [MODIFIER,MODIFIER,..], the outermost first
//   modifier     PARALLEL[:QUALIFIER[+QUALIFIER]]: a parallel axis that shards this one, "tp", "cp:zigzag"
//   qualifier    sharded, natural (both by default), zigzag, or partial: the ranks hold summands, and shard nothing
//   declaration  PARALLEL:replicated, or others, which do not count here
//
// A parallel axis of several processes that `dims` does not name is replicated, if it is tp, cp or declared so. Ranks of
// other axes (data, experts, stages) need not hold the same, so nothing is stated if they are among those of the tensor; nor
// for cp on an axis t, of packed sequences that are sharded one by one.
// Source: sglang python/sglang/srt/debug_utils/comparator/dims_spec and aligner/unsharder, of 2026.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "compare/match/placement/placement.h"
#include "dump/index/tensor_list.h"
#include "io/json.h"

namespace msdump {

// `distribution` as JSON; `ranks` are those of the local tensors, ascending. Nothing if it is of other ranks, or not
// understood.
[[nodiscard]] std::optional<Placement> placement_in(std::string_view distribution, std::span<const int64_t> ranks);

// The same, if all local tensors state it; dims, with the coordinates of each rank. A null is that of a rank that lacks the
// tensor.
[[nodiscard]] std::optional<Placement> placement_in(std::span<const TensorRecord* const> locals,
                                                    std::span<const int64_t> ranks);

// `locals`: what torch/dumper_meta.h read of each local tensor, ascending by rank. Nothing if the ranks do not state the
// same, are no mesh, or `dims` has not `axes` words.
[[nodiscard]] std::optional<Placement> placement_of_dims(std::span<const JsonValue> locals, size_t axes);

}  // namespace msdump
