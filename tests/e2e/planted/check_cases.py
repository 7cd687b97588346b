"""The faults for `msdump check --first`: of a net in nets/ the line that is changed, and where NaN or an infinity comes
up then. And the changed lines that must not be called a fault.

Operators are called by the end of their name in the final graph, with * and ?. Kinds are msdump's: nan, inf, and
parameter and input for what comes in not finite.
"""
from dataclasses import dataclass


@dataclass
class Fault:
    """Operators are those that the walk may find; parameters and inputs of the network go by their name."""

    kind: str
    names: tuple


@dataclass
class CheckCase:
    name: str
    net: str
    what: str
    changes: tuple = ()  # (old, new), each in one line
    faults: tuple = ()  # none: healthy
    steps: int = 1
    step: int = 0  # the first that shows it
    garbage: bool = False  # NaN in the files of outputs that nothing reads and no kernel writes
    lose: tuple = ()  # patterns of files that the dump lacks
    also: tuple = ()  # operators that are no wrong answer, and need not be named
    ambiguous: str = ""  # why another answer could be defended


def nan(*names):
    return Fault("nan", names)


def inf(*names):
    return Fault("inf", names)


def entered(kind, name):
    return Fault(kind, (name,))


SIN = "h = ops.sin(h)"
MAXIMUM = "positive = ops.maximum(h, 1e-6)"
SHARE = "share = self.softmax(h)"
FILL = "start.fill(net)"
MASK = "MASK = (1 - np.tril(np.ones((LENGTH, LENGTH), np.float32))) * -1e4"
ADD_MASK = "scores = scores + self.mask"
ROW_OF_ZEROS = ("return start.array(70 + step, ROWS, LENGTH, WIDTH)",
                "return start.array(70 + step, ROWS, LENGTH, WIDTH) * np.float32([[[1]]] * (ROWS - 1) + [[[0]]])")
MLP_IMAGE = "return start.array(50 + step, ROWS, WIDTH)"
MLP_TARGET = "return start.array(60 + step, ROWS, 4)"
LABEL_IN_SECOND_STEP = (
    MLP_TARGET, 'return start.spoil(start.array(60 + step, ROWS, 4), float("inf") if step == 1 else 0)')


def image_spoiled_in(step):
    return MLP_IMAGE, f'return start.spoil(start.array(50 + step, ROWS, WIDTH), float("nan") if step == {step} else 0)'


FORWARD = [
    CheckCase("log-of-zero", "mlp", "a logarithm of 0: the smallest value is 0 instead of 1e-6",
              ((MAXIMUM, "positive = ops.maximum(h, 0.0)"),), (inf("right-Right/Log-op0"),)),
    CheckCase("log-of-negative", "mlp", "a logarithm of negative numbers",
              ((MAXIMUM, "positive = h - 0.5"),), (nan("right-Right/Log-op0"),)),
    CheckCase("hidden-log", "mlp", "a logarithm of negative numbers that a select takes out again: the loss is finite",
              ((SIN, "h = ops.select(h > 0, ops.log(h), h)"),), (nan("left-Left/Log-op0"),)),
    CheckCase("divide-by-zero", "mlp", "a quotient by 0",
              ((SHARE, "share = h / ops.relu(-h)"),), (nan("right-Right/*Div-op0"),)),
    CheckCase("exp-overflow", "mlp", "an exponential overflows; a sigmoid makes it 1 again, the loss is finite",
              ((SIN, "h = ops.exp(h * 200.0)"),), (inf("left-Left/Exp-op0"),)),
    CheckCase("pow-overflow", "transformer", "a power overflows",
              (("x = x * 0.3", "x = ops.pow(x * 30.0, 40.0)"),), (inf("_backbone-Net/Pow-op0"),)),
    CheckCase("acos-out-of-range", "custom", "acos of numbers below -1",
              (("h = self.clip(h)", "h = ops.acos(self.clip(h))"),), (nan("_backbone-Net/ACos-op0"),)),
    CheckCase("rsqrt-of-zero", "cnn", "1/sqrt of 0 behind a ReLU",
              (("h = self.norm2(h)", "h = ops.rsqrt(ops.relu(self.norm2(h)))"),), (inf("_backbone-Net/Rsqrt-op0"),)),
    CheckCase("sum-overflow", "mlp", "a mean that is finite, its sum is not",
              (("h = h - self.mean(h, 1)", "h = h - self.mean(h * 9e37, 1) * 1.1e-38"),),
              (inf("right-Right/ReduceMean-op0"),)),
    CheckCase("cast-overflow", "transformer", "the scores overflow in a cast to float16",
              (("scores = scores * 0.25",
                "scores = ops.cast(ops.cast(scores * 2e6, start.ms.float16), start.ms.float32) * 1e-6"),),
              (inf("*/Cast-op0"),)),
    CheckCase("cast-overflow-negative", "transformer", "scores below 0 overflow in a cast to float16: only -inf",
              (("scores = scores * 0.25",
                "scores = ops.cast(ops.cast(-ops.abs(scores) * 2e6, start.ms.float16), start.ms.float32) * 1e-6"),),
              (inf("*/Cast-op0"),)),
    CheckCase("negative-overflow", "mlp", "a product overflows, only to -inf",
              ((SIN, "h = ops.exp(-ops.relu(h) * 3e38 * 1e10) + h"),), (inf("*Mul*"),)),
    CheckCase("softmax-of-masked-row", "transformer", "a softmax written out, a row of -inf alone: inf - inf",
              ((MASK, 'MASK = np.where(np.tril(np.ones((LENGTH, LENGTH)), -1) > 0, 0, -np.inf).astype(np.float32)'),
               ("weights = self.softmax(scores)", "weights = ops.exp(scores - ops.amax(scores, -1, True)); "
                                                  "weights = weights / ops.sum(weights, -1, True)")),
              (nan("attention-Attention/Sub-op0"),)),
    CheckCase("norm-of-constant-row", "transformer", "a normalisation written out without epsilon, and a row of zeros",
              (("h = self.norm1(x)",
                "h = x - ops.mean(x, -1, True); h = h / ops.sqrt(ops.mean(h * h, -1, True))"), ROW_OF_ZEROS),
              (nan("*Div-op0"),)),
    CheckCase("layernorm-negative-epsilon", "transformer", "LayerNorm with an epsilon below 0, and a row of zeros",
              (("self.norm1 = nn.LayerNorm((WIDTH,), epsilon=1e-5)",
                "self.norm1 = nn.LayerNorm((WIDTH,), epsilon=-1e-5)"), ROW_OF_ZEROS),
              (nan("norm1-LayerNorm/LayerNorm-op0"),)),
    CheckCase("batchnorm-negative-variance", "cnn", "BatchNorm by a running variance that is negative",
              (("self.norm2 = nn.BatchNorm2d(6, eps=1e-5, momentum=0.9)",
                'self.norm2 = nn.BatchNorm2d(6, 1e-5, moving_var_init=start.Tensor([1, 1, -1, 1, 1, 1], '
                'start.ms.float32), use_batch_statistics=False)'),),
              (nan("norm2-BatchNorm2d/BatchNorm-op0", "Grad_BatchNorm/BatchNormGrad-op0"),)),
]

BACKWARD = [
    CheckCase("sqrt-gradient", "mlp", "a square root at 0: the gradient is infinite",
              ((SIN, "h = ops.sqrt(ops.relu(h))"),), (inf("Grad_Sqrt/SqrtGrad-op0"),)),
    CheckCase("norm-of-zero", "mlp", "the norm of a zero vector: the gradient is infinite",
              ((SIN, "h = h + ops.norm(ops.minimum(ops.relu(h), 0.0))"),), (inf("Grad_Sqrt/SqrtGrad-op0"),)),
    CheckCase("where-trap", "mlp", "a select takes the square root at 0 out, its gradient is 0 / 0",
              ((SIN, "h = ops.select(h > 0, ops.sqrt(ops.relu(h)), h)"),), (nan("Grad_Sqrt/SqrtGrad-op0"),)),
    CheckCase("bprop-division", "custom", "a gradient of one's own divides by 0 where the value was cut",
              (("return (dout * 0.9,)", "return (dout / (1.0 - out),)"),), (inf("*Div-op0"),)),
    CheckCase("loss-scale", "half", "a loss scale so large that the gradients overflow in float16",
              (("SCALE = 128.0", "SCALE = 16777216.0"),), (inf("*Cast-op*"),)),
]

# Every product of what has exploded may be the first to overflow.
EXPLODED = ("_loss_fn-MSELoss/Square-op0", "Grad_MatMul/MatMul-op*")

TRAINING = [
    CheckCase("optimizer-half", "half", "a learning rate so large that the update overflows in float16",
              (("learning_rate=0.1", "learning_rate=6e5"),), (inf("Cast-op*"),)),
    CheckCase("exploding", "mlp", "a learning rate so large that the loss of the second step overflows",
              (("learning_rate=0.1", "learning_rate=1e25"),), (inf(*EXPLODED, "ApplyMomentum-op*"),), steps=3, step=1),
    CheckCase("exploding-slowly", "custom", "a learning rate so large that it explodes after some steps",
              (("learning_rate=0.05", "learning_rate=3.0"),), (inf(*EXPLODED),), steps=6, step=4),
    CheckCase("adam-epsilon", "transformer", "Adam without epsilon, and gradients of 0: 0 / 0",
              (("h = self.narrow(h)", "h = self.narrow(h * 0.0)"), ("beta2=0.999", "beta2=0.999, eps=1e-60")),
              (nan("optimizer-Adam/Adam-op*"),)),
    CheckCase("nan-in-image", "mlp", "one NaN in the input of the network",
              ((MLP_IMAGE, 'return start.spoil(start.array(50 + step, ROWS, WIDTH), float("nan"), 17)'),),
              (entered("input", "inputs0"),)),
    CheckCase("inf-in-label", "mlp", "one infinity in the labels",
              ((MLP_TARGET, 'return start.spoil(start.array(60 + step, ROWS, 4), float("inf"), 5)'),),
              (entered("input", "inputs1"),)),
    CheckCase("negative-inf-in-label", "mlp", "one -inf in the labels",
              ((MLP_TARGET, 'return start.spoil(start.array(60 + step, ROWS, 4), -float("inf"), 5)'),),
              (entered("input", "inputs1"),)),
    CheckCase("nan-in-second-batch", "mlp", "one NaN in the second of three batches", (image_spoiled_in(1),),
              (entered("input", "inputs0"),), steps=3, step=1),
    CheckCase("nan-in-weight", "mlp", "a weight that starts with one NaN",
              ((FILL, FILL + '; start.spoil(net.left.second.weight, float("nan"), 7)'),),
              (entered("parameter", "left.second.weight"),)),
    CheckCase("inf-in-gamma", "transformer", "a weight that starts with one infinity",
              ((FILL, FILL + '; start.spoil(net.block.norm2.gamma, float("inf"), 3)'),),
              (entered("parameter", "block.norm2.gamma"),)),
    CheckCase("negative-inf-in-weight", "cnn", "a weight that starts with one -inf",
              ((FILL, FILL + '; start.spoil(net.conv2.weight, -float("inf"), 3)'),),
              (entered("parameter", "conv2.weight"),)),
    CheckCase("second-step", "custom", "a quotient by 0 in the second step only",
              (("warm = self.calls * 0.25", "warm = 1.0 / (self.calls - 1.0)"),),
              (inf("_backbone-Net/Reciprocal-op0"),), steps=3, step=1),
    CheckCase("two-steps", "mlp", "an infinite label in the second step, a NaN in the third",
              (LABEL_IN_SECOND_STEP, image_spoiled_in(2)), (entered("input", "inputs1"),), steps=3, step=1),
    CheckCase("two-branches-nan", "mlp", "a logarithm of negative numbers in one branch, of 0 in the other",
              ((SIN, "h = ops.log(h)"), (MAXIMUM, "positive = ops.maximum(h, 0.0)")),
              (nan("left-Left/Log-op0"), inf("left-Left/Log-op1"))),
    CheckCase("loop-third-turn", "loop", "a quotient by 0 in the third turn of a loop",
              (("x = ops.tanh(x)", "x = ops.tanh(x) / ops.cast(2 - turn, start.ms.float32)"),), (inf("*Div-op0"),)),
    CheckCase("loop-second-turn", "loop", "a quotient by 0 in the second turn; in the third it comes in again",
              (("x = ops.tanh(x)", "x = ops.tanh(x) / ops.cast(1 - turn, start.ms.float32)"),), (inf("*Div-op0"),)),
    CheckCase("loop-nan-in-image", "loop", "one NaN in the input of the network, whose first reader is in a loop",
              (("return start.array(40 + step, ROWS, WIDTH)",
                'return start.spoil(start.array(40 + step, ROWS, WIDTH), float("nan"), 5)'),),
              (nan("cell-Dense/MatMul-op0"),), ambiguous="what went in was not dumped: the operator is all there is"),
    CheckCase("branch-log", "loop", "a logarithm of negative numbers in one branch",
              (("x = x * 2.0", "x = ops.log(x)"),), (nan("net-Net/Log-op0"),)),
]

# The dump itself lacks something, or holds more than was written.
LOG_OF_ZERO = (MAXIMUM, "positive = ops.maximum(h, 0.0)")
PARTIAL = [
    CheckCase("partial-guilty-output", "mlp", "a logarithm of 0 whose output was lost", (LOG_OF_ZERO,),
              (inf("right-Right/Log-op0"),), lose=("*/Log.*.output.*",), also=("right-Right/Mul-op0",)),
    CheckCase("partial-guilty-output-nan", "mlp", "a logarithm of negative numbers whose output was lost",
              ((MAXIMUM, "positive = h - 0.5"),), (nan("right-Right/Log-op0"),), lose=("*/Log.*.output.*",)),
    CheckCase("partial-guilty-input", "mlp", "a logarithm of 0 whose input was lost", (LOG_OF_ZERO,),
              (inf("right-Right/Log-op0"),), lose=("*/Log.*.input.*",)),
    CheckCase("partial-guilty", "mlp", "a logarithm of 0 of which all is lost", (LOG_OF_ZERO,),
              (inf("right-Right/Log-op0"),), lose=("*/Log.*",), also=("right-Right/Mul-op0",)),
    CheckCase("partial-outputs", "mlp", "only outputs were dumped",
              ((SIN, "h = ops.select(h > 0, ops.sqrt(ops.relu(h)), h)"),), (nan("Grad_Sqrt/SqrtGrad-op0"),),
              lose=("*.input.*",)),
    CheckCase("partial-inputs", "mlp", "only inputs were dumped",
              ((SIN, "h = ops.select(h > 0, ops.sqrt(ops.relu(h)), h)"),), (nan("Grad_Sqrt/SqrtGrad-op0"),),
              lose=("*.output.*",), also=("left-Left/Grad_Sqrt/*", "left-Left/Grad_ReLU/ReluGrad-op0")),
    CheckCase("partial-no-ir", "mlp", "there is no IR", (LOG_OF_ZERO,), (inf("right-Right/Log-op0"),),
              lose=("rank_0/graphs/*", "rank_0/execution_order/*")),
    CheckCase("partial-nan-in-image", "mlp", "one NaN in the input of the network, and only outputs were dumped",
              ((MLP_IMAGE, 'return start.spoil(start.array(50 + step, ROWS, WIDTH), float("nan"), 17)'),),
              (entered("input", "inputs0"),), lose=("*.input.*",),
              also=("left-Left/first-Dense/MatMul-op0", "right-Right/gate-Dense/MatMul-op0")),
    CheckCase("garbage-and-fault", "cnn", "NaN in outputs that nothing reads, and 1/sqrt of 0",
              (("h = self.norm2(h)", "h = ops.rsqrt(ops.relu(self.norm2(h)))"),), (inf("_backbone-Net/Rsqrt-op0"),),
              garbage=True),
    CheckCase("garbage-and-later-fault", "transformer", "NaN in outputs that nothing reads, a NaN in the second batch",
              (("return start.array(70 + step, ROWS, LENGTH, WIDTH)",
                'return start.spoil(start.array(70 + step, ROWS, LENGTH, WIDTH), float("nan") if step == 1 else 0)'),),
              (entered("input", "inputs0"),), steps=2, step=1, garbage=True),
]

MISLABELLED = ("the run is healthy, the files are not: for an operator that the CPU runs in float32 the dump "
               "writes the first half of its bytes and calls them Float16")

CAST_MASK = "in figures it is an overflow: finite in, -inf out"

HEALTHY = [
    CheckCase("healthy-masked-fill", "transformer", "scores filled with -inf where masked",
              ((ADD_MASK, 'scores = ops.masked_fill(scores, self.mask < -1.0, float("-inf"))'),)),
    CheckCase("healthy-select", "transformer", "scores of -inf selected where masked",
              ((ADD_MASK, 'scores = ops.select(self.mask < -1.0, ops.full_like(scores, float("-inf")), scores)'),)),
    CheckCase("healthy-add-mask", "transformer", "a mask of -inf added to the scores",
              ((MASK, "MASK = np.where(np.tril(np.ones((LENGTH, LENGTH))) > 0, 0, -np.inf).astype(np.float32)"),)),
    CheckCase("healthy-cast-mask", "transformer", "a mask of -1e9 that a cast to float16 makes -inf",
              ((MASK, MASK.replace("1e4", "1e9")),
               (ADD_MASK, "scores = scores + ops.cast(ops.cast(self.mask * query[0, 0, 0] / query[0, 0, 0], "
                          "start.ms.float16), start.ms.float32)")), also=("Cast-op*",), ambiguous=CAST_MASK),
    CheckCase("healthy-positive-mask", "transformer", "distances filled with infinity where masked",
              ((ADD_MASK, 'scores = -ops.masked_fill(-scores, self.mask < -1.0, float("inf"))'),),
              also=("MaskedFill-op0",), ambiguous="msdump takes +inf for a fault wherever it comes from"),
    CheckCase("healthy-replaced", "mlp", "a NaN in the input of the network that is replaced",
              ((MLP_IMAGE, 'return start.spoil(start.array(50 + step, ROWS, WIDTH), float("nan"), 17)'),
               ("left = self.left(x)",
                "x = ops.select(ops.isnan(x), ops.zeros_like(x), x); left = self.left(x)")),
              also=("_backbone-Net/Select-op0", "_backbone-Net/IsNan-op0"), ambiguous="one may want to hear of a NaN in a batch all the same"),
    CheckCase("healthy-constants", "mlp", "cut at an infinite constant: nothing is",
              ((SIN, 'h = ops.minimum(ops.sin(h), float("inf"))'),)),
    CheckCase("healthy-pool-padding", "cnn", "padded with -inf in front of a pool",
              (("x = self.pool(x)", 'x = self.pool(ops.pad(x, (1, 0, 1, 0), "constant", float("-inf")))'),)),
    CheckCase("healthy-zero-bias", "mlp", "biases of 0",
              ((FILL, FILL + "; [bias.set_data(bias * 0) for bias in net.trainable_params() if bias.ndim == 1]"),)),
    CheckCase("healthy-running-minimum", "custom", "a running minimum that starts at infinity",
              (('Tensor(0.0, ms.float32), name="calls"', 'Tensor(float("inf"), ms.float32), name="calls"'),
               ("warm = self.calls * 0.25", "warm = 0.25"),
               ("ops.assign_add(self.calls, Tensor(1.0, ms.float32))",
                "ops.assign(self.calls, ops.minimum(self.calls, ops.amin(y)))")), steps=2),
    CheckCase("healthy-running-maximum", "custom", "a running maximum that starts at -infinity",
              (('Tensor(0.0, ms.float32), name="calls"', 'Tensor(float("-inf"), ms.float32), name="calls"'),
               ("warm = self.calls * 0.25", "warm = 0.25"),
               ("ops.assign_add(self.calls, Tensor(1.0, ms.float32))",
                "ops.assign(self.calls, ops.maximum(self.calls, ops.amax(y)))")), steps=2),
    CheckCase("healthy-unread-adam", "transformer", "NaN in outputs that nothing reads", steps=2, garbage=True),
    CheckCase("healthy-unread-batchnorm", "cnn", "NaN in outputs that nothing reads", steps=2, garbage=True),
    CheckCase("healthy-large", "mlp", "numbers of 1e30",
              (("return h * 1.5", "return h * 1e30 * 1.5e-30"),)),
    CheckCase("healthy-subnormal", "mlp", "outputs and labels of 1e-20: subnormal gradients",
              (("return self.head(joined)", "return self.head(joined) * 1e-20"),
               (MLP_TARGET, "return start.array(60 + step, ROWS, 4, scale=1e-20)"))),
    CheckCase("healthy-half", "half", "float16 with a loss scale that fits", steps=2),
    CheckCase("healthy-mislabelled", "half", "products of float16: the files hold float32",
              (("y = self.multiply(ops.cast(x, ms.float32), ops.cast(self.weight, ms.float32))",
                "y = self.multiply(x, self.weight)"),), also=("MatMul-op*",), ambiguous=MISLABELLED),
    CheckCase("healthy-loop", "loop", "control flow", steps=2),
]

ALL = FORWARD + BACKWARD + TRAINING + PARTIAL + HEALTHY
