"""The net of conv.py over ranks: channels of the convolutions cut by TP, pictures by DP; no modules."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from parallel import CopyToRegion, ReduceFromRegion
from run import Run, concat, numbers, partial, values

# Name: shape without and with the cut of TP along an axis (None: every rank has it whole).
CUTS = {"conv1.weight": 0, "conv1.bias": 0, "norm1.weight": 0, "norm1.bias": 0, "conv2.weight": 1, "norm2.weight": None,
        "norm2.bias": None, "fc1.weight": 0, "fc1.bias": 0, "fc2.weight": 1, "fc2.bias": None}


def shapes(run):
    c = run.channels
    return {"conv1.weight": (c, 3, 3, 3), "conv1.bias": (c,), "norm1.weight": (c,), "norm1.bias": (c,),
            "conv2.weight": (c, c, 3, 3), "norm2.weight": (c,), "norm2.bias": (c,), "fc1.weight": (run.hidden, c * 9),
            "fc1.bias": (run.hidden,), "fc2.weight": (run.classes, run.hidden), "fc2.bias": (run.classes,)}


def cut(axis):
    return [] if axis is None else concat(axis, "tp")


def make_parameters(run):
    made = {}
    for name, shape in shapes(run).items():
        whole = values(name, shape).to(run.precision)
        part = whole if CUTS[name] is None else run.part(whole, CUTS[name], "tp")  # @cut
        made[name] = part.requires_grad_()
    return made


def forward(run, p, x):
    batch, channels, factor, group = concat(0, "dp"), concat(1, "tp"), run.size("dp"), run.group("tp")
    x = F.conv2d(x, p["conv1.weight"], p["conv1.bias"], padding=1)  # @conv1
    run.mark("conv1", x, batch + channels, factor=factor)
    x = F.group_norm(x, 4 // run.size("tp"), p["norm1.weight"], p["norm1.bias"])  # @norm1
    x = F.relu(run.mark("norm1", x, batch + channels, factor=factor))
    x = run.mark("pool1", F.max_pool2d(x, 2), batch + channels, factor=factor)  # @pool1
    x = F.conv2d(x, p["conv2.weight"], padding=1)  # @conv2
    run.mark("conv2.partial", x, batch + partial("tp"), grad=False)
    x = run.mark("conv2", ReduceFromRegion.apply(x, group), batch, factor=factor)  # @conv2_reduce
    x = F.group_norm(x, 4, p["norm2.weight"], p["norm2.bias"])  # @norm2
    x = F.relu(run.mark("norm2", x, batch, factor=factor))  # @relu2
    x = run.mark("pool2", F.avg_pool2d(x, 2), batch, grad=False)  # @pool2
    x = CopyToRegion.apply(x.flatten(1), group)
    x = F.linear(x, p["fc1.weight"], p["fc1.bias"])  # @fc1
    x = F.relu(run.mark("fc1", x, batch + channels, factor=factor))  # @relu3
    x = ReduceFromRegion.apply(F.linear(x, p["fc2.weight"]), group)  # @fc2
    return run.mark("fc2", x + p["fc2.bias"], batch, factor=factor)  # @fc2_bias


def update(run, p, speed=0.05, decay=1e-2):
    """Gradients averaged over the batch's ranks, then plain SGD."""
    with torch.no_grad():
        for name, parameter in p.items():
            if run.group("dp") is not None:
                dist.all_reduce(parameter.grad, group=run.group("dp"))  # @data_reduce
                parameter.grad.div_(run.size("dp"))  # @data_mean
            run.note(f"{name}.reduced", parameter.grad, cut(CUTS[name]))
            step = parameter.grad + decay * parameter  # @decay
            parameter.sub_(speed * step)  # @update
            parameter.grad = None


def main():
    run = Run()
    p = make_parameters(run)
    for step in range(run.steps):
        pictures = numbers(f"pictures{step}", (run.batch, 3, 12, 12)).to(run.precision)
        labels = numbers(f"labels{step}", (run.batch,), 0, run.classes)
        pictures, labels = run.part(pictures, 0, "dp"), run.part(labels, 0, "dp")  # @batch
        with run.step(torch.nn.Identity()):
            for name, parameter in p.items():
                mean = [{"kind": "mean", "axis": None, "over": "dp"}]
                run.mark(name, parameter, cut(CUTS[name]), grad=cut(CUTS[name]) + mean)
            loss = F.cross_entropy(forward(run, p, pictures), labels)  # @loss
            run.mark("loss", loss, [{"kind": "mean", "axis": None, "over": "dp"}], grad=False)
            loss.backward()
            update(run, p)
    run.finish()


if __name__ == "__main__":
    main()
