"""A net that solves an equation, the heat in a rod: the loss holds derivatives of the net by its inputs, so that the backward pass goes
through gradients. Waves of the place as features, layers with a slope that is learned, points weighted by how far they are from the
start; a boundary and a beginning beside the equation. Adam with a schedule.
"""
import math

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

WAVES, WIDTH, POINTS, EDGE = 6, 24, 20, 8


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.gate = nn.Linear(WIDTH, WIDTH)
        self.slope = nn.Parameter(torch.empty(WIDTH))

    def forward(self, x):
        h = torch.tanh(self.linear(x) * (1 + self.slope))  # @tanh
        g = torch.sigmoid(self.gate(x))  # @gate
        return g * h + (1 - g) * x  # @mixed


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.waves = nn.Parameter(torch.empty(2, WAVES))
        self.first = nn.Linear(2 * WAVES, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(3))
        self.last = nn.Linear(WIDTH, 1)

    def forward(self, place, time):
        angle = torch.cat((place, time), -1) @ self.waves  # @angle
        x = torch.cat((torch.sin(angle), torch.cos(angle)), -1)  # @features
        x = torch.tanh(self.first(x))  # @first
        for layer in self.layers:
            x = layer(x)  # @layer
        return self.last(x)  # @heat


def slope_of(heat, by):
    return torch.autograd.grad(heat.sum(), by, create_graph=True)[0]  # @slope


def equation(model, place, time, conductivity):
    heat = model(place, time)  # @inside
    by_time = slope_of(heat, time)  # @by_time
    by_place = slope_of(heat, place)  # @by_place
    bend = slope_of(by_place, place)  # @bend
    source = torch.exp(-time) * torch.sin(math.pi * place)  # @source
    return by_time - conductivity * bend - source  # @equation


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    conductivity = run.cast(torch.tensor(0.3)).requires_grad_()
    optimizer = torch.optim.Adam([*model.parameters(), conductivity], lr=4e-3, amsgrad=True)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    for step in run.steps:
        place = run.cast(torch.tanh(numbers(f"place{step}", (POINTS, 1)))).requires_grad_()
        time = run.cast(numbers(f"time{step}", (POINTS, 1)).abs()).requires_grad_()
        edge = run.cast(numbers(f"edge{step}", (EDGE, 1), 0, 2).float() * 2 - 1)
        later = run.cast(numbers(f"later{step}", (EDGE, 1)).abs())
        begin = run.cast(torch.tanh(numbers(f"begin{step}", (EDGE, 1))))
        with run.step(model):
            with run.forward():
                left = equation(model, place, time, conductivity)  # @left
                weight = torch.softmax(-time.detach(), 0)  # @weight
                inside = (weight * left.square()).sum()  # @within
                border = model(edge, later).square().mean()  # @border
                start = F.mse_loss(model(begin, torch.zeros_like(begin)), torch.sin(math.pi * begin))  # @start
                loss = inside + 2 * border + 5 * start  # @loss
            loss.backward()  # @backward
            optimizer.step()  # @step
            optimizer.zero_grad()
            schedule.step()  # @schedule


if __name__ == "__main__":
    main()
