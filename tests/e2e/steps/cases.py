"""The trainings of the proof, written down before msdump could say when anything began.

EVENTS are trainings in which something happens at a known step; HEALTHY are trainings in which nothing does. Even indices
are the half `fit`, which may be looked at while rules are made; odd ones are `held`, of which only counts are told.

`first` of an event lists the tensors that move first, as patterns of "TYPE NAME IO" with type, name and io of the rows of
`msdump check`; a statistic of the same tensor in another table has another type. `kinds`: what the change may be called.
"""
import random
from dataclasses import dataclass, field

HALVES = ("fit", "held")
SCHEDULES = ("constant", "cosine", "linear", "steps", "restarts", "onecycle")
OPTIMIZERS = {"sgd": (0.005, 0.03), "adam": (0.001, 0.005), "adamw": (0.001, 0.005)}  # learning rates of healthy runs


@dataclass
class Case:
    index: int
    title: str
    net: str
    steps: int
    at: int | None = None  # the step of the event
    fault: str = ""        # a function of faults.py
    first: tuple = ()
    kinds: tuple = ()
    rank: int | None = None  # that moves first, if not all do
    settings: dict = field(default_factory=dict)
    writer: str = "monitor_v2"

    @property
    def half(self):
        return HALVES[self.index % 2]


def settings_of(chance):
    """How a healthy training is set up."""
    optimizer = chance.choice(sorted(OPTIMIZERS))
    low, high = OPTIMIZERS[optimizer]
    return {"seed": chance.randrange(1 << 30), "width": chance.choice((8, 12, 16, 24)), "batch": chance.choice((8, 16, 32, 64)),
            "optimizer": optimizer, "rate": round(chance.uniform(low, high), 5), "decay": chance.choice((0.0, 0.0, 0.01, 0.1)),
            "schedule": chance.choice(SCHEDULES), "warmup": chance.choice((0, 0, 20, 50)),
            "accumulate": chance.choice((1, 1, 1, 2, 4)), "dropout": chance.choice((0.0, 0.0, 0.1, 0.2)),
            "clip": chance.choice((None, None, 1.0)), "scaler": chance.choice((None, None, None, 2.0 ** 10)),
            "ranks": chance.choice((1,) * 9 + (2,))}


INPUT = ("forward . input", "forward first input")
LOSS = ("backward . input", "backward head input")  # the gradient of the output comes in
WEIGHTS = ("param_updated *",)
LEVELS = ("level", "slope", "spread")
LOST = ("nonfinite", "spike", "level")

# fault, net, first movers, kinds, settings that it needs; the rest is drawn.
PLANNED = [
    ("scaled_batch", "mlp", INPUT, ("spike",), {}),
    ("scaled_batch", "conv", INPUT, ("spike",), {}),
    ("scaled_targets", "mlp", LOSS, ("spike",), {}),
    ("scaled_targets", "residual", LOSS, ("spike",), {"optimizer": "adam"}),
    ("equal_tokens", "gpt", INPUT + ("forward first output",), ("spike",), {}),
    ("equal_tokens", "gpt", INPUT + ("forward first output",), ("spike",), {"batch": 32}),
    ("rate_times_10", "mlp", WEIGHTS, LEVELS, {"optimizer": "adam", "schedule": "constant"}),
    ("rate_times_10", "gpt", WEIGHTS, LEVELS, {"optimizer": "adamw", "schedule": "cosine"}),
    ("rate_times_10", "conv", WEIGHTS, LEVELS, {"optimizer": "sgd", "schedule": "linear"}),
    ("rate_times_10", "gru", WEIGHTS, LEVELS, {"optimizer": "adam", "schedule": "steps"}),
    ("rate_once", "mixture", WEIGHTS, ("spike", "level"), {"optimizer": "adam"}),
    ("rate_once", "mlp", WEIGHTS, ("spike", "level"), {"optimizer": "sgd"}),
    ("low_beta2", "gru", ("exp_avg_sq *",), ("spread", "level", "spike"), {"optimizer": "adam"}),
    ("low_beta2", "gpt", ("exp_avg_sq *",), ("spread", "level", "spike"), {"optimizer": "adamw"}),
    ("overflow", "mlp", ("forward body.2 output",), LOST, {}),
    ("overflow", "residual", ("forward body.1.down output",), LOST, {}),
    ("no_gradient", "conv", ("reduced body.2.weight parameter",), ("freeze", "level", "spike"), {}),
    ("no_gradient", "gpt", ("reduced body.1.up.weight parameter",), ("freeze", "level", "spike"), {}),
    ("no_rate", "mlp", ("param_updated body.1.*",), ("freeze",), {}),
    ("no_rate", "gru", ("param_updated cell.*",), ("freeze",), {}),
    ("stale_rank", "mlp", ("param_origin *",), ("level", "spike"), {"ranks": 2, "rank": 1, "schedule": "constant"}),
    ("stale_rank", "residual", ("param_origin *",), ("level", "spike"), {"ranks": 2, "rank": 1, "schedule": "constant"}),
    ("stopped_rank", "mlp", ("param_updated *",), ("freeze",), {"ranks": 2, "rank": 1}),
    ("stopped_rank", "conv", ("param_updated *",), ("freeze",), {"ranks": 2, "rank": 0}),
    ("scale_kept", "mlp", ("backward *",), LOST, {"scaler": 2.0 ** 12, "accumulate": 1}),
    ("scale_kept", "residual", ("backward *",), LOST, {"scaler": 2.0 ** 12, "accumulate": 1}),
    ("scale_not_undone", "conv", LOSS, LEVELS, {"scaler": 2.0 ** 8}),
    ("scale_not_undone", "mixture", LOSS, LEVELS, {"scaler": 2.0 ** 8}),
    ("same_batch", "mlp", INPUT, ("freeze",), {"accumulate": 1}),
    ("same_batch", "gru", INPUT, ("freeze",), {"accumulate": 1}),
    ("no_decay", "residual", WEIGHTS, LEVELS, {"optimizer": "adamw", "decay": 1.0, "schedule": "constant"}),
    ("no_decay", "gpt", WEIGHTS, LEVELS, {"optimizer": "adamw", "decay": 1.0, "schedule": "constant"}),
    ("router_collapse", "mixture", ("param_origin body.router.*", "forward body.router output"), ("level", "spike"), {}),
    ("router_collapse", "mixture", ("param_origin body.router.*", "forward body.router output"), ("level", "spike"),
     {"width": 24}),
    ("masked_nan", "gpt", ("backward body.1.up *",), LOST, {"accumulate": 1}),
    ("masked_nan", "residual", ("backward body.1.up *",), LOST, {"accumulate": 1}),
    ("no_dropout", "residual", ("forward body.*drop output",), LEVELS, {"dropout": 0.4}),
    ("no_dropout", "gpt", ("forward body.*drop output",), LEVELS, {"dropout": 0.4}),
    ("shifted_inputs", "conv", INPUT, LEVELS, {}),
    ("shifted_inputs", "gru", INPUT, LEVELS, {}),
    ("growing_gain", "mlp", ("forward body.1 output",), LEVELS, {}),
    ("growing_gain", "residual", ("forward body.1.down output",), LEVELS, {}),
    ("shifted_inputs", "mlp", INPUT, LEVELS, {"ranks": 2, "rank": 1}),
    ("shifted_inputs", "residual", INPUT, LEVELS, {"ranks": 2, "rank": 0}),
    ("sum_of_losses", "mlp", LOSS, LEVELS, {"accumulate": 4, "clip": None}),
    ("sum_of_losses", "gru", LOSS, LEVELS, {"accumulate": 4, "clip": None}),
    ("uneven_inputs", "mlp", INPUT, LEVELS + ("spike",), {}),
    ("uneven_inputs", "conv", INPUT, LEVELS + ("spike",), {}),
]


def events():
    made = []
    for index, (fault, net, first, kinds, needs) in enumerate(PLANNED):
        chance = random.Random(f"event {index}")
        steps = chance.choice((200, 300, 400, 600))
        settings = settings_of(chance) | {"ranks": 1, "scaler": None, "warmup": 0}
        if settings["schedule"] in ("steps", "restarts"):  # the fault is to be the only jump of the rate
            settings["schedule"] = "cosine"
        at = round(steps * chance.uniform(0.3, 0.8))
        settings |= needs
        rank = settings.pop("rank", None)
        made.append(Case(index, f"e{index:03}-{fault}-{net}", net, steps, at, fault, first, kinds, rank, settings))
    return made


def healthy():
    made = []
    for index in range(150):
        chance = random.Random(f"healthy {index}")
        net = chance.choice(("mlp", "residual", "conv", "gpt", "gru", "mixture"))
        steps = chance.choice((200, 300, 300, 500, 500, 500) if index % 25 else (1000,))
        writer = "monitor" if index % 30 in (4, 7) else "monitor_v2"
        settings = settings_of(chance)
        if writer == "monitor":
            settings["ranks"], steps = 1, 200
        made.append(Case(index, f"h{index:03}-{net}", net, steps, settings=settings, writer=writer))
    return made


CASES = events() + healthy()
