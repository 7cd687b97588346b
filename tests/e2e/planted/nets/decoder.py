"""A decoder of two blocks as language models have them: RMSNorm, two heads with a causal mask, a gated pair of dense
layers, the next token as the label; Adam with weight decay."""
import mindspore as ms
import numpy as np
import start
from mindspore import Parameter, Tensor, nn, ops

ROWS, LENGTH, WIDTH, HEADS, WORDS = 3, 7, 16, 2, 20
MASK = (1 - np.tril(np.ones((LENGTH, LENGTH), np.float32))) * -1e4


class Norm(nn.Cell):
    def __init__(self):
        super().__init__()
        self.gamma = Parameter(Tensor(np.ones(WIDTH), ms.float32), name="gamma")
        self.mean = ops.ReduceMean(keep_dims=True)

    def construct(self, x):
        power = self.mean(x * x, -1)
        power = power + 1e-6
        scale = ops.rsqrt(power)
        x = x * scale
        return x * self.gamma


class Linear(nn.Cell):
    def __init__(self, width_in, width_out):
        super().__init__()
        self.weight = Parameter(Tensor(np.zeros((width_out, width_in)), ms.float32), name="weight")
        self.multiply = ops.MatMul(transpose_b=True)

    def construct(self, x):
        return self.multiply(x, self.weight)


class Attention(nn.Cell):
    def __init__(self):
        super().__init__()
        self.query = Linear(WIDTH, WIDTH)
        self.key = Linear(WIDTH, WIDTH)
        self.value = Linear(WIDTH, WIDTH)
        self.weight = Parameter(Tensor(np.zeros((WIDTH, WIDTH)), ms.float32), name="weight")
        self.out = ops.MatMul(transpose_b=True)
        self.softmax = nn.Softmax(axis=-1)
        self.multiply = ops.BatchMatMul()
        self.transposed = ops.BatchMatMul(transpose_b=True)
        self.mask = Tensor(MASK)

    def split(self, x):
        x = ops.reshape(x, (ROWS, LENGTH, HEADS, WIDTH // HEADS))
        return ops.transpose(x, (0, 2, 1, 3))

    def construct(self, x):
        query = self.split(self.query(x))
        key = self.split(self.key(x))
        value = self.split(self.value(x))
        scores = self.transposed(query, key)
        scores = scores * 0.35355339
        scores = scores + self.mask
        weights = self.softmax(scores)
        context = self.multiply(weights, value)
        context = ops.transpose(context, (0, 2, 1, 3))
        context = ops.reshape(context, (ROWS * LENGTH, WIDTH))
        return self.out(context, self.weight)


class Gated(nn.Cell):
    def __init__(self):
        super().__init__()
        self.gate = Linear(WIDTH, 32)
        self.up = Linear(WIDTH, 32)
        self.down = Linear(32, WIDTH)

    def construct(self, x):
        gate = self.gate(x)
        gate = ops.silu(gate)
        up = self.up(x)
        h = gate * up
        return self.down(h)


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm1 = Norm()
        self.attention = Attention()
        self.norm2 = Norm()
        self.gated = Gated()
        self.dropout = nn.Dropout(p=0.0)

    def construct(self, x):
        h = self.norm1(x)
        h = self.attention(h)
        x = x + h
        h = self.norm2(x)
        h = self.gated(h)
        h = self.dropout(h)
        return x + h


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = Parameter(Tensor(np.zeros((LENGTH, WIDTH)), ms.float32), name="places")
        self.first = Block()
        self.second = Block()
        self.norm = Norm()
        self.head = Linear(WIDTH, WORDS)

    def construct(self, words):
        x = self.words(words)
        x = x + self.places
        x = ops.reshape(x, (ROWS * LENGTH, WIDTH))
        x = self.first(x)
        x = self.second(x)
        x = self.norm(x)
        return self.head(x)


def text_of(step):
    return np.random.default_rng(230 + step).integers(0, WORDS, (ROWS, LENGTH + 1)).astype(np.int32)


def words_of(step):
    return np.ascontiguousarray(text_of(step)[:, :-1])


def labels_of(step):
    return text_of(step)[:, 1:].reshape(-1)


def main():
    net = Net()
    start.fill(net)
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 0.01, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.05)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    start.train(net, loss, optimizer, words_of, labels_of)


if __name__ == "__main__":
    main()
