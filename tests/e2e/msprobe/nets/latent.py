"""A decoder that keeps a few numbers of each word, from which keys and values are made again, as DeepSeek's do: a part of each
head turns with the place; an expert for all words and two chosen by sigmoids; a further block for the word after the
next. AdamW."""
import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

VOCABULARY, WIDTH, HEADS, PLAIN, TURNED, FEW, INNER, EXPERTS, CHOSEN, BATCH, TIME = 31, 24, 3, 6, 4, 10, 20, 4, 2, 2, 9


class Norm(nn.Module):
    def __init__(self, width=WIDTH):
        super().__init__()
        self.eps = 1e-6
        self.weight = nn.Parameter(torch.empty(width))

    def forward(self, x):
        size = x.float().pow(2).mean(-1, keepdim=True)  # @size
        return (x * torch.rsqrt(size + self.eps)).to(x.dtype) * self.weight  # @rms


def turn(x, cos, sin):
    """Halves are the two parts of a number that turns."""
    left, right = x.chunk(2, -1)  # @halves
    return torch.cat((left * cos - right * sin, left * sin + right * cos), -1)  # @turned


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, HEADS * (PLAIN + TURNED), bias=False)
        self.down = nn.Linear(WIDTH, FEW + TURNED, bias=False)
        self.few_norm = Norm(FEW)
        self.up = nn.Linear(FEW, HEADS * 2 * PLAIN, bias=False)
        self.out = nn.Linear(HEADS * PLAIN, WIDTH, bias=False)

    def forward(self, x, cos, sin, mask):
        q = self.query(x).unflatten(2, (HEADS, -1)).transpose(1, 2)  # @query
        q, place = q.split((PLAIN, TURNED), -1)  # @asked
        asked = turn(place, cos, sin)  # @turn_query
        few, place = self.down(x).split((FEW, TURNED), -1)  # @down
        few = self.few_norm(few)  # @few
        told = turn(place, cos, sin)  # @turn_key
        both = self.up(few).unflatten(2, (HEADS, -1)).transpose(1, 2)  # @up
        k, v = both.split((PLAIN, PLAIN), -1)  # @split
        scores = torch.matmul(q, k.transpose(-1, -2))  # @plain
        scores = scores + torch.matmul(asked, told[:, None].transpose(-1, -2))  # @scores
        scores = scores * (PLAIN + TURNED) ** -0.5  # @scaled
        scores = scores.masked_fill(mask, float("-inf"))  # @masked
        weights = torch.softmax(scores, -1)  # @softmax
        h = torch.matmul(weights, v)  # @mixed
        return self.out(h.transpose(1, 2).flatten(2))  # @attention_out


class Feed(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(WIDTH, INNER, bias=False)
        self.up = nn.Linear(WIDTH, INNER, bias=False)
        self.down = nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x):
        gate = F.silu(self.gate(x))  # @gate
        return self.down(gate * self.up(x))  # @feed


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.tilt = nn.Parameter(torch.empty(EXPERTS), requires_grad=False)
        self.shared = Feed()
        self.experts = nn.ModuleList(Feed() for _ in range(EXPERTS))

    def forward(self, x):
        rows = x.flatten(0, 1)
        chances = torch.sigmoid(self.router(rows))  # @router
        chosen = torch.topk(chances + self.tilt, CHOSEN, -1).indices  # @chosen
        best = chances.gather(1, chosen)  # @best
        best = best / best.sum(-1, keepdim=True)  # @normalised
        total = torch.zeros_like(rows)
        for number, expert in enumerate(self.experts):
            row, slot = torch.where(chosen == number)  # @where
            h = expert(rows[row])  # @expert
            h = h * best[row, slot][:, None]  # @weighted
            total = total.index_add(0, row, h.to(total.dtype))  # @added
        total = total + self.shared(rows)  # @total
        return total.view_as(x)


class Block(nn.Module):
    def __init__(self, feed):
        super().__init__()
        self.norm1 = Norm()
        self.attn = Attention()
        self.norm2 = Norm()
        self.feed = feed

    def forward(self, x, cos, sin, mask):
        x = x + self.attn(self.norm1(x), cos, sin, mask)  # @residual1
        return x + self.feed(self.norm2(x))  # @residual2


class Further(nn.Module):
    """From a word's state and the next word the word after it."""

    def __init__(self):
        super().__init__()
        self.norm_state = Norm()
        self.norm_word = Norm()
        self.merge = nn.Linear(2 * WIDTH, WIDTH, bias=False)
        self.block = Block(Feed())

    def forward(self, x, words, cos, sin, mask):
        h = torch.cat((self.norm_state(x), self.norm_word(words)), -1)  # @both
        return self.block(self.merge(h), cos, sin, mask)  # @merge


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCABULARY, WIDTH)
        self.first = Block(Feed())
        self.second = Block(Experts())
        self.further = Further()
        self.norm = Norm()

    def forward(self, tokens):
        rate = 100.0 ** (-torch.arange(0, TURNED, 2) / TURNED)  # @rate
        angle = torch.arange(TIME)[:, None] * rate  # @angle
        mask = torch.ones(TIME, TIME, dtype=torch.bool).triu(1)  # @mask
        words = self.emb(tokens)  # @emb
        cos, sin = torch.cos(angle).to(words.dtype), torch.sin(angle).to(words.dtype)  # @waves
        x = self.first(words[:, :-1], cos, sin, mask)  # @first
        x = self.second(x, cos, sin, mask)  # @second
        h = self.further(x, words[:, 1:], cos, sin, mask)  # @further
        return self.logits(x), self.logits(h)  # @both_logits

    def logits(self, x):
        return F.linear(self.norm(x), self.emb.weight)  # @logits


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.1)
    for step in run.steps:
        tokens = numbers(f"tokens{step}", (BATCH, TIME + 2), 0, VOCABULARY)
        with run.step(model):
            with run.forward():
                near, far = model(tokens[:, :-1])  # @model
                loss = F.cross_entropy(near.flatten(0, 1), tokens[:, 1:-1].flatten())  # @near
                after = F.cross_entropy(far.flatten(0, 1), tokens[:, 2:].flatten())  # @far
                loss = loss + 0.3 * after  # @loss
            loss.backward()  # @backward
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
