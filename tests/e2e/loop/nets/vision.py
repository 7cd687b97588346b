"""A vision transformer: patches by convolution, class token, fused attention, layer scale; AdamW with warm-up."""
import math

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

CLASSES, WIDTH, HEADS, LAYERS, BATCH, SIDE, PATCH = 100, 192, 6, 3, 4, 64, 8
TOKENS = (SIDE // PATCH) ** 2 + 1


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.proj = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        qkv = self.qkv(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)  # @qkv
        q, k, v = qkv.unbind(0)  # @unbind
        scores = torch.matmul(q, k.transpose(-2, -1)) * (WIDTH // HEADS) ** -0.5  # @scores
        weights = torch.softmax(scores, dim=-1)  # @softmax
        mixed = torch.matmul(weights, v)  # @mixed
        return self.proj(mixed.transpose(1, 2).flatten(2))  # @proj


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH, eps=1e-6)
        self.attn = Attention()
        self.scale1 = nn.Parameter(torch.ones(WIDTH))
        self.norm2 = nn.LayerNorm(WIDTH, eps=1e-6)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)
        self.scale2 = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        x = x + self.scale1 * self.attn(self.norm1(x))  # @residual1
        h = F.gelu(self.up(self.norm2(x)))  # @gelu
        return x + self.scale2 * self.down(h)  # @residual2


class Vision(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, PATCH, stride=PATCH)
        self.token = nn.Parameter(torch.zeros(1, 1, WIDTH))
        self.positions = nn.Parameter(torch.zeros(1, TOKENS, WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH, eps=1e-6)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, pictures):
        x = self.patches(pictures)
        x = x.flatten(2).transpose(1, 2)  # @flatten
        x = torch.cat((self.token.expand(len(x), -1, -1), x), 1)  # @token
        x = x + self.positions  # @positions
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)  # @norm
        first, rest = x[:, 0], x[:, 1:].mean(1)  # @pooled
        return self.head(first + rest)  # @head


def main():
    run = Run()
    model = run.cast(Vision())
    initialise(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    for step in run.steps:
        pictures = numbers(f"pictures{step}", (BATCH, 3, SIDE, SIDE))
        labels = numbers(f"labels{step}", (BATCH,), 0, CLASSES)
        optimizer.param_groups[0]["lr"] = 1e-3 * min(1.0, (step + 1) / 4)
        with run.step(model):
            with run.forward():
                loss = F.cross_entropy(model(pictures) / math.sqrt(2), labels)  # @loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
