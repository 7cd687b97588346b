"""Two branches of dense layers, one through a logarithm, joined by a third; Momentum."""
import start
from mindspore import nn, ops

ROWS, WIDTH = 8, 12


class Left(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(WIDTH, 16)
        self.second = nn.Dense(16, 10)

    def construct(self, x):
        h = self.first(x)
        h = ops.tanh(h)
        h = self.second(h)
        h = ops.sin(h)
        return h * 1.5


class Right(nn.Cell):
    def __init__(self):
        super().__init__()
        self.gate = nn.Dense(WIDTH, 10)
        self.softmax = nn.Softmax(axis=1)
        self.mean = ops.ReduceMean(keep_dims=True)

    def construct(self, x):
        h = self.gate(x)
        h = ops.relu(h)
        h = h - self.mean(h, 1)
        h = ops.relu(h)
        positive = ops.maximum(h, 1e-6)
        entropy = h * ops.log(positive)
        share = self.softmax(h)
        return entropy + share


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.left = Left()
        self.right = Right()
        self.head = nn.Dense(20, 4)

    def construct(self, x):
        left = self.left(x)
        right = self.right(x)
        joined = ops.concat((left, right), 1)
        joined = ops.sigmoid(joined)
        return self.head(joined)


def image_of(step):
    return start.array(50 + step, ROWS, WIDTH)


def target_of(step):
    return start.array(60 + step, ROWS, 4)


def main():
    net = Net()
    start.fill(net)
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.1, momentum=0.9)
    start.train(net, nn.MSELoss(), optimizer, image_of, target_of)


if __name__ == "__main__":
    main()
