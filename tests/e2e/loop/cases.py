"""The cases: a net, what is changed in its script, and the first dump, which has statistics alone.

The nets of ../msprobe have their faults and truths from there, with wider tensors (`SIZES`). Vision, diffusion and mixture
are of this folder; their faults were written down before `msdump next` existed, and no rule was tried on them. How a
truth is said: ../msprobe/faults.py. The crc32 of a case's name says its half: `fit` (even) is for looking, `held` (odd)
for the figures.
"""
import os
import sys
import zlib
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
MSPROBE = os.path.join(os.path.dirname(HERE), "msprobe")
sys.path.insert(0, MSPROBE)
from faults import ALL, UPDATED, Fault, after_start  # noqa: E402

# The nets of ../msprobe are small; in one line each, so that the lines keep their numbers.
SIZES = {
    "decoder": (("53, 32, 4, 3, 10", "512, 256, 8, 3, 64"),),
    "translator": (("41, 32, 4, 9, 0, 2", "512, 192, 8, 64, 0, 2"),),
    "convolution": (("(4, 3, 12, 12)", "(4, 3, 40, 40)"),),
    "recurrent": (("37, 24, 6", "37, 256, 6"),),
}
STEPS = 6


@dataclass
class Case:
    net: str
    name: str
    level: str  # of the first dump
    noise: float = 0.0  # of the candidate
    fault: Fault | None = None
    threads: int = 1  # of the candidate
    alone: bool = False  # without a reference: what is wrong is not finite
    begin: int = 0  # the first step of the first dump
    wrong_in: tuple = ()  # the step that goes wrong and the one that shows it, where they are part of the truth

    @property
    def title(self):
        return f"{self.net}/{self.name}"

    @property
    def half(self):
        return "held" if zlib.crc32(self.title.encode()) % 2 else "fit"

    @property
    def sides(self):
        return ("candidate",) if self.alone else ("candidate", "reference")

    @property
    def steps(self):
        return STEPS


RESIDUALS = ("down", "middle1", "middle2", "up")
FAULTS = [
    # vision
    after_start("vision", "eps", "epsilon 0.1 instead of 1e-6 in one LayerNorm", "model.blocks[1].norm2.eps = 0.1",
                lines=("gelu",), modules=("blocks.1.norm2",)),
    Fault("vision", "unscaled", "scores not divided by the root of the head's width",
          ((" * (WIDTH // HEADS) ** -0.5", ""),), ("scores", "softmax"), ("blocks.?.attn",), ("blocks.?.attn.proj",)),
    Fault("vision", "heads", "heads are not moved back before they are joined",
          (("mixed.transpose(1, 2).flatten(2)", "mixed.reshape(x.shape)"),), ("proj",),
          ("blocks.?.attn", "blocks.?.attn.proj")),
    Fault("vision", "gelu", "GELU by tanh", (("(self.norm2(x)))", '(self.norm2(x)), approximate="tanh")'),), ("gelu",),
          ("blocks.?",), ("blocks.?.down",)),
    Fault("vision", "slice", "the mean takes the class token and leaves out the last patch",
          (("x[:, 1:].mean(1)", "x[:, :-1].mean(1)"),), ("pooled", "head"), (), ("head",)),
    Fault("vision", "detached", "no gradient through the attention's input",
          (("self.attn(self.norm1(x))", "self.attn(self.norm1(x).detach())"),), ("residual1",),
          ("blocks.?.attn", "blocks.?.attn.qkv", "blocks.?.norm1"), ("blocks.?", *UPDATED)),
    Fault("vision", "cast", "weights times values in bfloat16",
          (("torch.matmul(weights, v)", "torch.matmul(weights.bfloat16(), v.bfloat16()).float()"),), ("mixed",),
          ("blocks.?.attn",), ("blocks.?.attn.proj",)),
    Fault("vision", "stale", "one weight is not updated from step 3 on", (("optimizer.step()", (
        "w = model.blocks[1].up.weight; w.grad = w.grad if step < 3 else None; optimizer.step()")),), ("step", "gelu"), ("blocks.1.up",), UPDATED),
    Fault("vision", "division", "a division by zero in step 4",
          (("model(pictures) / math.sqrt(2)", "model(pictures) / (math.sqrt(2) * (step != 4))"),), ("loss",), (),
          ("head",)),
    Fault("vision", "decay", "weight decay 5 instead of 0.05", (("weight_decay=0.05", "weight_decay=5.0"),), ("step",),
          near=UPDATED),
    # diffusion
    Fault("diffusion", "swapped", "scale and shift are swapped", (("scale, shift = self", "shift, scale = self"),),
          ("chunk", "modulate"), (*RESIDUALS, "*.norm2", "*.time"), ("*.conv2",)),
    after_start("diffusion", "eps", "epsilon 1 instead of 1e-5 in one GroupNorm", "model.middle1.norm1.eps = 1.0",
                lines=("first",), modules=("middle1.norm1",)),
    Fault("diffusion", "unscaled", "the sum of a block is not divided by the root of 2",
          (("(self.short(x) + h) / math.sqrt(2)", "self.short(x) + h"),), ("residual",), RESIDUALS,
          ("smaller", "attention", "attention.norm", "larger", "norm")),
    Fault("diffusion", "axis", "softmax over the wrong axis", (("scores.softmax(-1)", "scores.softmax(-2)"),),
          ("softmax", "mixed"), ("attention",), ("attention.out",)),
    Fault("diffusion", "joined", "the skip comes first", (("torch.cat((h, skip), 1)", "torch.cat((skip, h), 1)"),),
          ("skip",), (), ("up", "up.norm1", "up.short")),
    Fault("diffusion", "wave", "cosines before sines", (("(angle.sin(), angle.cos())", "(angle.cos(), angle.sin())"),),
          ("wave",), (), ("time1",)),
    Fault("diffusion", "frequency", "frequencies divided by one less",
          (("torch.arange(half) / half", "torch.arange(half) / (half - 1)"),), ("frequency", "angle"), (), ("time1",)),
    Fault("diffusion", "bilinear", "a bilinear instead of the nearest pixel", (('"nearest"', '"bilinear"'),),
          ("larger",), (), ("larger",)),
    Fault("diffusion", "noisy", "the noise times the variance instead of its root",
          (("(1 - alpha).sqrt() * noise", "(1 - alpha) * noise"),), ("noisy",), (), ("enter",)),
    Fault("diffusion", "division", "0 / 0 in the weight of step 4",
          (("alpha / (1 - alpha)", "alpha * (step != 4) / ((1 - alpha) * (step != 4))"),), ("weight",), (), ("leave",)),
    Fault("diffusion", "forgotten", "Adam forgets its state in step 3",
          (("optimizer.step()", "optimizer.state.clear() if step == 3 else None; optimizer.step()"),), ("step",),
          near=UPDATED),
    Fault("diffusion", "activation", "the time enters without SiLU", (("self.time(F.silu(time))", "self.time(time)"),),
          ("chunk",), (*RESIDUALS, "*.time"), ("*.norm2",)),
    # mixture
    Fault("mixture", "shares", "the shares of the chosen experts do not add up to 1",
          (("best / best.sum(-1, keepdim=True)", "best * 1.0"),), ("normalise", "share"), ("blocks.?.mlp",),
          ("blocks.?", "blocks.1.norm1", "norm")),
    Fault("mixture", "axis", "the router's softmax goes over the tokens",
          (("F.softmax(self.router(rows), dim=-1)", "F.softmax(self.router(rows), dim=0)"),), ("chances",),
          ("blocks.?.mlp",)),
    Fault("mixture", "repeat", "keys and values repeated group after group",
          (("one.repeat_interleave(HEADS // GROUPS, 1)", "one.repeat(1, HEADS // GROUPS, 1, 1)"),),
          ("repeat", "scores", "mixed"), ("blocks.?.attn",), ("blocks.?.attn.out",)),
    Fault("mixture", "mask", "a token sees the next one", ((".triu(1)", ".triu(2)"),), ("mask", "masked", "softmax"),
          ("blocks.?.attn",), ("blocks.0", "blocks.0.attn.out")),
    Fault("mixture", "balance", "no gradient from the loss of balance into the router",
          (("chances.mean(0)).sum()", "chances.detach().mean(0)).sum()"),), ("balance", "chances"),
          ("blocks.?.mlp", "blocks.?.mlp.router"), UPDATED),
    after_start("mixture", "expert", "one expert has the weights of another",
                "e = model.blocks[1].mlp.experts; e[2].load_state_dict(e[1].state_dict())", lines=("expert",),
                modules=("blocks.1.mlp.experts.2", "blocks.1.mlp.experts.2.*")),
    Fault("mixture", "operands", "gate and up are swapped",
          (("F.silu(self.gate(x)) * self.up(x)", "F.silu(self.up(x)) * self.gate(x)"),), ("expert",),
          ("blocks.?.mlp.experts.?", "blocks.?.mlp.experts.?.*")),
    Fault("mixture", "shift", "labels are not shifted", (("tokens[:, 1:].flatten()", "tokens[:, :-1].flatten()"),),
          ("entropy",), (), ("head",)),
    Fault("mixture", "betas", "the second beta of AdamW 0.999 instead of 0.95", (("(0.9, 0.95)", "(0.9, 0.999)"),),
          ("step",), near=UPDATED),
]
# Without a reference: NaN and infinities. Written down before `msdump next` ran on any of them.
NONFINITE = [
    Fault("vision", "blind", "all keys are masked",
          (("torch.softmax(scores, dim=-1)", 'torch.softmax(scores + float("-inf"), dim=-1)'),), ("softmax",),
          ("blocks.?.attn",)),
    Fault("vision", "empty", "the mean of no tokens", (("x[:, 1:].mean(1)", "x[:, TOKENS:].mean(1)"),), ("pooled",)),
    after_start("vision", "infinite", "infinities in a weight", 'model.blocks[1].down.weight.data[3] = float("inf")',
                lines=("residual2",), modules=("blocks.1.down",)),
    Fault("diffusion", "root", "the square root of negative numbers",
          (("(1 - alpha).sqrt() * noise", "(0.5 - alpha).sqrt() * noise"),), ("noisy",)),
    Fault("diffusion", "zero", "a division by zero",
          (("(self.short(x) + h) / math.sqrt(2)", "(self.short(x) + h) / (h - h)"),), ("residual",), RESIDUALS),
    Fault("mixture", "shareless", "shares are divided by zero",
          (("best = best / best.sum(-1, keepdim=True)", "best = best / (best.sum(-1, keepdim=True) * 0)"),),
          ("normalise",), ("blocks.?.mlp",)),
    Fault("mixture", "logarithm", "the logarithm of negative numbers",
          (("chances = F.softmax(self.router(rows), dim=-1)", "chances = torch.log(F.softmax(self.router(rows), dim=-1) - 2)"),),
          ("chances",), ("blocks.?.mlp",)),
    Fault("mixture", "slope", "the slope of a square root at zero",
          (("loss = entropy + 0.01 * balance", "loss = entropy + torch.sqrt(0.01 * (balance - balance.detach()))"),), ("loss",)),
    Fault("vision", "poisoned", "gradients are NaN in step 2",
          (("clip_grad_norm_(model.parameters(), 1.0)", 'clip_grad_norm_(model.parameters(), 1.0 if step != 2 else float("nan"))'),),
          ("clip", "step"), ("*",)),
    Fault("diffusion", "broken", "a weight is infinite after step 1",
          (("optimizer.step()", 'optimizer.step(); step == 1 and model.middle1.conv1.weight.data.fill_(float("inf"))'),),
          ("first", "step"),
          ("middle1.conv1",)),
    Fault("diffusion", "clamped", "infinities that a clamp hides again",
          (("torch.clamp(alpha / (1 - alpha), max=5.0)", "torch.clamp(alpha / (alpha - alpha), max=5.0)"),), ("weight",)),
    Fault("mixture", "hidden", "the mask hides all keys", (('float("-inf")).triu(1)', 'float("-inf")).triu(-9999)'),),
          ("softmax",), ("blocks.?.attn",)),
    Fault("decoder", "hidden", "the mask hides all keys", ((".triu(1)", ".triu(-9999)"),), ("softmax",), ("blocks.*.attn",),
          ("blocks.*.attn.drop",)),
    after_start("decoder", "negative", "a negative epsilon", "model.blocks[1].norm2.eps = -100.0", lines=("rms",),
                modules=("blocks.1.norm2",)),
    Fault("decoder", "broken", "a weight is NaN after step 2",
          (("optimizer.step()", 'optimizer.step(); step == 2 and model.head.weight.data.fill_(float("nan"))'),),
          ("head", "step"), ("head",)),
    Fault("translator", "targetless", "the loss of no targets",
          (("target[:, 1:].flatten(), ignore_index", "torch.full_like(target[:, 1:].flatten(), PAD), ignore_index"),),
          ("loss",)),
    Fault("translator", "scale", "embeddings times infinity", (("* math.sqrt(WIDTH)", '* float("inf")'),), ("scale",)),
    Fault("convolution", "deviation", "a division by zero", (("(pictures - mean) / std", "(pictures - mean) / (std * 0)"),),
          ("normalise",)),
    after_start("convolution", "stem", "NaN in a weight", 'model.stem.weight.data[0] = float("nan")', lines=("stem",),
                modules=("stem",)),
    Fault("recurrent", "nobody", "the mean of no words",
          (("there.sum(1, keepdim=True)", "(there * 0).sum(1, keepdim=True)"),), ("mean",), ("pool",)),
    Fault("recurrent", "logarithm", "the logarithm of negative numbers",
          (("F.elu(self.hidden(x))", "torch.log(F.elu(self.hidden(x)) - 2)"),), ("hidden",)),
    Fault("recurrent", "scores", "scores are divided by zero",
          (("torch.softmax(self.vector(hidden), dim=1)", "torch.softmax(self.vector(hidden) / 0, dim=1)"),), ("softmax",),
          ("pool",)),
]
NOISES = {"mix": 1e-4, "L1": 1e-5, "L0": 1e-4}
# Level of the first dump and whether the candidate rounds otherwise, fault by fault.
FIRST = {
    "vision": {"eps": "mix", "unscaled": "L1", "heads": "L0", "gelu": "L1 exact", "slice": "mix", "detached": "mix",
               "cast": "mix exact", "stale": "mix", "division": "L1", "decay": "mix"},
    "diffusion": {"swapped": "L0", "eps": "mix", "unscaled": "L1", "axis": "L0", "joined": "mix", "wave": "L1",
                  "frequency": "L0", "bilinear": "mix", "noisy": "mix exact", "division": "mix", "forgotten": "L1 exact",
                  "activation": "mix"},
    "mixture": {"shares": "L0", "axis": "mix", "repeat": "L1", "mask": "L0", "balance": "mix exact", "expert": "mix",
                "operands": "L1", "shift": "L1", "betas": "mix exact"},
    "decoder": {"scale": "L0", "mask": "mix", "transposed": "L1", "residual": "L0"},
    "translator": {"axis": "mix", "value": "L0", "clip": "mix", "unpadded": "L1"},
    "convolution": {"eval": "L0", "pool": "mix", "dilation": "L1", "momentum": "mix exact"},
    "recurrent": {"sigmoid": "mix"},
}
CLEAN = [("vision", "seed", "mix", 1e-4, 1), ("vision", "threads", "L0", 0.0, 2), ("diffusion", "seed", "L1", 1e-4, 1),
         ("diffusion", "threads", "mix", 1e-5, 2), ("mixture", "seed", "mix", 1e-5, 1),
         ("decoder", "seed", "L0", 1e-4, 1), ("translator", "seed", "mix", 1e-4, 1),
         ("convolution", "threads", "L1", 1e-4, 2)]


# Level of the first dump, its first step, and the steps of which the answer has to name one.
ALONE = {
    "vision": {"blind": ("L1", 0, ()), "empty": ("mix", 0, ()), "infinite": ("mix", 0, ()), "poisoned": ("mix", 4, (2, 3))},
    "diffusion": {"root": ("L1", 0, ()), "zero": ("L0", 0, ()), "broken": ("mix", 4, (1, 2)),
                  "clamped": ("L1", 0, ())},
    "mixture": {"shareless": ("L1", 0, ()), "logarithm": ("L0", 0, ()), "slope": ("L1", 0, ()),
                "hidden": ("mix", 0, ())},
    "decoder": {"hidden": ("L1", 0, ()), "negative": ("mix", 0, ()), "broken": ("mix", 5, (2, 3))},
    "translator": {"targetless": ("L1", 0, ()), "scale": ("L1", 0, ())},
    "convolution": {"deviation": ("mix", 0, ()), "stem": ("L0", 0, ())},
    "recurrent": {"nobody": ("L0", 0, ()), "logarithm": ("L1", 0, ()), "scores": ("L0", 0, ())},
}
CLEAN_ALONE = {"vision": "L0", "diffusion": "L1", "mixture": "mix", "decoder": "L1", "translator": "mix",
               "convolution": "L0", "recurrent": "mix"}


def alone_of(fault):
    level, begin, wrong_in = ALONE[fault.net][fault.name]
    return Case(fault.net, fault.name, level, 0.0, fault, 1, True, begin, wrong_in)


def first_of(fault):
    level, _, exact = FIRST[fault.net][fault.name].partition(" ")
    return Case(fault.net, fault.name, level, 0.0 if exact else NOISES[level], fault)


CASES = [first_of(fault) for fault in (*FAULTS, *ALL) if fault.name in FIRST.get(fault.net, ())]
CASES += [Case(net, f"clean-{kind}", level, noise, None, threads) for net, kind, level, noise, threads in CLEAN]
CASES += [alone_of(fault) for fault in NONFINITE]
CASES += [Case(net, "clean-alone", level, alone=True) for net, level in CLEAN_ALONE.items()]


def script_of(net):
    own = f"{HERE}/nets/{net}.py"
    return own if os.path.exists(own) else f"{MSPROBE}/nets/{net}.py"
