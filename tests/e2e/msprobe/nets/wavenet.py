"""A waveform sample by sample: dilated causal convolutions with normalised weights, gates, a condition for every frame of
eight samples, what all blocks skip together; NAdam."""
import math

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

LEVELS, WIDTH, FRAMES, EACH, BATCH, TAPS = 32, 12, 4, 8, 3, 2


class Causal(nn.Module):
    """Its weight has a direction and, for each channel, a length."""

    def __init__(self, inputs, outputs, dilation):
        super().__init__()
        self.direction = nn.Parameter(torch.empty(outputs, inputs, TAPS))
        self.length = nn.Parameter(torch.empty(outputs, 1, 1))
        self.bias = nn.Parameter(torch.empty(outputs))
        self.dilation = dilation

    def forward(self, x):
        size = self.direction.norm(dim=(1, 2), keepdim=True)  # @size
        weight = self.direction * ((1 + self.length) / size)  # @weight
        x = F.pad(x, (self.dilation * (TAPS - 1), 0))  # @pad
        return F.conv1d(x, weight, self.bias, dilation=self.dilation)  # @conv


class Block(nn.Module):
    def __init__(self, dilation):
        super().__init__()
        self.causal = Causal(WIDTH, 2 * WIDTH, dilation)
        self.local = nn.Conv1d(WIDTH, 2 * WIDTH, 1, bias=False)
        self.out = nn.Conv1d(WIDTH, WIDTH, 1)
        self.skip = nn.Conv1d(WIDTH, WIDTH, 1)

    def forward(self, x, condition):
        h = self.causal(x)  # @causal
        h = h + self.local(condition)  # @local
        wave, gate = h.chunk(2, 1)  # @chunk
        h = torch.tanh(wave) * torch.sigmoid(gate)  # @gated
        skip = self.skip(h)  # @skip
        return (x + self.out(h)) * math.sqrt(0.5), skip  # @residual


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(LEVELS, WIDTH)
        self.upsample = nn.ConvTranspose1d(5, WIDTH, EACH, stride=EACH)
        self.blocks = nn.ModuleList(Block(dilation) for dilation in (1, 2, 4))
        self.middle = nn.Conv1d(WIDTH, WIDTH, 1)
        self.final = nn.Conv1d(WIDTH, LEVELS, 1)

    def forward(self, samples, frames):
        x = self.emb(samples).transpose(1, 2)  # @embed
        condition = self.upsample(frames)  # @upsample
        condition = F.leaky_relu(condition, 0.4)  # @condition
        total = 0
        for block in self.blocks:
            x, skip = block(x, condition)  # @block
            total = total + skip  # @total
        x = F.relu(total * math.sqrt(1 / len(self.blocks)))  # @skipped
        x = F.relu(self.middle(x))  # @middle
        return self.final(x)  # @final


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    optimizer = torch.optim.NAdam(model.parameters(), lr=2e-3)
    for step in run.steps:
        samples = numbers(f"samples{step}", (BATCH, FRAMES * EACH + 1), 0, LEVELS)
        frames = run.cast(numbers(f"frames{step}", (BATCH, 5, FRAMES)))
        with run.step(model):
            with run.forward():
                logits = model(samples[:, :-1], frames)  # @model
                loss = F.cross_entropy(logits, samples[:, 1:])  # @loss
            loss.backward()  # @backward
            torch.nn.utils.clip_grad_value_(model.parameters(), 0.1)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
