"""Speech to letters: convolutions that halve the time twice, a conformer block with relative attention, a GRU over the letters
written so far, every frame joined with every letter; the loss is the sum over all ways through them. SGD."""
import math

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

BATCH, SOUNDS, BANDS, FRAMES, MAPS, WIDTH, HEADS, TAPS, LETTERS, VOCABULARY = 3, 19, 7, 5, 4, 16, 2, 3, 3, 9


class Shorter(nn.Module):
    """Of four sounds one frame."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, MAPS, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(MAPS, MAPS, 3, stride=2, padding=1)
        self.out = nn.Linear(MAPS * ((BANDS + 3) // 4), WIDTH)

    def forward(self, sounds):
        x = F.relu(self.conv1(sounds[:, None]))  # @conv1
        x = F.relu(self.conv2(x))  # @conv2
        x = x.transpose(1, 2).flatten(2)  # @bands
        return self.out(x)  # @frames


class Feed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 2 * WIDTH)
        self.down = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        h = self.norm(x)  # @feed_norm
        h = F.silu(self.up(h))  # @feed_up
        return self.down(h)  # @feed_down


class Attention(nn.Module):
    """A frame asks for what is said and for how far away it is."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.query = nn.Linear(WIDTH, WIDTH, bias=False)
        self.key = nn.Linear(WIDTH, WIDTH, bias=False)
        self.value = nn.Linear(WIDTH, WIDTH, bias=False)
        self.place = nn.Linear(WIDTH, WIDTH, bias=False)
        self.said = nn.Parameter(torch.empty(HEADS, 1, WIDTH // HEADS))
        self.away = nn.Parameter(torch.empty(HEADS, 1, WIDTH // HEADS))
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, waves, there):
        h = self.norm(x)  # @attention_norm
        q = self.heads(self.query(h))  # @query
        k = self.heads(self.key(h))  # @key
        v = self.heads(self.value(h))  # @value
        p = self.heads(self.place(waves)[None])  # @place
        far = torch.matmul(q + self.away, p.transpose(-1, -2))  # @far
        apart = torch.arange(FRAMES)[:, None] - torch.arange(FRAMES) + FRAMES - 1  # @apart
        far = far.gather(3, apart.expand(BATCH, HEADS, FRAMES, FRAMES))  # @gathered
        scores = torch.matmul(q + self.said, k.transpose(-1, -2)) + far  # @scores
        scores = scores / math.sqrt(WIDTH // HEADS)  # @scaled
        scores = scores.masked_fill(~there[:, None, None], float("-inf"))  # @masked
        weights = torch.softmax(scores, -1)  # @softmax
        h = torch.matmul(weights, v)  # @mixed
        return self.out(h.transpose(1, 2).flatten(2))  # @attention_out

    def heads(self, x):
        return x.unflatten(2, (HEADS, -1)).transpose(1, 2)  # @heads


class Convolution(nn.Module):
    """A gate, each channel over its neighbours in time, no padding among them."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.inside = nn.Linear(WIDTH, 2 * WIDTH)
        self.depth = nn.Conv1d(WIDTH, WIDTH, TAPS, padding=TAPS // 2, groups=WIDTH, bias=False)
        self.depth_norm = nn.LayerNorm(WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, there):
        h = self.norm(x)  # @conv_norm
        h = self.inside(h)  # @inside
        h = F.glu(h, -1)  # @glu
        h = h * there[..., None]  # @heard
        h = self.depth(h.transpose(1, 2)).transpose(1, 2)  # @depth
        h = self.depth_norm(h)  # @depth_norm
        return self.out(F.silu(h))  # @conv_out


class Conformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.feed = Feed()
        self.attention = Attention()
        self.conv = Convolution()
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x, waves, there):
        h = self.feed(x)  # @feed
        x = x + 0.5 * h  # @half
        x = x + self.attention(x, waves, there)  # @attention
        x = x + self.conv(x, there)  # @conv
        return self.norm(x)  # @norm


class Writer(nn.Module):
    """A state for each number of letters written."""

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCABULARY, WIDTH)
        self.cell = nn.GRUCell(WIDTH, WIDTH)

    def forward(self, letters):
        x = self.emb(F.pad(letters, (1, 0)))  # @emb
        state = torch.zeros_like(x[:, 0])
        states = []
        for count in range(LETTERS + 1):
            state = self.cell(x[:, count], state)  # @cell
            states.append(state)
        return torch.stack(states, 1)  # @states


class Join(nn.Module):
    def __init__(self):
        super().__init__()
        self.heard = nn.Linear(WIDTH, WIDTH)
        self.written = nn.Linear(WIDTH, WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, heard, written):
        h = self.heard(heard)[:, :, None] + self.written(written)[:, None]  # @joined
        return self.out(torch.tanh(h))  # @logits


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.shorter = Shorter()
        self.conformer = Conformer()
        self.writer = Writer()
        self.join = Join()

    def forward(self, sounds, frames, letters):
        x = self.shorter(sounds)  # @shorter
        there = torch.arange(FRAMES) < frames[:, None]  # @there
        waves = self.waves().to(x.dtype)  # @waves
        heard = self.conformer(x, waves, there)  # @conformer
        written = self.writer(letters)  # @writer
        return self.join(heard, written)  # @join

    def waves(self):
        """Of every distance, from the last frame before to the last behind."""
        rate = torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(1e4) / WIDTH))  # @rate
        angle = torch.arange(1 - FRAMES, FRAMES)[:, None] * rate  # @angle
        return torch.stack((torch.sin(angle), torch.cos(angle)), 2).flatten(1)  # @interleaved


def likelihood(logits, letters, frames, count):
    """The logarithm of the sum over all ways to write the letters: in each frame any number of them, then a blank."""
    chances = F.log_softmax(logits.float(), -1)  # @chances
    blank = chances[..., 0]  # @blank
    wanted = letters[:, None, :, None].expand(-1, FRAMES, -1, 1)
    letter = chances[:, :, :-1].gather(3, wanted)[..., 0]  # @letter
    written = F.pad(letter.cumsum(2), (1, 0))  # @written
    ways = [written[:, 0]]
    for frame in range(1, FRAMES):
        came = ways[-1] + blank[:, frame - 1]  # @came
        way = torch.logcumsumexp(came - written[:, frame], 1)  # @way
        ways.append(way + written[:, frame])  # @ways
    total = torch.stack(ways, 1) + blank  # @total
    return total[torch.arange(BATCH), frames - 1, count]  # @end


def groups_of(model):
    """Vectors do not decay."""
    big = [value for value in model.parameters() if value.dim() > 1]
    small = [value for value in model.parameters() if value.dim() < 2]
    return [{"params": big, "weight_decay": 0.05}, {"params": small, "weight_decay": 0.0}]


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    optimizer = torch.optim.SGD(groups_of(model), lr=0.1, momentum=0.9)
    for step in run.steps:
        sounds = run.cast(numbers(f"sounds{step}", (BATCH, SOUNDS, BANDS)))
        length = numbers(f"length{step}", (BATCH,), 9, SOUNDS + 1)
        letters = numbers(f"letters{step}", (BATCH, LETTERS), 1, VOCABULARY)
        count = numbers(f"count{step}", (BATCH,), 1, LETTERS + 1)
        with run.step(model):
            with run.forward():
                frames = (length + 3) // 4  # @length
                logits = model(sounds, frames, letters)  # @model
                likely = likelihood(logits, letters, frames, count)  # @likely
                loss = -likely.sum() / count.sum()  # @loss
            loss.backward()  # @backward
            torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
