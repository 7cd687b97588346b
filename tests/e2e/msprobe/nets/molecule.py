"""Molecules of different sizes, padded to one: messages along directed bonds with the degrees divided out, attention over
the neighbours of an atom, the mean over the atoms that are there, targets of which some are not known; Adadelta."""
import math

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

GRAPHS, ATOMS, BONDS, WIDTH, HEADS, TARGETS, ELEMENTS, TYPES = 4, 9, 20, 24, 3, 5, 11, 4


class Convolution(nn.Module):
    """What a neighbour sends is divided by the roots of both degrees."""

    def __init__(self):
        super().__init__()
        self.own = nn.Linear(WIDTH, WIDTH)
        self.other = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x, source, target):
        degree = x.new_ones(len(x)).index_add(0, target, x.new_ones(len(target)))  # @degree
        inverse = degree.rsqrt()  # @inverse
        factor = inverse[source] * inverse[target]  # @factor
        sent = self.other(x).index_select(0, source)  # @sent
        sent = sent * factor[:, None]  # @scaled
        received = sent.new_zeros(len(x), WIDTH).index_add(0, target, sent)  # @received
        return F.elu(self.own(x) + received)  # @elu


class Attention(nn.Module):
    """A softmax over the bonds that end in the same atom."""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(WIDTH, WIDTH)
        self.value = nn.Linear(WIDTH, WIDTH)
        self.bond = nn.Embedding(TYPES, WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x, source, target, kind):
        q = self.query(x).index_select(0, target)  # @query
        k = self.key(x).index_select(0, source)  # @key
        k = k + self.bond(kind)  # @bond
        scores = (q * k).unflatten(-1, (HEADS, -1)).sum(-1) / math.sqrt(WIDTH // HEADS)  # @scores
        index = target[:, None].expand(-1, HEADS)
        nothing = scores.new_zeros(len(x), HEADS)
        highest = nothing.scatter_reduce(0, index, scores.detach(), "amax", include_self=False)  # @highest
        share = torch.exp(scores - highest[target])  # @exp
        total = share.new_zeros(len(x), HEADS).index_add(0, target, share)  # @total
        share = share / (total[target] + 1e-9)  # @share
        v = self.value(x).index_select(0, source)  # @value
        sent = (v.unflatten(-1, (HEADS, -1)) * share[..., None]).flatten(1)  # @message
        received = sent.new_zeros(len(x), WIDTH).index_add(0, target, sent)  # @collected
        return self.norm(x + self.out(received))  # @residual


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(ELEMENTS, WIDTH)
        self.convolution = Convolution()
        self.layers = nn.ModuleList((Attention(), Attention()))
        self.hidden = nn.Linear(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, TARGETS)

    def forward(self, elements, source, target, kind, there):
        x = self.emb(elements)  # @embed
        x = self.convolution(x, source, target)  # @convolution
        for layer in self.layers:
            x = layer(x, source, target, kind)  # @layer
        x = x * there[:, None]  # @there
        whole = x.unflatten(0, (GRAPHS, ATOMS)).sum(1)  # @whole
        count = there.unflatten(0, (GRAPHS, ATOMS)).sum(1)  # @count
        whole = whole / count[:, None]  # @mean
        return self.out(F.softplus(self.hidden(whole)))  # @out


def bonds_of(step):
    """Directed ones, between the atoms that are there; those of a graph do not leave it."""
    sizes = torch.arange(GRAPHS) % 4 + 5
    ends = numbers(f"ends{step}", (2, GRAPHS, BONDS), 0, 1 << 20) % sizes[:, None]
    ends = ends + ATOMS * torch.arange(GRAPHS)[:, None]
    there = torch.arange(ATOMS) < sizes[:, None]
    return ends[0].flatten(), ends[1].flatten(), there.flatten()


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0, rho=0.9, eps=1e-6)
    for step in run.steps:
        source, target, there = bonds_of(step)
        kind = numbers(f"kind{step}", (GRAPHS * BONDS,), 0, TYPES)
        elements = numbers(f"elements{step}", (GRAPHS * ATOMS,), 0, ELEMENTS)
        wanted = run.cast(numbers(f"wanted{step}", (GRAPHS, TARGETS)))
        known = run.cast((numbers(f"known{step}", (GRAPHS, TARGETS), 0, 4) > 0).float())
        there = run.cast(there.float())
        with run.step(model):
            with run.forward():
                found = model(elements, source, target, kind, there)  # @model
                error = F.smooth_l1_loss(found, wanted, reduction="none")  # @error
                loss = (error * known).sum() / known.sum()  # @loss
            loss.backward()  # @backward
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
