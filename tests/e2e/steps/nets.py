"""Small nets and endless data for them: thousands of parameters, milliseconds a step on one core.

NETS[name](width, dropout) is the module; its task(generator, batch) gives the inputs and targets of a batch, its
loss(outputs, targets) the loss. The module `first` of a net reads its input, the module `head` writes its output.
"""
import math

import torch
from torch import nn
from torch.nn import functional


class Mlp(nn.Module):
    """Regression on a fixed random teacher."""

    def __init__(self, width, dropout):
        super().__init__()
        self.first = nn.Linear(8, width)
        self.body = nn.Sequential(nn.ReLU(), nn.Linear(width, width), nn.Tanh(), nn.Dropout(dropout))
        self.head = nn.Linear(width, 4)
        self.teacher = torch.randn(8, 4, generator=torch.Generator().manual_seed(1))

    def forward(self, inputs):
        return self.head(self.body(self.first(inputs)))

    def task(self, generator, batch):
        inputs = torch.randn(batch, 8, generator=generator)
        noise = 0.3 * torch.randn(batch, 4, generator=generator)
        return inputs, torch.sin(inputs @ self.teacher) + noise

    @staticmethod
    def loss(outputs, targets):
        return functional.mse_loss(outputs, targets)


class Residual(Mlp):
    """The same task with blocks of LayerNorm, a hidden layer and dropout beside a path around them."""

    class Block(nn.Module):
        def __init__(self, width, dropout):
            super().__init__()
            self.norm = nn.LayerNorm(width)
            self.up = nn.Linear(width, 2 * width)
            self.act = nn.GELU()
            self.down = nn.Linear(2 * width, width)
            self.drop = nn.Dropout(dropout)

        def forward(self, inputs):
            return inputs + self.drop(self.down(self.act(self.up(self.norm(inputs)))))

    def __init__(self, width, dropout):
        super().__init__(width, dropout)
        self.body = nn.Sequential(*(self.Block(width, dropout) for _ in range(3)))


class Conv(nn.Module):
    """Classes of 8 x 8 pictures: one of four blobs in noise."""

    def __init__(self, width, dropout):
        super().__init__()
        self.first = nn.Conv2d(1, width, 3, padding=1)
        self.body = nn.Sequential(nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1, stride=2), nn.ReLU(),
                                  nn.Flatten(), nn.Dropout(dropout))
        self.head = nn.Linear(width * 16, 4)

    def forward(self, inputs):
        return self.head(self.body(self.first(inputs)))

    @staticmethod
    def task(generator, batch):
        classes = torch.randint(0, 4, (batch,), generator=generator)
        pictures = torch.randn(batch, 1, 8, 8, generator=generator)
        for row, kind in enumerate(classes.tolist()):
            pictures[row, 0, 4 * (kind // 2):4 * (kind // 2) + 4, 4 * (kind % 2):4 * (kind % 2) + 4] += 0.7
        return pictures, classes

    @staticmethod
    def loss(outputs, targets):
        return functional.cross_entropy(outputs, targets)


class Gpt(nn.Module):
    """The next token of a Markov chain, by two blocks of causal attention."""
    VOCABULARY, LENGTH = 17, 12

    class Attention(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.qkv = nn.Linear(width, 3 * width)
            self.softmax = nn.Softmax(-1)
            self.out = nn.Linear(width, width)

        def forward(self, inputs):
            query, key, value = self.qkv(inputs).chunk(3, -1)
            scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])
            mask = torch.ones_like(scores[0], dtype=torch.bool).triu(1)
            return self.out(self.softmax(scores.masked_fill(mask, -1e9)) @ value)

    class Block(nn.Module):
        def __init__(self, width, dropout):
            super().__init__()
            self.norm1 = nn.LayerNorm(width)
            self.attention = Gpt.Attention(width)
            self.norm2 = nn.LayerNorm(width)
            self.up = nn.Linear(width, 2 * width)
            self.act = nn.GELU()
            self.down = nn.Linear(2 * width, width)
            self.drop = nn.Dropout(dropout)

        def forward(self, inputs):
            inputs = inputs + self.attention(self.norm1(inputs))
            return inputs + self.drop(self.down(self.act(self.up(self.norm2(inputs)))))

    def __init__(self, width, dropout):
        super().__init__()
        self.first = nn.Embedding(self.VOCABULARY, width)
        self.place = nn.Parameter(0.02 * torch.randn(self.LENGTH, width))
        self.body = nn.Sequential(*(self.Block(width, dropout) for _ in range(2)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, self.VOCABULARY)
        chain = torch.randn(self.VOCABULARY, self.VOCABULARY, generator=torch.Generator().manual_seed(2))
        self.chain = torch.softmax(2 * chain, -1)

    def forward(self, tokens):
        return self.head(self.norm(self.body(self.first(tokens) + self.place)))

    def task(self, generator, batch):
        tokens = [torch.randint(0, self.VOCABULARY, (batch,), generator=generator)]
        for _ in range(self.LENGTH):
            tokens.append(torch.multinomial(self.chain[tokens[-1]], 1, generator=generator)[:, 0])
        tokens = torch.stack(tokens, 1)
        return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()

    @staticmethod
    def loss(outputs, targets):
        return functional.cross_entropy(outputs.flatten(0, 1), targets.flatten())


class Gru(nn.Module):
    """The next value of a sum of sines with noise."""

    def __init__(self, width, dropout):
        super().__init__()
        self.first = nn.Linear(2, width)
        self.body = nn.Sequential(nn.Tanh(), nn.Dropout(dropout))
        self.cell = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, 2)

    def forward(self, inputs):
        return self.head(self.cell(self.body(self.first(inputs)))[0])

    @staticmethod
    def task(generator, batch):
        begin = 6 * torch.rand(batch, 1, 2, generator=generator)
        speed = 0.2 + 0.6 * torch.rand(batch, 1, 2, generator=generator)
        values = torch.sin(begin + speed * torch.arange(13.).view(1, 13, 1))
        values = values + 0.1 * torch.randn(batch, 13, 2, generator=generator)
        return values[:, :-1].contiguous(), values[:, 1:].contiguous()

    @staticmethod
    def loss(outputs, targets):
        return functional.mse_loss(outputs, targets)


class Mixture(Mlp):
    """The first task with four experts, of which a router takes a weighted sum."""

    class Experts(nn.Module):
        def __init__(self, width, dropout):
            super().__init__()
            self.router = nn.Linear(width, 4)
            self.weights = nn.Softmax(-1)
            self.experts = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(4))
            self.drop = nn.Dropout(dropout)

        def forward(self, inputs):
            weights = self.weights(self.router(inputs))
            parts = torch.stack([expert(inputs) for expert in self.experts], -1)
            return self.drop((parts * weights.unsqueeze(1)).sum(-1))

    def __init__(self, width, dropout):
        super().__init__(width, dropout)
        self.body = self.Experts(width, dropout)


NETS = {"mlp": Mlp, "residual": Residual, "conv": Conv, "gpt": Gpt, "gru": Gru, "mixture": Mixture}
