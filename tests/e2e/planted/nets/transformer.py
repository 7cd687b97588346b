"""One transformer block in front of a classifier: LayerNorm, one head of masked attention, a dense pair; Adam."""
import numpy as np
import start
from mindspore import Tensor, nn, ops

ROWS, LENGTH, WIDTH, CLASSES = 4, 6, 16, 5
MASK = (1 - np.tril(np.ones((LENGTH, LENGTH), np.float32))) * -1e4


class Attention(nn.Cell):
    def __init__(self):
        super().__init__()
        self.query = nn.Dense(WIDTH, WIDTH, has_bias=False)
        self.key = nn.Dense(WIDTH, WIDTH)  # a bias whose gradient is zero but for rounding
        self.value = nn.Dense(WIDTH, WIDTH, has_bias=False)
        self.out = nn.Dense(WIDTH, WIDTH)
        self.softmax = nn.Softmax(axis=-1)
        self.multiply = ops.BatchMatMul()
        self.transposed = ops.BatchMatMul(transpose_b=True)
        self.mask = Tensor(MASK)

    def construct(self, x):
        query = self.query(x)
        key = self.key(x)
        value = self.value(x)
        scores = self.transposed(query, key)
        scores = scores * 0.25
        scores = scores + self.mask
        weights = self.softmax(scores)
        context = self.multiply(weights, value)
        return self.out(context)


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm((WIDTH,), epsilon=1e-5)
        self.attention = Attention()
        self.norm2 = nn.LayerNorm((WIDTH,), epsilon=1e-5)
        self.wide = nn.Dense(WIDTH, 24)
        self.narrow = nn.Dense(24, WIDTH)
        self.gelu = nn.GELU()

    def construct(self, x):
        h = self.norm1(x)
        h = self.attention(h)
        x = x + h
        h = self.norm2(x)
        h = self.wide(h)
        h = self.gelu(h)
        h = self.narrow(h)
        return x + h


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.mean = ops.ReduceMean()
        self.head = nn.Dense(WIDTH, CLASSES)

    def construct(self, x):
        x = x * 0.3
        x = self.block(x)
        x = self.mean(x, 1)
        return self.head(x)


def image_of(step):
    return start.array(70 + step, ROWS, LENGTH, WIDTH)


def labels_of(step):
    return np.roll(np.array([3, 0, 4, 1], np.int32), step)


def main():
    net = Net()
    start.fill(net)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01, beta1=0.9, beta2=0.999, weight_decay=0.0)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    start.train(net, loss, optimizer, image_of, labels_of)


if __name__ == "__main__":
    main()
