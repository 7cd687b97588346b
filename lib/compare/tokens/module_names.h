// module_names(): what the modules of one family of programs are called in another, for runs whose programs are known by such
// names:
//
//   Transformers, vLLM, SGLang   model.layers.0.self_attn.qkv_proj, model.layers.0.mlp.gate_up_proj, lm_head
//   Megatron                     decoder.layers.0.self_attention.linear_qkv, decoder.layers.0.mlp.linear_fc1, output_layer
// Source: transformers and vLLM of 2024 to 2026; Megatron Core's GPTModel.
#pragma once

#include <optional>
#include <vector>

#include "compare/match/op_sequence.h"
#include "compare/match/rename/name_map.h"

namespace msdump {

// A map of paths for the candidate's names; none if both sides have the names of one family.
[[nodiscard]] std::optional<NameMap> module_names(const std::vector<SequencedOp>& candidate,
                                                  const std::vector<SequencedOp>& reference);

}  // namespace msdump
