"""The nets: small, of kinds that the other trials do not have. Each computes its loss from a batch of its own.

The three of HELD are held out: of them totals are looked at, and no case.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY = 48


def weight(*shape):
    return nn.Parameter(torch.zeros(shape))


class Scan(nn.Module):
    """Selective state spaces: gates, a convolution over time for each channel, a scan step by step."""

    class Block(nn.Module):
        def __init__(self, width, states=8):
            super().__init__()
            self.norm_weight = weight(width)
            self.inside = nn.Linear(width, 2 * width, bias=False)
            self.filter, self.filter_bias = weight(width, 1, 4), weight(width)
            self.delta = nn.Linear(width, width)
            self.select = nn.Linear(width, 2 * states, bias=False)
            self.decay, self.skip = weight(width, states), weight(width)
            self.outside = nn.Linear(width, width)

        def forward(self, x):
            square = torch.mean(torch.square(x), -1, keepdim=True)
            u, gate = self.inside(x * torch.rsqrt(square + 1e-5) * (1 + self.norm_weight)).chunk(2, -1)
            u = F.conv1d(u.transpose(1, 2), self.filter, self.filter_bias, padding=3, groups=u.shape[-1])
            u = F.silu(u[..., :x.shape[1]].transpose(1, 2))
            delta = F.softplus(self.delta(u))
            into, out_of = torch.split(self.select(u), self.decay.shape[1], -1)
            kept = torch.exp(torch.mul(delta.unsqueeze(-1), -torch.exp(self.decay)))
            driven = torch.mul((delta * u).unsqueeze(-1), into.unsqueeze(2))
            state, steps = torch.zeros_like(driven[:, 0]), []
            for time in range(x.shape[1]):
                state = torch.addcmul(driven[:, time], kept[:, time], state)
                steps.append(torch.matmul(state, out_of[:, time].unsqueeze(-1)).squeeze(-1))
            y = torch.stack(steps, 1) + u * self.skip
            return x + self.outside(y * F.silu(gate))

    def __init__(self, width):
        super().__init__()
        self.embedding = weight(VOCABULARY, width)
        self.blocks = nn.ModuleList(self.Block(width) for _ in range(2))
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, numbers):
        tokens = numbers("tokens", (2, 13), VOCABULARY)
        x = F.embedding(tokens[:, :-1], self.embedding)
        for block in self.blocks:
            x = block(x)
        x = F.layer_norm(x, x.shape[-1:])
        return F.cross_entropy(self.head(x).flatten(0, 1), tokens[:, 1:].flatten())


class Graph(nn.Module):
    """Messages along edges, added where they arrive, with attention; pooled for each of three graphs."""

    class Layer(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.message = nn.Linear(3 * width, width)
            self.attention = weight(width, 1)
            self.update, self.reset = nn.Linear(2 * width, width), nn.Linear(2 * width, width)
            self.norm = nn.LayerNorm(width)

        def forward(self, x, edges, source, target):
            pairs = torch.cat((torch.index_select(x, 0, source), torch.index_select(x, 0, target), edges), -1)
            message = F.leaky_relu(self.message(pairs), 0.2)
            score = torch.matmul(torch.tanh(message), self.attention).squeeze(-1)
            score = torch.exp(score - torch.amax(score))
            total = torch.index_add(torch.zeros(len(x)), 0, target, score)
            share = torch.div(score, torch.clamp(torch.index_select(total, 0, target), min=1e-9))
            message = message * share.unsqueeze(-1)
            arrived = torch.scatter_add(torch.zeros_like(x), 0, target.unsqueeze(-1).expand_as(message), message)
            both = torch.cat((x, arrived), -1)
            gate, candidate = torch.sigmoid(self.update(both)), F.elu(self.reset(both))
            return self.norm(torch.lerp(x, candidate, gate))

    def __init__(self, width):
        super().__init__()
        self.nodes, self.edges = weight(24, width), nn.Linear(5, width)
        self.layers = nn.ModuleList(self.Layer(width) for _ in range(2))
        self.head = nn.Linear(width, 16)

    def forward(self, numbers):
        kinds = numbers("kinds", (30,), 24)
        source, target = numbers("source", (90,), 30), numbers("target", (90,), 30)
        x = F.embedding(kinds, self.nodes)
        edges = F.softplus(self.edges(numbers("edges", (90, 5))))
        for layer in self.layers:
            x = layer(x, edges, source, target)
        graph = torch.arange(30) // 10
        pooled = torch.index_add(torch.zeros(3, x.shape[-1]), 0, graph, x) / 10.0
        logits = self.head(pooled)
        distance = torch.norm(torch.index_select(x, 0, source) - torch.index_select(x, 0, target), dim=-1)
        wanted = numbers("labels", (3, 16), 2).float()
        return F.binary_cross_entropy_with_logits(logits, wanted) + \
            0.1 * F.smooth_l1_loss(distance, numbers("lengths", (90,)).abs())


class Experts(nn.Module):
    """A decoder of one block whose tokens each go to two of four experts; fused attention, smoothed labels."""

    def __init__(self, width, experts=4):
        super().__init__()
        self.embedding, self.place = weight(VOCABULARY, width), weight(16, width)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.mix = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.router = nn.Linear(width, experts, bias=False)
        self.up, self.up_bias = weight(experts, width, 2 * width), weight(experts, 1, 2 * width)
        self.down = weight(experts, 2 * width, width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)

    def attend(self, x):
        def heads(part):
            return part.unflatten(-1, (2, -1)).transpose(1, 2)

        q, k, v = self.qkv(x).chunk(3, -1)
        mixed = F.scaled_dot_product_attention(heads(q), heads(k), heads(v), is_causal=True)
        return self.mix(mixed.transpose(1, 2).flatten(2))

    def route(self, x):
        chances = torch.softmax(self.router(x), -1)
        best, which = torch.topk(chances, 2, -1)
        best = best / torch.sum(best, -1, keepdim=True)
        chosen = F.one_hot(which, chances.shape[-1]).float()
        shares = torch.sum(chosen * best.unsqueeze(-1), 1)
        load = torch.sum(torch.mean(chances, 0) * torch.mean(chosen.amax(1), 0))
        return shares, load

    def forward(self, numbers):
        tokens = numbers("tokens", (2, 17), VOCABULARY)
        x = F.embedding(tokens[:, :-1], self.embedding) + self.place
        x = x + self.attend(self.norm1(x))
        flat = torch.reshape(self.norm2(x), (-1, x.shape[-1]))
        shares, load = self.route(flat)
        many = flat.unsqueeze(0).expand(len(self.up), -1, -1)
        inside = F.gelu(torch.baddbmm(self.up_bias, many, self.up))
        made = torch.bmm(inside, self.down)
        together = torch.sum(made * shares.t().unsqueeze(-1), 0)
        x = self.norm3(x + torch.reshape(together, x.shape))
        loss = F.cross_entropy(self.head(x).flatten(0, 1), tokens[:, 1:].flatten(), label_smoothing=0.1)
        return loss + 0.01 * load


class Lstm(nn.Module):
    """An LSTM with peepholes, written by hand; attention over what is not padding."""

    def __init__(self, width):
        super().__init__()
        self.embedding = weight(VOCABULARY, width)
        self.input, self.state = nn.Linear(width, 4 * width), nn.Linear(width, 4 * width, bias=False)
        self.peep_in, self.peep_out = weight(width), weight(width)
        self.key = nn.Linear(width, width)
        self.head = nn.Linear(2 * width, VOCABULARY)

    def step(self, x, h, c):
        i, f, g, o = torch.chunk(self.input(x) + self.state(h), 4, -1)
        i = torch.sigmoid(torch.addcmul(i, self.peep_in, c))
        c = torch.sigmoid(f + 1.0) * c + i * torch.tanh(g)
        h = torch.sigmoid(torch.addcmul(o, self.peep_out, c)) * torch.tanh(c)
        return h, c

    def forward(self, numbers):
        tokens, lengths = numbers("tokens", (3, 9), VOCABULARY), torch.tensor([8, 5, 6])
        x = F.embedding(tokens[:, :-1], self.embedding)
        h = c = torch.zeros(3, x.shape[-1])
        outputs = []
        for time in range(x.shape[1]):
            h, c = self.step(x[:, time], h, c)
            outputs.append(h)
        y = torch.stack(outputs, 1)
        padding = torch.arange(x.shape[1]) >= lengths.unsqueeze(-1)
        scores = torch.bmm(self.key(y), torch.transpose(y, 1, 2)) / math.sqrt(x.shape[-1])
        scores = torch.masked_fill(scores, padding.unsqueeze(1), -1e9)
        mixed = torch.bmm(torch.softmax(scores, -1), y)
        logits = F.log_softmax(self.head(torch.cat((y, mixed), -1)), -1)
        labels = torch.masked_fill(tokens[:, 1:], padding, -100)
        return F.nll_loss(logits.flatten(0, 1), labels.flatten())


class Convnext(nn.Module):
    """Pictures: large filters for each channel, LayerNorm over channels, the response normalised over places."""

    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.filter = nn.Conv2d(width, width, 5, padding=2, groups=width)
            self.norm = nn.LayerNorm(width)
            self.up, self.down = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)
            self.gamma, self.beta, self.scale = weight(3 * width), weight(3 * width), weight(width)

        def forward(self, x):
            y = F.gelu(self.up(self.norm(torch.permute(self.filter(x), (0, 2, 3, 1)))))
            size = torch.norm(y, dim=(1, 2), keepdim=True)
            y = y + torch.mul(y * (size / (torch.mean(size, -1, keepdim=True) + 1e-6)), self.gamma) + self.beta
            return x + torch.permute(self.down(y) * (1 + self.scale), (0, 3, 1, 2))

    def __init__(self, width):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 2, stride=2)
        self.first, self.second = self.Block(width), self.Block(2 * width)
        self.norm = nn.BatchNorm2d(width)
        self.shrink = nn.Conv2d(width, 2 * width, 2, stride=2)
        self.head = nn.Linear(2 * width, 10)

    def forward(self, numbers):
        x = F.hardswish(self.stem(numbers("pictures", (4, 3, 16, 16))))
        x = self.shrink(self.norm(self.first(x)))
        x = F.max_pool2d(F.pad(self.second(x), (0, 1, 0, 1)), 2, 1)
        x = torch.flatten(F.adaptive_avg_pool2d(x, 1), 1)
        return F.cross_entropy(self.head(x), numbers("labels", (4,), 10))


class Diffusion(nn.Module):
    """A U-Net over one dimension that predicts noise, told how much there is."""

    class Block(nn.Module):
        def __init__(self, inputs, outputs, width):
            super().__init__()
            self.norm1, self.norm2 = nn.GroupNorm(4, inputs), nn.GroupNorm(4, outputs)
            self.conv1, self.conv2 = nn.Conv1d(inputs, outputs, 3, padding=1), nn.Conv1d(outputs, outputs, 3, padding=1)
            self.time = nn.Linear(2 * width, outputs)
            self.short = nn.Conv1d(inputs, outputs, 1)

        def forward(self, x, time):
            y = self.conv1(F.silu(self.norm1(x))) + self.time(time).unsqueeze(-1)
            return self.conv2(F.silu(self.norm2(y))) + self.short(x)

    def __init__(self, width):
        super().__init__()
        self.time1, self.time2 = nn.Linear(width, 2 * width), nn.Linear(2 * width, 2 * width)
        self.stem = nn.Conv1d(4, width, 3, padding=1)
        self.first, self.lowest = self.Block(width, width, width), self.Block(2 * width, 2 * width, width)
        self.down = nn.Conv1d(width, 2 * width, 3, stride=2, padding=1)
        self.last = self.Block(3 * width, width, width)
        self.norm, self.out = nn.GroupNorm(4, width), nn.Conv1d(width, 4, 3, padding=1)
        self.width = width

    def forward(self, numbers):
        clean, noise = numbers("signal", (3, 4, 16)), numbers("noise", (3, 4, 16))
        time = numbers("time", (3,), 100).float()
        left = torch.cos(time / 100.0 * (math.pi / 2)).reshape(3, 1, 1)
        x = left * clean + torch.sqrt(1.0 - torch.pow(left, 2)) * noise
        angle = torch.outer(time, torch.exp(torch.arange(self.width // 2) * -0.5))
        told = self.time2(F.silu(self.time1(torch.cat((torch.sin(angle), torch.cos(angle)), -1))))
        first = self.first(self.stem(x), told)
        low = self.lowest(F.leaky_relu(self.down(first)), told)
        high = torch.cat((F.interpolate(low, scale_factor=2.0, mode="nearest"), first), 1)
        found = self.out(F.silu(self.norm(self.last(high, told))))
        return F.mse_loss(found, noise)


NETS = {"scan": Scan, "graph": Graph, "experts": Experts, "lstm": Lstm, "convnext": Convnext, "diffusion": Diffusion}
HELD = ("lstm", "convnext", "diffusion")
