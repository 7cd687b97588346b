"""A diffusion model's U-Net: GroupNorm, SiLU, the time in every block, attention over pixels, skips; Adam."""
import math

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

WIDTH, GROUPS, HEADS, BATCH, SIDE, TIMES = 64, 8, 4, 2, 16, 1000


def embed_time(times):
    half = WIDTH // 2
    frequency = torch.exp(-math.log(10000.0) * torch.arange(half) / half)  # @frequency
    angle = times[:, None].float() * frequency[None]  # @angle
    return torch.cat((angle.sin(), angle.cos()), -1)  # @wave


class Residual(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.norm1 = nn.GroupNorm(GROUPS, inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(WIDTH, 2 * outputs)
        self.norm2 = nn.GroupNorm(GROUPS, outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.short = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, time):
        h = self.conv1(F.silu(self.norm1(x)))  # @first
        scale, shift = self.time(F.silu(time))[:, :, None, None].chunk(2, 1)  # @chunk
        h = self.norm2(h) * (1 + scale) + shift  # @modulate
        h = self.conv2(F.silu(h))  # @second
        return (self.short(x) + h) / math.sqrt(2)  # @residual


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.GroupNorm(GROUPS, width)
        self.qkv = nn.Conv2d(width, 3 * width, 1)
        self.out = nn.Conv2d(width, width, 1)

    def forward(self, x):
        qkv = self.qkv(self.norm(x)).flatten(2).unflatten(1, (3, HEADS, -1))  # @qkv
        q, k, v = qkv.unbind(1)  # @unbind
        scores = torch.einsum("bhdi,bhdj->bhij", q, k) / math.sqrt(q.shape[2])  # @scores
        weights = scores.softmax(-1)  # @softmax
        mixed = torch.einsum("bhij,bhdj->bhdi", weights, v)  # @mixed
        return x + self.out(mixed.flatten(1, 2).unflatten(2, x.shape[2:]))  # @attended


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.time1 = nn.Linear(WIDTH, WIDTH)
        self.time2 = nn.Linear(WIDTH, WIDTH)
        self.enter = nn.Conv2d(3, WIDTH, 3, padding=1)
        self.down = Residual(WIDTH, WIDTH)
        self.smaller = nn.Conv2d(WIDTH, 2 * WIDTH, 3, stride=2, padding=1)
        self.middle1 = Residual(2 * WIDTH, 2 * WIDTH)
        self.attention = Attention(2 * WIDTH)
        self.middle2 = Residual(2 * WIDTH, 2 * WIDTH)
        self.larger = nn.Conv2d(2 * WIDTH, WIDTH, 3, padding=1)
        self.up = Residual(2 * WIDTH, WIDTH)
        self.norm = nn.GroupNorm(GROUPS, WIDTH)
        self.leave = nn.Conv2d(WIDTH, 3, 3, padding=1)

    def forward(self, x, times):
        time = self.time2(F.silu(self.time1(embed_time(times))))  # @time
        x = self.enter(x)
        skip = self.down(x, time)
        h = self.smaller(skip)  # @smaller
        h = self.middle1(h, time)
        h = self.attention(h)
        h = self.middle2(h, time)
        h = self.larger(F.interpolate(h, scale_factor=2.0, mode="nearest"))  # @larger
        h = self.up(torch.cat((h, skip), 1), time)  # @skip
        return self.leave(F.silu(self.norm(h)))  # @leave


def main():
    run = Run()
    model = run.cast(UNet())
    initialise(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    betas = torch.linspace(1e-4, 0.02, TIMES)
    kept = torch.cumprod(1 - betas, 0)
    for step in run.steps:
        pictures, noise = (numbers(f"{name}{step}", (BATCH, 3, SIDE, SIDE)) for name in ("pictures", "noise"))
        times = numbers(f"times{step}", (BATCH,), 0, TIMES)
        with run.step(model):
            alpha = kept[times][:, None, None, None]  # @alpha
            noisy = alpha.sqrt() * pictures + (1 - alpha).sqrt() * noise  # @noisy
            with run.forward():
                guess = model(noisy, times)
                weight = torch.clamp(alpha / (1 - alpha), max=5.0)  # @weight
                loss = (weight * (guess - noise) ** 2).mean()  # @loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
