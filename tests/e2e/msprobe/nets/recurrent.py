"""A recurrent net: LSTM, a GRU cell step by step, attention over time, a mean over what is not padding; RMSprop."""
import torch
import torch.nn.functional as F
from probe import Run, initialise, numbers
from torch import nn

VOCABULARY, WIDTH, TIME = 37, 24, 6


class Pool(nn.Module):
    """Attention over time, and the mean of the steps that are not padding."""

    def __init__(self):
        super().__init__()
        self.score = nn.Linear(WIDTH, WIDTH)
        self.vector = nn.Linear(WIDTH, 1, bias=False)

    def forward(self, x, there):
        hidden = torch.tanh(self.score(x))  # @tanh
        weights = torch.softmax(self.vector(hidden), dim=1)  # @softmax
        focus = (weights * x).sum(1)  # @focus
        mean = (x * there[..., None]).sum(1) / there.sum(1, keepdim=True)  # @mean
        return torch.cat((focus, mean), -1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCABULARY, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, 2, batch_first=True)
        self.norm = nn.LayerNorm(WIDTH)
        self.cell = nn.GRUCell(WIDTH, WIDTH)
        self.pool = Pool()
        self.hidden = nn.Linear(2 * WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, 3)

    def forward(self, tokens, there):
        x = self.emb(tokens)  # @embed
        x, _ = self.lstm(x)  # @lstm
        x = self.norm(x)  # @norm
        h = torch.zeros(len(tokens), WIDTH, dtype=x.dtype)  # @zeros
        steps = []
        for moment in x.unbind(1):
            h = self.cell(moment, h)  # @cell
            steps.append(h)
        x = torch.stack(steps, 1)  # @stack
        x = self.pool(x, there)  # @pool
        x = F.elu(self.hidden(x))  # @hidden
        return self.out(x)  # @out


def main():
    run = Run()
    model = run.cast(Net())
    initialise(model)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, alpha=0.9, eps=1e-8)
    for step in run.steps:
        tokens = numbers(f"tokens{step}", (4, TIME), 0, VOCABULARY)
        there = run.cast((torch.arange(TIME) < torch.tensor([6, 5, 3, 4])[:, None]).float())
        wanted = run.cast(numbers(f"wanted{step}", (4, 3)))
        with run.step(model):
            with run.forward():
                loss = F.mse_loss(model(tokens, there), wanted)  # @loss
            loss.backward()  # @backward
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)  # @clip
            optimizer.step()  # @step
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
