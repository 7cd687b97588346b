"""The recommender of dlrm.py over ranks. TP cuts the perceptrons and, of each table, the width or (`by_rows`) the rows; EP
gives each rank some tables and a part of the batch, and bags travel by all-to-all; PP puts the pairs on a second stage."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from parallel import ColumnParallelLinear, ReduceFromRegion, RowParallelLinear, gather
from run import Run, concat, numbers, only, partial, values
from torch import nn


class ParallelRun(Run):
    """What the layers of parallel.py ask of a run."""

    def __init__(self):
        super().__init__()
        self.data = "ep dp"
        self.factor = self.size(self.data)
        self.tokens = concat(0, "dp") + concat(0, "ep")
        self.shared = [{"kind": "mean", "axis": None, "over": over} for over in self.data.split() if self.size(over) > 1]
        self.stage_number = self.place["pp"]
        self.stage = only("pp", self.stage_number) if self.size("pp") > 1 else []
        self.tokens = self.tokens + self.stage
        self.sp, self.time_axis = False, 0

    def sequence(self):
        return []

    def has(self, stage):
        return self.size("pp") == 1 or self.stage_number == stage


class GatherWidth(torch.autograd.Function):
    """The gradient is the same on all ranks, of which each keeps its part."""
    @staticmethod
    def forward(ctx, x, run):
        ctx.run = run
        return gather(x, run.group("tp"), 1)  # @width_gather

    @staticmethod
    def backward(ctx, grad):
        return ctx.run.part(grad, 1, "tp"), None  # @width_backward


class Exchange(torch.autograd.Function):
    """Equal parts of the batch to all ranks of the group, and back."""
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return Exchange.exchange(x, group)  # @exchange

    @staticmethod
    def backward(ctx, grad):
        return Exchange.exchange(grad, ctx.group), None  # @exchange_backward

    @staticmethod
    def exchange(x, group):
        result = torch.empty_like(x, memory_format=torch.contiguous_format)
        dist.all_to_all_single(result, x.contiguous(), group=group)  # @all_to_all
        return result


class Tables(nn.Module):
    def __init__(self, run):
        super().__init__()
        self.run = run
        each = run.tables // run.size("ep")
        first = run.place["ep"] * each  # @first_table
        self.numbers = list(range(first, first + each))
        self.axis = 0 if run.by_rows else 1
        self.rows = run.rows // (run.size("tp") if run.by_rows else 1)
        whole = [values(f"tables.{number}.weight", (run.rows, run.width)).to(run.precision) for number in self.numbers]
        self.parts = nn.ParameterList(run.part(one, self.axis, "tp") for one in whole)  # @table_part

    def bag(self, ids, table, number):
        run = self.run
        run.mark(f"tables.{number}.weight", table, concat(self.axis, "tp") + only("ep", run.place["ep"]) + run.stage, grad=False)
        if not run.by_rows:
            x = F.embedding(ids, table).sum(1)  # @lookup
            return x if run.size("tp") == 1 else GatherWidth.apply(x, run)
        local = ids - run.index("tp") * self.rows  # @row_start
        outside = (local < 0) | (local >= self.rows)
        x = F.embedding(local.masked_fill(outside, 0), table)  # @lookup_rows
        x = x.masked_fill(outside.unsqueeze(-1), 0.0).sum(1)  # @row_mask
        run.mark(f"tables.{number}.partial", x, partial("tp") + run.tokens, grad=False)
        return ReduceFromRegion.apply(x, run.group("tp"))  # @rows_reduce

    def forward(self, ids):
        """`ids` are those of all parts of the batch that EP cuts."""
        run = self.run
        bags = [self.bag(ids[:, number], table, number) for number, table in zip(self.numbers, self.parts)]  # @bags
        if run.group("ep") is not None:
            made = Exchange.apply(torch.stack(bags, 1), run.group("ep"))  # @travel
            bags = torch.cat(made.chunk(run.size("ep")), 1).unbind(1)  # @arrived
        return [run.mark(f"tables.{number}", bag, run.tokens, factor=run.factor) for number, bag in enumerate(bags)]


class Lower(nn.Module):
    def __init__(self, run):
        super().__init__()
        self.run = run
        self.tables = Tables(run)
        self.up = ColumnParallelLinear(run, "bottom.0", run.dense, run.hidden)
        self.down = RowParallelLinear(run, "bottom.1", run.hidden, run.width)

    def forward(self, dense, ids):
        x = F.relu(self.up(dense))  # @bottom_relu
        x = torch.tanh(self.down(x))  # @bottom_tanh
        joined = torch.stack((x, *self.tables(ids)), 1)  # @join
        return self.run.mark("joined", joined, self.run.tokens, factor=self.run.factor)


class Upper(nn.Module):
    def __init__(self, run):
        super().__init__()
        self.run = run
        size = run.width + run.tables * (run.tables + 1) // 2
        self.norm_weight, self.norm_bias = (nn.Parameter(values(f"norm.{name}", (size,)).to(run.precision))
                                            for name in ("weight", "bias"))
        self.up = ColumnParallelLinear(run, "top.0", size, run.hidden)
        self.down = RowParallelLinear(run, "top.1", run.hidden, 1)

    def forward(self, joined):
        run = self.run
        dots = torch.matmul(joined, joined.transpose(1, 2))  # @dots
        rows, columns = torch.tril_indices(run.tables + 1, run.tables + 1, -1)
        x = torch.cat((joined[:, 0], dots[:, rows, columns]), 1)  # @pairs
        x = F.layer_norm(x, x.shape[1:], self.norm_weight, self.norm_bias)  # @norm
        x = run.mark("norm", x, run.tokens, factor=run.factor)
        x = F.relu(self.up(x))  # @top_relu
        return self.down(x).squeeze(1)  # @logit


def reduce_gradients(run, model):
    for name, parameter in model.named_parameters():
        over = "dp" if "tables" in name else run.data  # @reduce_over
        if run.group(over) is not None:
            dist.all_reduce(parameter.grad, group=run.group(over))  # @data_reduce
        parameter.grad /= run.size(run.data)  # @data_mean


def forward_backward(run, lower, upper, dense, ids, clicks):
    """Both stages in one process, or the one that is here."""
    ranks = run.ranks_over("pp")
    if run.has(0):
        joined = lower(dense, ids)
    if run.size("pp") > 1 and run.has(0):
        dist.send(joined.detach().contiguous(), ranks[1])  # @stage_send
        grad = torch.empty_like(joined)
        dist.recv(grad, ranks[1])  # @stage_receive_grad
        joined.backward(grad)  # @stage_backward
        return
    if run.size("pp") > 1:
        joined = torch.empty(len(clicks), run.tables + 1, run.width, dtype=run.precision)
        dist.recv(joined, ranks[0])  # @stage_receive
        joined.requires_grad_()
    loss = F.binary_cross_entropy_with_logits(upper(joined), clicks)  # @loss
    run.mark("loss", loss, run.shared + run.stage, grad=False).backward()  # @backward
    if run.size("pp") > 1:
        dist.send(joined.grad, ranks[0])  # @stage_send_grad


def main():
    run = ParallelRun()
    lower, upper = Lower(run) if run.has(0) else None, Upper(run) if run.has(1) else None
    model = nn.ModuleList(part for part in (lower, upper) if part is not None)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.02)
    for step in range(run.steps):
        dense = run.part(numbers(f"dense{step}", (run.batch, run.dense)), 0, run.data).to(run.precision)
        ids = run.part(numbers(f"ids{step}", (run.batch, run.tables, run.bag), 0, run.rows), 0, "dp")
        clicks = run.part(numbers(f"clicks{step}", (run.batch,), 0, 2), 0, run.data).to(run.precision)  # @batch
        with run.step(model):
            forward_backward(run, lower, upper, dense, ids, clicks)
            reduce_gradients(run, model)
            optimizer.step()  # @step
            optimizer.zero_grad()
    run.finish()


if __name__ == "__main__":
    main()
