"""The place of an operator in the decoder, (layer, part), by its name on either side."""
import json
import pathlib
import re

PARTS = (
    ("input_norm", r"input_layernorm|attn_input"),
    ("qkv", r"self_attn\.(q|k|v|qkv)_proj|self_attention\.linear_qkv"),
    ("qk_norm", r"self_attn\.[qk]_norm|self_attention\.[qk]_layernorm"),
    ("rope", r"self_attn\.rotary_emb"),
    ("attention", r"self_attn\.attn|self_attention\.core_attention|attn_context"),
    ("o_proj", r"self_attn\.o_proj|self_attention\.linear_proj|attn_output"),
    ("self_attn", r"self_attn|self_attention"),
    ("post_norm", r"post_attention_layernorm|pre_mlp_layernorm|mlp_input"),
    ("router", r"mlp\.(gate|router)\b|router_logits"),
    ("experts", r"mlp\.experts"),
    ("gate_up", r"mlp\.(gate|up|gate_up)_proj|mlp\.linear_fc1"),
    ("act", r"mlp\.act_fn"),
    ("down", r"mlp\.(down_proj|linear_fc2)"),
    ("mlp", r"mlp|mlp_output"),
    ("layer", r""))
OUTSIDE = (
    ("embed", r"model\.embed_tokens|embeddings?\b"),
    ("rope", r"model\.rotary_emb"),
    ("norm", r"model\.norm|decoder\.final_layernorm|final_hidden"),
    ("lm_head", r"lm_head|logits_processor|output_layer|logits"),
    ("log_probs", r"sampler|log_probs"),
    ("inputs", r"input_ids|positions?|position_ids|seq_lens"),
    ("model", r"(model|decoder)\b"),
    ("top", r""))

# Parts that are right beside the declared one, of the same layer. An operator that a script calls in a module itself is of
# the module: rotation and attention of the trainer are calls in self_attn. Inputs of o_proj are what attention returns.
ALSO = {"rope": ("self_attn", "attention", "o_proj"), "attention": ("self_attn", "o_proj"), "qk_norm": ("self_attn",),
        "experts": ("mlp",), "act": ("mlp", "down"), "cap_logits": ("lm_head", "log_probs", "top"),
        "lm_head": ("top",), "log_probs": ("top",)}
# Of the points that a script names: what shows first there.
NAMED = {"qkv": "attention", "qk_norm": "attention", "rope": "attention", "gate_up": "mlp", "act": "mlp", "down": "mlp",
         "experts": "mlp", "cap_logits": "log_probs"}


def place_of(name):
    name = re.sub(r"^Module\.", "", name)
    if found := re.search(r"(?:^|\.)layers\.(\d+)\.?(.*)", name):
        return int(found[1]), next(part for part, text in PARTS if re.match(text, found[2]))
    return None, next(part for part, text in OUTSIDE if re.match(text, name))


class Places:
    """Of a dump: calls have the place of the module that made them, as msprobe's construct.json says."""

    def __init__(self, dump):
        self.parents = {}
        for file in pathlib.Path(dump).glob("step*/*/construct.json"):
            self.parents |= json.loads(file.read_text("utf-8"))
        names = [name for name in self.parents if name.startswith("Module.")]
        for file in pathlib.Path(dump).glob("*.pt"):
            tags = dict(tag.split("=", 1) for tag in file.stem.split("___"))
            hooked = re.sub(r"\.(inputs\..*|output(\.\d+)?)$", "", tags["name"].removeprefix("non_intrusive__"))
            names.append(hooked if hooked != tags["name"] or "layer_id" not in tags else f"layers.{tags['layer_id']}.{hooked}")
        self.dumped = {place_of(name) for name in names}  # by modules and points

    def of(self, name):
        """None of a call that the dump does not have."""
        while self.parents and not name.startswith("Module."):
            if name not in self.parents:
                return None
            parent = self.parents[name]
            name = parent[0] if isinstance(parent, list) else parent
            if not name:
                return None, "top"
        return place_of(name)


def right_places(fault, writer):
    part = NAMED.get(fault.part, fault.part) if writer == "names" else fault.part
    others = () if writer == "names" and part == "attention" else ALSO.get(part, ())
    also = tuple((fault.layer, one) for one in others)
    return {(fault.layer, part)} | set(also) | set(fault.also)
