"""A player that learns from what it has played, as PPO does: two passes over the moves of a step, in two halves each, with an update after
every half; a recurrent policy, moves that are not allowed, advantages, a clipped ratio and a clipped value, a penalty for leaving the
old policy. RMSprop, its gradients limited by their norm, and a schedule for the clip.
"""
import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

SEEN, WIDTH, MOVES, TIME, GAMES, PASSES = 11, 20, 5, 4, 8, 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.look1 = nn.Linear(SEEN, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.look2 = nn.Linear(WIDTH, WIDTH)
        self.memory = nn.GRUCell(WIDTH, WIDTH)
        self.policy = nn.Linear(WIDTH, MOVES)
        self.value = nn.Linear(WIDTH, 1)

    def forward(self, seen, allowed, fresh):
        x = F.silu(self.norm(self.look1(seen)))  # @look1
        x = x + F.silu(self.look2(x))  # @look2
        state, states = torch.zeros_like(x[0]), []
        for moment in range(TIME):
            state = self.memory(x[moment], state * fresh[moment, :, None])  # @memory
            states.append(state)  # @kept
        states = torch.stack(states)  # @states
        logits = self.policy(states).masked_fill(~allowed, -1e4)  # @allowed
        return F.log_softmax(logits, -1), self.value(states).squeeze(-1)  # @policy


def advantages(reward, value, fresh):
    found, running = [], torch.zeros_like(reward[0])
    for moment in reversed(range(TIME - 1)):
        ahead = value[moment + 1] * fresh[moment + 1]  # @ahead
        error = reward[moment] + 0.99 * ahead - value[moment]  # @error
        running = error + 0.99 * 0.95 * fresh[moment + 1] * running  # @running
        found.append(running)
    return torch.stack(found[::-1])  # @found


def loss_of(model, batch, clip):
    logits, value = model(batch["seen"], batch["allowed"], batch["fresh"])  # @model
    logits, value = logits[:-1], value[:-1]
    now = logits.gather(-1, batch["move"][..., None]).squeeze(-1)  # @now
    gain = batch["gain"]
    gain = (gain - gain.mean()) / (gain.std() + 1e-6)  # @normalised
    ratio = torch.exp(now - batch["old"])  # @ratio
    better = torch.minimum(ratio * gain, ratio.clamp(1 - clip, 1 + clip) * gain)  # @better
    near = batch["value"] + (value - batch["value"]).clamp(-clip, clip)  # @near
    wanted = batch["gain"] + batch["value"]  # @wanted
    error = torch.maximum((value - wanted).square(), (near - wanted).square())  # @value_error
    surprise = -(logits.exp() * logits).sum(-1)  # @surprise
    away = (batch["old"] - now) + (ratio - 1)  # @away
    return -better.mean() + 0.5 * error.mean() - 0.01 * surprise.mean() + 0.1 * away.mean()  # @loss


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, alpha=0.9, momentum=0.5)
    for step in run.steps:
        seen = run.cast(numbers(f"seen{step}", (TIME, GAMES, SEEN)))
        allowed = numbers(f"allowed{step}", (TIME, GAMES, MOVES), 0, 4) > 0
        allowed[..., 0] = True
        fresh = run.cast((numbers(f"fresh{step}", (TIME, GAMES), 0, 5) > 0).float())
        reward = run.cast(numbers(f"reward{step}", (TIME - 1, GAMES)))
        with run.step(model):
            with run.forward():
                with torch.no_grad():
                    logits, value = model(seen, allowed, fresh)  # @play
                    move = logits[:-1].argmax(-1)  # @move
                    old = logits[:-1].gather(-1, move[..., None]).squeeze(-1)  # @old
                    gain = advantages(reward, value, fresh)  # @gain
            for turn in range(PASSES):
                for half in range(2):
                    part = slice(half * GAMES // 2, (half + 1) * GAMES // 2)
                    batch = {"seen": seen[:, part], "allowed": allowed[:, part], "fresh": fresh[:, part],
                             "move": move[:, part], "old": old[:, part], "gain": gain[:, part],
                             "value": value[:-1, part]}  # @batch
                    with run.forward():
                        loss = loss_of(model, batch, 0.2 / (1 + turn))  # @clip
                    loss.backward()  # @backward
                    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)  # @limited
                    optimizer.step()  # @step
                    optimizer.zero_grad()


if __name__ == "__main__":
    main()
