"""The network of alexnet.py in plain numpy: what its layers are, and what each of them computes, in float64.

Both sides read this: alexnet.py for the sizes of its layers, check.py for the values that a dump must hold. It has
nothing of MindSpore, so that a value that agrees was computed twice, by different code.
"""
import numpy as np

CLASSES = 10
LEARNING_RATE = 0.125
FACTORS = (0.5, 0.25)

# name: channels in, channels out, kernel, stride, padding
CONVOLUTIONS = {
    "conv1": (3, 16, 5, 2, 2),
    "conv2": (16, 32, 3, 1, 1),
    "conv3": (32, 48, 3, 1, 1),
    "conv4": (48, 48, 3, 1, 1),
    "conv5": (48, 32, 3, 1, 1),
}

# name: features in, features out
DENSE = {
    "fc1": (512, 64),
    "fc2": (64, 64),
    "fc3": (64, CLASSES),
}


def convolve(x, weight, stride, padding):
    """As a matrix product: a row for each place of the window, a column for each filter."""
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    count, channels, height, width = windows.shape[:4]
    rows = windows.transpose(0, 2, 3, 1, 4, 5).reshape(count * height * width, -1)
    product = rows @ weight.reshape(weight.shape[0], -1).T
    return product.reshape(count, height, width, -1).transpose(0, 3, 1, 2)


def add_bias(x, bias):
    """A value for each channel, which is axis 1."""
    return x + bias.reshape((1, -1) + (1,) * (x.ndim - 2))


def relu(x):
    return np.maximum(x, 0)


def pool(x):
    """The largest of each 2 x 2."""
    count, channels, height, width = x.shape
    return x.reshape(count, channels, height // 2, 2, width // 2, 2).max(axis=(3, 5))


def multiply(x, weight):
    """A dense layer holds a row for each feature that goes out."""
    return x @ weight.T


def round_to_bfloat16(x):
    """To the nearest float32 whose lower half is zero, ties to even."""
    bits = x.astype(np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return rounded.astype(np.uint32).view(np.float32)


def forward(image, weights):
    """What every operator of the forward pass computes: the name of a step, as alexnet.py has it, to its value.

    A layer with a bias is two operators: "conv1" is the product, "conv1+bias" what goes on.
    """
    values = {}

    def layer(name, product):
        values[name] = product
        values[name + "+bias"] = add_bias(product, weights[name + ".bias"])
        return values[name + "+bias"]

    def convolution(name, x):
        stride, padding = CONVOLUTIONS[name][3:]
        return layer(name, convolve(x, weights[name + ".weight"], stride, padding))

    def keep(name, value):
        values[name] = value
        return value

    weights = {name: value.astype(np.float64) for name, value in weights.items()}
    x = image.astype(np.float64)
    x = keep("pool1", pool(keep("relu1", relu(convolution("conv1", x)))))
    x = keep("relu2", relu(convolution("conv2", x)))
    x = keep("relu3", relu(convolution("conv3", x)))
    x = keep("relu4", relu(convolution("conv4", x)))
    x = keep("pool5", pool(keep("relu5", relu(convolution("conv5", x)))))
    x = x.reshape(x.shape[0], -1)
    x = keep("relu6", relu(layer("fc1", multiply(x, weights["fc1.weight"]))))
    x = keep("squash1", np.tanh(keep("scaled1", x * FACTORS[0])))
    x = layer("fc2", multiply(x, weights["fc2.weight"]))
    x = keep("squash2", np.tanh(keep("scaled2", x * FACTORS[1])))
    layer("fc3", multiply(x, weights["fc3.weight"]))
    return values


def loss_of(logits, labels):
    """The mean of the cross entropy, and its gradient with respect to the logits."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    logarithms = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    rows = np.arange(len(labels))
    gradient = np.exp(logarithms)
    gradient[rows, labels] -= 1
    return -logarithms[rows, labels].mean(), gradient / len(labels)
