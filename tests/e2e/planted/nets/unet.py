"""Down by a pool, up by a transposed convolution, a skip between: one mask out of an image. GroupNorm, leaky ReLU;
cross-entropy and dice; RMSProp."""
import numpy as np
import start
from mindspore import nn, ops

ROWS, SIZE = 4, 12


class Pair(nn.Cell):
    """A convolution, a norm, an activation."""

    def __init__(self, width_in, width_out):
        super().__init__()
        self.conv = nn.Conv2d(width_in, width_out, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = nn.GroupNorm(2, width_out, eps=1e-5)
        self.leaky = nn.LeakyReLU(alpha=0.1)

    def construct(self, x):
        h = self.conv(x)
        h = self.norm(h)
        return self.leaky(h)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.outer = Pair(2, 8)
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.inner = Pair(8, 16)
        self.bottom = Pair(16, 16)
        self.up = nn.Conv2dTranspose(16, 8, 4, stride=2, pad_mode="pad", padding=1, has_bias=True)
        self.joined = Pair(16, 8)
        self.out = nn.Conv2d(8, 1, 1, has_bias=True)

    def construct(self, x):
        x = x - 0.5
        skip = self.outer(x)
        h = self.pool(skip)
        h = self.inner(h)
        h = h + self.bottom(h)
        h = self.up(h)
        h = ops.concat((skip, h), 1)
        h = self.joined(h)
        return self.out(h)


class Loss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.cross = ops.BCEWithLogitsLoss("mean")
        self.sum = ops.ReduceSum()

    def construct(self, x, mask):
        logits = self.net(x)
        ones = ops.ones_like(logits)
        cross = self.cross(logits, mask, ones, ones)
        share = ops.sigmoid(logits)
        both = self.sum(share * mask, (1, 2, 3))
        all_of = self.sum(share, (1, 2, 3)) + self.sum(mask, (1, 2, 3))
        dice = (2 * both + 1.0) / (all_of + 1.0)
        dice = 1.0 - ops.mean(dice)
        return cross + 0.3 * dice


def image_of(step):
    return np.random.default_rng(260 + step).random((ROWS, 2, SIZE, SIZE), np.float32)


def mask_of(step):
    return (image_of(step)[:, :1] + image_of(step)[:, 1:] > 1.1).astype(np.float32)


def main():
    net = Net()
    start.fill(net)
    optimizer = nn.RMSProp(net.trainable_params(), learning_rate=0.01, decay=0.9, momentum=0.0, epsilon=1e-8)
    start.train_cell(Loss(net), optimizer, image_of, mask_of)


if __name__ == "__main__":
    main()
