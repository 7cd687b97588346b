"""Pictures of a generator, and a critic that tells them from given ones, in turns, as generative adversarial nets learn: styles that
come from a label and numbers scale and shift the channels, every resolution adds to the picture; the critic's weights are
standardised, it sees how much a batch varies, and asks for the label. The hinge as the loss, an Adam for each.
"""
import math

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

LABELS, LATENT, STYLE, CHANNELS, START, BATCH = 7, 10, 16, 12, 4, 6


class Styled(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, bias=False)
        self.style = nn.Linear(STYLE, 2 * CHANNELS)
        self.strength = nn.Parameter(torch.empty(CHANNELS))

    def forward(self, x, style, grain):
        x = self.conv(x)  # @conv
        x = x + self.strength[:, None, None] * grain  # @grain
        x = F.instance_norm(x)  # @instance
        scale, shift = self.style(style).chunk(2, -1)  # @style
        x = x * (1 + scale[:, :, None, None]) + shift[:, :, None, None]  # @styled
        return F.leaky_relu(x, 0.2)  # @leaky


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.label = nn.Embedding(LABELS, LATENT)
        self.map1 = nn.Linear(2 * LATENT, STYLE)
        self.map2 = nn.Linear(STYLE, STYLE)
        self.start = nn.Parameter(torch.empty(CHANNELS, START, START))
        self.low = Styled()
        self.high = Styled()
        self.picture1 = nn.Conv2d(CHANNELS, 3, 1)
        self.picture2 = nn.Conv2d(CHANNELS, 3, 1)

    def forward(self, latent, labels, grain):
        z = torch.cat((latent, self.label(labels)), -1)  # @latent
        z = z * torch.rsqrt(z.square().mean(-1, keepdim=True) + 1e-6)  # @normalised
        style = self.map2(F.leaky_relu(self.map1(z), 0.2))  # @mapped
        x = self.start.expand(BATCH, -1, -1, -1)  # @start
        x = self.low(x, style, grain[:, :, ::2, ::2])  # @low
        picture = self.picture1(x)  # @picture1
        x = F.interpolate(x, scale_factor=2.0)  # @larger
        x = self.high(x, style, grain)  # @high
        picture = F.interpolate(picture, scale_factor=2.0) + self.picture2(x)  # @picture2
        return torch.tanh(picture)  # @picture


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, CHANNELS, 1)
        self.inside = nn.Parameter(torch.empty(CHANNELS, CHANNELS, 3, 3))
        self.short = nn.Conv2d(CHANNELS, CHANNELS, 1, bias=False)
        self.last = nn.Conv2d(CHANNELS + 1, CHANNELS, 3, padding=1)
        self.score = nn.Linear(CHANNELS, 1)
        self.label = nn.Embedding(LABELS, CHANNELS)

    def forward(self, picture, labels):
        x = F.leaky_relu(self.first(picture), 0.2)  # @first
        deviation, mean = torch.std_mean(self.inside, (1, 2, 3), keepdim=True)  # @deviation
        weight = (self.inside - mean) / (deviation * math.sqrt(9 * CHANNELS))  # @standard
        h = F.leaky_relu(F.conv2d(x, weight, padding=1), 0.2)  # @inside
        x = (F.avg_pool2d(h, 2) + F.avg_pool2d(self.short(x), 2)) * math.sqrt(0.5)  # @block
        spread = x.std(0, unbiased=False).mean()  # @spread
        x = torch.cat((x, spread.expand(BATCH, 1, START, START)), 1)  # @varied
        x = F.leaky_relu(self.last(x), 0.2).sum((2, 3))  # @last
        return self.score(x).squeeze(-1) + (self.label(labels) * x).sum(-1) / CHANNELS  # @score


def main():
    run = Run()
    model = run.cast(nn.ModuleDict({"generator": Generator(), "critic": Critic()}))
    initialise(model)
    generator, critic = model["generator"], model["critic"]
    of_generator = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.0, 0.99))
    of_critic = torch.optim.Adam(critic.parameters(), lr=4e-3, betas=(0.0, 0.99))
    for step in run.steps:
        given = run.cast(torch.tanh(numbers(f"given{step}", (BATCH, 3, 2 * START, 2 * START))))
        labels = numbers(f"labels{step}", (BATCH,), 0, LABELS)
        latent = run.cast(numbers(f"latent{step}", (2, BATCH, LATENT)))
        grain = run.cast(numbers(f"grain{step}", (2, BATCH, 1, 2 * START, 2 * START)))
        with run.step(model):
            with run.forward():
                made = generator(latent[0], labels, grain[0]).detach()  # @made
                real = critic(given, labels)  # @real
                false = critic(made, labels)  # @false
                loss = F.relu(1 - real).mean() + F.relu(1 + false).mean()  # @hinge
            loss.backward()  # @backward
            of_critic.step()  # @step_critic
            of_critic.zero_grad()
            with run.forward():
                made = generator(latent[1], labels, grain[1])  # @again
                loss = -critic(made, labels).mean()  # @fooled
            loss.backward()  # @backward_fooled
            of_generator.step()  # @step_generator
            of_generator.zero_grad()
            of_critic.zero_grad()


if __name__ == "__main__":
    main()
