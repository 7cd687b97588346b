"""Residual blocks with BatchNorm, one of them with a projection at stride 2, and a global mean; Momentum."""
import numpy as np
import start
from mindspore import nn, ops

ROWS, SIZE, CLASSES = 6, 12, 5
MEAN, STD = 0.4, 0.25


class Block(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, pad_mode="pad", padding=1)
        self.norm1 = nn.BatchNorm2d(width, eps=1e-5, momentum=0.9)
        self.conv2 = nn.Conv2d(width, width, 3, pad_mode="pad", padding=1)
        self.norm2 = nn.BatchNorm2d(width, eps=1e-5, momentum=0.9)

    def construct(self, x):
        h = self.conv1(x)
        h = self.norm1(h)
        h = ops.relu(h)
        h = self.conv2(h)
        h = self.norm2(h)
        h = h + x
        return ops.relu(h)


class Down(nn.Cell):
    """Half the size and twice the width."""

    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(width, 2 * width, 3, stride=2, pad_mode="pad", padding=1)
        self.norm1 = nn.BatchNorm2d(2 * width, eps=1e-5, momentum=0.9)
        self.conv2 = nn.Conv2d(2 * width, 2 * width, 3, pad_mode="pad", padding=1)
        self.norm2 = nn.BatchNorm2d(2 * width, eps=1e-5, momentum=0.9)
        self.project = nn.Conv2d(width, 2 * width, 1, stride=2, pad_mode="valid")
        self.norm3 = nn.BatchNorm2d(2 * width, eps=1e-5, momentum=0.9)

    def construct(self, x):
        h = self.conv1(x)
        h = self.norm1(h)
        h = ops.relu(h)
        h = self.conv2(h)
        h = self.norm2(h)
        shortcut = self.project(x)
        shortcut = self.norm3(shortcut)
        h = h + shortcut
        return ops.relu(h)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1)
        self.norm = nn.BatchNorm2d(8, eps=1e-5, momentum=0.9)
        self.first = Block(8)
        self.down = Down(8)
        self.last = Block(16)
        self.mean = ops.ReduceMean()
        self.head = nn.Dense(16, CLASSES)

    def construct(self, x):
        x = self.stem(x)
        x = self.norm(x)
        x = ops.relu(x)
        x = self.first(x)
        x = self.down(x)
        x = self.last(x)
        x = self.mean(x, (2, 3))
        return self.head(x)


def image_of(step):
    raw = np.random.default_rng(20 + step).random((ROWS, 3, SIZE, SIZE), np.float32)
    return ((raw - MEAN) / STD).astype(np.float32)


def labels_of(step):
    return np.roll(np.array([3, 0, 4, 1, 2, 0], np.int32), step)


def main():
    net = Net()
    start.fill(net)
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.05, momentum=0.9, weight_decay=0.001)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    start.train(net, loss, optimizer, image_of, labels_of)


if __name__ == "__main__":
    main()
