"""Dense layers around an operation with a gradient of its own (bprop), and a factor that counts the steps; SGD."""
import mindspore as ms
import start
from mindspore import Parameter, Tensor, nn, ops

ROWS, WIDTH = 8, 10


class Clip(nn.Cell):
    """Cuts at 1; its gradient goes through everywhere, a little smaller."""

    def construct(self, x):
        return ops.minimum(x, 1.0)

    def bprop(self, x, out, dout):
        return (dout * 0.9,)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(WIDTH, 14)
        self.clip = Clip()
        self.second = nn.Dense(14, 3)
        self.calls = Parameter(Tensor(0.0, ms.float32), name="calls", requires_grad=False)

    def construct(self, x):
        h = self.first(x)
        h = self.clip(h)
        warm = self.calls * 0.25
        h = h * (1.0 + warm)
        y = self.second(h)
        ops.assign_add(self.calls, Tensor(1.0, ms.float32))
        return y


def image_of(step):
    return start.array(90 + step, ROWS, WIDTH)


def target_of(step):
    return start.array(190 + step, ROWS, 3)


def main():
    net = Net()
    start.fill(net)
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05)
    start.train(net, nn.MSELoss(), optimizer, image_of, target_of)


if __name__ == "__main__":
    main()
