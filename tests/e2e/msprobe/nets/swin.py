"""Attention in windows, of which every second layer moves by half a window: a table of relative places, a mask for what the
move brings together, four patches merged to one; RAdam."""
import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

SIDE, WINDOW, WIDTH, HEADS, BATCH, CLASSES = 8, 4, 16, 2, 2, 6


def windows(x):
    """(batch, height, width, channels) to (batch, windows, places, channels)."""
    x = x.unflatten(1, (-1, WINDOW)).unflatten(3, (-1, WINDOW)).transpose(2, 3)  # @windows
    return x.flatten(1, 2).flatten(2, 3)


def whole(x, side):
    count = side // WINDOW
    x = x.unflatten(1, (count, count)).unflatten(3, (WINDOW, WINDOW)).transpose(2, 3)  # @whole
    return x.flatten(1, 2).flatten(2, 3)


def relative_places():
    place = torch.stack(torch.meshgrid(torch.arange(WINDOW), torch.arange(WINDOW), indexing="ij")).flatten(1)
    apart = place[:, :, None] - place[:, None, :] + WINDOW - 1
    return apart[0] * (2 * WINDOW - 1) + apart[1]


def mask_of(side, shift):
    """Places that the move brought together do not see each other."""
    part = (torch.arange(side) >= side - WINDOW).long() + (torch.arange(side) >= side - shift).long()
    region = windows((part[:, None] * 3 + part)[None, :, :, None]).squeeze(-1)
    return (region[..., None] != region[..., None, :]).unsqueeze(2)


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.table = nn.Parameter(torch.empty((2 * WINDOW - 1) ** 2, HEADS))
        self.scale = (width // HEADS) ** -0.5
        self.index = relative_places()

    def forward(self, x, mask):
        qkv = self.qkv(x).unflatten(-1, (3, HEADS, -1))  # @qkv
        q, k, v = qkv.permute(3, 0, 1, 4, 2, 5).unbind(0)  # @unbind
        bias = self.table[self.index].permute(2, 0, 1)  # @table
        scores = torch.matmul(q * self.scale, k.transpose(-1, -2)) + bias  # @scores
        if mask is not None:
            scores = scores.masked_fill(mask, -100.0)  # @masked
        weights = torch.softmax(scores, -1)  # @softmax
        mixed = torch.matmul(weights, v)  # @mixed
        return self.proj(mixed.transpose(2, 3).flatten(3))  # @proj


class Block(nn.Module):
    def __init__(self, width, side, shift):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attn = Attention(width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.side, self.shift = side, shift
        self.mask = mask_of(side, shift) if shift else None

    def forward(self, x):
        h = self.norm1(x)  # @norm1
        h = torch.roll(h, (-self.shift, -self.shift), (1, 2))  # @roll
        h = self.attn(windows(h), self.mask)  # @attn
        h = whole(h, self.side)
        h = torch.roll(h, (self.shift, self.shift), (1, 2))  # @rolled
        x = x + h  # @residual1
        h = F.gelu(self.up(self.norm2(x)))  # @up
        return x + self.down(h)  # @residual2


class Merge(nn.Module):
    """Four neighbours to one place."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(4 * width)
        self.reduce = nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x):
        x = torch.cat((x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]), -1)  # @merge
        return self.reduce(self.norm(x))  # @reduce


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, WIDTH, 2, stride=2)
        self.norm = nn.LayerNorm(WIDTH)
        self.blocks = nn.ModuleList((Block(WIDTH, SIDE, 0), Block(WIDTH, SIDE, WINDOW // 2)))
        self.merge = Merge(WIDTH)
        self.last = Block(2 * WIDTH, SIDE // 2, 0)
        self.final_norm = nn.LayerNorm(2 * WIDTH)
        self.head = nn.Linear(2 * WIDTH, CLASSES)

    def forward(self, pictures):
        x = self.patch(pictures).permute(0, 2, 3, 1)  # @patch
        x = self.norm(x)  # @norm
        for block in self.blocks:
            x = block(x)  # @block
        x = self.merge(x)  # @merged
        x = self.last(x)  # @last
        x = self.final_norm(x).mean((1, 2))  # @mean
        return self.head(x)  # @head


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    optimizer = torch.optim.RAdam(model.parameters(), lr=1e-3, weight_decay=0.01)
    for step in run.steps:
        pictures = run.cast(numbers(f"pictures{step}", (BATCH, 3, 2 * SIDE, 2 * SIDE)))
        labels = numbers(f"labels{step}", (BATCH,), 0, CLASSES)
        with run.step(model):
            with run.forward():
                logits = model(pictures)  # @model
                loss = F.cross_entropy(logits, labels, label_smoothing=0.05)  # @loss
            loss.backward()  # @backward
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
