"""What both programs have in common: the sizes, the weights under the trainer's names, and the sequences."""
import zlib
from dataclasses import dataclass

import torch

TEMPERATURE = 0.7


@dataclass(frozen=True)
class Config:
    """Layers with an odd number have experts. 0 is: no sliding window (of even layers), no soft cap."""
    hidden: int = 48
    layers: int = 4
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 12
    mlp: int = 64
    experts: int = 4
    experts_of_token: int = 2
    expert_mlp: int = 24
    vocabulary: int = 97
    theta: float = 10000.0
    eps: float = 1e-6
    scale_embeddings: bool = False
    window: int = 0
    cap: float = 0.0
    cap_logits: float = 0.0


CONFIGS = {"qwen": Config(), "gemma": Config(scale_embeddings=True, window=6, cap=4.0, cap_logits=6.0)}


def shapes(config):
    heads, kv = config.heads * config.head_dim, config.kv_heads * config.head_dim
    found = {"model.embed_tokens": (config.vocabulary, config.hidden), "model.norm": (config.hidden,),
             "lm_head": (config.vocabulary, config.hidden)}
    for index in range(config.layers):
        layer = f"model.layers.{index}"
        found |= {f"{layer}.input_layernorm": (config.hidden,), f"{layer}.post_attention_layernorm": (config.hidden,)}
        found |= {f"{layer}.self_attn.{name}": shape for name, shape in {
            "q_proj": (heads, config.hidden), "k_proj": (kv, config.hidden), "v_proj": (kv, config.hidden),
            "o_proj": (config.hidden, heads), "q_norm": (config.head_dim,), "k_norm": (config.head_dim,)}.items()}
        mlps = {f"{layer}.mlp": config.mlp}
        if index % 2:
            mlps = {f"{layer}.mlp.experts.{expert}": config.expert_mlp for expert in range(config.experts)}
            found[f"{layer}.mlp.gate"] = (config.experts, config.hidden)
        for name, size in mlps.items():
            found |= {f"{name}.gate_proj": (size, config.hidden), f"{name}.up_proj": (size, config.hidden),
                      f"{name}.down_proj": (config.hidden, size)}
    return {f"{name}.weight": shape for name, shape in found.items()}


def weights(config, version=1):
    """Version 0 is that of before the last updates of the trainer, which changed each weight by a few per cent."""
    made = {}
    for name, shape in shapes(config).items():
        chance = torch.Generator().manual_seed(zlib.crc32(name.encode()))
        value = torch.randn(shape, generator=chance)
        value = 1 + 0.2 * value if len(shape) == 1 else value * (0.5 if "embed" in name else shape[-1] ** -0.5)
        made[name] = value if version else value + 0.05 * value.std() * torch.randn(shape, generator=chance)
    return made


def sequences(kind, seed):
    """(prompt, response) of each sequence. "samples": several responses to a prompt, and a prompt whose first tokens are
    tokens 4 to 7 of another."""
    chance = torch.Generator().manual_seed(seed)
    draw = lambda count: torch.randint(1, 97, (count,), generator=chance).tolist()
    size = lambda low, high: int(torch.randint(low, high + 1, (), generator=chance))
    if kind == "samples":
        first, second = draw(11), draw(7)
        prompts = [first, second, first, second, first[4:8] + draw(3), first]
    else:
        prompts = [draw(length) for length in (9, 4, 14, 6, 11)]
    return [(prompt, draw(size(2, 5))) for prompt in prompts]
