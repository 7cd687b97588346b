"""An encoder-decoder: LayerNorm, GELU, learned positions, padding, cross attention; two micro batches a step, SGD."""
import math

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

VOCABULARY, WIDTH, HEADS, TIME, PAD, MICRO = 41, 32, 4, 9, 0, 2


class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.norm1 = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 2 * WIDTH)
        self.gelu = nn.GELU()
        self.down = nn.Linear(2 * WIDTH, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH)

    def forward(self, x, padding):
        mixed, _ = self.attention(x, x, x, key_padding_mask=padding)  # @self_attention
        x = self.norm1(x + mixed)  # @encoder_norm1
        h = self.gelu(self.up(x))  # @gelu
        return self.norm2(x + self.down(h))  # @encoder_norm2


class Cross(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(WIDTH, WIDTH)
        self.value = nn.Linear(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def split(self, x):
        return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)

    def forward(self, x, memory, padding):
        q, k = self.split(self.query(x)), self.split(self.key(memory))  # @cross_key
        v = self.split(self.value(memory))  # @cross_value
        scores = torch.matmul(q, k.transpose(2, 3)) * (q.shape[-1] ** -0.5)  # @cross_scores
        scores = scores.masked_fill(padding[:, None, None, :], -1e9)  # @cross_masked
        weights = torch.softmax(scores, dim=-1)  # @cross_softmax
        mixed = torch.matmul(weights, v)  # @cross_mixed
        return self.out(mixed.transpose(1, 2).flatten(2))  # @cross_out


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.cross = Cross()
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x, memory, padding):
        q, k, v = self.qkv(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)  # @decoder_qkv
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)  # @causal
        x = self.norm1(x + mixed.transpose(1, 2).flatten(2))  # @decoder_norm1
        x = self.norm2(x + self.cross(x, memory, padding))  # @decoder_norm2
        return self.norm3(x + self.mlp(x))  # @decoder_norm3


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.source = nn.Embedding(VOCABULARY, WIDTH)
        self.target = nn.Embedding(VOCABULARY, WIDTH)
        self.position = nn.Embedding(2 * TIME, WIDTH)
        self.encoder = nn.ModuleList(EncoderLayer() for _ in range(2))
        self.decoder = nn.ModuleList(DecoderLayer() for _ in range(2))
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def embed(self, table, tokens):
        x = table(tokens) * math.sqrt(WIDTH)  # @scale
        positions = torch.arange(0, tokens.shape[1])  # @positions
        return x + self.position(positions)  # @position

    def encode(self, tokens, padding):
        x = self.embed(self.source, tokens)
        for layer in self.encoder:
            x = layer(x, padding)
        return x

    def forward(self, source, target):
        padding = source == PAD  # @padding
        memory = self.encode(source, padding)  # @memory
        x = self.embed(self.target, target)
        for layer in self.decoder:
            x = layer(x, memory, padding)
        return self.head(x)  # @head


def main():
    run = Run()
    model = run.cast(Translator())
    initialise(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in run.steps:
        with run.step(model):
            for micro in range(MICRO):
                source = numbers(f"source{step}{micro}", (2, TIME), 1, VOCABULARY)
                target = numbers(f"target{step}{micro}", (2, TIME), 1, VOCABULARY)
                source[1, -3:] = target[1, -2:] = PAD
                with run.forward():
                    logits = model(source, target[:, :-1])
                    loss = F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD)  # @loss
                    loss = loss / MICRO  # @divided
                loss.backward()  # @backward
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
