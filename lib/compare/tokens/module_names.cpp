#include "compare/tokens/module_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace msdump {
namespace {

// Paths of modules in Transformers, and in Megatron. Longer paths come before their parts. Routers have no row: Megatron's router
// returns probabilities, that of Transformers logits.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kNames = {{
    {"model.embed_tokens", "embedding.word_embeddings"},
    {"model.norm", "decoder.final_layernorm"},
    {"model.layers", "decoder.layers"},
    {"lm_head", "output_layer"},
    {"post_attention_layernorm", "pre_mlp_layernorm"},
    {"self_attn", "self_attention"},
    {"qkv_proj", "linear_qkv"},
    {"o_proj", "linear_proj"},
    {"attn", "core_attention"},
    {"q_norm", "q_layernorm"},
    {"k_norm", "k_layernorm"},
    {"gate_up_proj", "linear_fc1"},
    {"down_proj", "linear_fc2"},
}};

bool has_part(const std::vector<SequencedOp>& operators, std::string_view part) {
  return std::any_of(operators.begin(), operators.end(), [&](const SequencedOp& op) {
    const std::vector<std::string_view> parts = split(op.name, '.');
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  });
}

}  // namespace

std::optional<NameMap> module_names(const std::vector<SequencedOp>& candidate,
                                    const std::vector<SequencedOp>& reference) {
  const auto is_megatron = [](const std::vector<SequencedOp>& operators) { return has_part(operators, "linear_fc2"); };
  const auto is_transformers = [](const std::vector<SequencedOp>& operators) {
    return has_part(operators, "down_proj");
  };
  const bool to_megatron = is_transformers(candidate) && is_megatron(reference);
  if (!to_megatron && !(is_megatron(candidate) && is_transformers(reference))) return std::nullopt;
  std::string text;
  for (const auto& [transformers, megatron] : kNames) {
    text += to_megatron ? transformers : megatron;
    text += '=';
    text += to_megatron ? megatron : transformers;
    text += '\n';
  }
  NameMapContent content;
  content.kind = NameMapKind::kPaths;
  if (auto rules = read_path_rules(text)) content.paths = std::move(*rules);
  return NameMap(std::move(content));
}

}  // namespace msdump
