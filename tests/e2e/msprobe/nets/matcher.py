"""Pictures and sentences that belong together, as CLIP learns them: convolutions with weighted channels on one side, words that are
pooled by attention on the other; each of a batch is told from the others both ways, at a temperature that is learned; a slow
copy of the picture side gives further targets. SGD with Nesterov's momentum.
"""
import copy

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

VOCABULARY, WIDTH, JOINT, BATCH, TIME, SIDE, CHANNELS, HEADS, SLOW = 29, 20, 16, 5, 7, 12, 8, 4, 0.9


class Weighted(nn.Module):
    """A convolution whose channels are weighted by what all places have."""

    def __init__(self, inner, outer, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, groups=2, bias=False)
        self.norm2 = nn.BatchNorm2d(outer)
        self.small = nn.Linear(outer, 4)
        self.large = nn.Linear(4, outer)
        self.short = nn.Conv2d(inner, outer, 1, stride)

    def forward(self, x):
        h = F.hardswish(self.norm1(self.conv1(x)))  # @conv1
        h = self.norm2(self.conv2(h))  # @conv2
        mean = h.mean((2, 3))  # @mean
        weight = torch.sigmoid(self.large(F.relu(self.small(mean))))  # @weight
        h = h * weight[:, :, None, None]  # @weighted
        return F.hardswish(h + self.short(x))  # @block


class Picture(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, CHANNELS, 3, padding=1)
        self.block1 = Weighted(CHANNELS, CHANNELS, 1)
        self.block2 = Weighted(CHANNELS, 2 * CHANNELS, 2)
        self.joint = nn.Linear(2 * CHANNELS, JOINT, bias=False)

    def forward(self, x):
        x = F.hardswish(self.stem(x))  # @stem
        x = F.max_pool2d(self.block1(x), 2)  # @pool
        x = self.block2(x)  # @block2
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)  # @everywhere
        return F.normalize(self.joint(x), dim=-1)  # @picture


class Sentence(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.conv = nn.Conv1d(WIDTH, WIDTH, 3, padding=1)
        self.norm = nn.LayerNorm(WIDTH)
        self.asked = nn.Parameter(torch.empty(HEADS, WIDTH // HEADS))
        self.both = nn.Linear(WIDTH, 2 * WIDTH)
        self.joint = nn.Linear(WIDTH, JOINT, bias=False)

    def forward(self, tokens, lengths):
        x = self.words(tokens)  # @words
        x = x + F.elu(self.conv(x.transpose(1, 2))).transpose(1, 2)  # @context
        x = self.norm(x)  # @norm
        k, v = self.both(x).view(BATCH, TIME, 2, HEADS, -1).unbind(2)  # @both
        scores = (k * self.asked).sum(-1)  # @scores
        beyond = torch.arange(TIME)[None, :] >= lengths[:, None]  # @beyond
        scores = scores.masked_fill(beyond[:, :, None], float("-inf"))  # @masked
        weights = torch.softmax(scores, 1)  # @softmax
        x = (weights[..., None] * v).sum(1).flatten(1)  # @pooled
        return F.normalize(self.joint(x), dim=-1)  # @sentence


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.picture = Picture()
        self.sentence = Sentence()
        self.scale = nn.Parameter(torch.empty(()))

    def forward(self, pictures, tokens, lengths):
        p = self.picture(pictures)  # @pictures
        s = self.sentence(tokens, lengths)  # @sentences
        factor = torch.exp(self.scale + 1.5)  # @factor
        return factor * (p @ s.t()), s  # @alike


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    slow = copy.deepcopy(model.picture).requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-3)
    for step in run.steps:
        pictures = run.cast(numbers(f"pictures{step}", (BATCH, 3, SIDE, SIDE)))
        tokens = numbers(f"tokens{step}", (BATCH, TIME), 0, VOCABULARY)
        lengths = numbers(f"lengths{step}", (BATCH,), 3, TIME + 1)
        with run.step(model):
            with run.forward():
                alike, sentences = model(pictures, tokens, lengths)  # @model
                with torch.no_grad():
                    slow_alike = 4.0 * (slow(pictures) @ sentences.t())  # @slow_alike
                    target = 0.7 * torch.eye(BATCH) + 0.3 * torch.softmax(slow_alike.float(), -1)  # @target
                own = torch.arange(BATCH)
                there = F.cross_entropy(alike, target.to(alike.dtype))  # @there
                back = F.cross_entropy(alike.t(), own)  # @back
                loss = (there + back) / 2  # @loss
            loss.backward()  # @backward
            optimizer.step()  # @step
            optimizer.zero_grad()
            with torch.no_grad():
                for old, new in zip(slow.parameters(), model.picture.parameters()):
                    old.mul_(SLOW).add_(new, alpha=1 - SLOW)  # @slow


if __name__ == "__main__":
    main()
