"""A picture freed of noise: a U-Net that is told how much of it there is and reads a few words; what it kept on the way down is
joined on the way up. The noise is guessed, little of it counts less; AdamW, whose rate grows."""
import math

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

BATCH, COLOURS, SIDE, WIDTH, DEEP, GROUPS, HEADS, WORDS, VOCABULARY, TIMES = 3, 2, 8, 8, 16, 4, 2, 3, 13, 50


class Norm(nn.Module):
    def __init__(self, channels, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.groups, self.eps = GROUPS, eps

    def forward(self, x):
        return F.group_norm(x, self.groups, self.weight, self.bias, self.eps)  # @norm


class Clock(nn.Module):
    """The time as waves of several lengths, and what two layers make of them."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(WIDTH, DEEP)
        self.second = nn.Linear(DEEP, DEEP)

    def forward(self, when):
        half = WIDTH // 2
        rate = torch.exp(torch.arange(half) * (-math.log(1e4) / half))  # @rate
        angle = when[:, None] * rate  # @angle
        waves = torch.cat((torch.sin(angle), torch.cos(angle)), 1)  # @waves
        h = self.first(waves.to(self.first.weight.dtype))  # @first
        return self.second(F.silu(h))  # @second


class Block(nn.Module):
    """Two convolutions; the time scales and moves what is between them."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.norm1 = Norm(inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.time = nn.Linear(DEEP, 2 * outputs)
        self.norm2 = Norm(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.short = nn.Identity() if inputs == outputs else nn.Conv2d(inputs, outputs, 1, bias=False)

    def forward(self, x, told):
        h = self.norm1(x)  # @norm1
        h = F.silu(h)  # @silu1
        h = self.conv1(h)  # @conv1
        told = F.silu(told)  # @told
        scale, shift = self.time(told)[:, :, None, None].chunk(2, 1)  # @time
        h = self.norm2(h)  # @norm2
        h = h * (1 + scale) + shift  # @moved
        h = F.silu(h)  # @silu2
        h = self.conv2(h)  # @conv2
        return self.short(x) + h  # @residual


class Cross(nn.Module):
    """Every place of the picture asks the words that are there."""

    def __init__(self):
        super().__init__()
        self.norm = Norm(DEEP)
        self.query = nn.Linear(DEEP, DEEP, bias=False)
        self.key = nn.Linear(DEEP, DEEP, bias=False)
        self.value = nn.Linear(DEEP, DEEP, bias=False)
        self.out = nn.Linear(DEEP, DEEP)

    def forward(self, x, text, there):
        h = self.norm(x).flatten(2).transpose(1, 2)  # @places
        q = self.heads(self.query(h))  # @query
        k = self.heads(self.key(text))  # @key
        v = self.heads(self.value(text))  # @value
        scores = torch.matmul(q, k.transpose(-1, -2)) * (DEEP // HEADS) ** -0.5  # @scores
        scores = scores.masked_fill(~there[:, None, None], float("-inf"))  # @masked
        weights = torch.softmax(scores, -1)  # @softmax
        h = torch.matmul(weights, v)  # @mixed
        h = self.out(h.transpose(1, 2).flatten(2))  # @out
        return x + h.transpose(1, 2).unflatten(2, x.shape[2:])  # @crossed

    def heads(self, x):
        return x.unflatten(2, (HEADS, -1)).transpose(1, 2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.clock = Clock()
        self.words = nn.Embedding(VOCABULARY, DEEP)
        self.inlet = nn.Conv2d(COLOURS, WIDTH, 3, padding=1)
        self.before = Block(WIDTH, WIDTH)
        self.down = nn.Conv2d(WIDTH, DEEP, 3, stride=2, padding=1)
        self.cross = Cross()
        self.up = nn.Conv2d(DEEP, WIDTH, 3, padding=1)
        self.after = Block(2 * WIDTH, WIDTH)
        self.norm = Norm(WIDTH)
        self.outlet = nn.Conv2d(WIDTH, COLOURS, 3, padding=1)

    def forward(self, x, when, words, there):
        told = self.clock(when)  # @clock
        text = self.words(words)  # @words
        x = self.inlet(x)  # @inlet
        kept = self.before(x, told)  # @before
        x = self.down(kept)  # @down
        x = self.cross(x, text, there)  # @cross
        x = F.interpolate(x, scale_factor=2, mode="nearest")  # @larger
        x = self.up(x)  # @up
        x = self.after(torch.cat((x, kept), 1), told)  # @after
        x = F.silu(self.norm(x))  # @final
        return self.outlet(x)  # @outlet


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, betas=(0.9, 0.99), weight_decay=0.01)
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda count: min(1.0, (1 + count) / 4))
    left = torch.cumprod(1 - torch.linspace(0.002, 0.4, TIMES), 0)
    for step in run.steps:
        pictures = run.cast(numbers(f"pictures{step}", (BATCH, COLOURS, SIDE, SIDE)))
        noise = run.cast(numbers(f"noise{step}", (BATCH, COLOURS, SIDE, SIDE)))
        when = numbers(f"when{step}", (BATCH,), 1, TIMES // 2)
        words = numbers(f"words{step}", (BATCH, WORDS), 0, VOCABULARY)
        there = torch.arange(WORDS) < numbers(f"there{step}", (BATCH, 1), 1, WORDS)
        with run.step(model):
            with run.forward():
                of = left[when]  # @of
                clear = of.sqrt()[:, None, None, None]  # @clear
                dark = (1 - of).sqrt()[:, None, None, None]  # @dark
                seen = clear * pictures + dark * noise  # @seen
                guess = model(seen.to(noise.dtype), when, words, there)  # @model
                ratio = of / (1 - of)  # @ratio
                share = ratio.clamp(max=5.0) / ratio  # @share
                error = F.mse_loss(guess, noise, reduction="none").mean((1, 2, 3))  # @error
                loss = (error * share).mean()  # @loss
            loss.backward()  # @backward
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()
            rate.step()


if __name__ == "__main__":
    main()
