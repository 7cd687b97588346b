"""A normalising flow: each step scales its channels, mixes them by a matrix and moves one half by what the other says; half of
the channels leave on the way. The loss is the likelihood in bits; Adamax."""
import math

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

BATCH, CHANNELS, LENGTH, WIDTH, STEPS, LEVELS = 4, 4, 8, 24, 2, 16


class Scale(nn.Module):
    """Each channel by a factor of its own."""

    def __init__(self, channels):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(channels, 1))
        self.size = nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        x = (x + self.shift) * torch.exp(self.size)[:, None]  # @scaled
        return x, self.size.sum() * x.shape[2]  # @sizes


class Mixing(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.eye(channels))

    def forward(self, x):
        volume = torch.linalg.slogdet(self.weight.float())[1]  # @volume
        y = F.conv1d(x, self.weight[..., None])  # @mixed
        return y, volume * x.shape[2]  # @volumes


class Coupling(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv1d(channels // 2, WIDTH, 3, padding=1)
        self.middle = nn.Conv1d(WIDTH, WIDTH, 1)
        self.last = nn.Conv1d(WIDTH, channels, 3, padding=1)

    def forward(self, x):
        a, b = x.chunk(2, 1)  # @halves
        h = torch.tanh(self.first(a))  # @first
        h = h + self.middle(h).relu()  # @middle
        shift, scale = self.last(h).chunk(2, 1)  # @last
        scale = torch.sigmoid(scale + 2.0)  # @sigmoid
        b = (b + shift) * scale  # @coupled
        volume = torch.log(scale).sum((1, 2))  # @logs
        return torch.cat((a, b), 1), volume  # @joined


class Step(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = Scale(channels)
        self.mix = Mixing(channels)
        self.couple = Coupling(channels)

    def forward(self, x):
        x, first = self.scale(x)  # @scale
        x, second = self.mix(x)  # @mix
        x, third = self.couple(x)  # @couple
        return x, first + second + third  # @added


class Prior(nn.Module):
    """What leaves, by what stays."""

    def __init__(self, channels):
        super().__init__()
        self.guess = nn.Conv1d(channels // 2, channels, 3, padding=1)

    def forward(self, x):
        stays, leaves = x.chunk(2, 1)  # @parted
        mean, spread = self.guess(stays).chunk(2, 1)  # @guess
        z = (leaves - mean) * torch.exp(-spread)  # @centred
        each = -0.5 * z.square() - spread - 0.5 * math.log(2 * math.pi)  # @each
        return stays, each.flatten(1).sum(1)  # @likely


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.level1 = nn.ModuleList(Step(2 * CHANNELS) for _ in range(STEPS))
        self.prior = Prior(2 * CHANNELS)
        self.level2 = nn.ModuleList(Step(2 * CHANNELS) for _ in range(STEPS))

    def forward(self, x):
        x = self.fold(x)  # @fold1
        total = x.new_zeros(BATCH)
        for step in self.level1:
            x, volume = step(x)  # @step1
            total = total + volume  # @total1
        x, likely = self.prior(x)  # @prior
        total = total + likely  # @total
        x = self.fold(x)  # @fold2
        for step in self.level2:
            x, volume = step(x)  # @step2
            total = total + volume  # @total2
        rest = -0.5 * x.square() - 0.5 * math.log(2 * math.pi)  # @rest
        return total + rest.flatten(1).sum(1)  # @end

    def fold(self, x):
        """Half as long, twice as many channels."""
        x = x.unflatten(2, (-1, 2)).permute(0, 1, 3, 2)  # @folded
        return x.flatten(1, 2)  # @flat


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    optimizer = torch.optim.Adamax(model.parameters(), lr=2e-3, betas=(0.9, 0.99))
    for step in run.steps:
        shown = numbers(f"shown{step}", (BATCH, CHANNELS, LENGTH), 0, LEVELS).float()
        between = torch.sigmoid(numbers(f"between{step}", (BATCH, CHANNELS, LENGTH)))
        shown, between = run.cast(shown), run.cast(between)
        with run.step(model):
            with run.forward():
                x = (shown + between) / LEVELS - 0.5  # @between
                likely = model(x) - CHANNELS * LENGTH * math.log(LEVELS)  # @model
                loss = -likely.mean() / (CHANNELS * LENGTH * math.log(2.0))  # @loss
            loss.backward()  # @backward
            torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
