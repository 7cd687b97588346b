"""A recommender in one process: bags of rows out of tables, a perceptron below, the products of all pairs, one above."""
import torch
import torch.nn.functional as F
from run import Run, numbers, values
from torch import nn


class Net(nn.Module):
    def __init__(self, run):
        super().__init__()
        self.run = run
        self.tables = nn.ModuleList(nn.EmbeddingBag(run.rows, run.width, mode="sum") for _ in range(run.tables))
        self.bottom = nn.ModuleList((nn.Linear(run.dense, run.hidden), nn.Linear(run.hidden, run.width)))
        pairs = run.tables * (run.tables + 1) // 2
        self.norm = nn.LayerNorm(run.width + pairs)
        self.top = nn.ModuleList((nn.Linear(run.width + pairs, run.hidden), nn.Linear(run.hidden, 1)))
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                parameter.copy_(values(name, parameter.shape))

    def forward(self, dense, ids):
        run = self.run
        x = F.relu(run.mark("bottom.0", self.bottom[0](dense)))
        x = torch.tanh(run.mark("bottom.1", self.bottom[1](x)))
        bags = [run.mark(f"tables.{number}", table(ids[:, number])) for number, table in enumerate(self.tables)]
        joined = run.mark("joined", torch.stack((x, *bags), 1))
        dots = torch.bmm(joined, joined.transpose(1, 2))
        rows, columns = torch.tril_indices(run.tables + 1, run.tables + 1, -1)
        x = run.mark("norm", self.norm(torch.cat((x, dots[:, rows, columns]), 1)))
        x = F.relu(run.mark("top.0", self.top[0](x)))
        return run.mark("top.1", self.top[1](x)).squeeze(1)


def main():
    run = Run()
    model = Net(run).to(run.precision)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.02)
    for step in range(run.steps):
        dense = numbers(f"dense{step}", (run.batch, run.dense)).to(run.precision)
        ids = numbers(f"ids{step}", (run.batch, run.tables, run.bag), 0, run.rows)
        clicks = numbers(f"clicks{step}", (run.batch,), 0, 2).to(run.precision)
        with run.step(model):
            for name, parameter in model.named_parameters():
                run.mark(f"{name}", parameter)
            loss = run.mark("loss", F.binary_cross_entropy_with_logits(model(dense, ids), clicks), grad=False)
            loss.backward()
            for name, parameter in model.named_parameters():
                run.note(f"{name}.reduced", parameter.grad, [])
            optimizer.step()
            optimizer.zero_grad()
    run.finish()


if __name__ == "__main__":
    main()
