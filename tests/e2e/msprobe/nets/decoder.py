"""A decoder: rotary positions, RMSNorm, gated MLP, causal mask, tied embedding; AdamW."""
import math

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

VOCABULARY, WIDTH, HEADS, LAYERS, TIME = 53, 32, 4, 3, 10


class RMSNorm(nn.Module):
    def __init__(self, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))
        self.eps = eps

    def forward(self, x):
        variance = x.pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + self.eps)  # @rms
        return self.weight * x


def rotary(time, dtype):
    frequency = 1.0 / (10000.0 ** (torch.arange(0, WIDTH // HEADS, 2).float() / (WIDTH // HEADS)))
    position = torch.arange(0, time).float()  # @positions
    angle = torch.outer(position, frequency)  # @angle
    return torch.cos(angle).to(dtype), torch.sin(angle).to(dtype)


def rotate(x, cos, sin):
    even, odd = x[..., 0::2], x[..., 1::2]
    left = even * cos - odd * sin  # @rotate
    right = even * sin + odd * cos  # @rotate2
    return torch.stack((left, right), -1).flatten(-2)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.proj = nn.Linear(WIDTH, WIDTH, bias=False)
        self.drop = nn.Dropout(0.0)  # @dropout

    def heads(self, x):
        return x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)  # @heads

    def forward(self, x, cos, sin, mask):
        q, k, v = self.qkv(x).chunk(3, -1)  # @qkv
        q, k, v = self.heads(q), self.heads(k), self.heads(v)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])  # @scores
        scores = scores.masked_fill(mask, float("-inf"))  # @masked
        weights = self.drop(torch.softmax(scores, -1))  # @softmax
        mixed = torch.matmul(weights, v)  # @mixed
        return self.proj(mixed.transpose(1, 2).flatten(2))  # @proj


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        gate = self.gate(x)
        up = self.up(x)  # @up
        h = F.silu(gate)  # @silu
        h = h * up  # @product
        return self.down(h)  # @down


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = RMSNorm()
        self.attn = Attention()
        self.norm2 = RMSNorm()
        self.mlp = MLP()

    def forward(self, x, cos, sin, mask):
        x = x + self.attn(self.norm1(x), cos, sin, mask)  # @residual1
        return x + self.mlp(self.norm2(x))  # @residual2


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = RMSNorm()
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.emb.weight

    def forward(self, tokens):
        cos, sin = rotary(tokens.shape[1], self.emb.weight.dtype)
        mask = torch.ones(tokens.shape[1], tokens.shape[1]).triu(1).bool()  # @mask
        x = self.emb(tokens)  # @embed
        for block in self.blocks:
            x = block(x, cos, sin, mask)
        return self.head(self.norm(x))  # @head


def main():
    run = Run()
    model = run.cast(Decoder())
    initialise(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95), weight_decay=0.1)
    for step in run.steps:
        tokens = numbers(f"tokens{step}", (2, TIME), 0, VOCABULARY)
        with run.step(model):
            with run.forward():
                logits = model(tokens)
                loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())  # @loss
            loss.backward()
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
