"""What the nets beside it share: weights and batches from seeds, and the training steps that are dumped.

Whether and where a dump is written the environment decides. A fault is planted by changing a line of a net, never here.
"""
import os

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

SEED_OF_WEIGHTS = 3
STEPS = int(os.environ.get("PLANTED_STEPS", "1"))

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
if "PLANTED_THREADS" in os.environ:
    ms.set_context(runtime_num_threads=int(os.environ["PLANTED_THREADS"]))


def array(seed, *shape, scale=1.0):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def fill(net, noise=0.0, wrong=None):
    """Every weight from a seed of its own name; `noise` is relative, `wrong` names a weight that gets another seed."""
    for parameter in net.trainable_params():
        seed = SEED_OF_WEIGHTS + sum(map(ord, parameter.name)) + (1 if parameter.name == wrong else 0)
        fan_in = int(np.prod(parameter.shape[1:])) or 1
        value = array(seed, *parameter.shape, scale=1.0 / np.sqrt(fan_in))
        if len(parameter.shape) == 1:
            value = (1.0 if parameter.name.endswith("gamma") else 0.0) + 0.1 * value
        value = value * (1 + noise * array(seed + 1000, *parameter.shape))
        parameter.set_data(Tensor(value.astype(np.float32)))


def train(net, loss, optimizer, *batches):
    """`batches` are functions that give an array for a step."""
    train_cell(nn.WithLossCell(net, loss), optimizer, *batches)


def train_cell(cell, optimizer, *batches):
    """A cell that gives the loss."""
    step = nn.TrainOneStepCell(cell, optimizer)
    step.set_train()
    for number in range(STEPS):
        print("loss", step(*(Tensor(batch(number)) for batch in batches)).asnumpy())
