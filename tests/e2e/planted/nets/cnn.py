"""Convolutions with BatchNorm and a residual connection, a pool, a dense layer; Momentum with weight decay."""
import numpy as np
import start
from mindspore import nn, ops

ROWS, SIZE, CLASSES = 6, 8, 5


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        # Its bias is in front of a BatchNorm: a gradient of zero but for rounding.
        self.conv1 = nn.Conv2d(3, 6, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm1 = nn.BatchNorm2d(6, eps=1e-5, momentum=0.9)
        self.conv2 = nn.Conv2d(6, 6, 3, pad_mode="pad", padding=1)
        self.norm2 = nn.BatchNorm2d(6, eps=1e-5, momentum=0.9)
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.head = nn.Dense(6 * (SIZE // 2) ** 2, CLASSES)

    def construct(self, x):
        x = self.conv1(x)
        x = self.norm1(x)
        x = ops.relu(x)
        h = self.conv2(x)
        h = self.norm2(h)
        x = x + h
        x = ops.relu(x)
        x = self.pool(x)
        x = self.flatten(x)
        return self.head(x)


def image_of(step):
    return start.array(80 + step, ROWS, 3, SIZE, SIZE, scale=0.2)


def labels_of(step):
    return np.roll(np.array([3, 0, 4, 1, 2, 0], np.int32), step)


def main():
    net = Net()
    start.fill(net)
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.1, momentum=0.9, weight_decay=0.01)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    start.train(net, loss, optimizer, image_of, labels_of)


if __name__ == "__main__":
    main()
