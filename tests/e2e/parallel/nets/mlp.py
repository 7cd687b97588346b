"""A perceptron of plain linear layers in one process; Adam."""
import torch
import torch.nn.functional as F
from run import Run, numbers, values
from torch import nn


def main():
    run = Run()
    sizes = run.layout_sizes
    model = nn.Sequential()
    for number in range(len(sizes) - 1):
        model.add_module(f"fc{number}", nn.Linear(sizes[number], sizes[number + 1]))
        if number + 2 < len(sizes):
            model.add_module(f"act{number}", nn.Tanh())
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(values(name, parameter.shape))
    model.to(run.precision)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, foreach=True)
    for step in range(run.steps):
        x = numbers(f"x{step}", (run.batch, sizes[0])).to(run.precision)
        wanted = numbers(f"wanted{step}", (run.batch, sizes[-1])).to(run.precision)
        with run.step(model):
            for name, parameter in model.named_parameters():
                run.mark(name, parameter)
            for name, layer in model.named_children():
                x = run.mark(name, layer(x))
            loss = run.mark("loss", F.mse_loss(x, wanted), grad=False)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.finish()


if __name__ == "__main__":
    main()
