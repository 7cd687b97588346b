"""A forecast: causal convolutions with gates over a past of different lengths, attention of each coming hour to the hours that
there are, three quantiles whose loss leaves out what nobody knows; Adadelta."""
import mindspore as ms
import numpy as np
import start
from mindspore import Parameter, Tensor, nn, ops

ROWS, PAST, SIGNALS, WIDTH, HEADS, COMING = 4, 10, 3, 16, 2, 4
QUANTILES = (0.1, 0.5, 0.8)


class Gated(nn.Cell):
    """A causal convolution, a gate, and what goes around both."""

    def __init__(self, dilation):
        super().__init__()
        self.wave = nn.Conv1d(WIDTH, WIDTH, 3, dilation=dilation, pad_mode="valid", has_bias=True)
        self.gate = nn.Conv1d(WIDTH, WIDTH, 3, dilation=dilation, pad_mode="valid", has_bias=True)
        self.front = Tensor(np.zeros((ROWS, WIDTH, 2 * dilation)), ms.float32)

    def construct(self, x):
        h = ops.concat((self.front, x), 2)
        wave = self.wave(h)
        gate = self.gate(h)
        wave = ops.tanh(wave)
        gate = ops.sigmoid(gate)
        h = wave * gate
        return x + h


class Attention(nn.Cell):
    """Each coming hour asks the past."""

    def __init__(self):
        super().__init__()
        self.asked = Parameter(Tensor(np.zeros((COMING, WIDTH)), ms.float32), name="asked")
        self.key = nn.Dense(WIDTH, WIDTH)
        self.value = nn.Dense(WIDTH, WIDTH)
        self.scores = ops.BatchMatMul(transpose_b=True)
        self.mix = ops.BatchMatMul()
        self.softmax = nn.Softmax(axis=-1)
        self.scale = 1.0 / np.sqrt(WIDTH // HEADS)

    def heads(self, x, count):
        x = ops.reshape(x, (-1, count, HEADS, WIDTH // HEADS))
        return ops.transpose(x, (0, 2, 1, 3))

    def construct(self, x, mask):
        query = ops.broadcast_to(self.asked, (ROWS, COMING, WIDTH))
        query = self.heads(query, COMING)
        key = self.key(x)
        key = self.heads(key, PAST)
        value = self.value(x)
        value = self.heads(value, PAST)
        scores = self.scores(query, key)
        scores = scores * self.scale
        scores = scores + mask
        weights = self.softmax(scores)
        mixed = self.mix(weights, value)
        mixed = ops.transpose(mixed, (0, 2, 1, 3))
        return ops.reshape(mixed, (ROWS, COMING, WIDTH))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Dense(SIGNALS, WIDTH)
        self.near = Gated(1)
        self.far = Gated(2)
        self.norm = nn.LayerNorm((WIDTH,), epsilon=1e-5)
        self.attention = Attention()
        self.last = nn.Dense(WIDTH, WIDTH)
        self.after = nn.LayerNorm((WIDTH,), epsilon=1e-5)
        self.head = nn.Dense(WIDTH, len(QUANTILES))
        self.hours = Tensor(np.arange(PAST).reshape(1, PAST), ms.int32)

    def construct(self, past, begin):
        there = ops.greater_equal(self.hours, ops.expand_dims(begin, 1))
        there = ops.cast(there, ms.float32)
        h = self.embed(past)
        h = h * ops.expand_dims(there, -1)
        h = ops.transpose(h, (0, 2, 1))
        h = self.near(h)
        h = self.far(h)
        h = ops.transpose(h, (0, 2, 1))
        h = self.norm(h)
        gone = 1.0 - there
        mask = gone * -1e4
        mask = ops.reshape(mask, (ROWS, 1, 1, PAST))
        h = self.attention(h, mask)
        more = self.last(h)
        more = ops.relu(more)
        h = h + more
        h = self.after(h)
        return self.head(h)


class Loss(nn.Cell):
    """Too low costs a quantile, too high one minus it."""

    def __init__(self):
        super().__init__()
        self.net = Net()
        self.quantiles = Tensor(np.array(QUANTILES), ms.float32)
        self.sum = ops.ReduceSum()

    def construct(self, past, begin, coming, known):
        found = self.net(past, begin)
        error = ops.expand_dims(coming, -1) - found
        low = error * self.quantiles
        high = error * (self.quantiles - 1.0)
        cost = ops.maximum(low, high)
        cost = self.sum(cost, -1)
        cost = cost * known
        cost = self.sum(cost)
        count = self.sum(known)
        return cost / ops.maximum(count, 1.0)


def past_of(step):
    return start.array(710 + step, ROWS, PAST, SIGNALS)


def begin_of(step):
    return np.random.default_rng(730 + step).integers(1, PAST // 2 + 1, ROWS).astype(np.int32)


def coming_of(step):
    return start.array(750 + step, ROWS, COMING)


def known_of(step):
    return (np.random.default_rng(770 + step).random((ROWS, COMING)) > 0.3).astype(np.float32)


def main():
    net = Loss()
    start.fill(net)
    optimizer = nn.Adadelta(net.trainable_params(), learning_rate=1.0, rho=0.9, epsilon=1e-6)
    start.train_cell(net, optimizer, past_of, begin_of, coming_of, known_of)


if __name__ == "__main__":
    main()
