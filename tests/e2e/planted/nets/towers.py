"""Two towers: bags of embeddings for users and for items, joined by a cosine; every other item of the batch is a wrong
one, and what is popular counts less; FTRL."""
import mindspore as ms
import numpy as np
import start
from mindspore import Parameter, Tensor, nn, ops

ROWS, WIDTH, ITEMS, TAGS, HISTORY = 6, 16, 40, 20, 7


class Bag(nn.Cell):
    """The mean of the rows of a table, each with its weight; 0 is padding."""

    def __init__(self, rows):
        super().__init__()
        self.table = Parameter(Tensor(np.zeros((rows, WIDTH)), ms.float32), name="table")
        self.gather = ops.Gather()
        self.sum = ops.ReduceSum()

    def construct(self, ids, weights):
        rows = self.gather(self.table, ids, 0)
        there = ops.not_equal(ids, 0)
        there = ops.cast(there, ms.float32)
        weights = weights * there
        total = self.sum(weights, 1)
        total = ops.maximum(total, 1e-6)
        rows = rows * ops.expand_dims(weights, -1)
        rows = self.sum(rows, 1)
        return rows / ops.expand_dims(total, -1)


class User(nn.Cell):
    def __init__(self):
        super().__init__()
        self.bag = Bag(ITEMS)
        self.first = nn.Dense(WIDTH, WIDTH)
        self.second = nn.Dense(WIDTH, WIDTH)

    def construct(self, ids, weights):
        h = self.bag(ids, weights)
        h = self.first(h)
        h = ops.relu(h)
        return self.second(h)


class Item(nn.Cell):
    """An embedding of its own and a bag of tags."""

    def __init__(self):
        super().__init__()
        self.own = Parameter(Tensor(np.zeros((ITEMS, WIDTH)), ms.float32), name="own")
        self.gather = ops.Gather()
        self.bag = Bag(TAGS)
        self.wide = nn.Dense(2 * WIDTH, 24)
        self.narrow = nn.Dense(24, WIDTH)

    def construct(self, item, tags, weights):
        own = self.gather(self.own, item, 0)
        described = self.bag(tags, weights)
        h = ops.concat((own, described), 1)
        h = self.wide(h)
        h = ops.sigmoid(h)
        return self.narrow(h)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.user = User()
        self.item = Item()
        self.unit = ops.L2Normalize(axis=1, epsilon=1e-6)
        self.all_pairs = ops.MatMul(transpose_b=True)

    def construct(self, history, weights, item, tags):
        user = self.user(history, weights)
        user = self.unit(user)
        ones = ops.ones_like(tags)
        thing = self.item(item, tags, ops.cast(ones, ms.float32))
        thing = self.unit(thing)
        scores = self.all_pairs(user, thing)
        return scores * 8.0


class Loss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.popular = Tensor(np.log(np.random.default_rng(5).dirichlet(np.ones(ITEMS))), ms.float32)
        self.gather = ops.Gather()
        self.cross = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        self.labels = Tensor(np.arange(ROWS), ms.int32)

    def construct(self, history, weights, item, tags):
        scores = self.net(history, weights, item, tags)
        popular = self.gather(self.popular, item, 0)
        scores = scores - popular
        return self.cross(scores, self.labels)


def integers(seed, high, *shape):
    return np.random.default_rng(seed).integers(0, high, shape).astype(np.int32)


def history_of(step):
    ids = integers(410 + step, ITEMS, ROWS, HISTORY)
    return np.where(np.arange(HISTORY) < 3 + np.arange(ROWS)[:, None] % 4, ids, 0).astype(np.int32)


def weights_of(step):
    return np.random.default_rng(430 + step).random((ROWS, HISTORY), np.float32) + 0.5


def item_of(step):
    return integers(450 + step, ITEMS, ROWS)


def tags_of(step):
    return integers(470 + step, TAGS, ROWS, 4)


def main():
    net = Net()
    start.fill(net)
    optimizer = nn.FTRL(net.trainable_params(), initial_accum=0.1, learning_rate=0.05, lr_power=-0.5, l1=1e-3, l2=1e-3)
    start.train_cell(Loss(net), optimizer, history_of, weights_of, item_of, tags_of)


if __name__ == "__main__":
    main()
