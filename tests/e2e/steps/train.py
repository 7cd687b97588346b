"""One training of cases.py under msprobe's monitor, in a process for each rank."""
import json
import math
import os
import sys

import torch

import faults
from nets import NETS

STATISTICS = ["norm", "min", "max", "mean", "nans"]
MONITORS = ("module", "optimizer", "param", "weight_grad")


def schedule(kind, warmup, steps):
    """The factor of the learning rate in a step."""

    def factor(step):
        if step < warmup:
            return (step + 1) / warmup
        done = (step - warmup) / max(1, steps - warmup)
        period = max(20, (steps - warmup) // 5)
        return {
            "constant": 1.0,
            "cosine": 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done)),
            "linear": 1.0 - 0.95 * done,
            "steps": 0.3 ** int(3 * done),
            "restarts": 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * ((step - warmup) % period) / period)),
            "onecycle": 0.1 + 0.9 * (done / 0.3 if done < 0.3 else (1 - done) / 0.7),
        }[kind]

    return factor


class Training:
    def __init__(self, case, rank):
        self.case, self.rank, self.at, self.odd_rank = case, rank, case.at, case.rank
        given = case.settings
        self.given, self.ranks, self.accumulate = given, given["ranks"], given["accumulate"]
        torch.manual_seed(given["seed"])
        self.net = NETS[case.net](given["width"], given["dropout"])
        torch.manual_seed(given["seed"] + rank)  # of dropout
        self.generator = torch.Generator().manual_seed(given["seed"] + 1000 + rank)
        decay = given["decay"] * (1 if given["optimizer"] == "adamw" else 0.01)
        self.optimizer = {
            "sgd": lambda ones: torch.optim.SGD(ones, lr=given["rate"], momentum=0.9, weight_decay=decay),
            "adam": lambda ones: torch.optim.Adam(ones, lr=given["rate"], weight_decay=decay),
            "adamw": lambda ones: torch.optim.AdamW(ones, lr=given["rate"], weight_decay=decay),
        }[given["optimizer"]](self.net.parameters())
        self.rate = schedule(given["schedule"], given["warmup"], case.steps)
        self.scale, self.clean = given["scaler"] or 1.0, 0
        self.scaler_interval, self.scaler_limit, self.scaler_keeps = 100, 2.0 ** 16, False
        self.skips = given["scaler"] is not None
        self.factor = self.loss_factor = lambda: 1.0
        self.frozen = lambda: []
        self.on_batch, self.on_step, self.on_gradients, self.after_update = [], [], [], []
        self.step, self.losses, self.overflowed = 0, [], []
        if given["scaler"]:
            self.halve_precision()
        if case.fault:
            getattr(faults, case.fault)(self)

    def halve_precision(self):
        """The gradients of activations have the range of float16, so that a scale can be too large."""
        for module in self.net.modules():
            if not list(module.children()):
                module.register_full_backward_hook(
                    lambda _, inputs, __: tuple(None if one is None else one.half().float() for one in inputs))

    def backward(self):
        loss_sum = 0.0
        for _ in range(self.accumulate):
            inputs, targets = self.net.task(self.generator, self.given["batch"])
            for change in self.on_batch:
                inputs, targets = change(inputs, targets)
            loss = self.net.loss(self.net(inputs), targets)
            loss_sum += loss.item() / self.accumulate
            (loss * (self.scale * self.loss_factor() / self.accumulate)).backward()
        self.losses.append(loss_sum)

    def reduce(self):
        for one in self.net.parameters():
            if one.grad is None:
                one.grad = torch.zeros_like(one)
            if self.ranks > 1:
                torch.distributed.all_reduce(one.grad)
            one.grad /= self.ranks * self.scale

    def grow_scale(self, finite):
        if not self.given["scaler"]:
            return
        self.clean = self.clean + 1 if finite else 0
        if not finite and not self.scaler_keeps:
            self.scale /= 2
        elif self.clean >= self.scaler_interval and self.scale < self.scaler_limit:
            self.scale, self.clean = self.scale * 2, 0

    def train_step(self):
        for change in self.on_step:
            change()
        for group in self.optimizer.param_groups:
            group["lr"] = self.given["rate"] * self.rate(self.step) * self.factor()
        self.optimizer.zero_grad()
        self.backward()
        self.reduce()
        for change in self.on_gradients:
            change()
        finite = all(bool(torch.isfinite(one.grad).all()) for one in self.net.parameters())
        if not finite:
            self.overflowed.append(self.step)
        if self.given["clip"] and finite:
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.given["clip"])
        self.update(self.skips and not finite)
        self.grow_scale(finite)
        self.step += 1

    def update(self, skipped):
        """A step that is skipped puts back what the optimizer changes: the monitor counts the optimizer's steps."""
        kept = [(one, one.detach().clone()) for one in (self.net.parameters() if skipped else self.frozen())]
        put_back = self.optimizer.register_step_post_hook(lambda *_: self.put_back(kept))
        put_back_first(self.optimizer, put_back)
        state = {key: {name: value.clone() if torch.is_tensor(value) else value for name, value in one.items()}
                 for key, one in self.optimizer.state.items()} if skipped else None
        self.optimizer.step()
        put_back.remove()
        if skipped:
            for key, one in state.items():
                for name, value in one.items():
                    if torch.is_tensor(value):
                        self.optimizer.state[key][name].copy_(value)

    @staticmethod
    def put_back(kept):
        with torch.no_grad():
            for one, old in kept:
                one.copy_(old)


def put_back_first(optimizer, handle):
    """The monitor reads parameters in a hook of the same kind, after this one."""
    optimizer._optimizer_step_post_hooks.move_to_end(handle.id, last=False)  # pylint: disable=protected-access


def watch(run, folder):
    """Starts the monitor; returns what ends it."""
    configuration = f"{folder}/monitor.json" if run.rank == 0 else f"{folder}/monitor-{run.rank}.json"
    if run.case.writer == "monitor_v2":
        from msprobe.core.monitor_v2.trainer import TrainerMonitorV2
        monitors = {kind: {"enabled": True, "ops": STATISTICS} for kind in MONITORS}
        monitors["weight_grad"] |= {"micro_batch_number": run.accumulate}
        write(configuration, {"framework": "pytorch", "output_dir": f"{folder}/out", "step_count_per_record": 1000,
                              "monitors": monitors})
        monitor = TrainerMonitorV2(configuration, fr="pytorch")
        monitor.start(model=run.net, optimizer=run.optimizer)
        return monitor.stop
    os.environ["MONITOR_OUTPUT_DIR"] = f"{folder}/out"
    from msprobe.pytorch import TrainerMon
    write(configuration, {"targets": {}, "xy_distribution": True, "wg_distribution": True, "mv_distribution": True,
                          "param_distribution": True, "ops": STATISTICS, "step_count_per_record": 100, "format": "csv"})
    monitor = TrainerMon(configuration, params_have_main_grad=False)
    monitor.set_monitor(run.net, grad_acc_steps=run.accumulate, optimizer=run.optimizer, dp_group=None, tp_group=None)
    return lambda: None


def write(path, content):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)


def train(case, folder, rank, port):
    """Trains, and writes the losses and what is true of the case."""
    torch.set_num_threads(1)
    sys.stdout = sys.stderr = open(f"{folder}/log-{rank}", "w", encoding="utf-8")
    if case.settings["ranks"] > 1 or case.writer == "monitor":
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "RANK": str(rank),
                       "WORLD_SIZE": str(case.settings["ranks"])}
        torch.distributed.init_process_group("gloo")
    run = Training(case, rank)
    end = watch(run, folder)
    for _ in range(case.steps):
        run.train_step()
    end()
    at = case.at
    if case.fault == "scale_kept":
        at = run.overflowed[0] if run.overflowed else None
    write(f"{folder}/truth-{rank}.json", {"at": at, "losses": run.losses, "overflowed": run.overflowed})
