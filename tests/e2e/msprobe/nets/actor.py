"""An actor and a critic (PPO): a Gaussian policy, advantages from the end of the time to its begin, a clipped ratio, a slow
copy of the critic; Adamax."""
import copy
import math

import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

SEEN, ACTIONS, WIDTH, TIME, BATCH = 9, 3, 32, 5, 4


class Body(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.first = nn.Linear(SEEN, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.second = nn.Linear(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, outputs)

    def forward(self, x):
        h = self.norm(self.first(x))  # @first
        h = torch.tanh(h)  # @tanh
        h = F.mish(self.second(h))  # @second
        return self.out(h)  # @out


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.policy = Body(ACTIONS)
        self.critic = Body(1)
        self.spread = nn.Parameter(torch.zeros(ACTIONS))

    def forward(self, seen):
        mean = self.policy(seen)  # @policy
        value = self.critic(seen).squeeze(-1)  # @critic
        return mean, value


def likelihood(actions, mean, spread):
    z = (actions - mean) * torch.exp(-spread)  # @z
    each = -0.5 * z.square() - spread - 0.5 * math.log(2 * math.pi)  # @each
    return each.sum(-1)  # @likelihood


def advantages(reward, value, alive):
    """`value` has one moment more."""
    found, running = [], torch.zeros_like(reward[0])
    for moment in reversed(range(TIME)):
        ahead = value[moment + 1] * alive[moment]  # @ahead
        error = reward[moment] + 0.97 * ahead - value[moment]  # @error
        running = error + 0.97 * 0.9 * alive[moment] * running  # @running
        found.append(running)
    return torch.stack(found[::-1])  # @found


def loss_of(model, slow, seen, actions, reward, alive, old):
    mean, value = model(seen[:-1])  # @model
    with torch.no_grad():
        stable = slow(seen).squeeze(-1)  # @slow
        gain = advantages(reward, stable, alive)  # @gain
        wanted = gain + stable[:-1]  # @wanted
        gain = (gain - gain.mean()) / (gain.std() + 1e-6)  # @normalised
    now = likelihood(actions, mean, model.spread)  # @now
    ratio = torch.exp(now - old)  # @ratio
    kept = torch.clamp(ratio, 0.8, 1.2)  # @kept
    better = torch.minimum(ratio * gain, kept * gain)  # @better
    error = F.huber_loss(value, wanted)  # @huber
    surprise = (model.spread + 0.5 * math.log(2 * math.pi * math.e)).sum()  # @surprise
    return 0.5 * error - better.mean() - 0.01 * surprise  # @loss


@torch.no_grad()
def follow(slow, critic):
    for theirs, ours in zip(slow.parameters(), critic.parameters()):
        theirs.lerp_(ours, 0.2)  # @follow


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    slow = copy.deepcopy(model.critic)
    optimizer = torch.optim.Adamax(model.parameters(), lr=5e-3)
    for step in run.steps:
        seen = run.cast(numbers(f"seen{step}", (TIME + 1, BATCH, SEEN)))
        actions = run.cast(numbers(f"actions{step}", (TIME, BATCH, ACTIONS)))
        reward = run.cast(numbers(f"reward{step}", (TIME, BATCH)))
        alive = run.cast((numbers(f"alive{step}", (TIME, BATCH), 0, 5) > 0).float())
        old = run.cast(-4.0 + 0.3 * numbers(f"old{step}", (TIME, BATCH)))
        with run.step(nn.ModuleList((model, slow))):
            with run.forward():
                loss = loss_of(model, slow, seen, actions, reward, alive, old)
            loss.backward()  # @backward
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()
            follow(slow, model.critic)


if __name__ == "__main__":
    main()
