"""What is run, and which two runs are compared.

A Run is a script of nets/ with its settings; SIZES of the mesh count ranks tp fastest, then cp, ep, dp, pp. A Pair is a
candidate and a reference that differ by rounding alone. The half of a case follows from its name, so that a new case
moves no other: a rule is made from what the cases of `fit` show, and is good when those of `held` agree.
"""
import zlib
from dataclasses import dataclass, field, replace

from mesh import count_of

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
    changes: tuple = ()  # of a fault: (script, old, new)
    twin: str = ""  # the same run with tensors, where this one has statistics alone

    @property
    def world(self):
        return count_of(self.sizes)


@dataclass
class Pair:
    name: str
    what: str
    candidate: str
    reference: str


def half(name):
    return ("fit", "held")[zlib.crc32(name.encode()) % 2]


RUNS, PAIRS = {}, []


def pair(name, what, candidate, reference):
    PAIRS.append(Pair(name, what, candidate, reference))


def clean(script, base, name, whole, sizes, what, level="L1", cut=None, **settings):
    """A cut run against the whole one of the same net, which is run once; `cut`: settings of the cut run alone."""
    if whole not in RUNS:
        RUNS[whole] = Run(script, {**base, **settings}, {}, level)
    net = RUNS[whole]
    RUNS[name] = Run(f"{script}_parallel", {**net.settings, **(cut or {})}, sizes, net.level)
    pair(name, what, name, whole)


def statistics(name, what, candidate, reference):
    """A pair of which msprobe wrote the statistics alone; the names are those of the runs with tensors."""
    for run in (candidate, reference):
        RUNS.setdefault(f"{run}-statistics", replace(RUNS[run], task="statistics", twin=run))
    pair(name, what, f"{candidate}-statistics", f"{reference}-statistics")


def gpt(name, whole, sizes, what, **more):
    clean("gpt", GPT, name, whole, sizes, what, **more)


def moe(name, whole, sizes, what, **more):
    clean("moe", MOE, name, whole, sizes, what, **more)


gpt("gpt-tp2", "gpt-whole", {"tp": 2}, "columns, rows, heads, vocabulary")
gpt("gpt-sp2", "gpt-whole", {"tp": 2}, "the sequence is cut between the tensor parallel regions", cut={"sp": True})
gpt("gpt-dp2", "gpt-whole", {"dp": 2}, "gradients summed, then divided")
gpt("gpt-cp2", "gpt-whole", {"cp": 2}, "contiguous parts of the sequence, keys and values gathered")
gpt("gpt-cp2-zigzag-ring", "gpt-whole", {"cp": 2}, "a chunk of each half, keys and values passed round",
    cut={"zigzag": True, "ring": True, "scale": "loss"})
gpt("gpt-pp2", "gpt-whole", {"pp": 2}, "two stages")
gpt("gpt-tp2-dp2", "gpt-whole", {"tp": 2, "dp": 2}, "heads and batch, the loss divided", cut={"scale": "loss"})
gpt("gpt-tp2-pp2-dp2", "gpt-whole", {"tp": 2, "pp": 2, "dp": 2}, "eight ranks, one bucket of gradients",
    cut={"bucket": True})
gpt("gpt-tp4", "gpt-whole", {"tp": 4}, "a head for each rank")
gpt("gpt-dp4", "gpt-whole", {"dp": 4}, "a sequence for each rank, one bucket", cut={"bucket": True})
gpt("gpt-cp4-zigzag", "gpt-whole", {"cp": 4}, "two positions for each rank, gathered", cut={"zigzag": True})
gpt("gpt-cp2-dp2", "gpt-whole", {"cp": 2, "dp": 2}, "sequence and batch", cut={"scale": "loss"})
gpt("gpt-tp2-sp-cp2", "gpt-whole", {"tp": 2, "cp": 2}, "the part of a rank of CP is cut again by TP",
    cut={"sp": True, "zigzag": True})
gpt("gpt-tp2-sp-pp2-dp2", "gpt-whole", {"tp": 2, "pp": 2, "dp": 2}, "eight ranks with sequence parallel",
    cut={"sp": True, "scale": "loss"})
gpt("gpt-tp2-dp2-broadcast", "gpt-whole", {"tp": 2, "dp": 2}, "ids broadcast from the first rank of TP",
    cut={"broadcast": True})
gpt("gpt-dp2-overlap", "gpt-whole", {"dp": 2}, "all-reduces that are waited for later", cut={"overlap": True})

# The manner of Llama: RMSNorm, SwiGLU, no bias, grouped queries fused head by head, time before batch.
LLAMA = {"norm": "rms", "activation": "swiglu", "bias": False, "kv_heads": 2, "fused": "heads", "time_axis": 0,
         "vocabulary": 50, "optimizer": "foreach"}
gpt("llama-tp2", "llama-whole", {"tp": 2}, "grouped queries, a partial sum without bias", **LLAMA)
gpt("llama-sp2", "llama-whole", {"tp": 2}, "sequence parallel along the first axis", cut={"sp": True})
gpt("llama-pp2-batched", "llama-whole", {"pp": 2}, "batch_isend_irecv: what is received is dumped before it arrives",
    cut={"batched": True})
gpt("llama-cp2-ring", "llama-whole", {"cp": 2}, "a ring over contiguous parts", cut={"ring": True})
gpt("llama-cp4-ring", "llama-whole", {"cp": 4}, "a ring of four", cut={"ring": True, "zigzag": True, "scale": "loss"})
gpt("llama-dp2-pp2", "llama-whole", {"dp": 2, "pp": 2}, "stages and batch")
gpt("llama-tp2-sp-pp2", "llama-whole", {"tp": 2, "pp": 2}, "stages that hand on parts of the sequence",
    cut={"sp": True})
gpt("llama-dp3", "llama3-whole", {"dp": 3}, "three ranks", **{**LLAMA, "batch": 6})

# The manner of GPT-2: learned positions, the head tied to an embedding whose vocabulary is padded.
TIED = {"positions": "learned", "tied": True, "vocabulary": 45, "bias": False, "optimizer": "adamw"}
gpt("tied-tp4-padded", "tied-whole", {"tp": 4}, "45 rows padded to 48", cut={"padded": 48}, **TIED)
gpt("tied-sp2-padded", "tied-whole", {"tp": 2}, "45 rows padded to 46, positions cut", cut={"padded": 46, "sp": True})
gpt("tied-pp2", "tied-whole", {"pp": 2}, "the embedding is on both stages, its gradients are summed")
gpt("tied-cp2-dp2", "tied-whole", {"cp": 2, "dp": 2}, "learned positions of a part")

# The gradient of a key's bias is zero but for rounding, which Adam turns into whole steps.
gpt("adam-tp2", "adam-whole", {"tp": 2}, "Adam blows up the rounding of a gradient that is zero", optimizer="adamw")

gpt("odd-tp3", "odd-whole", {"tp": 3}, "six heads, three keys, three ranks", width=24, heads=6, kv_heads=3, hidden=36,
    ranked=True)
gpt("odd-tp3-dp2", "odd-whole", {"tp": 3, "dp": 2}, "six ranks")
gpt("bf16-tp2", "bf16-whole", {"tp": 2}, "bfloat16", precision="bfloat16", **LLAMA)
gpt("bf16-dp2", "bf16-whole", {"dp": 2}, "bfloat16, gradients summed in it")
gpt("mix-tp2", "mix-whole", {"tp": 2}, "modules too; their names and classes differ", level="mix")
gpt("mix-sp2-dp2", "mix-whole", {"tp": 2, "dp": 2}, "modules too, sequence parallel", cut={"sp": True})
gpt("mix-pp2", "mix-whole", {"pp": 2}, "the second stage counts its layers from 0 again")

MOE = {"width": 24, "hidden": 32, "experts": 4, "top": 2, "layers": 2, "vocabulary": 40, "time": 8, "batch": 4,
       "steps": 2}
moe("moe-ep2", "moe-whole", {"ep": 2}, "two experts for each rank, two for each token")
moe("moe-ep4", "moe-whole", {"ep": 4}, "an expert for each rank")
moe("moe-ep2-dp2", "moe-whole", {"ep": 2, "dp": 2}, "experts and batch")
moe("moe-dp2", "moe-whole", {"dp": 2}, "every rank has all experts")
moe("moe-top1-ep2", "moe-top1-whole", {"ep": 2}, "one expert for each token", top=1, experts=6)
moe("moe-mix-ep2", "moe-mix-whole", {"ep": 2}, "modules too; the experts of a rank count from 0", level="mix")

CONV = {"channels": 8, "hidden": 20, "classes": 6, "batch": 4, "steps": 2, "ranked": True}
clean("conv", CONV, "conv-tp2", "conv-whole", {"tp": 2}, "channels")
clean("conv", CONV, "conv-dp2", "conv-whole", {"dp": 2}, "pictures")
clean("conv", CONV, "conv-tp2-dp2", "conv-whole", {"tp": 2, "dp": 2}, "channels and pictures")
MLP = {"layout_sizes": [12, 32, 16, 24, 8], "batch": 8, "steps": 3}
clean("mlp", MLP, "mlp-tp2", "mlp-whole", {"tp": 2}, "matmul instead of linear, columns then rows")
clean("mlp", MLP, "mlp-tp4-dp2", "mlp-whole", {"tp": 4, "dp": 2}, "eight ranks")
clean("mlp", MLP, "mlp-dp4", "mlp-whole", {"dp": 4}, "rows of the batch")

pair("gpt-tp4-tp2", "four ranks against two", "gpt-tp4", "gpt-tp2")
pair("gpt-tp2-to-dp2", "heads against batch", "gpt-tp2", "gpt-dp2")
pair("gpt-pp2-to-tp2-dp2", "stages against heads and batch", "gpt-pp2", "gpt-tp2-dp2")
pair("gpt-sp2-to-tp2", "with and without sequence parallel", "gpt-sp2", "gpt-tp2")
pair("gpt-cp2-to-cp2-zigzag", "two orders of the sequence", "gpt-cp2-zigzag-ring", "gpt-cp2")
pair("moe-ep4-to-ep2", "one expert a rank against two", "moe-ep4", "moe-ep2")
statistics("gpt-tp2-statistics", "heads, statistics alone", "gpt-tp2", "gpt-whole")
statistics("gpt-dp2-statistics", "batch, statistics alone", "gpt-dp2", "gpt-whole")
statistics("moe-ep2-statistics", "experts, statistics alone", "moe-ep2", "moe-whole")
statistics("mix-tp2-statistics", "modules, statistics alone", "mix-tp2", "mix-whole")

# Kinds of which the cases above have few in each half: bfloat16, statistics, pairs of two cut runs, three or four ranks
# of data, batched messages of a pipeline, eight ranks with sequence parallel.
gpt("bf16-sp2", "bf16-whole", {"tp": 2}, "bfloat16, sequence parallel along the first axis", cut={"sp": True})
gpt("bf16-tp2-dp2", "bf16-whole", {"tp": 2, "dp": 2}, "bfloat16, heads and batch, one bucket", cut={"bucket": True})
gpt("bf16-pp2", "bf16-whole", {"pp": 2}, "bfloat16, two stages")
gpt("bf16-cp2", "bf16-whole", {"cp": 2}, "bfloat16, parts of the sequence")
moe("moe-bf16-ep2", "moe-bf16-whole", {"ep": 2}, "bfloat16, experts", precision="bfloat16")
clean("mlp", MLP, "mlp-bf16-tp2", "mlp-bf16-whole", {"tp": 2}, "bfloat16, matmul", precision="bfloat16")
clean("conv", CONV, "conv-dp4", "conv-whole", {"dp": 4}, "a picture for each rank")
moe("moe-dp4", "moe-whole", {"dp": 4}, "four ranks that have all experts")
moe("moe-ep4-dp2", "moe8-whole", {"ep": 4, "dp": 2}, "eight ranks, an expert for two of them", batch=8)
gpt("gpt-pp2-batched", "gpt-whole", {"pp": 2}, "batch_isend_irecv, with biases", cut={"batched": True})
gpt("tied-pp2-dp2-batched", "tied-whole", {"pp": 2, "dp": 2}, "batched, a tied embedding, batch",
    cut={"batched": True})
gpt("gpt-tp4-sp-dp2", "gpt-whole", {"tp": 4, "dp": 2}, "eight ranks, four parts of the sequence", cut={"sp": True})
gpt("llama-tp2-sp-cp2-dp2", "llama-whole", {"tp": 2, "cp": 2, "dp": 2}, "eight ranks, the sequence cut twice",
    cut={"sp": True})
pair("llama-sp2-to-tp2", "with and without sequence parallel, time first", "llama-sp2", "llama-tp2")
pair("odd-tp3-dp2-to-tp3", "six ranks against three", "odd-tp3-dp2", "odd-tp3")
pair("gpt-dp4-to-dp2", "four parts of the batch against two", "gpt-dp4", "gpt-dp2")
pair("moe-ep4-to-dp2", "an expert a rank against all experts on each", "moe-ep4", "moe-dp2")
pair("llama-cp4-ring-to-cp2-ring", "zigzag of four against parts of two", "llama-cp4-ring", "llama-cp2-ring")
pair("tied-tp4-to-sp2", "two paddings of a vocabulary", "tied-tp4-padded", "tied-sp2-padded")
pair("mlp-tp4-dp2-to-dp4", "columns and rows against rows of the batch", "mlp-tp4-dp2", "mlp-dp4")
statistics("gpt-sp2-statistics", "sequence parallel, statistics alone", "gpt-sp2", "gpt-whole")
statistics("gpt-pp2-statistics", "stages, statistics alone", "gpt-pp2", "gpt-whole")
statistics("moe-ep4-statistics", "an expert a rank, statistics alone", "moe-ep4", "moe-whole")
statistics("llama-tp2-statistics", "grouped queries, statistics alone", "llama-tp2", "llama-whole")
statistics("conv-tp2-statistics", "channels, statistics alone", "conv-tp2", "conv-whole")

# Kinds that the half for fitting lacked: bfloat16 with biases and other nets, statistics of each strategy,
# both sides cut by other strategies, eight ranks.
gpt("gpt-bf16-tp2", "gpt-bf16-whole", {"tp": 2}, "bfloat16 with biases and LayerNorm", precision="bfloat16")
gpt("gpt-bf16-sp2", "gpt-bf16-whole", {"tp": 2}, "bfloat16, sequence parallel along the second axis", cut={"sp": True})
gpt("gpt-bf16-tp4", "gpt-bf16-whole", {"tp": 4}, "bfloat16, a head for each rank")
gpt("gpt-bf16-dp4", "gpt-bf16-whole", {"dp": 4}, "bfloat16, a sequence for each rank", cut={"scale": "loss"})
gpt("gpt-bf16-cp2-zigzag", "gpt-bf16-whole", {"cp": 2}, "bfloat16, two chunks of the sequence", cut={"zigzag": True})
gpt("gpt-bf16-tp2-pp2-dp2", "gpt-bf16-whole", {"tp": 2, "pp": 2, "dp": 2}, "bfloat16, eight ranks")
clean("conv", CONV, "conv-bf16-tp2", "conv-bf16-whole", {"tp": 2}, "bfloat16, channels", precision="bfloat16")
clean("mlp", MLP, "mlp-bf16-dp4", "mlp-bf16-whole", {"dp": 4}, "bfloat16, rows of the batch")
moe("moe-bf16-dp2", "moe-bf16-whole", {"dp": 2}, "bfloat16, every rank has all experts")
gpt("gpt-tp2-cp2-dp2", "gpt-whole", {"tp": 2, "cp": 2, "dp": 2}, "eight ranks, heads, sequence and batch")
gpt("llama-cp2-dp2-pp2", "llama-whole", {"cp": 2, "dp": 2, "pp": 2}, "eight ranks, stages that cut the sequence")
pair("gpt-tp4-to-sp2", "four parts of the heads against two of the sequence", "gpt-tp4", "gpt-sp2")
pair("gpt-tp2-dp2-to-tp4", "heads and batch against heads", "gpt-tp2-dp2", "gpt-tp4")
pair("gpt-pp2-to-tp2", "stages against heads", "gpt-pp2", "gpt-tp2")
pair("gpt-cp2-to-dp2", "sequence against batch", "gpt-cp2", "gpt-dp2")
pair("llama-dp2-pp2-to-sp2", "stages and batch against the sequence", "llama-dp2-pp2", "llama-sp2")
pair("moe-ep2-to-dp2", "experts against batch", "moe-ep2", "moe-dp2")
pair("conv-tp2-to-dp2", "channels against pictures", "conv-tp2", "conv-dp2")
pair("mlp-tp2-to-dp4", "columns and rows against rows of the batch", "mlp-tp2", "mlp-dp4")
pair("gpt-bf16-tp2-to-dp4", "bfloat16, heads against batch", "gpt-bf16-tp2", "gpt-bf16-dp4")
pair("bf16-sp2-to-tp2", "bfloat16, with and without sequence parallel", "bf16-sp2", "bf16-tp2")
statistics("gpt-cp2-statistics", "sequence, statistics alone", "gpt-cp2", "gpt-whole")
statistics("gpt-tp2-dp2-statistics", "heads and batch, statistics alone", "gpt-tp2-dp2", "gpt-whole")
statistics("llama-sp2-statistics", "the first axis, statistics alone", "llama-sp2", "llama-whole")
statistics("llama-dp2-pp2-statistics", "stages and batch, statistics alone", "llama-dp2-pp2", "llama-whole")
statistics("tied-tp4-statistics", "a padded vocabulary, statistics alone", "tied-tp4-padded", "tied-whole")
statistics("moe-dp2-statistics", "all experts on each rank, statistics alone", "moe-dp2", "moe-whole")
statistics("mlp-tp2-statistics", "columns and rows, statistics alone", "mlp-tp2", "mlp-whole")
statistics("mlp-dp4-statistics", "rows of the batch, statistics alone", "mlp-dp4", "mlp-whole")
statistics("gpt-bf16-tp2-statistics", "bfloat16, statistics alone", "gpt-bf16-tp2", "gpt-bf16-whole")
statistics("gpt-tp4-to-tp2-statistics", "two cut runs, statistics alone", "gpt-tp4", "gpt-tp2")
statistics("moe-ep2-dp2-statistics", "experts and batch, statistics alone", "moe-ep2-dp2", "moe-whole")
statistics("moe-top1-ep2-statistics", "one expert for each token, statistics alone", "moe-top1-ep2", "moe-top1-whole")
statistics("moe-bf16-ep2-statistics", "bfloat16, experts, statistics alone", "moe-bf16-ep2", "moe-bf16-whole")
statistics("moe-dp4-statistics", "four ranks that have all experts, statistics alone", "moe-dp4", "moe-whole")
statistics("odd-tp3-statistics", "three ranks, statistics alone", "odd-tp3", "odd-whole")
statistics("gpt-tp4-statistics", "a head for each rank, statistics alone", "gpt-tp4", "gpt-whole")
statistics("gpt-dp4-statistics", "a sequence for each rank, statistics alone", "gpt-dp4", "gpt-whole")
statistics("mlp-tp4-dp2-statistics", "eight ranks, statistics alone", "mlp-tp4-dp2", "mlp-whole")
statistics("conv-dp2-statistics", "pictures, statistics alone", "conv-dp2", "conv-whole")
statistics("mix-pp2-statistics", "modules of two stages, statistics alone", "mix-pp2", "mix-whole")
statistics("bf16-dp2-statistics", "bfloat16, batch, statistics alone", "bf16-dp2", "bf16-whole")
statistics("gpt-tp2-to-dp2-statistics", "heads against batch, statistics alone", "gpt-tp2", "gpt-dp2")
pair("gpt-dp2-to-tp2", "batch against heads", "gpt-dp2", "gpt-tp2")
pair("gpt-sp2-to-dp2", "sequence against batch", "gpt-sp2", "gpt-dp2")
pair("gpt-tp4-to-dp4", "four ranks by heads and by batch", "gpt-tp4", "gpt-dp4")
pair("gpt-cp2-to-tp2", "parts of the sequence against heads", "gpt-cp2", "gpt-tp2")
pair("llama-tp2-to-pp2-batched", "heads against stages", "llama-tp2", "llama-pp2-batched")
pair("llama-cp2-ring-to-tp2", "a ring against heads", "llama-cp2-ring", "llama-tp2")
pair("moe-dp2-to-ep2", "batch against experts", "moe-dp2", "moe-ep2")
pair("moe-ep2-dp2-to-ep4", "two experts a rank, twice, against one", "moe-ep2-dp2", "moe-ep4")
pair("moe-dp4-to-ep2", "four parts of the batch against experts", "moe-dp4", "moe-ep2")
pair("conv-dp4-to-tp2", "pictures against channels", "conv-dp4", "conv-tp2")
pair("mlp-dp4-to-tp2", "rows of the batch against columns", "mlp-dp4", "mlp-tp2")
pair("odd-tp3-to-tp3-dp2", "three ranks against six", "odd-tp3", "odd-tp3-dp2")
pair("gpt-bf16-tp4-to-tp2", "bfloat16, four ranks against two", "gpt-bf16-tp4", "gpt-bf16-tp2")
pair("gpt-bf16-tp2-to-sp2", "bfloat16, heads against the sequence", "gpt-bf16-tp2", "gpt-bf16-sp2")
pair("bf16-tp2-dp2-to-dp2", "bfloat16, heads and batch against batch", "bf16-tp2-dp2", "bf16-dp2")
statistics("moe-mix-ep2-statistics", "experts and modules, statistics alone", "moe-mix-ep2", "moe-mix-whole")
statistics("moe-ep4-dp2-statistics", "eight ranks of experts, statistics alone", "moe-ep4-dp2", "moe8-whole")
statistics("moe-ep4-to-ep2-statistics", "one expert a rank against two, statistics alone", "moe-ep4", "moe-ep2")
statistics("moe-ep2-to-dp2-statistics", "experts against batch, statistics alone", "moe-ep2", "moe-dp2")
statistics("gpt-sp2-to-tp2-statistics", "with and without sequence parallel, statistics alone", "gpt-sp2", "gpt-tp2")
pair("conv-dp2-to-tp2-dp2", "pictures against channels and pictures", "conv-dp2", "conv-tp2-dp2")

# The same strategies in nets of other sizes: what is silent in the nets above may not be so in these.
WIDE = {"width": 64, "heads": 8, "kv_heads": 8, "hidden": 128, "layers": 4, "vocabulary": 72, "time": 16, "steps": 3,
        "time_axis": 0, "optimizer": "foreach"}
DEEP = {"width": 16, "hidden": 48, "layers": 6, "vocabulary": 32, "batch": 8, "norm": "rms", "activation": "swiglu"}
GROUPED = {"width": 48, "heads": 12, "hidden": 96, "vocabulary": 56, "time": 24, "norm": "rms", "fused": "heads",
           "bias": False, "positions": "learned", "tied": True, "optimizer": "adamw", "steps": 3}
HALF = {"width": 48, "heads": 8, "kv_heads": 8, "hidden": 64, "vocabulary": 40, "batch": 8, "precision": "bfloat16",
        "level": "mix", "steps": 3}
STRATEGIES = [("tp2", {"tp": 2}, {}), ("tp4", {"tp": 4}, {}), ("sp2", {"tp": 2}, {"sp": True}),
              ("dp2", {"dp": 2}, {}), ("dp4", {"dp": 4}, {"bucket": True, "scale": "loss"}),
              ("cp2", {"cp": 2}, {"zigzag": True}), ("cp2-ring", {"cp": 2}, {"ring": True, "scale": "loss"}),
              ("pp2", {"pp": 2}, {"batched": True}), ("tp2-dp2", {"tp": 2, "dp": 2}, {"broadcast": True}),
              ("tp2-pp2-dp2", {"tp": 2, "pp": 2, "dp": 2}, {"sp": True, "bucket": True}),
              ("tp2-cp2", {"tp": 2, "cp": 2}, {"sp": True, "ring": True}), ("cp2-pp2", {"cp": 2, "pp": 2}, {})]
for net, other in (("wide", WIDE), ("deep", DEEP), ("grouped", GROUPED), ("half", HALF)):
    for strategy, sizes, cut in STRATEGIES:
        gpt(f"{net}-{strategy}", f"{net}-whole", sizes, f"{strategy} in another net", cut=cut, **other)
    for first, second in (("tp2", "dp2"), ("sp2", "tp4"), ("cp2", "tp2"), ("pp2", "dp2"), ("tp2-dp2", "dp4")):
        pair(f"{net}-{first}-to-{second}", f"{first} against {second} in another net", f"{net}-{first}",
             f"{net}-{second}")
    for strategy in ("tp2", "sp2", "dp2", "cp2", "pp2", "tp2-dp2"):
        statistics(f"{net}-{strategy}-statistics", f"{strategy} in another net, statistics alone", f"{net}-{strategy}",
                   f"{net}-whole")
for net, other in (("many", {"width": 16, "experts": 8, "layers": 3, "batch": 8, "steps": 3}),
                   ("single", {"width": 32, "hidden": 48, "experts": 4, "top": 1, "time": 12})):
    for strategy, sizes in (("ep2", {"ep": 2}), ("ep4", {"ep": 4}), ("dp2", {"dp": 2}),
                            ("ep2-dp2", {"ep": 2, "dp": 2})):
        moe(f"moe-{net}-{strategy}", f"moe-{net}-whole", sizes, f"{strategy} in another net", **other)
    pair(f"moe-{net}-ep4-to-ep2", "an expert a rank against two in another net", f"moe-{net}-ep4", f"moe-{net}-ep2")
    pair(f"moe-{net}-dp2-to-ep2", "batch against experts in another net", f"moe-{net}-dp2", f"moe-{net}-ep2")
    statistics(f"moe-{net}-ep2-statistics", "experts in another net, statistics alone", f"moe-{net}-ep2",
               f"moe-{net}-whole")
for script, base, other in (("conv", CONV, {"channels": 16, "hidden": 32, "classes": 8, "batch": 8, "steps": 3}),
                            ("mlp", MLP, {"layout_sizes": [24, 64, 32, 32, 16, 48, 8], "batch": 16})):
    for strategy, sizes in (("tp2", {"tp": 2}), ("tp4", {"tp": 4}), ("dp2", {"dp": 2}),
                            ("tp2-dp2", {"tp": 2, "dp": 2})):
        clean(script, base, f"{script}-other-{strategy}", f"{script}-other-whole", sizes,
              f"{strategy} in another net", **other)
    pair(f"{script}-other-tp2-to-dp2", "in another net", f"{script}-other-tp2", f"{script}-other-dp2")
    statistics(f"{script}-other-tp2-statistics", "in another net, statistics alone", f"{script}-other-tp2",
               f"{script}-other-whole")

# A recommender, which is no kind of the nets above; see faults_of_tables.py.
DLRM = {"dense": 6, "hidden": 16, "width": 8, "rows": 12, "tables": 4, "bag": 3, "batch": 8, "by_rows": False,
          "steps": 2,
        "ranked": True}


def dlrm(name, whole, sizes, what, **more):
    clean("dlrm", DLRM, name, whole, sizes, what, **more)


dlrm("dlrm-tp2", "dlrm-whole", {"tp": 2}, "perceptrons, and the width of tables")
dlrm("dlrm-rows2", "dlrm-whole", {"tp": 2}, "perceptrons, and the rows of tables", cut={"by_rows": True})
dlrm("dlrm-ep2", "dlrm-whole", {"ep": 2}, "two tables for each rank, bags by all-to-all")
dlrm("dlrm-ep4", "dlrm-whole", {"ep": 4}, "a table for each rank")
dlrm("dlrm-dp2", "dlrm-whole", {"dp": 2}, "parts of the batch")
dlrm("dlrm-pp2", "dlrm-whole", {"pp": 2}, "bags and pairs on two stages")
dlrm("dlrm-bf16-tp2", "dlrm-bf16-whole", {"tp": 2}, "bfloat16", precision="bfloat16")
dlrm("dlrm-wide-ep2-dp2", "dlrm-wide-whole", {"ep": 2, "dp": 2}, "other sizes, tables and batch", width=16, hidden=32,
          rows=30,
     tables=6)
pair("dlrm-tp2-to-dp2", "widths against batch", "dlrm-tp2", "dlrm-dp2")
pair("dlrm-ep4-to-ep2", "a table a rank against two", "dlrm-ep4", "dlrm-ep2")
statistics("dlrm-rows2-statistics", "rows of tables, statistics alone", "dlrm-rows2", "dlrm-whole")
statistics("dlrm-ep2-statistics", "two tables a rank, statistics alone", "dlrm-ep2", "dlrm-whole")
