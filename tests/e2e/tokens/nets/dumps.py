"""Dumps a model's forward passes: msprobe itself, or files as the hooks and calls of SGLang's dumper write them."""
import re

import torch

# Points that a script names in both programs: module, what is saved of it.
POINTS = {
    "model.embed_tokens": (("embeddings", "output"),), "embedding.word_embeddings": (("embeddings", "output"),),
    "input_layernorm": (("attn_input", "output"),), "self_attn.o_proj": (("attn_context", "input"), ("attn_output", "output")),
    "post_attention_layernorm": (("mlp_input", "output"),), "mlp.gate": (("router_logits", "output"),),
    "mlp": (("mlp_output", "output"),), "model.norm": (("final_hidden", "output"),), "lm_head": (("logits", "output"),),
    "self_attention.linear_proj": (("attn_context", "input"), ("attn_output", "output")),
    "pre_mlp_layernorm": (("mlp_input", "output"),), "decoder.final_layernorm": (("final_hidden", "output"),),
    "output_layer": (("logits", "output"),), "sampler": (("log_probs", "output"),), "log_probs": (("log_probs", "output"),)}
FIELDS = ("input_ids", "positions", "position_ids", "seq_lens", "req_pool_indices", "rids", "cu_seqlens_q", "cu_seqlens_kv",
          "qkv_format")


class Msprobe:
    def __init__(self, model, folder, level, task):
        from msprobe.pytorch import PrecisionDebugger
        self.model, self.debugger = model, PrecisionDebugger(task=task, level=level, dump_path=folder)

    def begin(self, fields):
        del fields  # they are inputs of modules
        self.debugger.start(self.model)

    def end(self):
        self.debugger.stop()
        self.debugger.step()


class Dumper:
    """`named`: the points that a script saves, else inputs and outputs of all modules. The fields are always saved."""

    def __init__(self, model, folder, named):
        self.folder, self.step, self.index, self.named, self.layer = folder, 0, 0, named, None
        for name, module in model.named_modules():
            if layer := re.fullmatch(r"(?:model|decoder)\.layers\.(\d+)", name):
                module.register_forward_pre_hook(lambda *_, layer=layer: self.enter(int(layer[1])))
            if named:
                module.register_forward_hook(lambda _, inputs, output, name=name: self.save_points(name, inputs, output))
            else:
                module.register_forward_pre_hook(
                    lambda _, inputs, named, name=name: self.save_inputs(name, inputs, named), with_kwargs=True)
                module.register_forward_hook(lambda _, __, output, name=name: self.save_parts(f"{name}.output", output))
            if layer:
                module.register_forward_hook(lambda *_: self.enter(None))

    def enter(self, layer):
        self.layer = layer

    def begin(self, fields):
        for name, value in fields.items():
            self.save(name, value)

    def end(self):
        self.step += 1

    def save_points(self, name, inputs, output):
        for point, what in POINTS.get(re.sub(r"(model|decoder)\.layers\.\d+\.", "", name), ()):
            value = inputs if what == "input" else output
            self.save(point, value[0] if isinstance(value, tuple) else value)

    def save_inputs(self, name, inputs, named):
        for slot, value in enumerate(inputs):
            self.save_parts(f"{name}.inputs.{slot}", value)
        for slot, value in named.items():
            if slot not in FIELDS:
                self.save_parts(f"{name}.inputs.{slot}", value)
            elif name:
                self.save(slot, value)

    def save_parts(self, name, value):
        parts = [one for one in value if torch.is_tensor(one)] if isinstance(value, (tuple, list)) else [value]
        for slot, part in enumerate(parts):
            if torch.is_tensor(part):
                self.save(f"non_intrusive__{name.lstrip('.')}" + (f".{slot}" if len(parts) > 1 else ""), part)

    def save(self, name, value):
        self.index += 1
        tags = {"step": self.step, "rank": 0, "dump_index": self.index, "name": name, "recompute_status": "disabled"}
        tags |= {"layer_id": self.layer} if self.layer is not None else {}
        path = f"{self.folder}/" + "___".join(f"{key}={one}" for key, one in tags.items()) + ".pt"
        value = value.clone() if torch.is_tensor(value) else value  # a view would save its whole storage
        torch.save({"value": value, "meta": tags | {"world_rank": 0, "world_size": 1}}, path)


class Nothing:
    def begin(self, fields):
        pass

    def end(self):
        pass


def start(writer, model, folder):
    if writer == "none":
        return Nothing()
    if writer in ("names", "hooks"):
        return Dumper(model, folder, writer == "names")
    level, task = {"mix": ("mix", "tensor"), "modules": ("L0", "tensor"), "statistics": ("L0", "statistics")}[writer]
    return Msprobe(model, folder, level, task)
