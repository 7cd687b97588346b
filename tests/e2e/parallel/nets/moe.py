"""A net of experts in one process: each token goes to its best one or two."""
import torch
import torch.nn.functional as F
from run import Run, numbers, values
from torch import nn


class Expert(nn.Module):
    def __init__(self, run, name):
        super().__init__()
        self.run, self.name = run, name
        self.up, self.down = nn.Linear(run.width, run.hidden), nn.Linear(run.hidden, run.width)

    def forward(self, x):
        run, name = self.run, self.name
        run.mark(f"{name}.in", x)
        h = run.mark(f"{name}.up", self.up(x))
        return run.mark(f"{name}.down", self.down(F.gelu(h)))


class MoE(nn.Module):
    def __init__(self, run, name):
        super().__init__()
        self.run, self.name = run, name
        self.router = nn.Linear(run.width, run.experts, bias=False)
        self.experts = nn.ModuleList(Expert(run, f"{name}.experts.{number}") for number in range(run.experts))

    def forward(self, x):
        run = self.run
        tokens = x.reshape(-1, run.width)
        scores = torch.softmax(run.mark(f"{self.name}.router", self.router(tokens), grad=False), -1)
        weights, chosen = scores.topk(run.top, -1)
        run.mark(f"{self.name}.weights", weights, grad=False)
        out = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            rows, slots = torch.where(chosen == number)
            out = out.index_add(0, rows, expert(tokens[rows]) * weights[rows, slots].unsqueeze(-1))
        return run.mark(f"{self.name}.out", out).view_as(x)


class Block(nn.Module):
    def __init__(self, run, name):
        super().__init__()
        self.run, self.name = run, name
        self.norm1, self.norm2 = nn.LayerNorm(run.width), nn.LayerNorm(run.width)
        self.up, self.down = nn.Linear(run.width, run.hidden), nn.Linear(run.hidden, run.width)
        self.moe = MoE(run, f"{name}.moe")

    def forward(self, x):
        run, name = self.run, self.name
        h = run.mark(f"{name}.up", self.up(run.mark(f"{name}.norm1", self.norm1(x))))
        x = run.mark(f"{name}.middle", x + run.mark(f"{name}.down", self.down(F.silu(h))))
        return run.mark(f"{name}.out", x + self.moe(run.mark(f"{name}.norm2", self.norm2(x))))


class Net(nn.Module):
    def __init__(self, run):
        super().__init__()
        self.run = run
        self.embedding = nn.Embedding(run.vocabulary, run.width)
        self.layers = nn.ModuleList(Block(run, f"layers.{number}") for number in range(run.layers))
        self.norm = nn.LayerNorm(run.width)
        self.head = nn.Linear(run.width, run.vocabulary, bias=False)
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                parameter.copy_(values(name, parameter.shape))

    def forward(self, ids):
        run = self.run
        x = run.mark("embedding", self.embedding(ids))
        for layer in self.layers:
            x = layer(x)
        return run.mark("head", self.head(run.mark("norm", self.norm(x))))


def main():
    run = Run()
    model = Net(run).to(run.precision)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(run.steps):
        tokens = numbers(f"tokens{step}", (run.batch, run.time + 1), 0, run.vocabulary)
        ids, labels = tokens[:, :-1], tokens[:, 1:].reshape(-1)
        with run.step(model):
            for name, parameter in model.named_parameters():
                run.mark(name, parameter)
            loss = F.cross_entropy(model(ids).float().flatten(0, 1), labels)
            run.mark("loss", loss, grad=False).backward()
            for name, parameter in model.named_parameters():
                run.note(f"{name}.reduced", parameter.grad, [])
            optimizer.step()
            optimizer.zero_grad()
    run.finish()


if __name__ == "__main__":
    main()
