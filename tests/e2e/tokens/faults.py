"""The faults of the rollout, written down before msdump was asked about any of them. Each changes lines of nets/rollout.py.

`layer` and `part` are what goes wrong first, in the words of places.py; the first wrong token is found by comparing the run
with the same one without the fault (truth.py). `forms`: the rollouts that show it. Even rows are the half `fit`, which may be
looked at while msdump is changed; odd ones are `held`, of which only counts are told.
"""
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    name: str
    net: str
    forms: tuple
    layer: int | None
    part: str
    changes: tuple           # ((old line, new line), ...)
    also: tuple = ()         # further places that are right: ((layer, part), ...)
    dtype: str = ""          # the only one that shows it
    at_once: bool = False    # all sequences arrive before the first pass


PAGED, CHUNKED, PREFIX, LEFT = (("paged", "chunked"), ("chunked",), ("prefix",), ("left",))
ANY = ("paged", "chunked", "left", "prefix")
DUMPED_POSITIONS = ((None, "inputs"), (None, "model"))
POSITIONS = "positions += range(begin, end)"
LOAD = "target, part = name, 0"
SEEN = "        seen = there <= here\n"
SCALE = "query[begin:end].float(), keys) * scale"


def stale(condition):
    return ((LOAD, f"{LOAD}\n            if {condition}:\n                value = stale[name]"),)


FAULTS = (
    # Positions and rotation. Where the positions are wrong as inputs, they are in the dump.
    Fault("position-after-prefix", "qwen", PREFIX, 0, "rope", ((
        POSITIONS, "positions += range(begin, end) if begin >= len(request.prompt) else range(count)"),),
        also=DUMPED_POSITIONS),
    Fault("slot-reused", "qwen", PAGED, 0, "attention", ((
        "request.computed = end\n", "request.computed = end\n            if begin < len(request.prompt) <= end:\n"
        "                self.free.append(request.blocks[-1])\n"),)),
    Fault("positions-of-padding", "qwen", LEFT, 0, "rope", ((
        ".clamp(min=0)\n", ".clamp(min=0) if step else places.expand(len(requests), -1)\n"),), also=DUMPED_POSITIONS),
    Fault("scale", "qwen", ANY, 0, "attention", ((
        "config.head_dim, config.head_dim ** -0.5, config.cap", "config.head_dim, config.hidden ** -0.5, config.cap"),)),
    Fault("scale-of-decode", "qwen", PAGED, 0, "attention", ((SCALE, f"{SCALE} * (1.0 if count > 1 else scale)"),)),
    Fault("cap-missing", "gemma", ANY, 0, "attention", ((
        "config.head_dim, config.head_dim ** -0.5, config.cap", "config.head_dim, config.head_dim ** -0.5, 0.0"),)),
    Fault("cap-of-decode", "gemma", PAGED, 0, "attention", ((
        "        if cap > 0:\n            scores", "        if cap > 0 and count > 1:\n            scores"),)),
    Fault("cap-of-logits", "gemma", ANY, None, "cap_logits", (("self.cap = config.cap_logits", "self.cap = 0.0"),)),
    Fault("lm-head-in-bfloat16", "qwen", ANY, None, "lm_head", ((
        "logits = lm_head(rows)", "logits = lm_head.to(torch.bfloat16)(rows.bfloat16()).to(rows.dtype)"),), dtype="float32"),
    Fault("temperature-twice", "qwen", ANY, None, "log_probs", ((
        ".div(TEMPERATURE)", ".div(TEMPERATURE).div(TEMPERATURE)"),)),
    Fault("temperature-forgotten", "gemma", ANY, None, "log_probs", ((".float().div(TEMPERATURE)", ".float()"),)),
    Fault("chunk-boundary", "qwen", CHUNKED, 0, "attention", ((
        SEEN, "        seen = (there <= here) & ((there != length - count - 1) | torch.tensor(count == 1))\n"),)),
    Fault("positions-of-chunk", "qwen", CHUNKED, 0, "rope", ((
        POSITIONS, "late = int(0 < begin < len(request.prompt))\n            positions += range(begin - late, end - late)"),),
        also=DUMPED_POSITIONS),
    Fault("window-off-by-one", "gemma", PAGED, 0, "attention", (("(there > here - window)", "(there >= here - window)"),)),
    Fault("window-of-decode", "gemma", PAGED, 0, "attention", ((
        "        if window > 0:\n            seen", "        if window > 0 and count > 1:\n            seen"),)),
    Fault("top-k-not-renormalised", "qwen", ANY, 1, "experts", ((
        "        weights = weights / weights.sum(dim=-1, keepdim=True)\n", ""),)),
    Fault("one-expert", "gemma", ANY, 1, "experts", (("self.top_k = config.experts_of_token", "self.top_k = 1"),)),
    Fault("stale-query", "qwen", ANY, 2, "qkv", stale('name == "model.layers.2.self_attn.q_proj.weight"')),
    Fault("stale-up", "gemma", ANY, 2, "gate_up", stale('name == "model.layers.2.mlp.up_proj.weight"')),
    Fault("fp8-scale", "qwen", ("paged", "prefix"), 0, "attention", ((
        "cache[batch.slot_mapping] = new", "cache[batch.slot_mapping] = (new / 2).to(torch.float8_e4m3fn).to(new.dtype)"),)),
    Fault("key-scale-of-decode", "gemma", PAGED, 0, "attention", ((
        "keys = key_cache[slots].float()", "keys = (1.0 if count > 1 else 2.0) * key_cache[slots].float()"),)),
    Fault("experts-exchanged", "qwen", ANY, 3, "experts", ((
        'expert = int(rest.split(".")[0])', 'expert = int(rest.split(".")[0])\n                if "layers.3." in name:\n'
        "                    expert = {1: 2, 2: 1}.get(expert, expert)"),)),
    Fault("epsilon-of-last-norm", "gemma", ANY, None, "norm", ((
        "self.norm = RMSNorm(config.hidden, config.eps)", "self.norm = RMSNorm(config.hidden, 2.0)"),)),
    Fault("embeddings-not-scaled", "gemma", ANY, None, "embed", ((
        "math.sqrt(config.hidden) if config.scale_embeddings else None", "None"),),
        also=((None, "model"), (0, "input_norm"), (0, "post_norm"), (0, "layer"))),
    Fault("key-norm-not-loaded", "qwen", ANY, 1, "qk_norm", ((
        LOAD, f'{LOAD}\n            if name == "model.layers.1.self_attn.k_norm.weight":\n                continue'),)),
    Fault("theta", "qwen", ANY, 0, "rope", (("base = config.theta", "base = 1000000.0"),)),
    Fault("rope-interleaved", "gemma", ANY, 0, "rope", ((
        "first, second = x.view(x.shape[:-1] + [-1, size]).chunk(2, -1)\n    return torch.cat(",
        "pairs = x.view(x.shape[:-1] + [-1, size // 2, 2])\n    first, second = pairs[..., 0], pairs[..., 1]\n"
        "    return torch.stack("),
        ("second * cos + first * sin), -1).flatten(-2)", "second * cos + first * sin), -1).flatten(-3)"))),
    Fault("heads-repeated", "qwen", PAGED, 0, "attention", tuple(
        (f"{one}_cache[slots].float().repeat_interleave(groups, 1)", f"{one}_cache[slots].float().repeat(1, groups, 1)")
        for one in ("key", "value"))),
    Fault("sigmoid-of-router", "gemma", ANY, 1, "experts", ((
        "torch.softmax(router_logits.float(), dim=-1)", "torch.sigmoid(router_logits.float())"),)),
    Fault("last-slot-not-written", "qwen", PAGED, 0, "attention", ((
        "cache[batch.slot_mapping] = new", "cache[batch.slot_mapping[:-1]] = new[:-1]"),)),
    Fault("tables-not-compacted", "qwen", ("paged",), 0, "attention", (
        ("most = max(len(request.blocks) for request, _ in chosen)",
         "most = max(len(request.blocks) for request in self.requests)"),
        ("for request, _ in chosen]\n        if not", "for request in self.requests[:len(chosen)]]\n        if not")),
        at_once=True),
    Fault("next-token-seen", "gemma", PAGED, 0, "attention", ((SEEN, "        seen = there <= here + int(count > 1)\n"),)),
    Fault("padding-seen", "qwen", LEFT, 0, "attention", (("seen & mask[:, None, None, :]", "seen[None, None]"),)),
    Fault("static-slot", "gemma", LEFT, 0, "attention", ((
        "cache[:, batch.places] = new", "cache[:, batch.places - int(len(batch.places) == 1)] = new"),)),
    Fault("stale-lm-head", "qwen", ANY, None, "lm_head", stale('name == "lm_head.weight"')),
    Fault("capacity", "gemma", ANY, 1, "experts", (("chosen[:, slot] == expert)[0]", "chosen[:, slot] == expert)[0][:2]"),)),
    Fault("gelu", "qwen", ANY, 0, "act", (("silu(gate) * up", "gelu(gate) * up"),)),
    Fault("prefix-of-another", "qwen", PREFIX, 0, "attention", (("tuple(tokens[:end])", "tuple(tokens[end - BLOCK:end])"),)),
    Fault("residual-lost", "gemma", ANY, 0, "post_norm", ((
        "wide.to(x.dtype)\n\n\n@torch.jit.script\ndef rotary", "residual\n\n\n@torch.jit.script\ndef rotary"),),
        also=((0, "layer"), (1, "input_norm"))),
    Fault("norm-not-loaded", "qwen", ANY, 3, "input_norm", ((
        LOAD, f'{LOAD}\n            if name == "model.layers.3.input_layernorm.weight":\n                continue'),)),
    Fault("stale-router", "gemma", ANY, 3, "router", stale('name == "model.layers.3.mlp.gate.weight"')),
    Fault("half-of-output", "qwen", ANY, 1, "o_proj", ((
        LOAD, f'{LOAD}\n            if name == "model.layers.1.self_attn.o_proj.weight":\n'
        "                value = value * (torch.arange(value.shape[1]) < value.shape[1] // 2)"),)),
    Fault("position-of-decode", "qwen", PAGED, 0, "rope", ((
        POSITIONS, "late = int(begin >= len(request.prompt))\n            positions += range(begin + late, end + late)"),),
        also=DUMPED_POSITIONS),
    Fault("stale-embeddings", "gemma", ANY, None, "embed", stale('name == "model.embed_tokens.weight"'), also=((None, "model"),)),
    Fault("stale-down-of-expert", "gemma", ANY, 1, "experts", stale('name == "model.layers.1.mlp.experts.2.down_proj.weight"')),
    Fault("stale-value", "qwen", ANY, 3, "qkv", stale('name == "model.layers.3.self_attn.v_proj.weight"')),
)
