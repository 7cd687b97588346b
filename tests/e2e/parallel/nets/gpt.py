"""A decoder in one process: LayerNorm or RMSNorm, rotary or learned positions, grouped queries, GELU or SwiGLU."""
import math

import torch
import torch.nn.functional as F
from run import Run, numbers, values
from torch import nn


def frequencies(width):
    return 1.0 / (10000.0 ** (torch.arange(0, width, 2).float() / width))


def rotate(x, positions):
    """x: [batch, heads, time, width of a head]."""
    angle = torch.outer(positions.float(), frequencies(x.shape[-1]))
    cos, sin = torch.cos(angle).to(x.dtype), torch.sin(angle).to(x.dtype)
    left, right = x.chunk(2, -1)
    return torch.cat((left * cos - right * sin, right * cos + left * sin), -1)


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)
        return (x.float() * scale).to(x.dtype) * self.weight


def make_norm(run):
    return RMSNorm(run.width) if run.norm == "rms" else nn.LayerNorm(run.width)


class Attention(nn.Module):
    def __init__(self, run, name):
        super().__init__()
        self.run, self.name = run, name
        self.head = run.width // run.heads
        self.sizes = [run.heads * self.head, run.kv_heads * self.head, run.kv_heads * self.head]
        self.qkv = nn.Linear(run.width, sum(self.sizes), bias=run.bias)
        self.proj = nn.Linear(run.width, run.width, bias=run.bias)

    def heads(self, x):
        x = x.unflatten(-1, (-1, self.head))
        return x.permute(1, 2, 0, 3) if self.run.time_axis == 0 else x.transpose(1, 2)

    def forward(self, x, positions):
        run, name = self.run, self.name
        fused = run.mark(f"{name}.qkv", self.qkv(x))
        if run.fused == "heads":  # for each group of queries: its queries, its key, its value
            each = run.heads // run.kv_heads
            fused = fused.unflatten(-1, (run.kv_heads, each + 2, self.head))
            q, k, v = (part.flatten(-3) for part in fused.split([each, 1, 1], -2))
        else:
            q, k, v = fused.split(self.sizes, -1)
        q, k, v = self.heads(q), self.heads(k), self.heads(v)
        if run.positions == "rope":
            q, k = rotate(q, positions), rotate(k, positions)
        run.mark(f"{name}.q", q)
        if run.kv_heads != run.heads:
            k, v = (part.repeat_interleave(run.heads // run.kv_heads, 1) for part in (k, v))
        run.mark(f"{name}.k", k)
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head)
        scores = scores.masked_fill(positions.unsqueeze(0) > positions.unsqueeze(1), -1e9)
        weights = run.mark(f"{name}.weights", torch.softmax(scores, -1))
        mixed = run.mark(f"{name}.mixed", torch.matmul(weights, v))
        mixed = mixed.permute(2, 0, 1, 3) if run.time_axis == 0 else mixed.transpose(1, 2)
        return run.mark(f"{name}.proj", self.proj(mixed.flatten(2)))


class MLP(nn.Module):
    def __init__(self, run, name):
        super().__init__()
        self.run, self.name = run, name
        self.gated = run.activation == "swiglu"
        self.up = nn.Linear(run.width, (2 if self.gated else 1) * run.hidden, bias=run.bias)
        self.down = nn.Linear(run.hidden, run.width, bias=run.bias)

    def forward(self, x):
        x = self.run.mark(f"{self.name}.up", self.up(x))
        if self.gated:
            gate, up = x.chunk(2, -1)
            x = F.silu(gate) * up
        else:
            x = F.gelu(x)
        self.run.mark(f"{self.name}.activation", x)
        return self.run.mark(f"{self.name}.down", self.down(x))


class Block(nn.Module):
    def __init__(self, run, name):
        super().__init__()
        self.run, self.name = run, name
        self.norm1, self.norm2 = make_norm(run), make_norm(run)
        self.attn, self.mlp = Attention(run, f"{name}.attn"), MLP(run, f"{name}.mlp")

    def forward(self, x, positions):
        run, name = self.run, self.name
        x = x + self.attn(run.mark(f"{name}.norm1", self.norm1(x)), positions)
        run.mark(f"{name}.middle", x)
        x = x + self.mlp(run.mark(f"{name}.norm2", self.norm2(x)))
        return run.mark(f"{name}.out", x)


class GPT(nn.Module):
    def __init__(self, run):
        super().__init__()
        self.run = run
        self.embedding = nn.Embedding(run.vocabulary, run.width)
        if run.positions == "learned":
            self.position = nn.Embedding(run.time, run.width)
        self.layers = nn.ModuleList(Block(run, f"layers.{number}") for number in range(run.layers))
        self.norm = make_norm(run)
        self.head = nn.Linear(run.width, run.vocabulary, bias=False)
        if run.tied:
            self.head.weight = self.embedding.weight
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                parameter.copy_(values(name, parameter.shape))

    def forward(self, ids):
        run = self.run
        positions = torch.arange(run.time)
        x = run.mark("embedding", self.embedding(ids))
        if run.positions == "learned":
            place = self.position(positions)
            x = x + (place.unsqueeze(1) if run.time_axis == 0 else place)
        for layer in self.layers:
            x = layer(x, positions)
        return run.mark("head", self.head(run.mark("norm", self.norm(x))))


def main():
    run = Run()
    model = GPT(run).to(run.precision)
    if run.optimizer == "adamw":
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1, foreach=True)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=run.optimizer == "foreach")
    for step in range(run.steps):
        tokens = numbers(f"tokens{step}", (run.batch, run.time + 1), 0, run.vocabulary)
        ids, labels = tokens[:, :-1], tokens[:, 1:]
        if run.time_axis == 0:
            ids, labels = ids.t().contiguous(), labels.t().contiguous()
        with run.step(model):
            for name, parameter in model.named_parameters():
                run.mark(name, parameter)
            logits = model(ids).float()
            loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
            run.mark("loss", loss, grad=False).backward()
            for name, parameter in model.named_parameters():
                run.note(f"{name}.reduced", parameter.grad, [])
            optimizer.step()
            optimizer.zero_grad()
    run.finish()


if __name__ == "__main__":
    main()
