"""A vector-quantised autoencoder: convolutions to rows, for each row the nearest code of a table, its gradient handed around
the choice, convolutions back to pictures; AdaMax."""
import mindspore as ms
import numpy as np
import start
from mindspore import Parameter, Tensor, nn, ops

ROWS, SIDE, WIDTH, CODES = 3, 12, 12, 10
BETA = 0.25


class Encoder(nn.Cell):
    """A quarter of the sides, and a residual."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 8, 4, stride=2, pad_mode="pad", padding=1, has_bias=True)
        self.second = nn.Conv2d(8, WIDTH, 4, stride=2, pad_mode="pad", padding=1, has_bias=True)
        self.wide = nn.Conv2d(WIDTH, 16, 3, pad_mode="pad", padding=1, has_bias=True)
        self.narrow = nn.Conv2d(16, WIDTH, 1, has_bias=True)

    def construct(self, x):
        h = self.first(x)
        h = ops.relu(h)
        h = self.second(h)
        more = ops.relu(h)
        more = self.wide(more)
        more = ops.tanh(more)
        more = self.narrow(more)
        return h + more


class Table(nn.Cell):
    """The nearest code by the square of the distance."""

    def __init__(self):
        super().__init__()
        self.codes = Parameter(Tensor(np.zeros((CODES, WIDTH)), ms.float32), name="codes")
        self.products = ops.MatMul(transpose_b=True)
        self.nearest = ops.Argmin(axis=1)
        self.gather = ops.Gather()
        self.sum = ops.ReduceSum()
        self.numbers = Tensor(np.arange(CODES), ms.int32)

    def construct(self, rows):
        size = self.sum(rows * rows, 1)
        length = self.sum(self.codes * self.codes, 1)
        both = self.products(rows, self.codes)
        distance = ops.expand_dims(size, 1) - 2.0 * both
        distance = distance + length
        chosen = self.nearest(distance)
        return self.gather(self.codes, chosen, 0)


class Decoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(WIDTH, 16, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = nn.GroupNorm(4, 16, eps=1e-5)
        self.second = nn.Conv2dTranspose(16, 8, 4, stride=2, pad_mode="pad", padding=1, has_bias=True)
        self.last = nn.Conv2dTranspose(8, 2, 4, stride=2, pad_mode="pad", padding=1, has_bias=True)

    def construct(self, x):
        h = self.first(x)
        h = self.norm(h)
        h = ops.relu(h)
        h = self.second(h)
        h = ops.elu(h)
        return self.last(h)


class Loss(nn.Cell):
    """What the pictures lose, the way of the codes to the rows, and that of the rows to the codes."""

    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.table = Table()
        self.decoder = Decoder()
        self.mean = ops.ReduceMean()

    def construct(self, pictures):
        h = self.encoder(pictures)
        h = ops.transpose(h, (0, 2, 3, 1))
        rows = ops.reshape(h, (-1, WIDTH))
        code = self.table(rows)
        pull = ops.square(ops.stop_gradient(rows) - code)
        pull = self.mean(pull)
        stay = ops.square(rows - ops.stop_gradient(code))
        stay = self.mean(stay)
        apart = ops.stop_gradient(code - rows)
        code = rows + apart
        code = ops.reshape(code, (ROWS, SIDE // 4, SIDE // 4, WIDTH))
        code = ops.transpose(code, (0, 3, 1, 2))
        shown = self.decoder(code)
        error = ops.square(shown - pictures)
        error = self.mean(error)
        return error + pull + BETA * stay


def pictures_of(step):
    return start.array(610 + step, ROWS, 2, SIDE, SIDE)


def main():
    net = Loss()
    start.fill(net)
    optimizer = nn.AdaMax(net.trainable_params(), learning_rate=0.01, beta1=0.9, beta2=0.99, eps=1e-8)
    start.train_cell(net, optimizer, pictures_of)


if __name__ == "__main__":
    main()
