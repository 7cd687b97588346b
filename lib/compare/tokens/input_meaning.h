// Meaning: what an integer tensor tells of the rows of a forward pass, by the names of slots, operators and modules (input_ids,
// positions, cu_seqlens, slot_mapping, seq_lens, req_pool_indices, attention_mask, Embedding, Rotary..).
#pragma once

#include <cstdint>

#include "dump/index/tensor_list.h"

namespace msdump {

enum class Meaning : uint8_t { kIds, kPositions, kCuts, kLengths, kRequests, kSlots, kMask, kUnknown };
[[nodiscard]] Meaning meaning_of(const NameFacts& name);

// True for the tensors of the token embedding, not of positions or types.
[[nodiscard]] bool embeds_tokens(const NameFacts& name);
// True for integers and booleans.
[[nodiscard]] bool is_whole(DType dtype);
// True for an input or output of whole numbers with one or two axes.
[[nodiscard]] bool can_be_input(const TensorRecord& record);

}  // namespace msdump
