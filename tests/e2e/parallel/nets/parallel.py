"""Tensor, sequence and context parallel layers, as Megatron writes them: a collective is a function with a gradient."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from run import concat, partial, values
from torch import nn


def all_reduce(x, group):
    if group is None:
        return x
    x = x.contiguous()
    dist.all_reduce(x, group=group)  # @all_reduce
    return x


def gather(x, group, axis):
    """The parts of all ranks of the group, joined along the axis."""
    if group is None:
        return x
    parts = [torch.empty_like(x, memory_format=torch.contiguous_format) for _ in range(dist.get_world_size(group))]
    dist.all_gather(parts, x.contiguous(), group=group)  # @all_gather
    return torch.cat(parts, axis)  # @gather_cat


def reduce_scatter(x, group, axis):
    """The sum over the group, of which each rank keeps its part along the axis."""
    if group is None:
        return x
    size = dist.get_world_size(group)
    stacked = torch.cat([part.contiguous() for part in x.chunk(size, axis)])  # @scatter_cat
    result = torch.empty([stacked.shape[0] // size, *stacked.shape[1:]], dtype=x.dtype)
    dist.reduce_scatter_tensor(result, stacked, group=group)  # @reduce_scatter
    return result


class CopyToRegion(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return all_reduce(grad.clone(), ctx.group), None  # @copy_backward


class ReduceFromRegion(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        return all_reduce(x.clone(), group)  # @reduce_forward

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class GatherFromSequence(torch.autograd.Function):
    """Before a column parallel layer; its gradient is a partial sum."""
    @staticmethod
    def forward(ctx, x, group, axis):
        ctx.group, ctx.axis = group, axis
        return gather(x, group, axis)  # @sequence_gather

    @staticmethod
    def backward(ctx, grad):
        return reduce_scatter(grad, ctx.group, ctx.axis), None, None  # @sequence_gather_backward


class ScatterToSequence(torch.autograd.Function):
    """After a row parallel layer, whose output is a partial sum."""
    @staticmethod
    def forward(ctx, x, group, axis):
        ctx.group, ctx.axis = group, axis
        return reduce_scatter(x, group, axis)  # @sequence_scatter

    @staticmethod
    def backward(ctx, grad):
        return gather(grad, ctx.group, ctx.axis), None, None  # @sequence_scatter_backward


class SplitSequence(torch.autograd.Function):
    """Of a tensor that all ranks have."""
    @staticmethod
    def forward(ctx, x, run, axis):
        ctx.group, ctx.axis = run.group("tp"), axis
        return run.part(x, axis, "tp")  # @split_sequence

    @staticmethod
    def backward(ctx, grad):
        return gather(grad, ctx.group, ctx.axis), None, None


class ColumnParallelLinear(nn.Module):
    """The rows of the weight, so the columns of the output, are cut. `blocks`: the sizes of what is fused."""
    def __init__(self, run, name, inputs, outputs, bias=True, blocks=None):
        super().__init__()
        self.run, self.name = run, name
        self.blocks = blocks or [outputs]
        self.weight = nn.Parameter(self.cut(values(name + ".weight", (outputs, inputs)).to(run.precision)))
        self.bias = nn.Parameter(self.cut(values(name + ".bias", (outputs,)).to(run.precision))) if bias else None

    def cut(self, whole):
        return torch.cat([self.run.part(block, 0, "tp") for block in whole.split(self.blocks)])  # @column_cut

    def layout(self, axis):
        kind = "concat" if len(self.blocks) == 1 else "blocks"
        return [{"kind": kind, "axis": axis, "over": "tp", "blocks": self.blocks}]

    def forward(self, x):
        run = self.run
        if not run.sp:
            x = CopyToRegion.apply(x, run.group("tp"))
        else:
            x = GatherFromSequence.apply(x, run.group("tp"), run.time_axis)
        y = F.linear(x, self.weight, self.bias)  # @column
        run.mark(self.name + ".weight", self.weight, self.layout(0) + run.stage,
                 grad=self.layout(0) + run.shared + run.stage)
        return run.mark(self.name, y, self.layout(y.dim() - 1) + run.tokens, factor=run.factor)


class RowParallelLinear(nn.Module):
    """The columns of the weight are cut; the outputs are summed over the group, then the bias is added."""
    def __init__(self, run, name, inputs, outputs, bias=True):
        super().__init__()
        self.run, self.name = run, name
        self.weight = nn.Parameter(run.part(values(name + ".weight", (outputs, inputs)).to(run.precision), 1, "tp"))
        self.bias = nn.Parameter(values(name + ".bias", (outputs,)).to(run.precision)) if bias else None

    def forward(self, x):
        run = self.run
        y = F.linear(x, self.weight)  # @row
        run.mark(self.name + ".weight", self.weight, concat(1, "tp") + run.stage,
                 grad=concat(1, "tp") + run.shared + run.stage)
        if self.bias is None:
            run.mark(self.name + ".partial", y, partial("tp") + run.tokens, grad=False)
        if run.sp:
            y = ScatterToSequence.apply(y, run.group("tp"), run.time_axis)
        else:
            y = ReduceFromRegion.apply(y, run.group("tp"))
        if self.bias is not None:
            y = y + self.bias  # @row_bias
        return run.mark(self.name, y, run.tokens + run.sequence(), factor=run.factor)


class VocabParallelEmbedding(nn.Module):
    """Rows of the table are cut; ids of other ranks give zeros, and the sum over the group is the embedding."""
    def __init__(self, run, name, rows, padded, width):
        super().__init__()
        self.run, self.name, self.rows = run, name, padded // run.size("tp")
        table = values(name + ".weight", (rows, width))
        table = torch.cat([table, torch.zeros(padded - rows, width)]).to(run.precision)
        self.weight = nn.Parameter(run.part(table, 0, "tp"))

    def forward(self, ids):
        run = self.run
        local = ids - run.index("tp") * self.rows  # @embedding_start
        outside = (local < 0) | (local >= self.rows)
        x = F.embedding(local.masked_fill(outside, 0), self.weight)  # @embedding
        run.mark(self.name + ".weight", self.weight, concat(0, "tp") + run.stage, grad=False)
        x = x.masked_fill(outside.unsqueeze(-1), 0.0)  # @embedding_mask
        run.mark(self.name + ".partial", x, partial("tp") + run.tokens, grad=False)
        if run.sp:
            x = ScatterToSequence.apply(x, run.group("tp"), run.time_axis)
        else:
            x = ReduceFromRegion.apply(x, run.group("tp"))
        return run.mark(self.name, x, run.tokens + run.sequence(), factor=run.factor)


class VocabParallelCrossEntropy(torch.autograd.Function):
    """The loss of each token from logits whose last axis is cut over the group."""
    @staticmethod
    def forward(ctx, logits, labels, group, start):
        logits = logits.float()
        peak = logits.max(-1).values  # @peak
        if group is not None:
            dist.all_reduce(peak, op=dist.ReduceOp.MAX, group=group)  # @peak_reduce
        shifted = logits - peak.unsqueeze(-1)
        local = labels - start
        outside = (local < 0) | (local >= logits.shape[-1])
        local = local.masked_fill(outside, 0)
        chosen = shifted.gather(-1, local.unsqueeze(-1)).squeeze(-1).masked_fill(outside, 0.0)  # @chosen
        chosen = all_reduce(chosen, group)  # @chosen_reduce
        exponents = shifted.exp()
        total = all_reduce(exponents.sum(-1), group)  # @total_reduce
        ctx.save_for_backward(exponents / total.unsqueeze(-1), local, outside)
        return total.log() - chosen

    @staticmethod
    def backward(ctx, grad):
        probabilities, local, outside = ctx.saved_tensors
        hot = torch.zeros_like(probabilities).scatter_(-1, local.unsqueeze(-1), (~outside).float().unsqueeze(-1))
        return (probabilities - hot) * grad.unsqueeze(-1), None, None, None  # @loss_backward
