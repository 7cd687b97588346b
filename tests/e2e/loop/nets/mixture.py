"""A decoder with a mixture of experts: two of four for each token, a loss of balance, grouped queries; AdamW."""
import math

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

VOCABULARY, WIDTH, HEADS, GROUPS, LAYERS, EXPERTS, CHOSEN, BATCH, TIME = 512, 256, 8, 2, 2, 4, 2, 2, 64


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH, bias=False)
        self.key = nn.Linear(WIDTH, WIDTH // HEADS * GROUPS, bias=False)
        self.value = nn.Linear(WIDTH, WIDTH // HEADS * GROUPS, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x, mask):
        q = self.query(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)  # @query
        k = self.key(x).unflatten(-1, (GROUPS, -1)).transpose(1, 2)  # @key
        v = self.value(x).unflatten(-1, (GROUPS, -1)).transpose(1, 2)  # @value
        k, v = (one.repeat_interleave(HEADS // GROUPS, 1) for one in (k, v))  # @repeat
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # @scores
        scores = scores + mask  # @masked
        weights = F.softmax(scores, dim=-1)  # @softmax
        mixed = weights @ v  # @mixed
        return self.out(mixed.transpose(1, 2).flatten(2))  # @out


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(WIDTH, WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, WIDTH, bias=False)
        self.down = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))  # @expert


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.experts = nn.ModuleList(Expert() for _ in range(EXPERTS))

    def forward(self, x):
        rows = x.flatten(0, 1)
        chances = F.softmax(self.router(rows), dim=-1)  # @chances
        best, chosen = torch.topk(chances, CHOSEN, -1)  # @topk
        best = best / best.sum(-1, keepdim=True)  # @normalise
        total = torch.zeros_like(rows)
        for index, expert in enumerate(self.experts):
            share = torch.where(chosen == index, best, 0.0).sum(-1, keepdim=True)  # @share
            total = total + share * expert(rows)  # @total
        used = F.one_hot(chosen, EXPERTS).float().sum(1).mean(0)  # @used
        balance = EXPERTS * (used * chances.mean(0)).sum()  # @balance
        return total.view_as(x), balance  # @view


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.RMSNorm(WIDTH, eps=1e-6)
        self.attn = Attention()
        self.norm2 = nn.RMSNorm(WIDTH, eps=1e-6)
        self.mlp = Mixture()

    def forward(self, x, mask):
        x = x + self.attn(self.norm1(x), mask)  # @residual1
        h, balance = self.mlp(self.norm2(x))
        return x + h, balance  # @residual2


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.RMSNorm(WIDTH, eps=1e-6)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        mask = torch.full((TIME, TIME), float("-inf")).triu(1)  # @mask
        x = self.emb(tokens) * math.sqrt(WIDTH)  # @embed
        balance = 0.0
        for block in self.blocks:
            x, part = block(x, mask)
            balance = balance + part  # @sum
        return self.head(self.norm(x)), balance  # @head


def main():
    run = Run()
    model = run.cast(Decoder())
    initialise(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1)
    for step in run.steps:
        tokens = numbers(f"tokens{step}", (BATCH, TIME + 1), 0, VOCABULARY)
        with run.step(model):
            with run.forward():
                logits, balance = model(tokens[:, :-1])  # @logits
                entropy = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())  # @entropy
                loss = entropy + 0.01 * balance  # @loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
