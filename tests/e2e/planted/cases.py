"""The faults: of a net in nets/ the line that is changed, and the operators that the changed line became.

Operators are called by the end of their name in the final graph: "left-Left/Tanh-op0", or by two such ends where the
number moved ("reference -> candidate"), or "reference ->" and "-> candidate" where only one side has it.
Which kinds there are is in msdump's documentation of first_divergence: value, nan, shape, missing, parameter, input.
"""
from dataclasses import dataclass, field


@dataclass
class Root:
    """One fault. Any of its operators or parameters is a right answer."""

    kinds: tuple
    operators: tuple = ()
    parameters: tuple = ()


@dataclass
class Case:
    name: str
    net: str
    what: str
    changes: tuple = ()  # (old, new), each in one line
    roots: tuple = ()
    also: tuple = ()  # operators that are no wrong answer, but need not be named
    steps: int = 1
    first_step: int = 0
    delete: tuple = ()  # (operator, io, slot) of files that the candidate lacks; a slot of None: all of them
    measured_at: str = ""  # the operator whose inputs show the fault, where an operator is new or missing
    noise: float = 0.0  # relative, of all weights: the walk to the bit finds nothing then
    structure: bool = False  # operators are new or missing
    rewired: bool = False  # the same operators with other inputs: the walk sees no inputs that agree
    seen: dict = field(default_factory=dict)  # "bad", "bad_f16": can it be seen; else measured
    exit_codes: tuple = (1,)
    ambiguous: str = ""  # why another answer could be defended


def value(*operators):
    return Root(("value",), operators)


SCALE_LEFT = ("return h * 1.5", "return h * 1.2")
EPSILON = ("self.norm2 = nn.LayerNorm((WIDTH,), epsilon=1e-5)", "self.norm2 = nn.LayerNorm((WIDTH,), epsilon=1e-3)")
SOFTMAX_AXIS = ("self.softmax = nn.Softmax(axis=1)", "self.softmax = nn.Softmax(axis=0)")
ALL_DIFFER = "every weight differs a little: a parameter would not be wrong, but it is not what somebody looks for"
NOISE = ("start.fill(net)", "start.fill(net, noise=1e-4)")
LEFT_MUL = "Expand/_Muls/Mul-op0"

FIRST = [
    Case("layernorm-epsilon", "transformer", "epsilon of the second LayerNorm 1e-3 instead of 1e-5",
         (EPSILON,), (value("norm2-LayerNorm/LayerNorm-op0"),)),
    Case("dropped-mask", "transformer", "the mask is not added to the scores",
         (("scores = scores + self.mask", "scores = scores"),),
         (Root(("missing", "value"), ("attention-Attention/Add-op0 ->", "softmax-Softmax/Softmax-op0")),),
         measured_at="softmax-Softmax/Softmax-op0", structure=True),
    Case("weak-mask", "transformer", "the mask is -10 instead of -1e4",
         (("* -1e4", "* -10.0"),), (value("attention-Attention/Add-op0"),)),
    Case("momentum-constant", "mlp", "momentum 0.8 instead of 0.9; seen from the second step on",
         (("momentum=0.9", "momentum=0.8"),),
         (Root(("parameter", "value"), tuple(f"ApplyMomentum-op{i}" for i in range(8)), ("momentum",)),), steps=3),
    Case("log-zero", "mlp", "a logarithm of 0: the smallest value is 0 instead of 1e-6",
         (("positive = ops.maximum(h, 1e-6)", "positive = ops.maximum(h, 0.0)"),),
         (Root(("value", "nan"), ("right-Right/Maximum-op0", "right-Right/Log-op0", "Grad_Maximum/Less-op0",
                                  "Grad_Maximum/Equal-op0")),)),
    Case("extra-operator", "mlp", "tanh(h) * 1.05: a Mul more, and all later _Muls/Mul have another number",
         (("h = ops.tanh(h)", "h = ops.tanh(h) * 1.05"),),
         (Root(("missing", "value"), ("-> Expand/_Muls/Mul-op0", "left-Left/second-Dense/MatMul-op0")),),
         measured_at="left-Left/second-Dense/MatMul-op0", structure=True),
    Case("deleted-innocent", "mlp", "factor 1.2 instead of 1.5; of an operator in front of it the output file is lost",
         (SCALE_LEFT,), (value(LEFT_MUL),), delete=(("second-Dense/MatMul-op0", "output", 0),)),
    Case("deleted-innocent-later", "mlp", "the same; of an operator behind it the output file is lost",
         (SCALE_LEFT,), (value(LEFT_MUL),), delete=(("Sigmoid-op0", "output", 0),)),
    Case("deleted-guilty-output", "mlp", "the same; of the guilty operator the output file is lost",
         (SCALE_LEFT,), (value(LEFT_MUL),), delete=((LEFT_MUL, "output", 0),)),
    Case("deleted-guilty-input", "mlp", "the same; of the guilty operator the input file is lost",
         (SCALE_LEFT,), (value(LEFT_MUL),), delete=((LEFT_MUL, "input", 0),)),
    Case("deleted-guilty", "mlp", "the same; of the guilty operator all files are lost",
         (SCALE_LEFT,), (Root(("value", "missing"), (LEFT_MUL,)),), delete=((LEFT_MUL, None, None),)),
]

REST = [
    Case("layernorm-epsilon-small", "transformer", "epsilon of the second LayerNorm 2e-5 instead of 1e-5",
         ((EPSILON[0], EPSILON[0].replace("1e-5", "2e-5")),), (value("norm2-LayerNorm/LayerNorm-op0"),)),
    Case("layernorm-epsilon-large", "transformer", "epsilon of the first LayerNorm 1e-2 instead of 1e-5",
         (("self.norm1 = nn.LayerNorm((WIDTH,), epsilon=1e-5)", "self.norm1 = nn.LayerNorm((WIDTH,), epsilon=1e-2)"),),
         (value("norm1-LayerNorm/LayerNorm-op0"),), steps=2),
    Case("batchnorm-epsilon", "cnn", "epsilon of the second BatchNorm 1e-3 instead of 1e-5",
         (("self.norm2 = nn.BatchNorm2d(6, eps=1e-5", "self.norm2 = nn.BatchNorm2d(6, eps=1e-3"),),
         (value("norm2-BatchNorm2d/BatchNorm-op0"),), steps=2),
    Case("batchnorm-epsilon-large", "cnn", "epsilon of the first BatchNorm 1e-2 instead of 1e-5",
         (("self.norm1 = nn.BatchNorm2d(6, eps=1e-5", "self.norm1 = nn.BatchNorm2d(6, eps=1e-2"),),
         (value("norm1-BatchNorm2d/BatchNorm-op0"),)),
    Case("batchnorm-momentum", "cnn", "momentum of a BatchNorm 0.5 instead of 0.9: only running statistics differ",
         (("self.norm2 = nn.BatchNorm2d(6, eps=1e-5, momentum=0.9)",
           "self.norm2 = nn.BatchNorm2d(6, eps=1e-5, momentum=0.5)"),),
         (Root(("value", "parameter"), ("norm2-BatchNorm2d/BatchNorm-op0",),
               ("norm2.moving_mean", "norm2.moving_variance")),), steps=2),
    Case("softmax-axis", "mlp", "softmax over the rows instead of the columns",
         (SOFTMAX_AXIS,), (value("softmax-Softmax/Softmax-op0"),)),
    Case("attention-axis", "transformer", "softmax of the scores over the wrong axis",
         (("nn.Softmax(axis=-1)", "nn.Softmax(axis=-2)"),), (value("softmax-Softmax/Softmax-op0"),)),
    Case("mean-axis-shape", "mlp", "mean over the wrong axis: another shape that broadcasts as well",
         (("h = h - self.mean(h, 1)", "h = h - self.mean(h, 0)"),),
         (Root(("shape", "value"), ("right-Right/ReduceMean-op0",)),)),
    Case("wrong-type", "mlp", "cos instead of sin",
         (("h = ops.sin(h)", "h = ops.cos(h)"),),
         (Root(("missing", "value"), ("left-Left/Sin-op0 ->", "-> left-Left/Cos-op0", LEFT_MUL)),),
         measured_at=LEFT_MUL, structure=True),
    Case("swapped-inputs", "mlp", "the two halves are joined in the wrong order",
         (("joined = ops.concat((left, right), 1)", "joined = ops.concat((right, left), 1)"),),
         (value("_backbone-Net/Concat-op0"),), measured_at="_backbone-Net/Concat-op0", rewired=True),
    Case("half-cast", "transformer", "the context goes through float16",
         (("context = self.multiply(weights, value)",
           "context = ops.cast(ops.cast(self.multiply(weights, value), start.ms.float16), start.ms.float32)"),),
         (Root(("missing", "value", "shape"), ("-> norm1-LayerNorm/Cast-op0", "-> norm1-LayerNorm/Cast-op1",
                                               "out-Dense/Reshape-op0", "out-Dense/MatMul-op0")),),
         measured_at="out-Dense/Reshape-op0", structure=True),
    Case("bfloat16-cast", "transformer", "the context goes through bfloat16",
         (("context = self.multiply(weights, value)",
           "context = ops.cast(ops.cast(self.multiply(weights, value), start.ms.bfloat16), start.ms.float32)"),),
         (Root(("missing", "value", "shape"), ("-> norm1-LayerNorm/Cast-op0", "-> norm1-LayerNorm/Cast-op1",
                                               "out-Dense/Reshape-op0", "out-Dense/MatMul-op0")),),
         measured_at="out-Dense/Reshape-op0", structure=True),
    Case("bprop-doubled", "custom", "the gradient of a bprop is twice as large",
         (("return (dout * 0.9,)", "return (dout * 1.8,)"),), (value("Expand/_Muls/Mul-op2"),), steps=2),
    Case("bprop-sign", "custom", "the gradient of a bprop has the wrong sign: an operator more",
         (("return (dout * 0.9,)", "return (-dout * 0.9,)"),),
         (Root(("missing", "value"), ("-> Neg-op0", "Expand/_Muls/Mul-op2")),),
         measured_at="Expand/_Muls/Mul-op2", structure=True),
    Case("adam-beta2", "transformer", "beta2 0.99 instead of 0.999",
         (("beta2=0.999", "beta2=0.99"),),
         (value("optimizer-Adam/Mul-op1", *(f"optimizer-Adam/Adam-op{i}" for i in range(16))),), steps=2),
    Case("weight-decay", "cnn", "weight decay 0.1 instead of 0.01",
         (("weight_decay=0.01", "weight_decay=0.1"),),
         (value(*(f"optimizer-Momentum/Mul-op{i}" for i in range(5))),)),
    Case("learning-rate", "mlp", "learning rate 0.01 instead of 0.1",
         (("learning_rate=0.1", "learning_rate=0.01"),),
         (Root(("parameter", "value"), tuple(f"ApplyMomentum-op{i}" for i in range(8)), ("learning_rate",)),), steps=2),
    Case("residual-dropped", "transformer", "the second residual connection is missing",
         (("return x + h", "return h"),),
         (Root(("missing", "value"), ("attention-Attention/Add-op2 ->", "_backbone-Net/ReduceMean-op0")),),
         measured_at="_backbone-Net/ReduceMean-op0", structure=True),
    Case("residual-dropped-cnn", "cnn", "the residual connection is missing",
         (("x = x + h", "x = h"),),
         (Root(("missing", "value"), ("_backbone-Net/Add-op0 ->", "_backbone-Net/ReLU-op1")),),
         measured_at="_backbone-Net/ReLU-op1", structure=True),
    Case("extra-operator-scale", "transformer", "scores * 0.25 * 1.02: a Mul more, beside one of the same name",
         (("scores = scores * 0.25", "scores = scores * 0.25 * 1.02"),),
         (Root(("missing", "value"), ("-> Expand/_Muls/Mul-op2", "attention-Attention/Add-op0")),),
         measured_at="attention-Attention/Add-op0", structure=True),
    Case("extra-harmless", "mlp", "-(-h): two operators more and no other value",
         (("h = self.second(h)", "h = -(-self.second(h))"),), (), ("-> left-Left/Neg-op0", "-> left-Left/Neg-op1"),
         structure=True, exit_codes=(0, 1)),
    Case("two-branches", "mlp", "a factor in one branch, the axis of a softmax in the other",
         (SCALE_LEFT, SOFTMAX_AXIS), (value(LEFT_MUL), value("softmax-Softmax/Softmax-op0"))),
    Case("two-branches-kinds", "mlp", "a factor in one branch, a wrong initial bias in the other",
         (SCALE_LEFT, ("start.fill(net)", 'start.fill(net, wrong="right.gate.bias")')),
         (value(LEFT_MUL), Root(("parameter",), (), ("right.gate.bias",)))),
    Case("two-in-series", "transformer", "epsilon of a LayerNorm, and behind it the mask",
         (("self.norm1 = nn.LayerNorm((WIDTH,), epsilon=1e-5)", "self.norm1 = nn.LayerNorm((WIDTH,), epsilon=1e-2)"),
          ("* -1e4", "* -10.0")),
         (value("norm1-LayerNorm/LayerNorm-op0"),), ("attention-Attention/Add-op0", "softmax-Softmax/Softmax-op0")),
    Case("two-in-series-factors", "mlp", "a wrong factor, and behind it tanh instead of sigmoid",
         (SCALE_LEFT, ("joined = ops.sigmoid(joined)", "joined = ops.tanh(joined)")),
         (value(LEFT_MUL),), ("_backbone-Net/Sigmoid-op0 ->", "-> _backbone-Net/Tanh-op0", "head-Dense/MatMul-op0"),
         structure=True),
    Case("noise", "mlp", "all weights differ by 1e-4, and nothing else", (NOISE,), noise=1e-4, exit_codes=(0, 1),
         ambiguous=ALL_DIFFER),
    Case("noise-transformer", "transformer", "all weights differ by 1e-4, and nothing else", (NOISE,), noise=1e-4,
         exit_codes=(0, 1), ambiguous=ALL_DIFFER),
    Case("noise-cnn", "cnn", "all weights differ by 1e-5, and nothing else",
         (("start.fill(net)", "start.fill(net, noise=1e-5)"),), noise=1e-5, exit_codes=(0, 1),
         ambiguous=ALL_DIFFER),
    Case("noise-and-axis", "mlp", "all weights differ by 1e-4, and a softmax has the wrong axis",
         (NOISE, SOFTMAX_AXIS), (value("softmax-Softmax/Softmax-op0"),), noise=1e-4),
    Case("noise-and-epsilon", "transformer", "all weights differ by 1e-4, and an epsilon is 1e-2 instead of 1e-5",
         (NOISE, (EPSILON[0], EPSILON[0].replace("1e-5", "1e-2"))),
         (value("norm2-LayerNorm/LayerNorm-op0"),), noise=1e-4),
    Case("identical", "mlp", "the same run again", exit_codes=(0,), steps=2),
    Case("identical-transformer", "transformer", "the same run again", exit_codes=(0,)),
    Case("wrong-parameter", "mlp", "one weight starts from other values",
         (("start.fill(net)", 'start.fill(net, wrong="left.second.weight")'),),
         (Root(("parameter",), (), ("left.second.weight",)),), steps=2),
    Case("wrong-parameter-norm", "transformer", "the gamma of a LayerNorm starts from other values",
         (("start.fill(net)", 'start.fill(net, wrong="block.norm2.gamma")'),),
         (Root(("parameter",), (), ("block.norm2.gamma",)),)),
    Case("wrong-batch", "mlp", "another batch",
         (("return start.array(50 + step, ROWS, WIDTH)", "return start.array(51 + step, ROWS, WIDTH)"),),
         (Root(("input",), (), ("inputs0",)),)),
    Case("wrong-labels", "cnn", "the right images with the labels of another order",
         (("np.array([3, 0, 4, 1, 2, 0], np.int32)", "np.array([0, 3, 4, 1, 2, 0], np.int32)"),),
         (Root(("input",), (), ("inputs1",)),)),
    Case("later-factor", "custom", "a factor that is multiplied by 0 in the first step: seen from the second on",
         (("warm = self.calls * 0.25", "warm = self.calls * 0.4"),), (value("Expand/_Muls/Mul-op0"),), steps=3,
         first_step=1),
    Case("later-batch", "custom", "the wrong batch from the second step on",
         (("return start.array(90 + step, ROWS, WIDTH)", "return start.array(90 + 2 * step, ROWS, WIDTH)"),),
         (Root(("input",), (), ("inputs0",)),), steps=3, first_step=1),
    Case("branch-factor", "loop", "a factor in the branch behind a loop; the graph is several graphs",
         (("x = x * 2.0", "x = x * 2.5"),), (value("Expand/_Muls/Mul-op4"),)),
    Case("loop-body", "loop", "sin instead of tanh inside of a loop",
         (("x = ops.tanh(x)", "x = ops.sin(x)"),),
         (Root(("missing", "value"), ("net-Net/Tanh-op0 ->", "-> net-Net/Sin-op0")),), structure=True,
         seen={"bad": True, "bad_f16": True}),
    Case("loop-count", "loop", "a loop counts by 2: a turn less",
         (("turn = turn + 1", "turn = turn + 2"),), (value("net-Net/Add-op0"),), structure=True,
         seen={"bad": True, "bad_f16": True}),
]

ALL = FIRST + REST
NETS = ("mlp", "transformer", "cnn", "custom", "loop")


def named(name):
    return next(case for case in ALL if case.name == name)
