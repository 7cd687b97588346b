"""The perceptron of mlp.py over ranks, as one writes it by hand: matmul, collectives inline, no modules."""
import torch
import torch.distributed as dist
from parallel import CopyToRegion, ReduceFromRegion
from run import Run, concat, numbers, values


def main():
    run = Run()
    sizes, tp, dp = run.layout_sizes, run.group("tp"), run.group("dp")
    batch, factor = concat(0, "dp"), run.size("dp")
    parameters = {}
    for number in range(len(sizes) - 1):
        weight = values(f"fc{number}.weight", (sizes[number + 1], sizes[number])).to(run.precision)
        bias = values(f"fc{number}.bias", (sizes[number + 1],)).to(run.precision)
        column = number % 2 == 0
        parameters[f"fc{number}.weight"] = run.part(weight, 0 if column else 1, "tp").requires_grad_()  # @cut
        parameters[f"fc{number}.bias"] = (run.part(bias, 0, "tp") if column else bias.clone()).requires_grad_()
    optimizer = torch.optim.Adam(parameters.values(), lr=1e-2, foreach=True)
    for step in range(run.steps):
        x = run.part(numbers(f"x{step}", (run.batch, sizes[0])), 0, "dp").to(run.precision)  # @batch
        wanted = run.part(numbers(f"wanted{step}", (run.batch, sizes[-1])), 0, "dp").to(run.precision)
        with run.step(torch.nn.Identity()):
            for number in range(len(sizes) - 1):
                weight, bias = parameters[f"fc{number}.weight"], parameters[f"fc{number}.bias"]
                column = number % 2 == 0
                mean = [{"kind": "mean", "axis": None, "over": "dp"}]
                run.mark(f"fc{number}.weight", weight, concat(0 if column else 1, "tp"),
                         grad=concat(0 if column else 1, "tp") + mean)
                run.mark(f"fc{number}.bias", bias, concat(0, "tp") if column else [],
                         grad=(concat(0, "tp") if column else []) + mean)
                if column:
                    x = torch.matmul(CopyToRegion.apply(x, tp), weight.t()) + bias  # @column
                else:
                    x = ReduceFromRegion.apply(torch.matmul(x, weight.t()), tp)  # @row
                    x = x + bias  # @row_bias
                layout = batch + (concat(1, "tp") if column else [])
                run.mark(f"fc{number}", x, layout, factor=factor)
                if number + 2 < len(sizes):
                    x = run.mark(f"act{number}", torch.tanh(x), layout, factor=factor)  # @tanh
            loss = ((x - wanted) ** 2).mean()  # @loss
            run.mark("loss", loss, [{"kind": "mean", "axis": None, "over": "dp"}], grad=False)
            loss.backward()
            for parameter in parameters.values():
                if dp is not None:
                    dist.all_reduce(parameter.grad, group=dp)  # @data_reduce
                    parameter.grad /= run.size("dp")  # @data_mean
            optimizer.step()  # @step
            optimizer.zero_grad()
    run.finish()


if __name__ == "__main__":
    main()
