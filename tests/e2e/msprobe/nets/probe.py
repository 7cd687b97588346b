"""What every net's script needs: msprobe, the arithmetic of a device, weights that depend on their names alone.

A script is started with PROBE, a JSON object: path, level, task (or configuration, the path of a config.json), steps,
precision (float32, bfloat16, autocast), noise, seed, threads.
"""
import contextlib
import json
import os
import threading
import zlib

import torch
from msprobe.core.dump.hook_manager import BaseHookManager
from msprobe.pytorch import PrecisionDebugger
from torch.utils._python_dispatch import TorchDispatchMode

# Operators that only move, choose or make values: they are exact on a device as well.
EXACT = set(
    "view _unsafe_view reshape t transpose permute expand slice select split split_with_sizes unbind chunk squeeze "
    "unsqueeze as_strided alias detach clone copy copy_ _to_copy contiguous lift_fresh stack cat repeat flip roll "
    "embedding index index_select gather masked_fill masked_fill_ where constant_pad_nd reflection_pad2d "
    "replication_pad2d tril triu arange zeros zeros_like ones ones_like full full_like empty empty_like new_zeros "
    "new_ones new_empty new_empty_strided new_full fill_ zero_ scalar_tensor neg abs sign relu relu_ "
    "threshold_backward clamp max min amax amin maximum minimum max_pool2d_with_indices upsample_nearest2d im2col "
    "max_pool2d_with_indices_backward select_backward slice_backward _local_scalar_dense bernoulli bernoulli_ "
    "topk scatter index_copy one_hot eq ne lt gt le ge isnan is_same_size set_ uniform_ normal_ randn rand".split())


class Device(TorchDispatchMode):
    """Every operator rounds its results, forward, backward and in the optimizer: times 1 + noise * N(0, 1)."""

    def __init__(self, noise, seed):
        super().__init__()
        self.noise = noise
        self.generator = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        thread = threading.get_ident()
        if BaseHookManager.inner_switch[thread]:  # msprobe takes its statistics on the host
            return operator(*args, **(kwargs or {}))
        BaseHookManager.inner_switch[thread] = True  # what an operator is made of here is not recorded
        try:
            result = operator(*args, **(kwargs or {}))
            if operator.overloadpacket.__name__ not in EXACT:
                for value in result if isinstance(result, (tuple, list)) else (result,):
                    self.round(operator, value)
        finally:
            BaseHookManager.inner_switch[thread] = False
        return result

    def round(self, operator, value):
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or not self.noise:
            return
        # A counter of steps is added to in place and is not arithmetic of the device.
        if value.dim() == 0 and operator.overloadpacket.__name__.endswith("_"):
            return
        with torch.no_grad():
            factor = 1 + self.noise * torch.randn(value.shape, generator=self.generator)
            value.copy_(value.float() * factor)


class Run:
    def __init__(self):
        self.settings = json.loads(os.environ["PROBE"])
        torch.manual_seed(self.settings["seed"])
        torch.set_num_threads(self.settings["threads"])
        self.steps = range(self.settings["steps"])
        self.begun = 0
        if "configuration" in self.settings:
            self.debugger = PrecisionDebugger(config_path=self.settings["configuration"])
        else:
            self.debugger = PrecisionDebugger(task=self.settings["task"], level=self.settings["level"],
                                              dump_path=self.settings["path"])

    def cast(self, value):
        """A model or a batch in the precision of the run."""
        return value.to(torch.bfloat16) if self.settings["precision"] == "bfloat16" else value

    @contextlib.contextmanager
    def step(self, model):
        noise, seed = self.settings["noise"], self.settings["seed"]
        device = Device(noise, seed + 1000 * self.begun) if noise else contextlib.nullcontext()
        self.begun += 1
        self.debugger.start(model)
        with device:
            yield
        self.debugger.stop()
        self.debugger.step()

    def forward(self):
        return torch.autocast("cpu", torch.bfloat16, enabled=self.settings["precision"] == "autocast")


def numbers(name, shape, low=None, high=None):
    """The same for a name: integers below high, else normally distributed."""
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    if high is None:
        return torch.randn(shape, generator=generator)
    return torch.randint(low, high, shape, generator=generator)


@torch.no_grad()
def initialise(model):
    for name, parameter in model.named_parameters():
        values = numbers(name, parameter.shape)
        if parameter.dim() > 1:
            parameter.copy_(values / parameter[0].numel() ** 0.5)
        else:
            parameter.copy_(values * 0.1 + (1 if "norm" in name and name.endswith("weight") else 0))
