"""The pairs: each fault in three ways of dumping, and clean pairs of every form. A run is shared by the cases that need it."""
import os
import random
from dataclasses import dataclass, replace

from faults import FAULTS, Fault

HALVES = ("fit", "held")
# Gives every fault another writer, form and sequences; for figures of pairs that nobody has asked about.
TURN = int(os.environ.get("TOKENS_TURN", "0"))
# Writer, form of the trainer, dtypes of the rollout and of the trainer. A fault gets one of each line.
WAYS = (
    (("mix", "packed", "float32", "float32"), ("mix", "padded", "bfloat16", "bfloat16"), ("mix", "micro", "bfloat16", "float32")),
    (("modules", "padded", "bfloat16", "bfloat16"), ("modules", "packed", "float32", "float32"),
     ("modules", "packed", "bfloat16", "float32")),
    (("names", "packed", "bfloat16", "bfloat16"), ("hooks", "padded", "float32", "float32"),
     ("names", "padded", "bfloat16", "float32"), ("hooks", "micro", "bfloat16", "bfloat16")))
# One of these, for two of four faults. Scored apart: the names of the two sides have little in common.
MEGATRON = (("names", "megatron_packed", "bfloat16", "bfloat16"), ("hooks", "megatron_padded", "float32", "float32"),
            ("modules", "megatron_packed", "bfloat16", "float32"), ("mix", "megatron_padded", "float32", "float32"))
STATISTICS = ("stale-query", "scale", "top-k-not-renormalised", "stale-lm-head")  # dumped a fourth time, without elements

# Of the sequences: no token is so near to two experts that the rounding of bfloat16 sends it to the other, in any form.
SEEDS = {("qwen", "plain"): (9, 4), ("qwen", "samples"): (11, 2), ("gemma", "plain"): (7, 14), ("gemma", "samples"): (1, 2)}
# Here some are, so both programs are right and their outputs differ: told apart from the clean pairs.
NEAR = (
    ("mix", "packed", "bfloat16", "bfloat16", "paged", "qwen", 1),
    ("modules", "padded", "bfloat16", "float32", "left", "qwen", 2),
    ("names", "packed", "bfloat16", "bfloat16", "chunked", "gemma", 1),
    ("hooks", "micro", "bfloat16", "bfloat16", "paged", "gemma", 2))

# Writer, trainer, dtypes, rollout, net, data; each with two seeds.
CLEAN = (
    ("mix", "packed", "float32", "float32", "paged", "qwen", "plain"),
    ("mix", "padded", "bfloat16", "bfloat16", "chunked", "gemma", "plain"),
    ("modules", "packed", "bfloat16", "bfloat16", "prefix", "qwen", "samples"),
    ("modules", "padded", "float32", "float32", "left", "gemma", "plain"),
    ("hooks", "packed", "bfloat16", "float32", "paged", "gemma", "plain"),
    ("hooks", "padded", "float32", "float32", "chunked", "qwen", "plain"),
    ("names", "packed", "bfloat16", "bfloat16", "prefix", "qwen", "samples"),
    ("names", "micro", "float32", "float32", "left", "qwen", "plain"),
    ("mix", "micro", "bfloat16", "float32", "left", "qwen", "plain"),
    ("modules", "micro", "bfloat16", "bfloat16", "chunked", "qwen", "plain"),
    ("names", "padded", "bfloat16", "bfloat16", "paged", "gemma", "samples"),
    ("hooks", "packed", "bfloat16", "bfloat16", "left", "gemma", "plain"),
    ("mix", "packed", "bfloat16", "bfloat16", "prefix", "gemma", "samples"),
    ("modules", "padded", "bfloat16", "bfloat16", "paged", "qwen", "plain"),
    ("statistics", "packed", "float32", "float32", "paged", "qwen", "plain"),
    ("statistics", "padded", "bfloat16", "bfloat16", "left", "gemma", "plain"))


@dataclass(frozen=True)
class Run:
    """`order`: of the sequences in the rollout; `first`: how many arrive before the first pass."""
    side: str
    net: str
    form: str
    dtype: str
    writer: str
    data: str
    seed: int
    order: tuple = ()
    first: int = 0

    @property
    def name(self):
        parts = [self.side, self.net, self.form, self.dtype, self.writer, self.data, str(self.seed)]
        return "-".join(parts + ([str(self.first)] if self.order else []))


@dataclass(frozen=True)
class Case:
    name: str
    half: str
    healthy: Run  # the rollout without the fault
    trainer: Run
    fault: Fault | None = None
    near: bool = False  # of NEAR

    @property
    def rollout(self):
        """The name of the candidate's run."""
        return f"{self.healthy.name}-{self.fault.name}" if self.fault else self.healthy.name

    @property
    def undumped(self):
        """The healthy rollout for the truth alone."""
        return replace(self.healthy, writer="none")


def order_of(data, seed):
    """Of several samples of a prompt, one arrives before the others."""
    if data == "samples":
        return (0, 1, 2, 4, 3, 5)
    order = list(range(5))
    random.Random(seed).shuffle(order)
    return tuple(order)


def case(name, half, way, form, net, data, seed, fault=None, near=False):
    writer, trainer, dtype, trainer_dtype = way
    order = order_of(data, seed)
    first = len(order) if (fault and fault.at_once) or form in ("left", "prefix") or seed % 2 else 3
    return Case(name, half, Run("rollout", net, form, dtype, writer, data, seed, order, first),
                Run("trainer", net, trainer, trainer_dtype, writer, data, seed), fault, near)


def cases():
    for index, fault in enumerate(FAULTS):
        half = HALVES[index % 2]
        ways = [line[(index + TURN + index // len(line)) % len(line)] for line in WAYS]
        if fault.name in STATISTICS:
            ways.append(("statistics", "packed", "float32", "float32"))
        if index // 2 % 2 == 0:
            ways.append(MEGATRON[index // 4 % len(MEGATRON)])
        for place, way in enumerate(ways):
            form = fault.forms[(index + TURN + place) % len(fault.forms)]
            title = "megatron" if way in MEGATRON else way[0]
            if fault.dtype:
                way = way[:2] + (fault.dtype, fault.dtype)
            data = "samples" if form == "prefix" else "plain"
            yield case(f"{fault.name}-{title}", half, way, form, fault.net, data,
                       SEEDS[fault.net, data][(index // 2 + TURN + place) % 2], fault)
    for index, (*way, form, net, data) in enumerate(CLEAN):
        for place, seed in enumerate(SEEDS[net, data]):
            yield case(f"clean-{index:02}-{place}-{way[0]}", HALVES[(index + place) % 2], way, form, net, data, seed)
    for index, way in enumerate(MEGATRON):
        for place, form in enumerate(("paged", "left")):
            net = ("qwen", "gemma")[(index + place) % 2]
            yield case(f"clean-{index}-{form}-megatron", HALVES[(index + place) % 2], way, form, net, "plain",
                       SEEDS[net, "plain"][place])
    for index, (*way, form, net, seed) in enumerate(NEAR):
        yield case(f"near-{index}-{way[0]}", HALVES[index % 2], way, form, net, "plain", seed, near=True)


CASES = tuple(cases())
