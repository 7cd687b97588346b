"""The runs: wrong kernels and right runs of each net. All was written before msdump saw a dump of them; since
then a gradient's block of what is 0 anyway was exchanged for a roll, as it changed nothing.

A wrong kernel is (call, kind) of plant.py; a call ends in "-" if its gradient is wrong and not its output. A net of nets.HELD
is held out: its totals are looked at, and no case of it. "auto" is a net under autocast to bfloat16; what its rounding hides
is told by HIDDEN: there an answer of nothing is right.
"""
from dataclasses import dataclass

from nets import HELD

WRONG = {
    "scan": """
        Functional.linear.0         bf16 operands
        Functional.linear.1         second operand transposed
        Functional.linear.3         bias twice
        Functional.linear.5         no bias
        Functional.linear.7         fp16 sums
        Functional.linear.8         block
        Functional.conv1d.0         tail
        Functional.conv1d.1         bias twice
        Functional.silu.1           sigmoid of 1.702 x
        Functional.silu.2           factor 1.001
        Functional.softplus.0       noise
        Torch.exp.1                 element
        Torch.exp.3                 stale
        Torch.mul.0                 rolled
        Torch.addcmul.5             stale
        Torch.matmul.7              last left out
        Torch.rsqrt.1               factor 1.01
        Torch.square.0              rolled
        Torch.mean.1                sum for mean
        Functional.layer_norm.0     epsilon
        Tensor.__mul__.3            block
        Functional.cross_entropy.0  factor 1.001
        Functional.embedding.0      rolled
        Functional.linear.3-        factor 1.01
        Torch.addcmul.9-            rolled
        Functional.silu.0-          tail
        Functional.conv1d.1-        noise
        Functional.softplus.1-      factor 1.001
        Functional.layer_norm.0-    element
        Torch.exp.3-                rolled
    """,
    "graph": """
        Torch.index_select.1        rolled
        Functional.linear.0         block
        Functional.linear.2         bf16 sums
        Functional.leaky_relu.1     other slope
        Torch.tanh.0                noise
        Torch.matmul.1              last left out
        Torch.amax.0                factor 1.01
        Torch.exp.1                 rolled
        Torch.index_add.1           last writer
        Torch.index_add.2           factor 1.01
        Torch.div.0                 factor 1.001
        Torch.scatter_add.0         last writer
        Torch.scatter_add.1         tail
        Torch.sigmoid.0             bf16 operands
        Functional.elu.1            negated
        Torch.lerp.1                stale
        Functional.layer_norm.1     epsilon
        Torch.norm.0                tail
        Functional.binary_cross_entropy_with_logits.0  factor 1.01
        Functional.smooth_l1_loss.0 factor 1.001
        Functional.embedding.0      element
        Functional.linear.0-        rolled
        Torch.index_select.3-       factor 1.01
        Torch.scatter_add.1-        tail
        Torch.lerp.0-               noise
        Functional.layer_norm.0-    block
        Torch.tanh.1-               factor 1.001
        Functional.binary_cross_entropy_with_logits.0- rolled
    """,
    "experts": """
        Functional.scaled_dot_product_attention.0  not causal
        Functional.scaled_dot_product_attention.0  bf16 operands
        Functional.layer_norm.1     epsilon
        Functional.linear.0         bf16 sums
        Functional.linear.2         fp16 operands
        Functional.linear.3         tail
        Torch.softmax.0             other axis
        Torch.topk.0                rolled
        Torch.sum.0                 factor 1.001
        Tensor.__truediv__.0        noise
        Tensor.__mul__.2            element
        Torch.baddbmm.0             block
        Functional.gelu.0           tanh for erf
        Torch.bmm.0                 last left out
        Torch.sum.3                 factor 1.01
        Functional.cross_entropy.0  no smoothing
        Torch.mean.0                sum for mean
        Functional.scaled_dot_product_attention.0- rolled
        Functional.gelu.0-          noise
        Functional.layer_norm.2-    factor 1.01
        Torch.softmax.0-            tail
        Torch.bmm.0-                block
        Torch.topk.0-               factor 1.01
        Functional.linear.1-        element
    """,
    "experts auto": """
        Functional.linear.1         factor 1.01
        Torch.bmm.0                 block
        Torch.softmax.0             other axis
        Functional.scaled_dot_product_attention.0  not causal
        Functional.layer_norm.1     epsilon
        Torch.baddbmm.0             rolled
        Functional.linear.3         tail
        Functional.linear.0         element
        Functional.cross_entropy.0  no smoothing
        Torch.sum.3                 rolled
        Tensor.__truediv__.0        factor 1.01
        Torch.bmm.0                 noise
        Functional.gelu.0           tanh for erf
        Functional.linear.1-        rolled
        Torch.bmm.0-                factor 1.01
        Functional.layer_norm.2-    tail
    """,
    "lstm": """
        Functional.linear.4         bias twice
        Functional.linear.9         bf16 operands
        Functional.linear.16        second operand transposed
        Functional.linear.17        fp16 sums
        Torch.sigmoid.7             stale
        Torch.sigmoid.12            factor 1.001
        Torch.tanh.5                rolled
        Torch.tanh.10               factor 1.01
        Torch.addcmul.3             element
        Torch.addcmul.8             stale
        Tensor.__mul__.10           tail
        Tensor.__add__.9            noise
        Torch.bmm.0                 block
        Torch.bmm.1                 last left out
        Tensor.__truediv__.0        factor 1.01
        Torch.masked_fill.0         mask not applied
        Torch.softmax.0             other axis
        Functional.log_softmax.0    noise
        Functional.nll_loss.0       factor 1.01
        Functional.embedding.0      rolled
        Functional.linear.6-        factor 1.01
        Torch.tanh.3-               rolled
        Torch.sigmoid.20-           tail
        Torch.addcmul.2-            noise
        Torch.bmm.1-                block
        Functional.log_softmax.0-   factor 1.001
        Torch.softmax.0-            rolled
        Torch.masked_fill.0-        element
    """,
    "convnext": """
        Functional.conv2d.0         bf16 operands
        Functional.conv2d.1         tail
        Functional.conv2d.2         bias twice
        Functional.conv2d.3         rolled
        Functional.hardswish.0      noise
        Functional.layer_norm.0     epsilon
        Functional.layer_norm.1     factor 1.001
        Functional.linear.0         bf16 sums
        Functional.linear.1         block
        Functional.linear.3         last left out
        Functional.gelu.0           tanh for erf
        Functional.gelu.1           rolled
        Torch.norm.1                factor 1.01
        Torch.mean.0                sum for mean
        Tensor.__truediv__.0        noise
        Tensor.__mul__.1            element
        Torch.mul.1                 factor 1.001
        Functional.batch_norm.0     epsilon
        Functional.max_pool2d.0     tail
        Functional.adaptive_avg_pool2d.0  factor 1.01
        Functional.pad.0            rolled
        Functional.cross_entropy.0  factor 1.01
        Functional.conv2d.2-        rolled
        Functional.conv2d.1-        factor 1.01
        Functional.layer_norm.1-    tail
        Functional.linear.2-        noise
        Functional.gelu.1-          block
        Functional.batch_norm.0-    factor 1.01
        Functional.max_pool2d.0-    rolled
        Torch.norm.0-               factor 1.01
    """,
    "diffusion": """
        Torch.cos.0                 rolled
        Torch.pow.0                 factor 1.01
        Torch.sqrt.0                noise
        Torch.outer.0               rolled
        Torch.sin.0                 element
        Functional.linear.1         bias twice
        Functional.linear.2         fp16 operands
        Functional.silu.0           sigmoid of 1.702 x
        Functional.silu.3           tail
        Functional.conv1d.0         bf16 operands
        Functional.conv1d.1         rolled
        Functional.conv1d.2         stale
        Functional.conv1d.4         block
        Functional.conv1d.9         no bias
        Functional.conv1d.11        factor 1.001
        Functional.group_norm.0     epsilon
        Functional.group_norm.3     noise
        Functional.group_norm.5     tail
        Functional.leaky_relu.0     negated
        Functional.interpolate.0    rolled
        Functional.mse_loss.0       factor 1.01
        Tensor.__add__.3            element
        Functional.conv1d.4-        tail
        Functional.group_norm.2-    rolled
        Functional.silu.4-          noise
        Functional.linear.1-        block
        Functional.leaky_relu.0-    factor 1.01
        Functional.interpolate.0-   rolled
        Functional.mse_loss.0-      factor 1.001
    """,
}
# bfloat16 rounds by 0.2 %: noise of 0.01 % and the approximation of GELU change less. (A factor of 0.1 % changes nothing.)
HIDDEN = {("experts auto", "Torch.bmm.0", "noise"), ("experts auto", "Functional.gelu.0", "tanh for erf")}
CLEAN = {"ref": {}, "threads": {"threads": 2}, "seed": {"seed": 2}, "wide": {"seed": 3, "width": 32}}


@dataclass
class Case:
    form: str  # the net, and perhaps " auto"
    name: str
    call: str = ""
    kind: str = ""  # empty: a right run
    backward: bool = False
    options: tuple = ()

    @property
    def net(self):
        return self.form.split()[0]

    @property
    def path(self):
        return f"{self.form.replace(' ', '-')}/{self.name}"

    @property
    def half(self):
        return "held" if self.net in HELD else "fit"

    @property
    def hidden(self):
        return not self.backward and (self.form, self.call, self.kind) in HIDDEN

    @property
    def operator(self):
        return f"{self.call}.{'backward' if self.backward else 'forward'}"

    def settings(self):
        precision = "autocast" if self.form.endswith("auto") else "float32"
        fault = {"call": self.call, "kind": self.kind, "backward": self.backward} if self.kind else None
        return {"net": self.net, "seed": 1, "width": 16, "threads": 1, "precision": precision, "fault": fault,
                **dict(self.options)}


def all_cases():
    for form, lines in WRONG.items():
        for name, options in CLEAN.items():
            yield Case(form, name, options=tuple(options.items()))
        for line in lines.strip().splitlines():
            call, kind = line.split(maxsplit=1)
            backward = call.endswith("-")
            name = f"{call.rstrip('-').split('.', 1)[1]}{'.backward' if backward else ''}-{kind}".replace(" ", "_")
            yield Case(form, name, call.rstrip("-"), kind, backward)


CASES = list(all_cases())
