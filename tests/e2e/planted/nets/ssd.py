"""A detector in one shot: two levels of a pyramid, anchors at each place, boxes matched to them by their overlap, a focal loss
of which only the hardest negatives count, a smooth L1 loss of the offsets; Nesterov's momentum."""
import mindspore as ms
import numpy as np
import start
from mindspore import Tensor, nn, ops

ROWS, SIDE, WIDTH, CLASSES, BOXES = 2, 16, 12, 3, 3
SIDES, SIZES = (8, 4), (0.25, 0.5)
RATIOS = (1.0, 2.0)
ANCHORS = sum(side * side for side in SIDES) * len(RATIOS)
NEGATIVES = 24
OVERLAP = 0.4


def anchors_of():
    """Middle and size of each, relative to the image."""
    found = []
    for side, size in zip(SIDES, SIZES):
        for y in range(side):
            for x in range(side):
                for ratio in RATIOS:
                    found.append(((x + 0.5) / side, (y + 0.5) / side, size * ratio ** 0.5, size / ratio ** 0.5))
    return np.array(found, np.float32)


class Pyramid(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, WIDTH, 3, stride=2, pad_mode="same", has_bias=True)
        self.norm = nn.BatchNorm2d(WIDTH, eps=1e-5, momentum=0.9)
        self.deep = nn.Conv2d(WIDTH, 2 * WIDTH, 3, stride=2, pad_mode="same", has_bias=True)
        self.side1 = nn.Conv2d(WIDTH, WIDTH, 1, has_bias=True)
        self.side2 = nn.Conv2d(2 * WIDTH, WIDTH, 1, has_bias=True)
        self.smooth = nn.Conv2d(WIDTH, WIDTH, 3, pad_mode="same", has_bias=True)
        self.larger = ops.ResizeNearestNeighbor((SIDES[0], SIDES[0]))

    def construct(self, x):
        low = self.stem(x)
        low = self.norm(low)
        low = ops.relu(low)
        high = self.deep(low)
        high = ops.relu(high)
        low = self.side1(low)
        high = self.side2(high)
        above = self.larger(high)
        low = low + above
        low = self.smooth(low)
        return low, high


class Head(nn.Cell):
    """The same for both levels."""

    def __init__(self, values):
        super().__init__()
        self.hidden = nn.Conv2d(WIDTH, WIDTH, 3, pad_mode="same", has_bias=True)
        self.out = nn.Conv2d(WIDTH, len(RATIOS) * values, 3, pad_mode="same", has_bias=True)
        self.values = values

    def construct(self, x):
        h = self.hidden(x)
        h = ops.elu(h)
        h = self.out(h)
        h = ops.transpose(h, (0, 2, 3, 1))
        return ops.reshape(h, (ROWS, -1, self.values))


class Match(nn.Cell):
    """The box that overlaps an anchor most, and by how much."""

    def __init__(self):
        super().__init__()
        anchors = anchors_of()
        self.low = Tensor((anchors[:, :2] - anchors[:, 2:] / 2)[None, None])
        self.high = Tensor((anchors[:, :2] + anchors[:, 2:] / 2)[None, None])
        self.area = Tensor((anchors[:, 2] * anchors[:, 3])[None, None])
        self.best = ops.Argmax(axis=1)
        self.largest = ops.ReduceMax()
        self.product = ops.ReduceProd()
        self.onehot = ops.OneHot()
        self.multiply = ops.BatchMatMul()

    def construct(self, boxes):
        middle = boxes[:, :, :2]
        size = boxes[:, :, 2:]
        half = size * 0.5
        low = ops.expand_dims(middle - half, 2)
        high = ops.expand_dims(middle + half, 2)
        low = ops.maximum(low, self.low)
        high = ops.minimum(high, self.high)
        common = ops.relu(high - low)
        common = self.product(common, 3)
        area = self.product(size, 2)
        union = ops.expand_dims(area, 2) + self.area
        union = union - common
        overlap = common / union
        chosen = self.best(overlap)
        overlap = self.largest(overlap, 1)
        chosen = self.onehot(chosen, BOXES, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32))
        return chosen, overlap


class Loss(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net = Pyramid()
        self.classes = Head(CLASSES)
        self.offsets = Head(4)
        self.match = Match()
        anchors = anchors_of()
        self.middle = Tensor(anchors[None, :, :2])
        self.size = Tensor(anchors[None, :, 2:])
        self.onehot = ops.OneHot()
        self.multiply = ops.BatchMatMul()
        self.hardest = ops.TopK(sorted=True)
        self.sum = ops.ReduceSum()
        self.smooth = ops.SmoothL1Loss(beta=0.5)

    def focal(self, logits, wanted):
        """Of each anchor."""
        chance = ops.sigmoid(logits)
        right = chance * wanted + (1.0 - chance) * (1.0 - wanted)
        hard = ops.square(1.0 - right)
        weight = 0.75 - 0.5 * wanted
        cost = -ops.log(right + 1e-6)
        cost = cost * hard
        cost = cost * weight
        return self.sum(cost, -1)

    def encode(self, boxes):
        """A box as its anchor has to be moved."""
        moved = boxes[:, :, :2] - self.middle
        moved = moved / self.size
        moved = moved / 0.1
        grown = boxes[:, :, 2:] / self.size
        grown = ops.log(grown)
        grown = grown / 0.2
        return ops.concat((moved, grown), -1)

    def construct(self, image, boxes, labels):
        low, high = self.net(image)
        logits = ops.concat((self.classes(low), self.classes(high)), 1)
        offsets = ops.concat((self.offsets(low), self.offsets(high)), 1)
        chosen, overlap = self.match(boxes)
        positive = ops.cast(ops.greater(overlap, OVERLAP), ms.float32)
        labels = self.onehot(labels, CLASSES, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32))
        wanted = self.multiply(chosen, labels)
        wanted = wanted * ops.expand_dims(positive, -1)
        cost = self.focal(logits, wanted)
        negative = cost * (1.0 - positive)
        negative, _ = self.hardest(negative, NEGATIVES)
        negative = self.sum(negative)
        cost = self.sum(cost * positive)
        cost = cost + negative
        matched = self.multiply(chosen, boxes)
        matched = self.encode(matched)
        error = self.smooth(offsets, matched)
        error = self.sum(error, -1)
        error = self.sum(error * positive)
        count = self.sum(positive)
        return (cost + 0.5 * error) / ops.maximum(count, 1.0)


def image_of(step):
    return start.array(810 + step, ROWS, 3, SIDE, SIDE)


def boxes_of(step):
    random = np.random.default_rng(830 + step)
    middle = random.uniform(0.25, 0.75, (ROWS, BOXES, 2))
    return np.concatenate((middle, random.uniform(0.2, 0.6, (ROWS, BOXES, 2))), -1).astype(np.float32)


def labels_of(step):
    return np.random.default_rng(850 + step).integers(0, CLASSES, (ROWS, BOXES)).astype(np.int32)


def main():
    net = Loss()
    start.fill(net)
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.002, momentum=0.9, use_nesterov=True)
    start.train_cell(net, optimizer, image_of, boxes_of, labels_of)


if __name__ == "__main__":
    main()
