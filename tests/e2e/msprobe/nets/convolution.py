"""A residual CNN with BatchNorm and pooling, on normalised pictures; SGD with weight decay."""
import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

CLASSES = 7


class Residual(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.short = nn.Conv2d(inputs, outputs, 1, bias=False) if inputs != outputs else nn.Identity()

    def forward(self, x):
        h = self.norm1(self.conv1(x))  # @conv1
        h = F.relu(h)  # @relu
        h = self.norm2(self.conv2(h))  # @conv2
        h = h + self.short(x)  # @residual
        return F.relu(h)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.layer1 = Residual(8, 8)
        self.layer2 = Residual(8, 12)
        self.layer3 = Residual(12, 12)
        self.head = nn.Linear(12, CLASSES)

    def forward(self, pictures):
        mean, std = torch.tensor([0.4, 0.5, 0.6]).view(3, 1, 1), torch.tensor([0.2, 0.3, 0.25]).view(3, 1, 1)
        x = ((pictures - mean) / std).to(pictures.dtype)  # @normalise
        x = F.relu(self.norm(self.stem(x)))  # @stem
        x = F.max_pool2d(x, 2)  # @pool
        x = self.layer1(x)
        x = self.layer2(x)  # @layer2
        x = F.avg_pool2d(x, 2)
        x = self.layer3(x)
        x = x.mean((2, 3))  # @mean
        return self.head(x)  # @head


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    for step in run.steps:
        pictures = run.cast(numbers(f"pictures{step}", (4, 3, 12, 12)) * 0.3 + 0.5)
        labels = numbers(f"labels{step}", (4,), 0, CLASSES)
        with run.step(model):
            with run.forward():
                loss = F.cross_entropy(model(pictures), labels, label_smoothing=0.1)  # @loss
            loss.backward()
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
