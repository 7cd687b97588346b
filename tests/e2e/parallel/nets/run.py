"""What every script needs: the ranks and their groups, msprobe, parameters that depend on their names alone, marks.

A script is started with RUN, a JSON object: path, task, level, steps, rank, sizes (tp, cp, ep, dp, pp), store, marks
and what its net reads. Ranks count tp fastest, then cp, ep, dp, pp.

A mark says of a tensor what the code has just made of it: its logical name and its layout. It is a list of cuts, each
(kind, axis, over): `concat` along an axis over one or more dimensions of the mesh, `zigzag` (a rank has a chunk of the
first half and its mirror of the second), `qkv` (each of three blocks is cut), `sum` and `mean` (parts of a sum),
`only` (the ranks at one place of the dimension have it). Over dimensions that are not named the tensor is a copy.
"""
import contextlib
import itertools
import json
import os
import threading
import zlib

import torch
import torch.distributed as dist
from msprobe.core.dump.hook_manager import BaseHookManager
from msprobe.pytorch import PrecisionDebugger

AXES = ("tp", "cp", "ep", "dp", "pp")


def concat(axis, over, kind="concat"):
    return [{"kind": kind, "axis": axis, "over": over}]


def zigzag(axis, over="cp"):
    return concat(axis, over, "zigzag")


def partial(over, kind="sum"):
    return [{"kind": kind, "axis": None, "over": over}]


def only(over, place):
    return [{"kind": "only", "axis": None, "over": over, "place": place}]


class Run:
    def __init__(self):
        self.settings = json.loads(os.environ["RUN"])
        self.sizes = {axis: self.settings["sizes"].get(axis, 1) for axis in AXES}
        self.rank = self.settings["rank"]
        self.world = 1
        self.place, rest = {}, self.rank
        for axis in AXES:
            self.place[axis] = rest % self.sizes[axis]
            rest //= self.sizes[axis]
            self.world *= self.sizes[axis]
        self.groups = {}
        torch.manual_seed(1)
        torch.set_num_threads(1)
        if self.world > 1 or self.settings.get("ranked"):
            dist.init_process_group("gloo", init_method="file://" + self.settings["store"], rank=self.rank,
                                    world_size=self.world)
            for over in ("tp", "cp", "ep", "dp", "pp", "cp dp", "ep dp", "tp pp"):
                self.groups[over] = self.group_over(over)
        self.precision = getattr(torch, self.settings.get("precision", "float32"))
        self.number = -1
        self.marks, self.hooked = [], set()
        self.debugger = PrecisionDebugger(task=self.settings["task"], level=self.settings["level"],
                                          dump_path=self.settings["path"])

    def __getattr__(self, name):
        """What the case says of the net: run.width."""
        if name == "settings" or name not in self.settings:
            raise AttributeError(name)
        return self.settings[name]

    def ranks_over(self, over):
        """The ranks that differ from this one in these dimensions alone, in order."""
        strides, stride = {}, 1
        for axis in AXES:
            strides[axis] = stride
            stride *= self.sizes[axis]
        ranges = [range(self.sizes[axis]) if axis in over.split() else [self.place[axis]] for axis in AXES]
        return sorted(sum(place * strides[axis] for axis, place in zip(AXES, places))
                      for places in itertools.product(*ranges))

    def group_over(self, over):
        mine, own = self.place, None
        for places in itertools.product(*(range(self.sizes[axis]) for axis in reversed(AXES) if axis not in over)):
            self.place = dict(zip((axis for axis in reversed(AXES) if axis not in over), places))
            self.place.update({axis: 0 for axis in over.split()})
            ranks = self.ranks_over(over)
            group = dist.new_group(ranks) if len(ranks) > 1 else None
            own = group if self.rank in ranks else own
        self.place = mine
        return own

    def group(self, over):
        return self.groups.get(over)

    def size(self, over):
        size = 1
        for axis in over.split():
            size *= self.sizes[axis]
        return size

    def index(self, over):
        return self.ranks_over(over).index(self.rank)

    def part(self, whole, axis, over):
        """This rank's equal part."""
        return whole.chunk(self.size(over), axis)[self.index(over)].contiguous()

    @contextlib.contextmanager
    def step(self, model):
        self.number += 1
        self.debugger.start(model)
        yield
        self.debugger.stop()
        self.debugger.step()

    def finish(self):
        with open(self.settings["marks"], "w", encoding="utf-8") as file:
            json.dump(self.marks, file)
        if dist.is_initialized():
            dist.barrier()
            dist.destroy_process_group()

    def mark(self, name, tensor, layout=(), grad=None, factor=1):
        """Names a tensor; its gradient, scaled by `factor`, has this layout or that of `grad` (False: none)."""
        self.note(name, tensor, list(layout))
        if grad is not False and tensor.requires_grad and not (tensor.is_leaf and name in self.hooked):
            cuts = list(layout) if grad is None else list(grad)
            self.hooked.add(name)
            tensor.register_hook(lambda value: self.note(name + ".grad", value, cuts, factor))
        return tensor

    def note(self, name, tensor, layout, factor=1):
        thread = threading.get_ident()
        was = BaseHookManager.inner_switch[thread]
        BaseHookManager.inner_switch[thread] = True  # what is done here is not recorded
        with torch.no_grad():
            data = tensor.detach().contiguous()
            raw = data.view(torch.int16) if data.dtype == torch.bfloat16 else data
            self.marks.append({"name": name, "step": self.number, "crc": zlib.crc32(raw.numpy().tobytes()),
                               "shape": list(data.shape), "dtype": str(data.dtype), "layout": layout,
                               "factor": factor})
        BaseHookManager.inner_switch[thread] = was


def numbers(name, shape, low=None, high=None):
    """The same for a name: integers below high, else normally distributed."""
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    if high is None:
        return torch.randn(shape, generator=generator)
    return torch.randint(low, high, shape, generator=generator)


def values(name, shape):
    """The whole parameter of this logical name."""
    found = numbers(name, shape)
    if len(shape) > 1:
        return found / (found[0].numel() ** 0.5)
    return found * 0.1 + (1 if "norm" in name and name.endswith("weight") else 0)
