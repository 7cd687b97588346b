"""The experts of moe.py over ranks: each rank has some of them and a part of the batch; tokens travel by all-to-all."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from run import Run, concat, numbers, only, values
from torch import nn


class ParallelRun(Run):
    def __init__(self):
        super().__init__()
        self.data = "ep dp"
        self.factor = self.size(self.data)
        self.tokens = concat(0, "dp") + concat(0, "ep")
        self.shared = [{"kind": "mean", "axis": None, "over": over} for over in self.data.split()
                       if self.size(over) > 1]


class AllToAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group, sent, received):
        ctx.group, ctx.sent, ctx.received = group, sent, received
        return AllToAll.exchange(x, group, sent, received)  # @exchange

    @staticmethod
    def backward(ctx, grad):
        return AllToAll.exchange(grad, ctx.group, ctx.received, ctx.sent), None, None, None  # @exchange_backward

    @staticmethod
    def exchange(x, group, sent, received):
        if group is None:
            return x.clone()
        result = torch.empty([sum(received), *x.shape[1:]], dtype=x.dtype)
        dist.all_to_all_single(result, x.contiguous(), received, sent, group=group)  # @all_to_all
        return result


class ExpertMLP(nn.Module):
    def __init__(self, run, name):
        super().__init__()
        self.run, self.name = run, name
        self.fc1, self.fc2 = nn.Linear(run.width, run.hidden), nn.Linear(run.hidden, run.width)
        with torch.no_grad():
            for layer, key in ((self.fc1, "up"), (self.fc2, "down")):
                layer.weight.copy_(values(f"{name}.{key}.weight", layer.weight.shape))
                layer.bias.copy_(values(f"{name}.{key}.bias", layer.bias.shape))

    def forward(self, x):
        run, name, layout = self.run, self.name, concat(0, "dp") + only("ep", self.run.place["ep"])
        run.mark(f"{name}.in", x, layout, factor=run.factor)
        here = only("ep", run.place["ep"])
        for layer, key in ((self.fc1, "up"), (self.fc2, "down")):
            run.mark(f"{name}.{key}.weight", layer.weight, here, grad=False)
        h = run.mark(f"{name}.up", self.fc1(x), layout, factor=run.factor)  # @expert_up
        return run.mark(f"{name}.down", self.fc2(F.gelu(h)), layout, factor=run.factor)  # @expert_down


class MoELayer(nn.Module):
    def __init__(self, run, name):
        super().__init__()
        self.run, self.name = run, name
        self.each = run.experts // run.size("ep")
        self.gate = nn.Linear(run.width, run.experts, bias=False)
        first = run.place["ep"] * self.each  # @first_expert
        self.local_experts = nn.ModuleList(ExpertMLP(run, f"{name}.experts.{first + number}")
                                           for number in range(self.each))
        with torch.no_grad():
            self.gate.weight.copy_(values(f"{name}.router.weight", self.gate.weight.shape))

    def route(self, tokens):
        """What is sent, in the order of the experts: (rows, slots, how many to each expert, weights)."""
        run, name = self.run, self.name
        logits = run.mark(f"{name}.router", self.gate(tokens), run.tokens, grad=False)  # @router
        run.mark(f"{name}.router.weight", self.gate.weight, grad=run.shared)
        weights, chosen = torch.softmax(logits, -1).topk(run.top, -1)  # @top
        run.mark(f"{name}.weights", weights, run.tokens, grad=False)
        order = torch.argsort(chosen.flatten(), stable=True)  # @order
        counts = torch.bincount(chosen.flatten(), minlength=run.experts)
        return order // run.top, order % run.top, counts, weights

    def forward(self, x):
        run, group = self.run, self.run.group("ep")
        tokens = x.reshape(-1, run.width)
        rows, slots, counts, weights = self.route(tokens)
        theirs = AllToAll.exchange(counts, group, [self.each] * run.size("ep"), [self.each] * run.size("ep"))
        theirs = theirs.view(run.size("ep"), self.each)  # of each rank, for each expert here
        sent, received = counts.view(-1, self.each).sum(1).tolist(), theirs.sum(1).tolist()
        arrived = AllToAll.apply(tokens[rows], group, sent, received)  # @dispatch
        pieces = arrived.split(theirs.flatten().tolist())
        results = [None] * len(pieces)
        for number, expert in enumerate(self.local_experts):
            mine = pieces[number::self.each]
            made = expert(torch.cat(mine)).split([len(piece) for piece in mine])  # @expert_input
            results[number::self.each] = made
        back = AllToAll.apply(torch.cat(results), group, received, sent)  # @combine
        scaled = back * weights[rows, slots].unsqueeze(-1)  # @weigh
        out = torch.zeros_like(tokens).index_add(0, rows, scaled)  # @index_add
        return run.mark(f"{self.name}.out", out, run.tokens, factor=run.factor).view_as(x)


class MoEBlock(nn.Module):
    def __init__(self, run, name):
        super().__init__()
        self.run, self.name = run, name
        self.norm1, self.norm2 = nn.LayerNorm(run.width), nn.LayerNorm(run.width)
        self.fc1, self.fc2 = nn.Linear(run.width, run.hidden), nn.Linear(run.hidden, run.width)
        self.moe = MoELayer(run, f"{name}.moe")
        with torch.no_grad():
            for layer, key in ((self.norm1, "norm1"), (self.norm2, "norm2"), (self.fc1, "up"), (self.fc2, "down")):
                layer.weight.copy_(values(f"{name}.{key}.weight", layer.weight.shape))
                layer.bias.copy_(values(f"{name}.{key}.bias", layer.bias.shape))

    def forward(self, x):
        run, name = self.run, self.name
        normed = run.mark(f"{name}.norm1", self.norm1(x), run.tokens, grad=False)  # @norm1
        h = run.mark(f"{name}.up", self.fc1(normed), run.tokens, factor=run.factor)  # @dense_up
        y = run.mark(f"{name}.down", self.fc2(F.silu(h)), run.tokens, factor=run.factor)  # @dense_down
        x = run.mark(f"{name}.middle", x + y, run.tokens, factor=run.factor)  # @residual1
        normed = run.mark(f"{name}.norm2", self.norm2(x), run.tokens, grad=False)  # @norm2
        return run.mark(f"{name}.out", x + self.moe(normed), run.tokens, factor=run.factor)  # @residual2


class MoENet(nn.Module):
    def __init__(self, run):
        super().__init__()
        self.run = run
        self.embedding = nn.Embedding(run.vocabulary, run.width)
        self.layers = nn.ModuleList(MoEBlock(run, f"layers.{number}") for number in range(run.layers))
        self.norm = nn.LayerNorm(run.width)
        self.head = nn.Linear(run.width, run.vocabulary, bias=False)
        with torch.no_grad():
            for name, layer in (("embedding", self.embedding), ("norm", self.norm), ("head", self.head)):
                for key, parameter in layer.named_parameters():
                    parameter.copy_(values(f"{name}.{key}", parameter.shape))

    def forward(self, ids):
        run = self.run
        x = run.mark("embedding", self.embedding(ids), run.tokens, factor=run.factor)  # @embedding
        for layer in self.layers:
            x = layer(x)
        return run.mark("head", self.head(run.mark("norm", self.norm(x), run.tokens, grad=False)), run.tokens,
                        factor=run.factor)  # @head


def reduce_gradients(run, model):
    for name, parameter in model.named_parameters():
        over = "dp" if "local_experts" in name else run.data  # @reduce_over
        if run.group(over) is not None:
            dist.all_reduce(parameter.grad, group=run.group(over))  # @data_reduce
        parameter.grad /= run.size(run.data)  # @data_mean
    for number, layer in enumerate(model.layers):
        run.note(f"layers.{number}.norm1.weight.reduced", layer.norm1.weight.grad, [])
        run.note(f"layers.{number}.up.weight.reduced", layer.fc1.weight.grad, [])
        for expert in layer.moe.local_experts:
            run.note(f"{expert.name}.up.weight.reduced", expert.fc1.weight.grad, only("ep", run.place["ep"]))


def main():
    run = ParallelRun()
    model = MoENet(run).to(run.precision)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(run.steps):
        tokens = numbers(f"tokens{step}", (run.batch, run.time + 1), 0, run.vocabulary)
        tokens = run.part(tokens, 0, run.data)  # @batch
        ids, labels = tokens[:, :-1], tokens[:, 1:].reshape(-1)
        with run.step(model):
            for name, parameter in model.named_parameters():
                if "norm" in name or "embedding" in name:
                    run.mark(name, parameter, grad=run.shared)
            loss = F.cross_entropy(model(ids).float().flatten(0, 1), labels)  # @loss
            run.mark("loss", loss, run.shared, grad=False).backward()
            reduce_gradients(run, model)
            optimizer.step()  # @step
            optimizer.zero_grad()
    run.finish()


if __name__ == "__main__":
    main()
