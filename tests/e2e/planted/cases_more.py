"""More faults, in nets of the kinds that people train: those of resnet.py, decoder.py and unet.py."""
from case import Case, Root, value


def threads(number):
    return {"PLANTED_THREADS": str(number), "OMP_NUM_THREADS": str(number)}


def every(operator, count):
    return tuple(f"{operator}-op{number}" for number in range(count))


def structure(*operators):
    return Root(("missing", "value", "shape"), operators)


def parameter(name):
    return Root(("parameter",), (), (name,))


def given(name):
    return Root(("input",), (), (name,))


def fill_and(change):
    return "start.fill(net)", f"start.fill(net); {change}"


HALF = "[w.set_data(start.Tensor(w.asnumpy().astype('float16').astype('float32'))) for w in net.trainable_params()]"
OTHER_KERNELS = {"ONEDNN_MAX_CPU_ISA": "SSE41", "DNNL_MAX_CPU_ISA": "SSE41"}
ROUNDED = "the weights differ by the rounding of float16, and nothing else"

RESNET = [
    Case("resnet-shortcut-dropped", "resnet", "two blocks without their residual connection",
         (("h = h + x", "h = h"),),
         (structure("first-Block/Add-op0 ->", "first-Block/Add-op2 ->", "_backbone-Net/ReLU-op2",
                    "_backbone-Net/ReLU-op6"),), measured_at="_backbone-Net/ReLU-op2", structure=True),
    Case("resnet-shortcut-norm", "resnet", "the projection is not normalised",
         (("shortcut = self.norm3(shortcut)", "shortcut = shortcut"),),
         (structure("norm3-BatchNorm2d/BatchNorm-op0 ->", "first-Block/Add-op1"),),
         measured_at="first-Block/Add-op1", structure=True),
    Case("resnet-padding", "resnet", "a convolution at stride 2 pads at the end only",
         (('3, stride=2, pad_mode="pad", padding=1)', '3, stride=2, pad_mode="same")'),),
         (value("down-Down/conv1-Conv2d/Conv2D-op0"),),
         ("down-Down/conv1-Conv2d/Grad_Conv2D/Conv2DBackpropInput-op0",
          "down-Down/conv1-Conv2d/Grad_Conv2D/Conv2DBackpropFilter-op0")),
    Case("resnet-silu", "resnet", "silu instead of relu",
         (("x = ops.relu(x)", "x = ops.silu(x)"),),
         (structure("_backbone-Net/ReLU-op0 ->", "-> Expand/_SiLU/Mul-op0", "-> Expand/_SiLU/Sigmoid-op0",
                    "first-Block/conv1-Conv2d/Conv2D-op0"),),
         measured_at="first-Block/conv1-Conv2d/Conv2D-op0", structure=True),
    Case("resnet-global-max", "resnet", "the largest value of each channel instead of the mean",
         (("x = self.mean(x, (2, 3))", "x = ops.amax(x, (2, 3))"),),
         (structure("_backbone-Net/ReduceMean-op0 ->", "-> _backbone-Net/ReduceMax-op0", "head-Dense/MatMul-op0"),),
         measured_at="head-Dense/MatMul-op0", structure=True),
    Case("resnet-kernel-transposed", "resnet", "the kernel of a convolution is loaded with height and width exchanged",
         (fill_and("w = net.last.conv1.weight; w.set_data(start.Tensor(w.asnumpy().swapaxes(2, 3).copy()))"),),
         (parameter("last.conv1.weight"),)),
    Case("resnet-zero-gamma", "resnet", "the last gamma starts at 0",
         (fill_and("net.last.norm2.gamma.set_data(net.last.norm2.gamma * 0)"),), (parameter("last.norm2.gamma"),)),
    Case("resnet-deviation", "resnet", "the images are divided by another standard deviation",
         (("return ((raw - MEAN) / STD)", "return ((raw - MEAN) / 0.3)"),), (given("inputs0"),)),
    Case("resnet-loss-scale", "resnet", "gradients divided by a loss scale that the loss does not have",
         (("weight_decay=0.001)", "weight_decay=0.001, loss_scale=2.0)"),),
         (structure(*every("optimizer-Momentum/ApplyMomentum", 26), "-> optimizer-Momentum/Mul-op0"),),
         tuple(f"-> {name}" for name in every("optimizer-Momentum/Mul", 36)),
         measured_at="optimizer-Momentum/ApplyMomentum-op0", structure=True),
    Case("resnet-loss-sum", "resnet", "the sum of the losses instead of the mean",
         (('reduction="mean"', 'reduction="sum"'),),
         (structure("_loss_fn-SoftmaxCrossEntropyWithLogits/SparseSoftmaxCrossEntropyWithLogits-op0 ->",
                    "Grad_SparseSoftmaxCrossEntropyWithLogits/SparseSoftmaxCrossEntropyWithLogits-op0 ->",
                    "-> _loss_fn-SoftmaxCrossEntropyWithLogits/ReduceSum-op0",
                    "-> _loss_fn-SoftmaxCrossEntropyWithLogits/SoftmaxCrossEntropyWithLogits-op0",
                    "-> _loss_fn-SoftmaxCrossEntropyWithLogits/OneHot-op0", "head-Dense/Grad_MatMul/MatMul-op0",
                    "head-Dense/Grad_MatMul/MatMul-op1", "head-Dense/Grad_BiasAdd/BiasAddGrad-op0"),),
         measured_at="head-Dense/Grad_MatMul/MatMul-op0", structure=True),
    Case("resnet-frozen-norm", "resnet", "a BatchNorm by its running statistics, as in evaluation",
         (("self.norm = nn.BatchNorm2d(8, eps=1e-5, momentum=0.9)",
           "self.norm = nn.BatchNorm2d(8, eps=1e-5, momentum=0.9, use_batch_statistics=False)"),),
         (structure("_backbone-Net/norm-BatchNorm2d/BatchNorm-op0"),), steps=2, structure=True,
         seen={"bad": True, "bad_f16": True}),
    Case("resnet-half-weights", "resnet", ROUNDED, (fill_and(HALF),), noise=3e-4, exit_codes=(0, 1)),
    Case("resnet-other-kernels", "resnet", "convolutions without AVX: other orders of additions",
         environment=OTHER_KERNELS, noise=1e-6, exit_codes=(0, 1)),
]

DECODER = [
    Case("decoder-norm-epsilon", "decoder", "epsilon of every RMSNorm 1e-3 instead of 1e-6",
         (("power = power + 1e-6", "power = power + 1e-3"),),
         (value(*(f"_backbone-Net/Add-op{number}" for number in (1, 4, 6, 9, 11))),), steps=2),
    Case("decoder-norm-axis", "decoder", "every RMSNorm over the rows: another shape that broadcasts as well",
         (("self.mean(x * x, -1)", "self.mean(x * x, 0)"),),
         (Root(("shape", "value"), tuple(f"{norm}/ReduceMean-op0" for norm in (
             "first-Block/norm1-Norm", "first-Block/norm2-Norm", "second-Block/norm1-Norm", "second-Block/norm2-Norm",
             "_backbone-Net/norm-Norm"))),)),
    Case("decoder-scale-dropped", "decoder", "the scores are not scaled",
         (("scores = scores * 0.35355339", "scores = scores"),),
         (structure("Expand/_Muls/Mul-op0 ->", "Expand/_Muls/Mul-op1 ->", "_backbone-Net/Add-op2",
                    "_backbone-Net/Add-op7"),), measured_at="_backbone-Net/Add-op2", structure=True),
    Case("decoder-mask-shifted", "decoder", "every word sees the next one",
         (("np.tril(np.ones((LENGTH, LENGTH), np.float32))", "np.tril(np.ones((LENGTH, LENGTH), np.float32), 1)"),),
         (value("_backbone-Net/Add-op2", "_backbone-Net/Add-op7"),)),
    Case("decoder-gelu", "decoder", "gelu instead of silu",
         (("gate = ops.silu(gate)", "gate = ops.gelu(gate)"),),
         (structure("Expand/_SiLU/Mul-op0 ->", "Expand/_SiLU/Sigmoid-op0 ->", "Expand/_SiLU/Mul-op1 ->",
                    "Expand/_SiLU/Sigmoid-op1 ->", "-> first-Block/gated-Gated/Div-op0",
                    "-> first-Block/gated-Gated/Erf-op0", "-> first-Block/gated-Gated/Mul-op0",
                    "-> first-Block/gated-Gated/Mul-op1", "-> _backbone-Net/Add-op5",
                    "first-Block/gated-Gated/Mul-op0 -> first-Block/gated-Gated/Mul-op2",
                    "second-Block/gated-Gated/Mul-op0"),),
         measured_at="second-Block/gated-Gated/Mul-op0", structure=True),
    Case("decoder-heads-mixed", "decoder", "the heads are joined without moving their axis back",
         (("context = ops.transpose(context, (0, 2, 1, 3))", "context = context"),),
         (structure("first-Block/attention-Attention/Transpose-op3 ->",
                    "first-Block/attention-Attention/Transpose-op7 ->",
                    "first-Block/attention-Attention/MatMul-op0", "second-Block/attention-Attention/MatMul-op0"),),
         measured_at="first-Block/attention-Attention/MatMul-op0", structure=True),
    Case("decoder-out-transposed", "decoder", "a square weight is multiplied as it is, not transposed",
         (("self.out = ops.MatMul(transpose_b=True)", "self.out = ops.MatMul()"),),
         (value("first-Block/attention-Attention/MatMul-op0", "second-Block/attention-Attention/MatMul-op0"),)),
    Case("decoder-betas", "decoder", "beta1 and beta2 exchanged",
         (("beta1=0.9, beta2=0.999", "beta1=0.999, beta2=0.9"),),
         (value(*every("optimizer-AdamWeightDecay/AdamWeightDecay", 22)),), steps=2),
    Case("decoder-weight-decay", "decoder", "no weight decay",
         (("weight_decay=0.05", "weight_decay=0.0"),),
         (value(*every("optimizer-AdamWeightDecay/AdamWeightDecay", 22)),)),
    Case("decoder-dropout", "decoder", "a dropout that the reference has off",
         (("self.dropout = nn.Dropout(p=0.0)", "self.dropout = nn.Dropout(p=0.1)"),),
         (structure("-> first-Block/dropout-Dropout/Dropout-op0", "_backbone-Net/Add-op5", "_backbone-Net/Add-op10"),),
         measured_at="_backbone-Net/Add-op5", structure=True),
    Case("decoder-half-cast", "decoder", "what goes into a dense layer goes through float16",
         (("return self.down(h)", "return self.down(ops.cast(ops.cast(h, ms.float16), ms.float32))"),),
         (structure("-> first-Block/gated-Gated/Cast-op0", "first-Block/gated-Gated/down-Linear/MatMul-op0",
                    "second-Block/gated-Gated/down-Linear/MatMul-op0"),),
         measured_at="first-Block/gated-Gated/down-Linear/MatMul-op0", structure=True),
    Case("decoder-places-dropped", "decoder", "the places are not added to the words",
         (("x = x + self.places", "x = x"),),
         (structure("_backbone-Net/Add-op0 ->", "first-Block/norm1-Norm/Mul-op0"),),
         ("optimizer-AdamWeightDecay/AdamWeightDecay-op0",),
         measured_at="first-Block/norm1-Norm/Mul-op0", structure=True),
    Case("decoder-gradient-cut", "decoder", "no gradient goes through the attention",
         (("x = x + h", "x = x + ops.stop_gradient(h)"),),
         (structure("Gradients/Default/network-WithLossCell/_backbone-Net/AddN-op2 ->",
                    "Gradients/Default/network-WithLossCell/_backbone-Net/AddN-op4 ->",
                    "head-Linear/Grad_MatMul/MatMul-op4 ->", "head-Linear/Grad_MatMul/MatMul-op22 ->",
                    "head-Linear/Grad_MatMul/MatMul-op8 -> head-Linear/Grad_MatMul/MatMul-op4",
                    "head-Linear/Grad_MatMul/MatMul-op21 -> head-Linear/Grad_MatMul/MatMul-op9",
                    *(f"optimizer-AdamWeightDecay/AdamWeightDecay-op{number}"
                      for number in (3, 4, 5, 6, 12, 13, 14, 15))),),
         measured_at="head-Linear/Grad_MatMul/MatMul-op8", structure=True),
    Case("decoder-labels", "decoder", "the labels are the words themselves, not the next ones",
         (("return text_of(step)[:, 1:].reshape(-1)", "return text_of(step)[:, :-1].reshape(-1)"),),
         (given("inputs1"),)),
    Case("decoder-scale-and-head", "decoder", "the scores scaled by 1/8, not its root; a weight that starts otherwise",
         (("scores * 0.35355339", "scores * 0.125"), ("start.fill(net)", 'start.fill(net, wrong="head.weight")')),
         (value("Expand/_Muls/Mul-op0", "Expand/_Muls/Mul-op1"), parameter("head.weight"))),
    Case("decoder-half-weights", "decoder", ROUNDED, (fill_and(HALF),), noise=3e-4, exit_codes=(0, 1)),
]

UNET = [
    Case("unet-concat-order", "unet", "the skip is joined after, not before",
         (("ops.concat((skip, h), 1)", "ops.concat((h, skip), 1)"),), (value("net-Net/Concat-op0"),),
         measured_at="net-Net/Concat-op0", rewired=True),
    Case("unet-up-padding", "unet", "a transposed convolution pads at the end only: a pixel off",
         (('4, stride=2, pad_mode="pad", padding=1', '4, stride=2, pad_mode="pad", padding=(0, 2, 0, 2)'),),
         (value("up-Conv2dTranspose/Conv2DBackpropInput-op0"),),
         ("up-Conv2dTranspose/Grad_Conv2DTranspose/Conv2D-op0",
          "up-Conv2dTranspose/Grad_Conv2DTranspose/Conv2DBackpropFilter-op0")),
    Case("unet-groups", "unet", "four groups instead of two in every GroupNorm",
         (("nn.GroupNorm(2, width_out", "nn.GroupNorm(4, width_out"),),
         (value(*every("outer-Pair/norm-GroupNorm/GroupNorm", 4)),)),
    Case("unet-slope", "unet", "the slope of every leaky ReLU 0.01 instead of 0.1",
         (("alpha=0.1", "alpha=0.01"),), (value(*every("outer-Pair/leaky-LeakyReLU/Mul", 4)),)),
    Case("unet-dice-weight", "unet", "the dice counts twice as much in the loss",
         (("cross + 0.3 * dice", "cross + 0.6 * dice"),),
         (value("Expand/_Muls/Mul-op1", "Grad_ReduceMean/RealDiv-op0"),)),
    Case("unet-dice-smooth", "unet", "the dice with another smoothing",
         (("(2 * both + 1.0)", "(2 * both + 4.0)"),), (value("net-Net/Add-op1"),)),
    Case("unet-centre", "unet", "0.5 is not taken from the image",
         (("x = x - 0.5", "x = x"),), (structure("net-Net/Sub-op0 ->", "outer-Pair/conv-Conv2d/Conv2D-op0"),),
         measured_at="outer-Pair/conv-Conv2d/Conv2D-op0", structure=True),
    Case("unet-mean-pool", "unet", "a mean pool instead of a max pool",
         (("nn.MaxPool2d(", "nn.AvgPool2d("),),
         (structure("pool-MaxPool2d/MaxPool-op0 ->", "-> pool-AvgPool2d/AvgPool-op0",
                    "inner-Pair/conv-Conv2d/Conv2D-op0"),),
         measured_at="inner-Pair/conv-Conv2d/Conv2D-op0", structure=True),
    Case("unet-decay", "unet", "the decay of RMSProp 0.99 instead of 0.9",
         (("decay=0.9,", "decay=0.99,"),), (value(*every("optimizer-RMSProp/ApplyRMSProp", 20)),), steps=2),
    Case("unet-sigmoid-twice", "unet", "the loss of logits is given the sigmoid of them",
         (("self.cross(logits, mask", "self.cross(ops.sigmoid(logits), mask"),),
         (value("network-Loss/BCEWithLogitsLoss-op0"),),
         measured_at="network-Loss/BCEWithLogitsLoss-op0", rewired=True),
    Case("unet-up-bias", "unet", "the transposed convolution without its bias",
         (('4, stride=2, pad_mode="pad", padding=1, has_bias=True', '4, stride=2, pad_mode="pad", padding=1'),),
         (structure("up-Conv2dTranspose/BiasAdd-op0 ->", "net-Net/Concat-op0"),),
         measured_at="net-Net/Concat-op0", structure=True),
    Case("unet-mask", "unet", "the mask with another threshold",
         (("> 1.1).astype", "> 1.0).astype"),), (given("inputs1"),)),
    Case("unet-slope-and-bias", "unet", "the slope of every leaky ReLU; a bias that starts otherwise",
         (("alpha=0.1", "alpha=0.2"), ("start.fill(net)", 'start.fill(net, wrong="out.bias")')),
         (value(*every("outer-Pair/leaky-LeakyReLU/Mul", 4)), parameter("net.out.bias"))),
    Case("unet-other-kernels", "unet", "one thread, and convolutions without AVX",
         environment=threads(1) | OTHER_KERNELS, noise=1e-6, exit_codes=(0, 1)),
]

ALL = RESNET + DECODER + UNET
