"""Wrong kernels below msprobe: the dump has the name and the inputs of a call, and what the wrong kernel wrote.

The output is overwritten in its own memory, so that autograd has the node and the saved tensors of the call as a wrong kernel
leaves them. A wrong gradient is written by a hook of the node that runs before msprobe's: the name of the call stays, no
Function of another name is needed.
"""
import threading

import torch
from msprobe.core.dump.hook_manager import BaseHookManager
from msprobe.pytorch.dump.api_dump.api_register import ApiTemplate


class Plain:
    """Nothing that happens inside is recorded."""

    def __enter__(self):
        self.thread, self.grad = threading.get_ident(), torch.no_grad()
        self.before = BaseHookManager.inner_switch[self.thread]
        BaseHookManager.inner_switch[self.thread] = True
        self.grad.__enter__()

    def __exit__(self, *_):
        self.grad.__exit__(None, None, None)
        BaseHookManager.inner_switch[self.thread] = self.before


def rms(y):
    return y.float().square().mean().sqrt()


def flat(change):
    def changed(y):
        y = y.contiguous().clone()
        change(y.view(-1))
        return y

    return changed


def tail(y):
    y[-max(1, len(y) // 8):] = 0


def element(y):
    y[len(y) // 3] += 0.1 * rms(y)


@flat
def noise(y):
    y += 1e-4 * rms(y) * torch.randn(y.shape, generator=torch.Generator().manual_seed(7))


def block(y):
    """16 x 16 elements of the last two axes, all others together with the first of them."""
    y = y.contiguous().clone()
    rows = y.view(-1, y.shape[-1])
    rows[:16, :16] = 0
    return y


# What a kernel makes of its right output.
OUTPUT = {
    "rolled": lambda y: torch.roll(y, 1, -1),
    "tail": flat(tail),
    "factor 1.01": lambda y: y * 1.01,
    "factor 1.001": lambda y: y * 1.001,
    "block": block,
    "element": flat(element),
    "noise": noise,
    "negated": lambda y: -y,
}


def other(position, keyword, change):
    """The call with another argument."""

    def called(function, args, kwargs):
        args, kwargs = list(args), dict(kwargs)
        if keyword in kwargs:
            kwargs[keyword] = change(kwargs[keyword])
        elif position < len(args):
            args[position] = change(args[position])
        else:
            kwargs[keyword] = change(None)
        return function(*args, **kwargs)

    return called


def low_operands(dtype):
    def called(function, args, kwargs):
        def low(value):
            return value.to(dtype).to(value.dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() \
                else value

        return function(*map(low, args), **{key: low(value) for key, value in kwargs.items()})

    return called


def low_sums(dtype):
    """Products whose partial sums are kept in `dtype` after every fourth term."""

    def called(function, args, kwargs):
        a, b = args[0], args[1]
        bias = args[2] if len(args) > 2 else kwargs.get("bias")
        if function.__name__ == "linear":
            b = b.t()
        total = torch.zeros(()).to(dtype)
        for first in range(0, a.shape[-1], 4):
            part = torch.matmul(a[..., first:first + 4], b[..., first:first + 4, :])
            total = (total.float() + part).to(dtype)
        return total.float() if bias is None else total.float() + bias

    return called


def last_left_out(function, args, kwargs):
    """A loop over the sums of a product that ends one too early."""
    a = args[0].clone()
    a[..., -1] = 0
    return function(a, *args[1:], **kwargs)


def last_writer(function, args, kwargs):
    """Of several updates of an element one is kept."""
    y, axis, index, updates = args
    if index.dim() == 1:
        return y.index_copy(axis, index, updates)
    return y.scatter(axis, index, updates)


def transposed(position):
    return other(position, "", lambda x: x.transpose(-1, -2))


CALL = {
    "epsilon": lambda function, args, kwargs: other({"layer_norm": 4, "group_norm": 4, "batch_norm": 7}[
        function.__name__], "eps", lambda _: 1e-2)(function, args, kwargs),
    "second operand transposed": transposed(1),
    "bias twice": other(2, "bias", lambda bias: 2 * bias),
    "no bias": other(2, "bias", lambda _: None),
    "bf16 operands": low_operands(torch.bfloat16),
    "fp16 operands": low_operands(torch.float16),
    "bf16 sums": low_sums(torch.bfloat16),
    "fp16 sums": low_sums(torch.float16),
    "last left out": last_left_out,
    "last writer": last_writer,
    "other axis": other(1, "dim", lambda _: 0),
    "mask not applied": lambda function, args, kwargs: args[0],
    "not causal": other(5, "is_causal", lambda _: False),
    "other slope": other(1, "negative_slope", lambda _: 0.01),
    "tanh for erf": other(9, "approximate", lambda _: "tanh"),
    "sum for mean": lambda function, args, kwargs: torch.sum(*args, **kwargs),
    "sigmoid of 1.702 x": lambda function, args, kwargs: args[0] * torch.sigmoid(1.702 * args[0]),
    "no smoothing": other(9, "label_smoothing", lambda _: 0.0),
}


def wrong_output(kind, function, args, kwargs, y, before):
    if kind == "stale":
        return before
    if kind in OUTPUT:
        return OUTPUT[kind](y)
    return CALL[kind](function, args, kwargs)


def tensors_of(y):
    return [y] if isinstance(y, torch.Tensor) else [one for one in y if isinstance(one, torch.Tensor)]


def plant(call, kind, backward=False):
    """`call` is the name of msprobe without its end: Functional.silu.2."""
    run, kept = ApiTemplate.forward, {}

    def forward(self, *args, **kwargs):
        y = run(self, *args, **kwargs)
        # msprobe itself calls mean and norm for its statistics.
        if not call.startswith(self.prefix_api_name) or BaseHookManager.inner_switch[threading.get_ident()]:
            return y
        first = tensors_of(y)[0]
        planted = getattr(self, "full_forward_name", None) == f"{call}.forward"
        with Plain():
            if backward and planted:
                first.grad_fn.register_hook(lambda gradients, dy: wrong_gradients(kind, gradients))
            elif planted:
                wrong = tensors_of(wrong_output(kind, self.api_func, args, kwargs, first.detach(), kept[first.shape]
                                                if kind == "stale" else None))[0]
                assert wrong.shape == first.shape and not torch.equal(wrong, first), f"{kind} changes nothing"
                first.data.copy_(wrong)
            kept[first.shape] = first.detach().clone()
        return y

    ApiTemplate.forward = forward


def wrong_gradients(kind, gradients):
    """The first gradient that is not null is the wrong one."""
    gradients = list(gradients)
    with Plain():
        at = next(i for i, gradient in enumerate(gradients) if gradient is not None)
        wrong = OUTPUT[kind](gradients[at].contiguous())
        assert not torch.equal(wrong, gradients[at]), f"{kind} changes nothing"
        gradients[at] = wrong
    return tuple(gradients)
