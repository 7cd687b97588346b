"""A radiance field: places and views encoded by sines, a perceptron with a skip, colours along a ray weighed by the light
that is left; Adagrad."""
import mindspore as ms
import numpy as np
import start
from mindspore import Tensor, nn, ops

RAYS, SAMPLES, WIDTH = 6, 5, 24
NEAR, FAR = 1.0, 3.0
BACKGROUND = 0.8


class Encoding(nn.Cell):
    def __init__(self, bands):
        super().__init__()
        self.bands = Tensor(0.5 * np.pi * 2.0 ** np.arange(bands), ms.float32)

    def construct(self, x):
        angle = ops.expand_dims(x, -1) * self.bands
        angle = ops.reshape(angle, (x.shape[0], -1))
        waves = ops.sin(angle)
        more = ops.cos(angle)
        return ops.concat((x, waves, more), -1)


class Field(nn.Cell):
    """Density and colour of a place that is seen from a direction."""

    def __init__(self):
        super().__init__()
        self.place = Encoding(3)
        self.view = Encoding(2)
        self.first = nn.Dense(21, WIDTH)
        self.second = nn.Dense(WIDTH, WIDTH)
        self.third = nn.Dense(WIDTH + 21, WIDTH)
        self.density = nn.Dense(WIDTH, 1)
        self.feature = nn.Dense(WIDTH, WIDTH)
        self.shade = nn.Dense(WIDTH + 15, 16)
        self.colour = nn.Dense(16, 3)

    def construct(self, x, view):
        place = self.place(x)
        h = self.first(place)
        h = ops.relu(h)
        h = self.second(h)
        h = ops.tanh(h)
        h = ops.concat((h, place), -1)
        h = self.third(h)
        h = ops.gelu(h)
        density = self.density(h)
        h = self.feature(h)
        seen = self.view(view)
        h = ops.concat((h, seen), -1)
        h = self.shade(h)
        h = ops.elu(h)
        colour = self.colour(h)
        colour = ops.sigmoid(colour)
        return density, colour


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.field = Field()
        self.depths = Tensor(np.linspace(NEAR, FAR, SAMPLES).reshape(1, SAMPLES, 1), ms.float32)
        self.gap = (FAR - NEAR) / SAMPLES
        self.sum = ops.ReduceSum()
        self.mean = ops.ReduceMean()
        self.running = ops.CumSum()

    def construct(self, origin, direction):
        length = self.sum(direction * direction, 1)
        length = ops.sqrt(length + 1e-8)
        unit = direction / ops.expand_dims(length, -1)
        unit = ops.expand_dims(unit, 1)
        points = unit * self.depths
        points = points + ops.expand_dims(origin, 1)
        view = ops.broadcast_to(unit, (RAYS, SAMPLES, 3))
        density, colour = self.field(ops.reshape(points, (-1, 3)), ops.reshape(view, (-1, 3)))
        density = ops.softplus(density)
        density = ops.reshape(density, (RAYS, SAMPLES))
        thick = density * self.gap
        opaque = 1.0 - ops.exp(-thick)
        before = self.running(thick, 1)
        before = before - thick
        left = ops.exp(-before)
        share = opaque * left
        colour = ops.reshape(colour, (RAYS, SAMPLES, 3))
        shown = colour * ops.expand_dims(share, -1)
        shown = self.sum(shown, 1)
        total = self.sum(share, 1)
        empty = 1.0 - ops.expand_dims(total, -1)
        shown = shown + empty * BACKGROUND
        return shown, density


class Loss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.mean = ops.ReduceMean()

    def construct(self, origin, direction, wanted):
        shown, density = self.net(origin, direction)
        error = ops.square(shown - wanted)
        error = self.mean(error)
        sparse = ops.log(1.0 + 2.0 * density * density)
        sparse = self.mean(sparse)
        return error + 0.05 * sparse


def origin_of(step):
    return start.array(310 + step, RAYS, 3, scale=0.5)


def direction_of(step):
    return start.array(330 + step, RAYS, 3)


def colour_of(step):
    return np.random.default_rng(350 + step).random((RAYS, 3), np.float32)


def main():
    net = Net()
    start.fill(net)
    optimizer = nn.Adagrad(net.trainable_params(), accum=0.1, learning_rate=0.02)
    start.train_cell(Loss(net), optimizer, origin_of, direction_of, colour_of)


if __name__ == "__main__":
    main()
