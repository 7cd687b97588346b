"""A small convolutional net with GroupNorm in one process."""
import torch
import torch.nn.functional as F
from run import Run, numbers, values
from torch import nn


class Net(nn.Module):
    def __init__(self, run):
        super().__init__()
        self.run = run
        self.conv1 = nn.Conv2d(3, run.channels, 3, padding=1)
        self.norm1 = nn.GroupNorm(4, run.channels)
        self.conv2 = nn.Conv2d(run.channels, run.channels, 3, padding=1, bias=False)
        self.norm2 = nn.GroupNorm(4, run.channels)
        self.fc1 = nn.Linear(run.channels * 9, run.hidden)
        self.fc2 = nn.Linear(run.hidden, run.classes)
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                parameter.copy_(values(name, parameter.shape))

    def forward(self, x):
        run = self.run
        x = F.relu(run.mark("norm1", self.norm1(run.mark("conv1", self.conv1(x)))))
        x = run.mark("pool1", F.max_pool2d(x, 2))
        x = F.relu(run.mark("norm2", self.norm2(run.mark("conv2", self.conv2(x)))))
        x = run.mark("pool2", F.avg_pool2d(x, 2))
        x = F.relu(run.mark("fc1", self.fc1(x.flatten(1))))
        return run.mark("fc2", self.fc2(x))


def main():
    run = Run()
    model = Net(run).to(run.precision)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, weight_decay=1e-2)
    for step in range(run.steps):
        pictures = numbers(f"pictures{step}", (run.batch, 3, 12, 12)).to(run.precision)
        labels = numbers(f"labels{step}", (run.batch,), 0, run.classes)
        with run.step(model):
            for name, parameter in model.named_parameters():
                run.mark(name, parameter)
            loss = run.mark("loss", F.cross_entropy(model(pictures), labels), grad=False)
            loss.backward()
            for name, parameter in model.named_parameters():
                run.note(f"{name}.reduced", parameter.grad, [])
            optimizer.step()
            optimizer.zero_grad()
    run.finish()


if __name__ == "__main__":
    main()
