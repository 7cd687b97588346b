"""One training step of a small AlexNet on the CPU, in graph mode, for a dump to be made of it.

alexnet.py FOLDER writes there known.npz: the batch, the loss and all weights before and after the step. What else is
written (dump, IR) the environment decides; see scripts/e2e. One statement a line: check.py asks by line.
"""
import os
import sys

import mindspore
import numpy as np
from mindspore import Tensor, nn, ops

import layers

SEED = 20
BATCH = 4

TANH = ops.Tanh()


def squash(x, factor):
    """Used twice: its operators have one innermost line and two callers."""
    scaled = x * factor
    return TANH(scaled)


def conv(name):
    channels_in, channels_out, kernel, stride, padding = layers.CONVOLUTIONS[name]
    return nn.Conv2d(
        channels_in, channels_out, kernel, stride=stride, padding=padding, pad_mode="pad", has_bias=True
    )


def dense(name):
    return nn.Dense(*layers.DENSE[name])


class AlexNet(nn.Cell):
    """Five convolutions, two pools, three dense layers; one ReLU cell for four places; logits rounded to bfloat16."""

    def __init__(self):
        super().__init__()
        self.conv1 = conv("conv1")
        self.conv2 = conv("conv2")
        self.conv3 = conv("conv3")
        self.conv4 = conv("conv4")
        self.conv5 = conv("conv5")
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1 = dense("fc1")
        self.fc2 = dense("fc2")
        self.fc3 = dense("fc3")

    def construct(self, x):
        x = self.conv1(x)
        x = self.relu(x)
        x = self.pool(x)
        x = self.conv2(x)
        x = self.relu(x)
        x = self.conv3(x)
        x = self.relu(x)
        x = self.conv4(x)
        x = self.relu(x)
        x = self.conv5(x)
        x = ops.relu(x)
        x = self.pool(x)
        x = self.flatten(x)
        x = self.fc1(x)
        x = ops.relu(x)
        x = squash(x, layers.FACTORS[0])
        x = self.fc2(x)
        x = squash(x, layers.FACTORS[1])
        x = self.fc3(x)
        half = ops.cast(x, mindspore.bfloat16)
        x = ops.cast(half, mindspore.float32)
        return x


def fill(net):
    """Weights that keep the size of what flows through them, from a seed of their own."""
    random = np.random.default_rng(SEED)
    for parameter in net.get_parameters():
        fan_in = int(np.prod(parameter.shape[1:])) or 1
        scale = 0.1 if parameter.name.endswith("bias") else np.sqrt(2 / fan_in)
        parameter.set_data(Tensor((random.standard_normal(parameter.shape) * scale).astype(np.float32)))


def weights_of(net, prefix):
    return {prefix + parameter.name: parameter.asnumpy().copy() for parameter in net.get_parameters()}


def main():
    folder = sys.argv[1]
    mindspore.set_context(mode=mindspore.GRAPH_MODE, device_target="CPU")
    random = np.random.default_rng(SEED + 1)
    image = random.standard_normal((BATCH, 3, 32, 32)).astype(np.float32)
    labels = random.integers(0, layers.CLASSES, size=BATCH).astype(np.int32)

    net = AlexNet()
    fill(net)
    known = {"image": image, "labels": labels, **weights_of(net, "before.")}
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=layers.LEARNING_RATE, momentum=0.9)
    train = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    train.set_train()
    known["loss"] = train(Tensor(image), Tensor(labels)).asnumpy()
    known.update(weights_of(net, "after."))
    np.savez(os.path.join(folder, "known.npz"), **known)
    print(f"MindSpore {mindspore.__version__}: loss {known['loss']}, weights of "
          f"{sum(value.nbytes for name, value in known.items() if name.startswith('before.')) / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
