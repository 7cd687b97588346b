"""The decoder of gpt.py over ranks: TP, sequence parallel, CP (contiguous or zigzag; all-gather or ring), DP and PP."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from attention import SelfAttention
from parallel import (ColumnParallelLinear, CopyToRegion, GatherFromSequence, RowParallelLinear, SplitSequence,
                      VocabParallelCrossEntropy, VocabParallelEmbedding)
from run import Run, concat, numbers, only, partial, values, zigzag
from torch import nn


class ParallelRun(Run):
    """What the layouts of this net need."""
    def __init__(self):
        super().__init__()
        self.batch_axis = 1 - self.time_axis
        self.sp = self.settings.get("sp", False) and self.size("tp") > 1
        self.cp_cut = zigzag if self.settings.get("zigzag") else concat
        self.data = "cp dp"
        scaled_loss = self.settings.get("scale") == "loss"
        self.factor = 1 if scaled_loss else self.size(self.data)
        self.shared = [{"kind": "sum" if scaled_loss else "mean", "axis": None, "over": over}
                       for over in self.data.split() if self.size(over) > 1]

    def cut_tokens(self, batch_axis, time_axis):
        """Of a tensor with these axes of batch and time."""
        return concat(batch_axis, "dp") + self.cp_cut(time_axis, "cp")

    @property
    def tokens(self):
        return self.cut_tokens(self.batch_axis, self.time_axis) + self.stage

    @property
    def stage(self):
        return only("pp", self.place["pp"]) if self.size("pp") > 1 else []

    def sequence(self):
        return concat(self.time_axis, "tp") if self.sp else []

    def context_part(self, whole, axis):
        """This rank's part of the sequence."""
        size, place = self.size("cp"), self.place["cp"]
        if size == 1:
            return whole
        if self.cp_cut is concat:
            return whole.chunk(size, axis)[place]  # @context_part
        chunks = whole.chunk(2 * size, axis)
        return torch.cat((chunks[place], chunks[2 * size - 1 - place]), axis)  # @zigzag_part


class FusedRMSNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        variance = x.float().pow(2).mean(-1, keepdim=True)
        return (x.float() * torch.rsqrt(variance + self.eps)).to(x.dtype) * self.weight  # @rms


class FusedLayerNorm(nn.LayerNorm):
    def forward(self, x):
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)  # @layer_norm


def make_norm(run, name):
    norm = (FusedRMSNorm if run.norm == "rms" else FusedLayerNorm)(run.width)
    with torch.no_grad():
        for key, parameter in norm.named_parameters():
            parameter.copy_(values(f"{name}.{key}", parameter.shape))
    norm.logical = name
    return norm.to(run.precision)


def mark_norms(run, model):
    """Their gradients are, under sequence parallel, parts of a sum."""
    for norm in model.modules():
        for key, parameter in norm.named_parameters(recurse=False) if hasattr(norm, "logical") else ():
            parts = partial("tp") if run.sp else []
            run.mark(f"{norm.logical}.{key}", parameter, run.stage, grad=parts + run.shared + run.stage)


class ParallelMLP(nn.Module):
    def __init__(self, run, name):
        super().__init__()
        self.run, self.name = run, name
        self.gated = run.activation == "swiglu"
        blocks = [run.hidden, run.hidden] if self.gated else [run.hidden]
        self.linear_fc1 = ColumnParallelLinear(run, f"{name}.up", run.width, sum(blocks), run.bias, blocks)
        self.linear_fc2 = RowParallelLinear(run, f"{name}.down", run.hidden, run.width, run.bias)

    def forward(self, x):
        run = self.run
        x = self.linear_fc1(x)
        if self.gated:
            gate, up = x.chunk(2, -1)
            x = F.silu(gate) * up  # @swiglu
        else:
            x = F.gelu(x)  # @gelu
        run.mark(f"{self.name}.activation", x, concat(2, "tp") + run.tokens, factor=run.factor)
        return self.linear_fc2(x)


class TransformerLayer(nn.Module):
    def __init__(self, run, name):
        super().__init__()
        self.run, self.name = run, name
        self.input_layernorm = make_norm(run, f"{name}.norm1")
        self.self_attention = SelfAttention(run, f"{name}.attn")
        self.pre_mlp_layernorm = make_norm(run, f"{name}.norm2")
        self.mlp = ParallelMLP(run, f"{name}.mlp")

    def forward(self, x, positions):
        run, name, layout = self.run, self.name, self.run.tokens + self.run.sequence()
        normed = run.mark(f"{name}.norm1", self.input_layernorm(x), layout, grad=False)
        x = x + self.self_attention(normed, positions)  # @residual1
        run.mark(f"{name}.middle", x, layout, factor=run.factor)
        normed = run.mark(f"{name}.norm2", self.pre_mlp_layernorm(x), layout, grad=False)
        x = x + self.mlp(normed)  # @residual2
        return run.mark(f"{name}.out", x, layout, factor=run.factor)


class ParallelGPT(nn.Module):
    """One stage of the pipeline: the first has the embedding, the last the head."""
    def __init__(self, run):
        super().__init__()
        self.run, stage, stages = run, run.place["pp"], run.size("pp")
        self.first, self.last = stage == 0, stage == stages - 1
        self.padded = run.settings.get("padded", run.vocabulary)
        if self.first or self.last and run.tied:
            self.word_embeddings = VocabParallelEmbedding(run, "embedding", run.vocabulary, self.padded, run.width)
        if self.first and run.positions == "learned":
            table = values("position.weight", (run.time, run.width))
            self.position_embeddings = nn.Embedding.from_pretrained(table.to(run.precision), freeze=False)
        each = run.layers // stages
        self.layers = nn.ModuleList(TransformerLayer(run, f"layers.{stage * each + number}") for number in range(each))
        if self.last:
            self.final_layernorm = make_norm(run, "norm")
            if not run.tied:
                table = torch.zeros(self.padded, run.width)
                table[:run.vocabulary] = values("head.weight", (run.vocabulary, run.width))
                self.output_weight = nn.Parameter(run.part(table.to(run.precision), 0, "tp"))

    def embed(self, ids, positions):
        run = self.run
        x = self.word_embeddings(ids)
        if run.positions == "learned":
            place = self.position_embeddings(positions)  # @position
            place = place.unsqueeze(1) if run.time_axis == 0 else place.unsqueeze(0)
            x = x + (SplitSequence.apply(place, run, run.time_axis) if run.sp else place)  # @embed_position
        return x

    def logits(self, x):
        run = self.run
        normed = self.final_layernorm(x)
        run.mark("norm", normed, run.tokens + run.sequence(), grad=False)
        normed = (GatherFromSequence.apply(normed, run.group("tp"), run.time_axis) if run.sp
                  else CopyToRegion.apply(normed, run.group("tp")))
        weight = self.word_embeddings.weight if run.tied else self.output_weight
        logits = F.linear(normed, weight)  # @head
        run.mark("head", logits, concat(2, "tp") + run.tokens, grad=False)
        start = run.index("tp") * logits.shape[-1]
        spare = torch.arange(start, start + logits.shape[-1]) >= run.vocabulary
        return (logits.masked_fill(spare, -1e9) if self.padded > run.vocabulary else logits), start

    def forward(self, x, positions):
        if self.first:
            x = self.embed(x, positions)
        for layer in self.layers:
            x = layer(x, positions)
        return self.logits(x) if self.last else x


def train_step(run, model, ids, labels):
    """Forward and backward of this stage, one batch."""
    stage, stages = run.place["pp"], run.size("pp")
    ranks = run.ranks_over("pp")
    positions = run.context_part(torch.arange(run.time), 0)  # @positions
    x = ids
    if stage:
        size = list(ids.shape) + [run.width]
        if run.sp:
            size[run.time_axis] //= run.size("tp")
        x = torch.empty(size, dtype=run.precision)
        receive(run, x, ranks[stage - 1])  # @stage_receive
        x.requires_grad_()
    y = model(x, positions)
    if stage == stages - 1:
        logits, start = y
        losses = VocabParallelCrossEntropy.apply(logits, labels, run.group("tp"), start)  # @cross_entropy
        loss = losses.mean()  # @loss
        run.mark("loss", loss, [{"kind": "mean", "axis": None, "over": over} for over in run.data.split()] + run.stage,
                 grad=False)
        (loss / run.size(run.data) if run.settings.get("scale") == "loss" else loss).backward()  # @backward
    else:
        send(run, y.detach(), ranks[stage + 1])  # @stage_send
        grad = torch.empty_like(y)
        receive(run, grad, ranks[stage + 1])  # @stage_receive_grad
        y.backward(grad)
    if stage:
        send(run, x.grad, ranks[stage - 1])  # @stage_send_grad


def send(run, x, target):
    if run.settings.get("batched"):
        for work in list(dist.batch_isend_irecv([dist.P2POp(dist.isend, x.contiguous(), target)])):  # @batched_send
            work.wait()
    else:
        dist.send(x.contiguous(), target)  # @send


def receive(run, x, source):
    if run.settings.get("batched"):
        for work in list(dist.batch_isend_irecv([dist.P2POp(dist.irecv, x, source)])):  # @batched_receive
            work.wait()
    else:
        dist.recv(x, source)  # @receive


def broadcast(run, ids):
    """From the first rank of TP, which alone has read them."""
    ids = ids.clone() if run.place["tp"] == 0 else torch.zeros_like(ids)
    dist.broadcast(ids, run.ranks_over("tp")[0], group=run.group("tp"))  # @broadcast
    return ids


def reduce_gradients(run, model):
    if run.settings.get("overlap"):
        group = run.group(run.data)
        parameters = list(model.parameters())
        works = [dist.all_reduce(parameter.grad, group=group, async_op=True) for parameter in parameters]  # @async
        for work, parameter in zip(works, parameters):
            work.wait()
            parameter.grad /= run.size(run.data)  # @async_mean
        return
    group, scaled_loss = run.group(run.data), run.settings.get("scale") == "loss"
    for name, parameter in model.named_parameters():
        if run.sp and ("layernorm" in name or name.endswith("fc2.bias") or name.endswith("proj.bias")):
            dist.all_reduce(parameter.grad, group=run.group("tp"))  # @sequence_reduce
        if run.tied and run.size("pp") > 1 and "word_embeddings" in name:
            dist.all_reduce(parameter.grad, group=run.group("pp"))  # @tied_reduce
        if group is not None and not run.settings.get("bucket"):
            dist.all_reduce(parameter.grad, group=group)  # @data_reduce
            if not scaled_loss:
                parameter.grad /= run.size(run.data)  # @data_mean
    if group is not None and run.settings.get("bucket"):
        gradients = [parameter.grad for parameter in model.parameters()]
        flat = torch.cat([gradient.flatten() for gradient in gradients])  # @bucket
        dist.all_reduce(flat, group=group)  # @bucket_reduce
        if not scaled_loss:
            flat /= run.size(run.data)  # @bucket_mean
        for gradient, part in zip(gradients, flat.split([gradient.numel() for gradient in gradients])):  # @bucket_split
            gradient.copy_(part.view_as(gradient))  # @bucket_copy


def note_gradients(run, model):
    for module in model.modules():
        if isinstance(module, (ColumnParallelLinear, RowParallelLinear)):
            layout = module.layout(0) if isinstance(module, ColumnParallelLinear) else concat(1, "tp")
            run.note(f"{module.name}.weight.reduced", module.weight.grad, layout + run.stage)
        elif hasattr(module, "logical"):
            run.note(f"{module.logical}.weight.reduced", module.weight.grad, run.stage)


def main():
    run = ParallelRun()
    model = ParallelGPT(run)
    if run.optimizer == "adamw":
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1, foreach=True)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=run.optimizer == "foreach")
    for step in range(run.steps):
        tokens = numbers(f"tokens{step}", (run.batch, run.time + 1), 0, run.vocabulary)
        ids, labels = tokens[:, :-1], tokens[:, 1:]
        if run.time_axis == 0:
            ids, labels = ids.t().contiguous(), labels.t().contiguous()
        ids, labels = (run.context_part(run.part(part, run.batch_axis, "dp"), run.time_axis) for part in (ids, labels))
        with run.step(model):
            mark_norms(run, model)
            if run.settings.get("broadcast"):
                ids = broadcast(run, ids)
            train_step(run, model, ids, labels)
            reduce_gradients(run, model)
            note_gradients(run, model)
            optimizer.step()  # @step
            optimizer.zero_grad()
    run.finish()


if __name__ == "__main__":
    main()
