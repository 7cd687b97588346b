"""What goes wrong in the events of cases.py. Each function gets the training and arms it before the first step.

A training has lists of functions that it calls in each step: on_batch(inputs, targets) returns both, on_step() comes first,
on_gradients() before the optimizer's step, after_update() after it. `run.step` is the step, `run.at` that of the event.
Functions registered on modules run before those of the monitor, which sees what they return.
"""
import torch


def _once(run):
    return run.step == run.at


def _from(run):
    return run.step >= run.at


def scaled_batch(run):
    run.on_batch.append(lambda inputs, targets: (inputs * (15 if _once(run) else 1), targets))


def scaled_targets(run):
    run.on_batch.append(lambda inputs, targets: (inputs, targets * (40 if _once(run) else 1)))


def equal_tokens(run):
    run.on_batch.append(lambda inputs, targets: (torch.full_like(inputs, 3) if _once(run) else inputs, targets))


def shifted_inputs(run):
    wrong = lambda: _from(run) and run.rank == (run.odd_rank if run.odd_rank is not None else run.rank)
    run.on_batch.append(lambda inputs, targets: (inputs * 3 + 2 if wrong() else inputs, targets))


def uneven_inputs(run):
    chance = torch.Generator().manual_seed(5)
    factor = lambda: torch.exp(torch.randn((), generator=chance)).item() if _from(run) else 1
    run.on_batch.append(lambda inputs, targets: (inputs * factor(), targets))


def same_batch(run):
    kept = []

    def batch(inputs, targets):
        if not _from(run):
            return inputs, targets
        if not kept:
            kept.append((inputs, targets))
        return kept[0]

    run.on_batch.append(batch)


def rate_times_10(run):
    run.factor = lambda: 10 if _from(run) else 1


def rate_once(run):
    run.factor = lambda: 100 if _once(run) else 1


def low_beta2(run):
    def change():
        if _from(run):
            for group in run.optimizer.param_groups:
                group["betas"] = (group["betas"][0], 0.3)

    run.on_step.append(change)


def no_decay(run):
    def change():
        if _from(run):
            for group in run.optimizer.param_groups:
                group["weight_decay"] = 0.0

    run.on_step.append(change)


def _module(run):
    return {"mlp": "body.1", "residual": "body.1.down", "gpt": "body.1.up", "conv": "body.2", "gru": "cell"}[run.case.net]


def overflow(run):
    """A scale that is squared: the net skips such a step, as with a loss scaler."""
    run.skips = True
    name = {"mlp": "body.2"}.get(run.case.net, _module(run))
    module = run.net.get_submodule(name)
    module.register_forward_hook(lambda _, __, output: output * 1e30 * 1e30 if _once(run) else None)


def masked_nan(run):
    """0/0 in a backward pass, which the training turns into 0 in the gradients of weights."""
    module = run.net.get_submodule({"residual": "body.1.up", "gpt": "body.1.up"}[run.case.net])
    module.register_full_backward_hook(
        lambda _, inputs, __: tuple(one * float("nan") for one in inputs) if _once(run) else None)

    def mask():
        for one in run.net.parameters():
            if one.grad is not None:
                one.grad.nan_to_num_(0.0)

    run.on_gradients.append(mask)


def growing_gain(run):
    module = run.net.get_submodule(_module(run))
    module.register_forward_hook(lambda _, __, output: output * 1.03 ** min(run.step - run.at + 1, 60) if _from(run) else None)


def no_dropout(run):
    """The net stays in the mode of evaluation."""

    def change():
        if _from(run):
            run.net.eval()

    run.on_step.append(change)


def no_gradient(run):
    weight = run.net.get_submodule(_module(run)).weight

    def clear():
        if _from(run):
            weight.grad.zero_()

    run.on_gradients.append(clear)


def no_rate(run):
    """The layer's weights are put back after each update, as with a learning rate of 0."""
    module, kept = run.net.get_submodule(_module(run)), []
    run.frozen = lambda: list(module.parameters()) if _from(run) else kept


def stopped_rank(run):
    run.frozen = lambda: list(run.net.parameters()) if _from(run) and run.rank == run.odd_rank else []


def stale_rank(run):
    """A rank gets the weights of 40 steps ago."""
    history = []

    def change():
        history.append([one.detach().clone() for one in run.net.parameters()])
        if _once(run) and run.rank == run.odd_rank:
            with torch.no_grad():
                for one, old in zip(run.net.parameters(), history[-41]):
                    one.copy_(old)

    run.on_step.append(change)


def scale_kept(run):
    """The scale grows as usual, and after an overflow it stays: from there on every step is skipped."""
    run.scaler_keeps, run.scaler_limit = True, float("inf")
    run.scaler_interval = max(10, run.case.steps // 20)


def scale_not_undone(run):
    """The loss is scaled 16 times as much, the gradients are divided by the old scale."""
    run.loss_factor = lambda: 16.0 if _from(run) else 1.0


def sum_of_losses(run):
    """The losses of the parts of a batch are added, no longer averaged."""
    run.loss_factor = lambda: float(run.accumulate) if _from(run) else 1.0


def router_collapse(run):
    """Something writes into the router between two steps: one expert gets everything."""

    def change():
        if _once(run):
            with torch.no_grad():
                run.net.body.router.bias[0] += 20.0

    run.on_step.append(change)
