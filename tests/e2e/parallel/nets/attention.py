"""Attention over ranks: heads cut by TP; the sequence cut by CP, keys and values gathered or passed round a ring."""
import math

import torch
import torch.distributed as dist
from parallel import ColumnParallelLinear, RowParallelLinear, gather, reduce_scatter
from run import concat
from torch import nn


class GatherContext(torch.autograd.Function):
    """Keys and values of all ranks, in the order of the ranks."""
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return gather(x, group, 2)  # @context_gather

    @staticmethod
    def backward(ctx, grad):
        return reduce_scatter(grad, ctx.group, 2), None  # @context_scatter


class Pass(torch.autograd.Function):
    """To the next rank of the ring; the gradient comes back the other way."""
    @staticmethod
    def forward(ctx, x, run):
        ctx.run = run
        return Pass.shift(x, run, 1)  # @ring

    @staticmethod
    def backward(ctx, grad):
        return Pass.shift(grad, ctx.run, -1), None  # @ring_backward

    @staticmethod
    def shift(x, run, by):
        ranks = run.ranks_over("cp")
        place, size = run.place["cp"], len(ranks)
        x, received = x.contiguous(), torch.empty_like(x, memory_format=torch.contiguous_format)
        target, source = ranks[(place + by) % size], ranks[(place - by) % size]
        sends = dist.isend(x, target)  # @ring_send
        dist.recv(received, source)  # @ring_receive
        sends.wait()
        return received


def frequencies(width):
    return 1.0 / (10000.0 ** (torch.arange(0, width, 2).float() / width))


def rotate(x, positions):
    angle = torch.outer(positions.float(), frequencies(x.shape[-1]))  # @angle
    cos, sin = torch.cos(angle).to(x.dtype), torch.sin(angle).to(x.dtype)
    left, right = x.chunk(2, -1)
    return torch.cat((left * cos - right * sin, right * cos + left * sin), -1)  # @rotate


class SelfAttention(nn.Module):
    def __init__(self, run, name):
        super().__init__()
        self.run, self.name = run, name
        self.head = run.width // run.heads
        sizes = [run.heads * self.head, run.kv_heads * self.head, run.kv_heads * self.head]
        self.sizes = [size // run.size("tp") for size in sizes]
        blocks = None if run.fused == "heads" else sizes
        self.linear_qkv = ColumnParallelLinear(run, f"{name}.qkv", run.width, sum(sizes), run.bias, blocks)
        self.linear_proj = RowParallelLinear(run, f"{name}.proj", run.width, run.width, run.bias)

    def heads(self, x):
        x = x.unflatten(-1, (-1, self.head))
        return x.permute(1, 2, 0, 3) if self.run.time_axis == 0 else x.transpose(1, 2)  # @heads

    def split(self, fused):
        run = self.run
        if run.fused == "heads":
            each = run.heads // run.kv_heads
            fused = fused.unflatten(-1, (-1, each + 2, self.head))
            return [part.flatten(-3) for part in fused.split([each, 1, 1], -2)]  # @split_heads
        return fused.split(self.sizes, -1)  # @split_qkv

    def forward(self, x, positions):
        run, name = self.run, self.name
        q, k, v = (self.heads(part) for part in self.split(self.linear_qkv(x)))
        if run.positions == "rope":
            q, k = rotate(q, positions), rotate(k, positions)
        layout = concat(1, "tp") + run.cut_tokens(0, 2) + run.stage
        run.mark(f"{name}.q", q, layout, factor=run.factor)
        if run.kv_heads != run.heads:
            k, v = (part.repeat_interleave(run.heads // run.kv_heads, 1) for part in (k, v))  # @repeat
        run.mark(f"{name}.k", k, layout, factor=run.factor)
        mix = self.ring if run.size("cp") > 1 and run.settings.get("ring") else self.gathered
        mixed = run.mark(f"{name}.mixed", mix(q, k, v, positions), layout, factor=run.factor)
        mixed = mixed.permute(2, 0, 1, 3) if run.time_axis == 0 else mixed.transpose(1, 2)
        return self.linear_proj(mixed.flatten(2))

    def gathered(self, q, k, v, positions):
        run, group = self.run, self.run.group("cp")
        keys = positions
        if group is not None:
            k, v = GatherContext.apply(k, group), GatherContext.apply(v, group)
            keys = gather(positions, group, 0)
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head)  # @scores
        scores = scores.masked_fill(keys.unsqueeze(0) > positions.unsqueeze(1), -1e9)  # @masked
        weights = torch.softmax(scores, -1)  # @softmax
        if run.size("cp") == 1:
            run.mark(f"{self.name}.weights", weights, concat(1, "tp") + run.cut_tokens(0, 2) + run.stage,
                     factor=run.factor)
        return torch.matmul(weights, v)  # @mixed

    def ring(self, q, k, v, positions):
        """Block by block, with the running maximum and sum of the softmax."""
        run, keys, mixed, peak, total = self.run, positions, 0.0, None, 0.0
        for turn in range(run.size("cp")):
            scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head)  # @ring_scores
            scores = scores.masked_fill(keys.unsqueeze(0) > positions.unsqueeze(1), -1e9)  # @ring_masked
            here = scores.detach().amax(-1, keepdim=True)
            new = here if peak is None else torch.maximum(peak, here)
            exponents = torch.exp(scores - new)  # @ring_exponents
            old = 0.0 if peak is None else torch.exp(peak - new)
            mixed = mixed * old + torch.matmul(exponents, v)  # @ring_mixed
            total = total * old + exponents.sum(-1, keepdim=True)  # @ring_total
            peak = new
            if turn + 1 < run.size("cp"):
                k, v = Pass.apply(k, run), Pass.apply(v, run)  # @ring_pass
                keys = Pass.shift(keys, run, 1)
        return mixed / total  # @ring_out
