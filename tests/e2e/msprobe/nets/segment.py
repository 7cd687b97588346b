"""A body in three dimensions, each cell one of a few organs: a U-Net with norms of each picture, gates over what is kept and a
second, coarser answer; the loss is how much of an organ is covered, and the entropy; two batches to an update, RMSprop."""
import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

BATCH, SIDE, MAPS, ORGANS, PARTS = 2, 8, 4, 3, 2
SPACE = (2, 3, 4)


class Twice(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.conv1 = nn.Conv3d(before, after, 3, padding=1)
        self.norm1 = nn.InstanceNorm3d(after, affine=True)
        self.conv2 = nn.Conv3d(after, after, 3, padding=1)
        self.norm2 = nn.InstanceNorm3d(after, affine=True)
        self.slope = 0.01

    def forward(self, x):
        x = self.norm1(self.conv1(x))  # @conv1
        x = F.leaky_relu(x, self.slope)  # @relu1
        x = self.norm2(self.conv2(x))  # @conv2
        return F.leaky_relu(x, self.slope)  # @relu2


class Gate(nn.Module):
    """What is kept counts where the coarser picture sees something."""

    def __init__(self, maps):
        super().__init__()
        self.kept = nn.Conv3d(maps, maps, 1)
        self.seen = nn.Conv3d(maps, maps, 1, bias=False)
        self.one = nn.Conv3d(maps, 1, 1)

    def forward(self, kept, seen):
        h = F.relu(self.kept(kept) + self.seen(seen))  # @gate_sum
        open = torch.sigmoid(self.one(h))  # @open
        return kept * open  # @gated


class Up(nn.Module):
    def __init__(self, deep, maps):
        super().__init__()
        self.grow = nn.ConvTranspose3d(deep, maps, 2, stride=2)
        self.gate = Gate(maps)
        self.twice = Twice(2 * maps, maps)

    def forward(self, x, kept):
        x = self.grow(x)  # @grow
        kept = self.gate(kept, x)  # @gate
        return self.twice(torch.cat((kept, x), 1))  # @up


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.top = Twice(1, MAPS)
        self.middle = Twice(MAPS, 2 * MAPS)
        self.bottom = Twice(2 * MAPS, 4 * MAPS)
        self.up1 = Up(4 * MAPS, 2 * MAPS)
        self.up2 = Up(2 * MAPS, MAPS)
        self.coarse = nn.Conv3d(2 * MAPS, ORGANS, 1)
        self.fine = nn.Conv3d(MAPS, ORGANS, 1)

    def forward(self, x):
        first = self.top(x)  # @top
        second = self.middle(F.avg_pool3d(first, 2))  # @middle
        x = self.bottom(F.avg_pool3d(second, 2))  # @bottom
        x = self.up1(x, second)  # @up1
        coarse = self.coarse(x)  # @coarse
        x = self.up2(x, first)  # @up2
        coarse = F.interpolate(coarse, scale_factor=2.0, mode="trilinear")  # @larger
        return self.fine(x), coarse  # @fine


def missed(logits, organs):
    """Of each organ, the background apart, what is not covered, or covered and elsewhere."""
    chances = torch.softmax(logits.float(), 1)  # @chances
    there = F.one_hot(organs, ORGANS).movedim(-1, 1).float()  # @there
    covered = (chances * there).sum(SPACE)  # @covered
    size = chances.sum(SPACE) + there.sum(SPACE)  # @organ_size
    score = (2 * covered + 1) / (size + 1)  # @score
    return 1 - score[:, 1:].mean()  # @missed


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, alpha=0.9, momentum=0.9)
    weight = run.cast(torch.tensor([0.5, 1.0, 2.0]))
    for step in run.steps:
        with run.step(model):
            for part in range(PARTS):
                body = run.cast(numbers(f"body{step}.{part}", (BATCH, 1, 2 * SIDE, SIDE, SIDE)))
                organs = numbers(f"organs{step}.{part}", (BATCH, 2 * SIDE, SIDE, SIDE), 0, ORGANS)
                with run.forward():
                    fine, coarse = model(body)  # @model
                    entropy = F.cross_entropy(fine, organs, weight)  # @entropy
                    rough = F.cross_entropy(coarse, organs, weight)  # @rough
                    loss = missed(fine, organs) + entropy + 0.4 * rough  # @loss
                    loss = loss / PARTS  # @part
                loss.backward()  # @backward
            torch.nn.utils.clip_grad_norm_(model.parameters(), 4.0)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
