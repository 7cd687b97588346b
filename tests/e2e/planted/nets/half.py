"""Weights and activations in float16 with the loss scaled up, as is done so that small gradients survive; Momentum.

Products are in float32: the CPU has no others, and of those it makes of float16 on its own the dump has wrong bytes.
"""
import mindspore as ms
import numpy as np
import start
from mindspore import Parameter, Tensor, nn, ops

ROWS, WIDTH = 8, 10
SCALE = 128.0


class Layer(nn.Cell):
    def __init__(self, width_in, width_out):
        super().__init__()
        self.weight = Parameter(Tensor(np.zeros((width_out, width_in)), ms.float16), name="weight")
        self.bias = Parameter(Tensor(np.zeros(width_out), ms.float16), name="bias")
        self.multiply = ops.MatMul(transpose_b=True)

    def construct(self, x):
        y = self.multiply(ops.cast(x, ms.float32), ops.cast(self.weight, ms.float32))
        y = ops.cast(y, ms.float16)
        return y + self.bias


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = Layer(WIDTH, 12)
        self.second = Layer(12, 3)

    def construct(self, x):
        x = ops.cast(x, ms.float16)
        h = self.first(x)
        h = ops.relu(h)
        return self.second(h)


class Loss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.loss = nn.MSELoss()

    def construct(self, x, target):
        y = self.net(x)
        y = ops.cast(y, ms.float32)
        return self.loss(y, target) * SCALE


def image_of(step):
    return start.array(30 + step, ROWS, WIDTH)


def target_of(step):
    return start.array(130 + step, ROWS, 3)


def main():
    net = Net()
    start.fill(net)
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.1, momentum=0.9, loss_scale=SCALE)
    start.train_cell(Loss(net), optimizer, image_of, target_of)


if __name__ == "__main__":
    main()
