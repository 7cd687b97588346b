"""A decoder whose blocks choose two of four experts for each token, as Mixtral does: an expert runs over the rows that chose
it; grouped keys, a window of attention, a loss that balances the routers; AdamW."""
import math

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

VOCABULARY, WIDTH, INNER, HEADS, GROUPS, EXPERTS, CHOSEN, BATCH, TIME, WINDOW = 43, 24, 32, 4, 2, 4, 2, 3, 8, 5


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
        k = k.repeat_interleave(HEADS // GROUPS, 1)  # @keys
        v = v.repeat_interleave(HEADS // GROUPS, 1)  # @values
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(WIDTH // HEADS)  # @scores
        scores = scores.masked_fill(mask, -1e4)  # @masked
        weights = torch.softmax(scores, -1)  # @softmax
        mixed = torch.matmul(weights, v)  # @mixed
        return self.out(mixed.transpose(1, 2).flatten(2))  # @out


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(WIDTH, INNER, bias=False)
        self.up = nn.Linear(WIDTH, INNER, bias=False)
        self.down = nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x):
        gate = F.silu(self.gate(x))  # @gate
        return self.down(gate * self.up(x))  # @down


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.experts = nn.ModuleList(Expert() for _ in range(EXPERTS))

    def forward(self, x):
        rows = x.flatten(0, 1)
        logits = self.router(rows)  # @router
        chances = F.softmax(logits, 1)  # @chances
        best, chosen = torch.topk(chances, CHOSEN, -1)  # @topk
        best = best / best.sum(-1, keepdim=True)  # @normalised
        places = F.one_hot(chosen, EXPERTS).permute(2, 1, 0)  # @places
        total = torch.zeros_like(rows)
        for number in range(EXPERTS):
            slot, row = torch.where(places[number])  # @where
            h = self.experts[number](rows.index_select(0, row))  # @expert
            h = h * best[row, slot, None]  # @weighted
            total = total.index_add(0, row, h.to(total.dtype))  # @added
        return total.view_as(x), logits  # @view


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.RMSNorm(WIDTH, eps=1e-5)
        self.attn = Attention()
        self.norm2 = nn.RMSNorm(WIDTH, eps=1e-5)
        self.moe = Mixture()

    def forward(self, x, mask):
        h = self.attn(self.norm1(x), mask)  # @attn
        x = x + h  # @residual1
        h, logits = self.moe(self.norm2(x))  # @moe
        return x + h, logits  # @residual2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm = nn.RMSNorm(WIDTH, eps=1e-5)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        place = torch.arange(TIME)
        apart = place[:, None] - place  # @apart
        mask = (apart < 0) | (apart >= WINDOW)  # @mask
        x = self.emb(tokens) * math.sqrt(WIDTH)  # @embed
        found = []
        for block in self.blocks:
            x, logits = block(x, mask)  # @block
            found.append(logits)
        return self.head(self.norm(x)), found  # @head


def imbalance(found):
    """The share of tokens of an expert by the chance that it has: least where all are the same."""
    logits = torch.cat(found)  # @joined
    chances = F.softmax(logits, -1)  # @shares
    chosen = torch.topk(chances, CHOSEN, -1).indices  # @chosen
    used = F.one_hot(chosen, EXPERTS).to(chances.dtype).mean(0)  # @used
    return (used * chances.mean(0)).sum() * EXPERTS  # @imbalance


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95), weight_decay=0.1)
    for step in run.steps:
        tokens = numbers(f"tokens{step}", (BATCH, TIME + 1), 0, VOCABULARY)
        with run.step(model):
            with run.forward():
                logits, found = model(tokens[:, :-1])  # @model
                entropy = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())  # @entropy
                loss = entropy + 0.2 * imbalance(found)  # @loss
            loss.backward()  # @backward
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
