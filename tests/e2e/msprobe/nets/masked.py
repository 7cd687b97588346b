"""An encoder that guesses words that were left out, as BERT does: normalised after each sum, places by buckets of their distance,
which all blocks share, a head with the words' own weight, and a second answer about the whole sentence. NAdam, its rate by groups.
"""
import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

VOCABULARY, KINDS, WIDTH, HEADS, INNER, BUCKETS, BATCH, TIME, LEFT_OUT, FILL, BLANK = 37, 3, 24, 3, 40, 6, 3, 10, 3, 0, 1


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(WIDTH, WIDTH)
        self.value = nn.Linear(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def heads(self, x):
        return x.view(BATCH, TIME, HEADS, -1).transpose(1, 2)  # @heads

    def forward(self, x, near, there):
        q = self.heads(self.query(x)) / (WIDTH // HEADS) ** 0.5  # @query
        k = self.heads(self.key(x))  # @key
        v = self.heads(self.value(x))  # @value
        scores = q @ k.transpose(-2, -1)  # @scores
        scores = scores + near  # @near
        scores = scores.masked_fill(~there, -1e4)  # @masked
        weights = F.softmax(scores, dim=-1)  # @softmax
        h = (weights @ v).transpose(1, 2).reshape(BATCH, TIME, WIDTH)  # @mixed
        return self.out(h)  # @attention_out


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = Attention()
        self.norm1 = nn.LayerNorm(WIDTH, eps=1e-12)
        self.wide = nn.Linear(WIDTH, INNER)
        self.back = nn.Linear(INNER, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x, near, there):
        x = self.norm1(x + self.attn(x, near, there))  # @norm1
        h = F.gelu(self.wide(x))  # @gelu
        return self.norm2(x + self.back(h))  # @norm2


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(VOCABULARY, WIDTH, padding_idx=FILL)
        self.kind = nn.Embedding(KINDS, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, tokens, kinds):
        x = self.word(tokens) + self.kind(kinds)  # @words
        return self.norm(x)  # @words_norm


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = Words()
        self.distance = nn.Embedding(2 * BUCKETS, HEADS)
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.change = nn.Linear(WIDTH, WIDTH)
        self.change_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.bias = nn.Parameter(torch.empty(VOCABULARY))
        self.pool = nn.Linear(WIDTH, WIDTH)
        self.answer = nn.Linear(WIDTH, 2)

    def near(self):
        apart = torch.arange(TIME)[None, :] - torch.arange(TIME)[:, None]  # @apart
        bucket = apart.abs().clamp(max=BUCKETS - 1)  # @bucket
        bucket = bucket + (apart > 0) * BUCKETS  # @side
        return self.distance(bucket).permute(2, 0, 1)[None]  # @distance

    def forward(self, tokens, kinds, places):
        there = (tokens != FILL)[:, None, None, :]  # @there
        near = self.near()  # @near_made
        x = self.words(tokens, kinds)  # @embedded
        for block in self.blocks:
            x = block(x, near, there)  # @block
        h = x.gather(1, places[:, :, None].expand(-1, -1, WIDTH))  # @gathered
        h = self.change_norm(F.gelu(self.change(h)))  # @changed
        guess = h @ self.words.word.weight.t() + self.bias  # @guess
        first = torch.tanh(self.pool(x[:, 0]))  # @pooled
        return guess, self.answer(first)  # @answer


def batch(step):
    tokens = numbers(f"tokens{step}", (BATCH, TIME), 2, VOCABULARY)
    tokens[0, -3:] = FILL
    tokens[2, -1:] = FILL
    places = numbers(f"places{step}", (BATCH, TIME - 3)).argsort(-1)[:, :LEFT_OUT]
    wanted = tokens.gather(1, places)
    tokens = tokens.scatter(1, places, BLANK)
    kinds = (torch.arange(TIME) > TIME // 2).long().expand(BATCH, -1)
    return tokens, kinds, places, wanted, numbers(f"follows{step}", (BATCH,), 0, 2)


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    plain = [p for p in model.parameters() if p.dim() < 2]
    decayed = [p for p in model.parameters() if p.dim() > 1]
    optimizer = torch.optim.NAdam([{"params": decayed, "weight_decay": 0.05}, {"params": plain, "lr": 4e-3}],
                                  lr=2e-3, betas=(0.9, 0.98), decoupled_weight_decay=True)
    for step in run.steps:
        tokens, kinds, places, wanted, follows = batch(step)
        with run.step(model):
            with run.forward():
                guess, answer = model(tokens, kinds, places)  # @model
                words = F.cross_entropy(guess.flatten(0, 1), wanted.flatten())  # @word_loss
                follow = F.cross_entropy(answer, follows, label_smoothing=0.1)  # @follow_loss
                loss = words + 0.5 * follow  # @loss
            loss.backward()  # @backward
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
