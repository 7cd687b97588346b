"""A language model whose layers select what they keep, as Mamba does: a causal convolution of each channel, a step size and
two projections from the token, a state that decays, a gate; several documents in a row, padding; AdamW in two groups."""
import math

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

VOCABULARY, WIDTH, INNER, STATES, RANK, TAPS, BATCH, TIME = 41, 24, 32, 4, 6, 4, 3, 6


class Norm(nn.Module):
    def __init__(self, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))
        self.eps = eps

    def forward(self, x):
        size = x.pow(2).mean(-1, keepdim=True)  # @size
        return x * torch.rsqrt(size + self.eps) * self.weight  # @normed


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside = nn.Linear(WIDTH, 2 * INNER, bias=False)
        self.conv = nn.Conv1d(INNER, INNER, TAPS, padding=TAPS - 1, groups=INNER)
        self.select = nn.Linear(INNER, RANK + 2 * STATES, bias=False)
        self.rate = nn.Linear(RANK, INNER)
        self.decay = nn.Parameter(torch.ones(INNER, STATES))
        self.through = nn.Parameter(torch.ones(INNER))
        self.out = nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x, keep):
        x, gate = self.inside(x).chunk(2, -1)  # @inside
        x = self.conv(x.transpose(1, 2))  # @conv
        x = x[..., :TIME].transpose(1, 2)  # @cut
        x = F.silu(x)  # @silu
        low, write, read = self.select(x).split((RANK, STATES, STATES), -1)  # @select
        rate = F.softplus(self.rate(low))  # @rate
        y = self.scan(x, rate, write, read, keep)  # @scan
        y = y + x * self.through  # @through
        y = y * F.silu(gate)  # @gated
        return self.out(y)  # @out

    def scan(self, x, rate, write, read, keep):
        power = rate[..., None] * -torch.exp(self.decay)  # @power
        left = torch.exp(power) * keep[..., None, None]  # @left
        drive = (rate * x)[..., None] * write[:, :, None]  # @drive
        state = torch.zeros_like(drive[:, 0])
        seen = []
        for now in range(TIME):
            state = left[:, now] * state + drive[:, now]  # @state
            y = (state * read[:, now, None]).sum(-1)  # @read
            seen.append(y)
        return torch.stack(seen, 1)  # @stack


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm()
        self.mixer = Mixer()

    def forward(self, x, keep):
        h = self.norm(x)  # @norm
        h = self.mixer(h, keep)  # @mixer
        return x + h  # @residual


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm = Norm()
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens, keep):
        x = self.emb(tokens) * math.sqrt(WIDTH)  # @embed
        for block in self.blocks:
            x = block(x, keep)  # @block
        return self.head(self.norm(x))  # @head


def lengths_of(step):
    """A document of 2 or 3 tokens, then another, then padding."""
    first = numbers(f"first{step}", (BATCH, 1), 2, 4)
    return first, numbers(f"end{step}", (BATCH, 1), 4, TIME + 1)


def groups_of(model):
    """Matrices of products decay, what describes the state does not."""
    big = [value for value in model.parameters() if value.dim() > 1 and value.shape[-1] != STATES]
    small = [value for value in model.parameters() if value.dim() < 2 or value.shape[-1] == STATES]
    return [{"params": big, "weight_decay": 0.1}, {"params": small, "weight_decay": 0.0}]


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    optimizer = torch.optim.AdamW(groups_of(model), lr=2e-3, betas=(0.9, 0.95))
    for step in run.steps:
        tokens = numbers(f"tokens{step}", (BATCH, TIME + 1), 0, VOCABULARY)
        first, end = lengths_of(step)
        keep = run.cast((torch.arange(TIME) != first).float())
        known = run.cast((torch.arange(TIME) < end).float())
        with run.step(model):
            with run.forward():
                logits = model(tokens[:, :-1], keep)  # @model
                entropy = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")  # @entropy
                spread = torch.logsumexp(logits, -1).square()  # @spread
                cost = (entropy + 0.01 * spread) * known  # @cost
                loss = cost.sum() / known.sum()  # @loss
            loss.backward()  # @backward
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
