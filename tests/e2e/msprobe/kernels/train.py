"""One run of a net under msprobe, level L1 with tensors: two steps, perhaps with a wrong kernel.

PROBE is a JSON object: net, path, seed, width, threads, precision (float32, autocast), fault (null, or call, kind, backward).
"""
import json
import os
import zlib

import torch
from msprobe.pytorch import PrecisionDebugger
from nets import NETS
from plant import plant

STEPS = 2


def numbers_of(seed):
    """The same for a name and a seed: integers below high, else normally distributed."""

    def numbers(name, shape, high=None):
        generator = torch.Generator().manual_seed(zlib.crc32(f"{name} {seed}".encode()))
        if high is None:
            return torch.randn(shape, generator=generator)
        return torch.randint(0, high, shape, generator=generator)

    return numbers


@torch.no_grad()
def initialise(model, numbers):
    for name, parameter in model.named_parameters():
        values = numbers(name, parameter.shape)
        if parameter.dim() > 1:
            parameter.copy_(values / parameter[0].numel() ** 0.5)
        else:
            parameter.copy_(values * 0.1 + (1 if "norm" in name and name.endswith(".weight") else 0))


def main():
    settings = json.loads(os.environ["PROBE"])
    torch.set_num_threads(settings["threads"])
    debugger = PrecisionDebugger(task="tensor", level="L1", dump_path=settings["path"])
    if settings["fault"]:
        plant(**settings["fault"])
    model = NETS[settings["net"]](settings["width"])
    initialise(model, numbers_of(settings["seed"]))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(STEPS):
        numbers = numbers_of(f"{settings['seed']}/{step}")
        debugger.start(model)
        with torch.autocast("cpu", torch.bfloat16, enabled=settings["precision"] == "autocast"):
            loss = model(numbers)
        loss.backward()
        debugger.stop()
        debugger.step()
        optimizer.step()
        optimizer.zero_grad()


main()
