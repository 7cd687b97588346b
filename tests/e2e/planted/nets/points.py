"""Clouds of points: a small net turns them, layers that all points share, the largest of each feature; the same for three
clouds, of which two are alike and must lie near to each other; SGD with Nesterov's momentum."""
import mindspore as ms
import numpy as np
import start
from mindspore import Tensor, nn, ops

ROWS, POINTS, WIDTH = 4, 10, 16


class Turn(nn.Cell):
    """A matrix for each cloud, from its points."""

    def __init__(self):
        super().__init__()
        self.lift = nn.Dense(3, WIDTH)
        self.matrix = nn.Dense(WIDTH, 9)
        self.largest = ops.ReduceMax()
        self.identity = Tensor(np.eye(3), ms.float32)

    def construct(self, x):
        h = self.lift(x)
        h = ops.relu(h)
        h = self.largest(h, 1)
        h = self.matrix(h)
        h = ops.reshape(h, (ROWS, 3, 3))
        return h * 0.3 + self.identity


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.turn = Turn()
        self.multiply = ops.BatchMatMul()
        self.lift1 = nn.Dense(3, WIDTH)
        self.norm1 = nn.BatchNorm1d(WIDTH, eps=1e-5, momentum=0.9)
        self.lift2 = nn.Dense(WIDTH, 2 * WIDTH)
        self.norm2 = nn.LayerNorm((2 * WIDTH,), epsilon=1e-5)
        self.largest = ops.ReduceMax()
        self.head = nn.Dense(2 * WIDTH, WIDTH)

    def construct(self, x):
        matrix = self.turn(x)
        x = self.multiply(x, matrix)
        h = ops.reshape(x, (-1, 3))
        h = self.lift1(h)
        h = self.norm1(h)
        h = ops.relu(h)
        h = self.lift2(h)
        h = self.norm2(h)
        h = ops.reshape(h, (ROWS, POINTS, 2 * WIDTH))
        h = self.largest(h, 1)
        return self.head(h)


class Loss(nn.Cell):
    """The like one must be nearer than the other by a margin."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.sum = ops.ReduceSum()
        self.mean = ops.ReduceMean()

    def distance(self, a, b):
        d = a - b
        d = self.sum(d * d, 1)
        return ops.sqrt(d + 1e-6)

    def construct(self, anchor, positive, negative):
        first = self.net(anchor)
        second = self.net(positive)
        third = self.net(negative)
        near = self.distance(first, second)
        far = self.distance(first, third)
        gap = near - far
        gap = ops.relu(gap + 4.0)
        size = self.mean(first * first)
        return self.mean(gap) + 0.02 * size


def anchor_of(step):
    return start.array(510 + step, ROWS, POINTS, 3)


def positive_of(step):
    return anchor_of(step)[:, ::-1] * 0.9 + start.array(530 + step, ROWS, POINTS, 3, scale=0.2)


def negative_of(step):
    return np.abs(start.array(550 + step, ROWS, POINTS, 3))


def main():
    net = Encoder()
    start.fill(net)
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05, momentum=0.9, nesterov=True)
    start.train_cell(Loss(net), optimizer, anchor_of, positive_of, negative_of)


if __name__ == "__main__":
    main()
