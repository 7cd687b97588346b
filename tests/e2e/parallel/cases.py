"""What is run, and which two runs are compared.

A Run is a script of nets/ with its settings; SIZES of the mesh count ranks tp fastest, then cp, ep, dp, pp. A Pair is a
candidate and a reference that differ by rounding alone. The half of a case follows from its name, so that a new case
moves no other: a rule is made from what the cases of `fit` show, and is good when those of `held` agree.
"""
import zlib
from dataclasses import dataclass, field

GPT = {"width": 32, "heads": 4, "kv_heads": 4, "hidden": 64, "layers": 2, "vocabulary": 48, "time": 8, "batch": 4,
       "norm": "layer", "positions": "rope", "activation": "gelu", "bias": True, "tied": False, "fused": "blocks",
       "time_axis": 1, "optimizer": "sgd", "steps": 2}


@dataclass
class Run:
    script: str
    settings: dict
    sizes: dict = field(default_factory=dict)
    level: str = "L1"
    task: str = "tensor"
    changes: tuple = ()

    @property
    def world(self):
        world = 1
        for size in self.sizes.values():
            world *= size
        return world


@dataclass
class Pair:
    name: str
    what: str
    candidate: str
    reference: str
    loose: bool = False  # the values of a lower precision


def half(name):
    return ("fit", "held")[zlib.crc32(name.encode()) % 2]


RUNS, PAIRS = {}, []


def run(name, script, base, sizes=None, level="L1", task="tensor", **settings):
    RUNS[name] = Run(script, {**base, **settings}, sizes or {}, level, task)
    return name


def pair(name, what, candidate, reference, **more):
    PAIRS.append(Pair(name, what, candidate, reference, **more))


def gpt(name, sizes, what, whole=None, level="L1", task="tensor", cut=None, **settings):
    """A cut run of the decoder against the whole one, which is run once for all cuts of the same net."""
    whole = whole or f"{name}-whole"
    if whole not in RUNS:
        run(whole, "gpt", GPT, None, level, task, **settings)
    run(name, "gpt_parallel", GPT, sizes, level, task, **settings, **(cut or {}))
    pair(name, what, name, whole)


gpt("gpt-tp2", {"tp": 2}, "columns, rows, heads, vocabulary", "gpt-whole")
gpt("gpt-sp2", {"tp": 2}, "the sequence is cut between the tensor parallel regions", "gpt-whole", cut={"sp": True})
gpt("gpt-dp2", {"dp": 2}, "gradients summed, then divided", "gpt-whole")
gpt("gpt-cp2", {"cp": 2}, "contiguous parts of the sequence, keys and values gathered", "gpt-whole")
gpt("gpt-cp2-zigzag-ring", {"cp": 2}, "a chunk of each half, keys and values passed round", "gpt-whole",
    cut={"zigzag": True, "ring": True, "scale": "loss"})
gpt("gpt-pp2", {"pp": 2}, "two stages", "gpt-whole")
gpt("gpt-tp2-dp2", {"tp": 2, "dp": 2}, "heads and batch, the loss divided", "gpt-whole", cut={"scale": "loss"})
gpt("gpt-tp2-pp2-dp2", {"tp": 2, "pp": 2, "dp": 2}, "eight ranks, one bucket of gradients", "gpt-whole",
    cut={"bucket": True})
