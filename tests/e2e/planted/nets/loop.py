"""Control flow: a loop whose end depends on the data, and a branch; the graph becomes several. Momentum."""
import numpy as np
import start
from mindspore import nn, ops

ROWS, WIDTH = 4, 8


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.cell = nn.Dense(WIDTH, WIDTH)
        self.head = nn.Dense(WIDTH, 3)
        self.sum = ops.ReduceSum()

    def construct(self, x, limit):
        turn = limit * 0
        while turn < limit:
            x = self.cell(x)
            x = ops.tanh(x)
            turn = turn + 1
        if self.sum(x) > 100:
            x = x * 0.5
        else:
            x = x * 2.0
        return self.head(x)


class Loss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.loss = nn.MSELoss()

    def construct(self, x, limit, target):
        return self.loss(self.net(x, limit), target)


def image_of(step):
    return start.array(40 + step, ROWS, WIDTH)


def limit_of(step):
    return np.array(3, np.int32)


def target_of(step):
    return start.array(140 + step, ROWS, 3)


def main():
    net = Net()
    start.fill(net)
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.1, momentum=0.9)
    start.train_cell(Loss(net), optimizer, image_of, limit_of, target_of)


if __name__ == "__main__":
    main()
