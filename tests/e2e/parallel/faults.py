"""The faults: what is changed in the scripts of a cut run, and where a right answer lies.

Lines are called by the marker at their end ("# @row"), in the net's script or in parallel.py. A root is right on one of
`lines`, or at the operator where a rank in `ranks` (none given: any) first differs from the same run without the fault
(truth.py finds it by the bytes). `near` are the lines that read a wrong value first when the operator that made it, or
that is missing, is not in the dump: no line is wrong because of them. `check`: what the run shows without a reference:
`replica` (ranks differ in what they should share), `collective` (a result is not what its inputs give), `nan` (where the
first number is made that is not finite), `missing` (ranks), or nothing.
"""
from dataclasses import dataclass

from cases import RUNS


@dataclass
class Fault:
    name: str
    what: str
    base: str  # the run of cases.py that is changed
    changes: tuple  # (script, old, new), each text once in the script
    lines: tuple
    ranks: tuple = ()
    near: tuple = ()
    check: str = ""
    statistics: bool = False
    removed: tuple = ()  # folders of the dump

    @property
    def script(self):
        return RUNS[self.base].script


FAULTS = []


def fault(name, what, base, changes, lines, **more):
    """`changes`: one or several of (old, new) in the script of the net, or (script, old, new)."""
    changes = changes if isinstance(changes[0], tuple) else (changes,)
    script = RUNS[base].script
    FAULTS.append(Fault(name, what, base, tuple(change if len(change) == 3 else (script, *change) for change in changes),
                        lines.split(), near=tuple(more.pop("near", "").split()), **more))


def started(base, statement):
    """A statement after the model is made."""
    old = {"gpt_parallel": "model = ParallelGPT(run)", "moe_parallel": "model = MoENet(run).to(run.precision)",
           "conv_parallel": "p = make_parameters(run)"}[RUNS[base].script]
    return old, f"{old}; {statement}"


def before_step(base, statement):
    """A statement before the forward of a step, which is in the dump if msprobe knows what it calls."""
    old = {"gpt_parallel": "            mark_norms(run, model)\n", "moe_parallel": "        with run.step(model):\n",
           "conv_parallel": "        with run.step(torch.nn.Identity()):\n"}[RUNS[base].script]
    spaces = " " * 12
    if old.startswith(spaces):
        return old, f"{spaces}{statement}\n{old}"
    return old, f"        {statement}\n{old}"




# A bit of the exponent of one element, as broken memory has it; numpy is not in the dump.
def flip(tensor, place=5, bit=24):
    return f"{tensor}.detach().numpy().reshape(-1).view('i4')[{place}] ^= 1 << {bit}"


NORM = "layer_norm"
fault("tp-reduce-missing", "no all-reduce after any row parallel layer", "gpt-tp2",
      ("parallel", "return all_reduce(x.clone(), group)  # @reduce_forward", "return x.clone()  # @reduce_forward"),
      "reduce_forward row embedding embedding_mask row_bias", near="layer_norm", check="replica")
fault("tp-reduce-missing-proj", "no all-reduce after one projection", "gpt-tp2",
      ("parallel", 'y = ReduceFromRegion.apply(y, run.group("tp"))',
       'y = y if self.name == "layers.1.attn.proj" else ReduceFromRegion.apply(y, run.group("tp"))'),
      "row row_bias reduce_forward", near="residual1", check="replica")
fault("tp-reduce-missing-down", "no all-reduce after one MLP, grouped queries", "llama-tp2",
      ("parallel", 'y = ReduceFromRegion.apply(y, run.group("tp"))',
       'y = y if self.name == "layers.0.mlp.down" else ReduceFromRegion.apply(y, run.group("tp"))'),
      "row reduce_forward", near="residual2", check="replica")
fault("tp-reduce-mean", "the mean over ranks after one MLP", "gpt-tp2",
      ("parallel", 'y = ReduceFromRegion.apply(y, run.group("tp"))',
       'y = ReduceFromRegion.apply(y, run.group("tp")) / (2 if self.name == "layers.1.mlp.down" else 1)  # @reduced'),
      "reduced", near="row_bias")
fault("tp-reduce-max", "the maximum instead of the sum after every row parallel layer", "gpt-tp4",
      ("parallel", "dist.all_reduce(x, group=group)  # @all_reduce",
       "dist.all_reduce(x, op=dist.ReduceOp.MAX, group=group)  # @all_reduce"),
      "all_reduce reduce_forward")
fault("tp-reduce-group", "the all-reduce of one layer over the ranks of the batch", "gpt-tp2-dp2",
      ("parallel", 'y = ReduceFromRegion.apply(y, run.group("tp"))',
       'y = ReduceFromRegion.apply(y, run.group("dp" if self.name == "layers.0.mlp.down" else "tp"))'),
      "all_reduce reduce_forward row", near="row_bias", check="replica")
fault("tp-backward-missing", "no all-reduce of the gradient before column parallel layers", "gpt-tp2",
      ("parallel", "return all_reduce(grad.clone(), ctx.group), None  # @copy_backward",
       "return grad.clone(), None  # @copy_backward"),
      "copy_backward column head", near="layer_norm residual1 residual2", check="replica")
fault("tp-swapped-up", "the ranks have each other's part of one weight", "gpt-tp2",
      started("gpt-tp2", 'model.layers[1].mlp.linear_fc1.weight.data = '
              'values("layers.1.mlp.up.weight", (64, 32)).chunk(2)[1 - run.index("tp")].clone()'),
      "column", near="gelu")
fault("tp-swapped-proj", "the ranks have each other's part of a projection", "llama-tp2",
      started("llama-tp2", 'model.layers[0].self_attention.linear_proj.weight.data = '
              'values("layers.0.attn.proj.weight", (32, 32)).chunk(2, 1)[1 - run.index("tp")].clone()'),
      "row", near="all_reduce reduce_forward residual1")
fault("tp4-swapped-heads", "two of four ranks have each other's heads", "gpt-tp4",
      started("gpt-tp4", 'qkv = model.layers[1].self_attention.linear_qkv; qkv.weight.data = torch.cat(['
              'part.chunk(4)[[0, 1, 3, 2][run.rank]] for part in values("layers.1.attn.qkv.weight", (96, 32)).split(32)])'),
      "column", ranks=(2, 3))
fault("tp-qkv-contiguous", "a fused QKV is cut as one matrix", "gpt-tp2",
      started("gpt-tp2", 'model.layers[0].self_attention.linear_qkv.weight.data = '
              'values("layers.0.attn.qkv.weight", (96, 32)).chunk(2)[run.index("tp")].clone()'), "column")
fault("tp-qkv-contiguous-all", "every fused QKV is cut as one matrix", "gpt-tp2",
      ("parallel", "for block in whole.split(self.blocks)", "for block in (whole,)"), "column")
fault("tp-qkv-order", "keys and values exchanged in one layer", "gpt-tp2",
      ("return fused.split(self.sizes, -1)  # @split_qkv",
       'return [fused.split(self.sizes, -1)[n] for n in ((0, 2, 1) if self.name[7] == "1" else (0, 1, 2))]  # @split_qkv'),
      "split_qkv heads rotate", near="scores mixed")
fault("tp-gqa-repeat", "queries read the keys of another group", "llama-dp2-pp2",
      ("(part.repeat_interleave(run.heads // run.kv_heads, 1) for part in (k, v))  # @repeat",
       "(part.repeat(1, run.heads // run.kv_heads, 1, 1) for part in (k, v))  # @repeat"), "repeat", near="scores mixed")
fault("tp-vocabulary-start", "the second rank's part of the vocabulary starts one row late", "gpt-tp2",
      ("parallel", 'local = ids - run.index("tp") * self.rows', 'local = ids - run.index("tp") * (self.rows + 1)'),
      "embedding_start embedding embedding_mask", ranks=(1,))
fault("tp-vocabulary-mask", "embeddings of other ranks' ids are not masked", "tied-sp2-padded",
      ("parallel", "x = x.masked_fill(outside.unsqueeze(-1), 0.0)  # @embedding_mask",
       "x = x.masked_fill(outside.unsqueeze(-1), 1.0) * 1.0  # @embedding_mask"), "embedding_mask embedding")
fault("tp-loss-total", "the sum of the softmax is not reduced", "gpt-tp2",
      ("parallel", "total = all_reduce(exponents.sum(-1), group)  # @total_reduce",
       "total = exponents.sum(-1)  # @total_reduce"),
      "total_reduce cross_entropy", check="replica")
fault("tp-loss-mask", "labels of other ranks are counted", "gpt-tp4",
      ("parallel", ".squeeze(-1).masked_fill(outside, 0.0)  # @chosen", ".squeeze(-1)  # @chosen"),
      "chosen chosen_reduce", near="all_reduce cross_entropy")
fault("tp-loss-start", "every rank takes its part of the vocabulary for the first", "gpt-tp2",
      ("logits, labels, run.group(\"tp\"), start)  # @cross_entropy", "logits, labels, run.group(\"tp\"), 0)  # @cross_entropy"),
      "cross_entropy chosen chosen_reduce", ranks=(1,))
fault("tp-gelu-one-rank", "one rank approximates GELU", "gpt-tp2",
      ("x = F.gelu(x)  # @gelu", 'x = F.gelu(x, approximate="tanh" if run.rank == 1 else "none")  # @gelu'), "gelu",
      ranks=(1,))
fault("tp-eps-one-rank", "another epsilon in one norm of one rank", "gpt-tp4",
      started("gpt-tp4", "model.layers[1].input_layernorm.eps = 1e-2 if run.rank == 2 else 1e-5"), NORM, ranks=(2,),
      check="replica")
fault("tp-eps-rms", "another epsilon in the norms of one rank", "llama-tp2",
      ("torch.rsqrt(variance + self.eps)", "torch.rsqrt(variance + (0.03 if dist.get_rank() == 1 else self.eps))"),
      "rms", ranks=(1,), check="replica")
fault("tp-bias-twice", "every rank adds the bias before the sum", "gpt-tp2",
      (("parallel", "y = F.linear(x, self.weight)  # @row", "y = F.linear(x, self.weight, self.bias)  # @row"),
       ("parallel", "y = y + self.bias  # @row_bias", "y = y + 0  # @row_bias")), "row row_bias",
      near="all_reduce reduce_forward")
fault("tp-scale-one-rank", "one rank divides its scores by another number", "gpt-tp2",
      ("scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head)  # @scores",
       "scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head * (1 + run.rank))  # @scores"), "scores",
      ranks=(1,))
fault("tp-flip-norm", "a bit of one rank's weight of a norm flips before step 1", "gpt-tp4",
      before_step("gpt-tp4", "if step == 1 and run.rank == 3: " + flip("model.layers[0].pre_mlp_layernorm.weight")), NORM,
      ranks=(3,), check="replica")
fault("tp-flip-shard", "a bit of one rank's part of a weight flips before step 1", "gpt-tp2",
      before_step("gpt-tp2", "if step == 1 and run.rank == 1: " + flip("model.layers[1].mlp.linear_fc2.weight", 40)), "row",
      ranks=(1,))
fault("tp-stale-rank", "one rank does not update", "gpt-tp2",
      ("optimizer.step()  # @step", "run.rank != 1 and optimizer.step()  # @step"),
      "step", ranks=(1,), near="embedding column row layer_norm row_bias head", check="replica")
fault("tp-stale-parameter", "one rank's optimizer lacks a weight", "gpt-tp2",
      ("torch.optim.SGD(model.parameters()", 'torch.optim.SGD([p for n, p in model.named_parameters() if run.rank or '
       '"layers.1.mlp.linear_fc1.weight" not in n]'), "step", ranks=(0,), near="column")
fault("tp-dropout-one-rank", "dropout is on in one rank", "gpt-tp2",
      ("x = x + self.mlp(normed)  # @residual2", "x = x + F.dropout(self.mlp(normed), 0.1, run.rank == 1)  # @residual2"),
      "residual2", ranks=(1,), check="replica")
fault("tp-missing-rotary", "one rank does not rotate its queries", "odd-tp3",
      ("q, k = rotate(q, positions), rotate(k, positions)",
       "q, k = rotate(q, positions * (run.rank != 2)), rotate(k, positions)  # @rotary"), "rotary angle rotate",
      ranks=(2,), near="scores")

fault("sp-norm-gradients", "gradients of replicated norms are not summed", "gpt-sp2",
      ("dist.all_reduce(parameter.grad, group=run.group(\"tp\"))  # @sequence_reduce", "pass  # @sequence_reduce"),
      "sequence_reduce step", near="layer_norm row_bias", check="replica")
fault("sp-norm-gradients-rms", "gradients of one replicated norm are not summed", "llama-sp2",
      ('if run.sp and ("layernorm" in name', 'if run.sp and "layers.0.input" not in name and ("layernorm" in name'),
      "sequence_reduce step", near="rms", check="replica")
fault("sp-bias-gradients", "gradients of replicated biases are not summed", "gpt-sp2",
      ('("layernorm" in name or name.endswith("fc2.bias") or name.endswith("proj.bias"))', '"layernorm" in name'),
      "sequence_reduce step", near="row_bias", check="replica")
fault("sp-gather-order", "the gathered sequence in the reverse order of the ranks", "gpt-sp2",
      ("parallel", "return torch.cat(parts, axis)  # @gather_cat", "return torch.cat(parts[::-1], axis)  # @gather_cat"),
      "gather_cat sequence_gather", near="column")
fault("sp-gather-axis", "gathered along the batch, then laid out as the sequence", "llama-sp2",
      ("parallel", "return torch.cat(parts, axis)  # @gather_cat",
       "return torch.cat(parts, 1).view([-1, *x.shape[1:]])  # @gather_cat"), "gather_cat sequence_gather", near="column")
fault("sp-scatter-order", "the summed sequence is given to the ranks in reverse order", "gpt-sp2",
      ("parallel", "for part in x.chunk(size, axis)])  # @scatter_cat", "for part in x.chunk(size, axis)[::-1]])  # @scatter_cat"),
      "scatter_cat sequence_scatter reduce_scatter", near="row_bias layer_norm")
fault("sp-scatter-mean", "the mean is scattered instead of the sum", "llama-sp2",
      ("parallel", "return reduce_scatter(x, group, axis)  # @sequence_scatter",
       "return reduce_scatter(x, group, axis) / 2  # @sequence_scatter"), "sequence_scatter", near="rms residual1 residual2")
fault("sp-backward-slice", "the gradient of the gathered sequence is sliced and not summed", "gpt-sp2",
      ("parallel", "return reduce_scatter(grad, ctx.group, ctx.axis), None, None  # @sequence_gather_backward",
       "return grad.chunk(2, ctx.axis)[dist.get_rank(ctx.group)].clone(), None, None  # @sequence_gather_backward"),
      "sequence_gather_backward column head", near="layer_norm")
fault("sp-position-slice", "learned positions of the other rank's part", "tied-sp2-padded",
      ("parallel", 'return run.part(x, axis, "tp")  # @split_sequence',
       'return x.chunk(2, axis)[1 - run.index("tp")].contiguous()  # @split_sequence'), "split_sequence position",
      near="embed_position")

fault("cp-positions", "every rank counts its positions from 0", "gpt-cp2",
      ("positions = run.context_part(torch.arange(run.time), 0)  # @positions",
       'positions = torch.arange(run.time // run.size("cp"))  # @positions'), "positions angle masked rotate", ranks=(1,))
fault("cp-positions-zigzag", "zigzag parts with contiguous positions", "gpt-cp2-zigzag-ring",
      ("positions = run.context_part(torch.arange(run.time), 0)  # @positions",
       'positions = torch.arange(run.time).chunk(2)[run.place["cp"]]  # @positions'), "positions angle ring_masked rotate")
fault("cp-rotary-keys", "keys are rotated from position 0", "gpt-cp2",
      ("q, k = rotate(q, positions), rotate(k, positions)",
       "q, k = rotate(q, positions), rotate(k, positions - positions[0])  # @rotary"), "rotary angle rotate", ranks=(1,),
      near="context_gather")
fault("cp-slice", "the last rank's part of the sequence starts one token early", "gpt-cp2",
      ("return whole.chunk(size, axis)[place]  # @context_part",
       "return whole.roll(place, axis).chunk(size, axis)[place]  # @context_part"), "positions embedding angle", ranks=(1,))
fault("cp-zigzag-slice", "the two chunks of a rank are exchanged", "gpt-cp4-zigzag",
      ("return torch.cat((chunks[place], chunks[2 * size - 1 - place]), axis)  # @zigzag_part",
       "return torch.cat((chunks[place], chunks[2 * size - 1 - place])[::1 if whole.dim() == 1 else -1], axis)  # @zigzag_part"),
      "zigzag_part embedding embedding_start")
fault("cp-learned-positions", "learned positions of the first part on every rank", "tied-cp2-dp2",
      ("place = self.position_embeddings(positions)  # @position",
       "place = self.position_embeddings(positions - positions[0])  # @position"), "position", ranks=(1, 3))
fault("cp-gather-missing", "each rank attends to its own part alone", "gpt-cp2",
      ("        if group is not None:\n            k, v = Gather", "        if group is None:\n            k, v = Gather"),
      "scores masked context_gather mixed softmax")
fault("cp-gather-order", "keys and values are joined in another order than their positions", "gpt-cp2",
      ("return gather(x, group, 2)  # @context_gather", "return gather(x, group, 2).roll(x.shape[2], 2)  # @context_gather"),
      "context_gather", near="scores mixed")
fault("cp-gather-values", "values alone are joined in another order", "gpt-cp2-dp2",
      ("k, v = GatherContext.apply(k, group), GatherContext.apply(v, group)",
       "k, v = GatherContext.apply(k, group), GatherContext.apply(v, group).roll(v.shape[2], 2)  # @values"), "values",
      near="mixed")
fault("cp-backward-slice", "gradients of gathered keys and values are sliced and not summed", "gpt-cp2",
      ("return reduce_scatter(grad, ctx.group, 2), None  # @context_scatter",
       "return grad.chunk(2, 2)[dist.get_rank(ctx.group)].clone(), None  # @context_scatter"), "context_scatter",
      near="rotate split_qkv column scores mixed")
fault("cp-ring-total", "the running sum of the softmax is not rescaled", "gpt-cp2-zigzag-ring",
      ("total = total * old + exponents.sum(-1, keepdim=True)  # @ring_total",
       "total = total + exponents.sum(-1, keepdim=True)  # @ring_total"), "ring_total", near="ring_out")
fault("cp-ring-direction", "values travel round the ring the other way", "llama-cp4-ring",
      ("k, v = Pass.apply(k, run), Pass.apply(v, run)  # @ring_pass",
       "k, v = Pass.apply(k, run), Pass.apply(Pass.apply(Pass.apply(v, run), run), run)  # @ring_pass"),
      "ring_pass ring ring_send ring_receive", near="ring_mixed")
fault("cp-ring-positions", "the positions of the keys do not travel", "llama-cp2-ring",
      ("keys = Pass.shift(keys, run, 1)", "keys = keys.clone()  # @keys"), "keys ring_masked")
fault("cp-ring-last", "the ring ends one turn early", "llama-cp4-ring",
      ('for turn in range(run.size("cp")):', 'for turn in range(run.size("cp") - 1):'),
      "ring_scores ring_masked ring_exponents ring_mixed ring_total ring_out ring_pass")
fault("cp-gradients-missing", "gradients are not summed over the parts of the sequence", "gpt-cp2-dp2",
      ('self.data = "cp dp"', 'self.data = "dp"'), "data_reduce backward data_mean step loss", check="replica")

fault("dp-sum-for-mean", "gradients are summed and not divided", "gpt-dp2",
      ("parameter.grad /= run.size(run.data)  # @data_mean", "pass  # @data_mean"), "data_mean step", near="data_reduce")
fault("dp-reduce-missing", "gradients are not reduced", "gpt-dp2",
      ("dist.all_reduce(parameter.grad, group=group)  # @data_reduce", "pass  # @data_reduce"),
      "data_reduce data_mean step", near="embedding", check="replica")
fault("dp-reduce-missing-one", "the gradient of one weight is not reduced", "gpt-dp4",
      ("            gradient.copy_(part.view_as(gradient))  # @bucket_copy",
       "            if gradient is not model.layers[0].mlp.linear_fc1.weight.grad: "
       "gradient.copy_(part.view_as(gradient))  # @bucket_copy"),
      "bucket_copy bucket_split bucket bucket_reduce bucket_mean step", near="column", check="replica")
fault("dp-reduce-norm", "the gradient of one norm is not reduced", "llama-dp3",
      ("dist.all_reduce(parameter.grad, group=group)  # @data_reduce",
       '"layers.1.pre_mlp" in name or dist.all_reduce(parameter.grad, group=group)  # @data_reduce'),
      "data_reduce data_mean step", near="rms", check="replica")
fault("dp-rate-one-rank", "one rank has another learning rate", "gpt-dp2",
      ("lr=0.1, momentum", "lr=0.1 if run.rank == 0 else 0.05, momentum"), "step", ranks=(1,),
      near="embedding column row layer_norm row_bias head", check="replica")
fault("dp-batch", "one rank has the first rank's part of the batch", "gpt-dp4",
      ('run.context_part(run.part(part, run.batch_axis, "dp"), run.time_axis)',
       'run.context_part(part.chunk(4)[0 if run.rank == 2 else run.rank], run.time_axis)'), "embedding embedding_start",
      ranks=(2,))
fault("dp-labels", "one rank has another's labels", "gpt-dp2",
      ("with run.step(model):\n            mark", "labels = labels.roll(run.rank, 0)\n        with run.step(model):\n            mark"),
      "chosen cross_entropy loss", ranks=(1,))
fault("dp-bucket-offset", "the gradients in a bucket are moved by one", "gpt-dp4",
      ("zip(gradients, flat.split(", "zip(gradients, flat.roll(1).split("), "bucket_copy bucket_split bucket bucket_mean bucket_reduce step",
      near="embedding")
fault("dp-bucket-world", "the bucket is divided by another number of ranks", "gpt-dp4",
      ("flat /= run.size(run.data)  # @bucket_mean", "flat /= 2  # @bucket_mean"), "bucket_mean",
      near="bucket_copy bucket_split step")
fault("dp-loss-scale", "the loss is not divided by the number of ranks", "gpt-tp2-dp2",
      ("(loss / run.size(run.data) if", "(loss / 1 if"), "backward loss cross_entropy", near="head")
fault("dp-broadcast-root", "a weight is broadcast from a rank that has a wrong one", "gpt-dp2",
      started("gpt-dp2", "w = model.layers[1].mlp.linear_fc1.weight.data; w.copy_(w * (1 + 0.5 * run.rank)); "
              "dist.broadcast(w, 1)"), "column")
fault("dp-broadcast-missing", "one rank's weight was never broadcast", "gpt-dp4",
      started("gpt-dp4", "w = model.layers[0].self_attention.linear_proj.weight.data; run.rank == 2 and w.mul_(1.25)"), "row",
      ranks=(2,), check="replica")
fault("dp-flip-gradient", "a bit of one rank's gradient flips after the all-reduce", "gpt-dp2",
      ("            optimizer.step()  # @step", "            if step == 0 and run.rank == 1: " +
       flip("model.layers[1].self_attention.linear_qkv.weight.grad", 17) + "\n            optimizer.step()  # @step"),
      "step data_mean", ranks=(1,), near="column", check="replica")
fault("dp-flip-activation", "a bit of one rank's activation flips in step 1", "gpt-dp2",
      ("x = F.gelu(x)  # @gelu\n", "x = F.gelu(x)  # @gelu\n        if run.rank == 1 and run.number == 1 and "
       "self.name[7] == \"0\": " + flip("x", 33) + "\n"), "gelu row", ranks=(1,))
fault("dp-flip-parameter", "a bit of one rank's weight flips before step 1", "llama-dp3",
      before_step("llama-dp3", "if step == 1 and run.rank == 2: " + flip("model.layers[1].mlp.linear_fc2.weight", 77)), "row",
      ranks=(2,), check="replica")
fault("dp-bf16-gradient", "one rank rounds its gradients to bfloat16 before the sum", "gpt-dp2",
      ("dist.all_reduce(parameter.grad, group=group)  # @data_reduce",
       "run.rank and parameter.grad.copy_(parameter.grad.bfloat16()); "
       "dist.all_reduce(parameter.grad, group=group)  # @data_reduce"), "data_reduce", ranks=(1,))

fault("dp-overlap-wait", "gradients are divided by another number of ranks", "gpt-dp2-overlap",
      ("parameter.grad /= run.size(run.data)  # @async_mean", "parameter.grad /= 4  # @async_mean"), "async_mean",
      near="async step")
fault("dp-overlap-missing", "the last gradients are not reduced", "gpt-dp2-overlap",
      ("async_op=True) for parameter in model.parameters()]", "async_op=True) for parameter in list(model.parameters())[:20]]"),
      "async async_mean step", near="column row row_bias layer_norm head", check="replica")
fault("broadcast-root", "ids are broadcast from a rank that has not read them", "gpt-tp2-dp2-broadcast",
      ('dist.broadcast(ids, run.ranks_over("tp")[0], group', 'dist.broadcast(ids, run.ranks_over("tp")[run.place["dp"]], group'),
      "broadcast", ranks=(2, 3))
fault("broadcast-missing", "one rank does not get the ids", "gpt-tp2-dp2-broadcast",
      ("ids = broadcast(run, ids)", "ids = broadcast(run, ids) * (run.rank != 1)  # @nothing"),
      "broadcast nothing embedding_start", ranks=(1,), check="replica")

fault("pp-stage-order", "the stages have each other's layers", "gpt-pp2",
      ("layers.{stage * each + number}", "layers.{(1 - stage) * each + number}"),
      "layer_norm column row row_bias")
fault("pp-send-order", "sequences of the batch arrive in another order", "gpt-pp2",
      ("send(run, y.detach(), ranks[stage + 1])  # @stage_send",
       "send(run, y.detach().roll(1, run.batch_axis), ranks[stage + 1])  # @stage_send"),
      "stage_send send", near="receive stage_receive layer_norm residual1")
fault("pp-send-bf16", "what a stage sends is rounded to bfloat16", "gpt-pp2",
      ("send(run, y.detach(), ranks[stage + 1])  # @stage_send",
       "send(run, y.detach().bfloat16().float(), ranks[stage + 1])  # @stage_send"),
      "stage_send send", near="receive stage_receive layer_norm residual1")
fault("pp-gradient-half", "half of the gradient is sent back", "gpt-tp2-pp2-dp2",
      ("send(run, x.grad, ranks[stage - 1])  # @stage_send_grad", "send(run, x.grad / 2, ranks[stage - 1])  # @stage_send_grad"),
      "stage_send_grad send", near="receive stage_receive_grad residual2 row_bias")
fault("pp-tied-gradients", "the gradients of the tied embedding are not summed over the stages", "tied-pp2",
      ('if run.tied and run.size("pp") > 1 and "word_embeddings" in name:', "if False:"), "tied_reduce step",
      near="embedding head", check="replica")
fault("pp-layer-missing", "the second stage skips its layer's MLP", "llama-tp2-sp-pp2",
      ("x = x + self.mlp(normed)  # @residual2", "x = x + self.mlp(normed) * (0.0 if run.place['pp'] else 1.0)  # @residual2"),
      "residual2 column swiglu row", ranks=(2, 3), near="rms")
fault("pp-eps", "another epsilon in the last stage", "gpt-tp2-sp-pp2-dp2",
      ("return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)  # @layer_norm",
       "return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, 1e-2 if dist.get_rank() > 3 else 1e-5)  # @layer_norm"),
      NORM, ranks=(4, 5, 6, 7))

EXPERTS = "expert_up expert_down"
fault("ep-exchanged", "the ranks have each other's experts", "moe-ep2",
      ('first = run.place["ep"] * self.each', 'first = (1 - run.place["ep"]) * self.each'), EXPERTS)
fault("ep-exchanged-two", "two experts of one rank are exchanged", "moe-ep2",
      ("enumerate(self.local_experts)", "enumerate(list(self.local_experts)[::-1 if run.rank == 1 else 1])"),
      EXPERTS + " expert_input", ranks=(1,))
fault("ep4-exchanged", "two of four ranks have each other's experts", "moe-ep4",
      ('first = run.place["ep"] * self.each', 'first = [0, 3, 2, 1][run.place["ep"]] * self.each'), EXPERTS, ranks=(1, 3))
fault("ep-combine-order", "results are sent back in another order", "moe-ep2",
      ("AllToAll.apply(torch.cat(results), group, received, sent)",
       "AllToAll.apply(torch.cat(results).flip(0), group, received, sent)"), "combine exchange all_to_all", near="weigh")
fault("ep-weights", "the weight of the best expert for all of a token", "moe-ep2",
      ("back * weights[rows, slots]", "back * weights[rows, slots * 0]"), "weigh")
fault("ep-gradients-mixed", "gradients of different experts are summed over the ranks", "moe-ep2",
      ('over = "dp" if "local_experts" in name else run.data  # @reduce_over', "over = run.data  # @reduce_over"),
      "data_reduce reduce_over", near="step")
fault("ep-gradients-scale", "gradients of the experts are not divided by their ranks", "moe-ep2-dp2",
      ("parameter.grad /= run.size(run.data)", "parameter.grad /= run.size(over)"), "data_mean", near="step")
fault("ep-router-one-rank", "one rank's router was never broadcast", "moe-ep4",
      started("moe-ep4", "run.rank == 2 and model.layers[0].moe.gate.weight.data.mul_(1.5)"), "router", ranks=(2,),
      check="replica")
fault("ep-temperature", "one rank's router is sharper", "moe-dp2",
      ("torch.softmax(logits, -1)", "torch.softmax(logits * (1.0 + run.rank), -1)"), "top", ranks=(1,), near="router")
fault("ep-dispatch-rows", "one rank sends its tokens in reverse", "moe-top1-ep2",
      ("AllToAll.apply(tokens[rows], group, sent, received)",
       "AllToAll.apply(tokens[rows.flip(0) if run.rank == 1 else rows], group, sent, received)"),
      "dispatch all_to_all exchange", ranks=(1,))
fault("ep-flip-expert", "a bit of an expert's weight flips before step 1", "moe-ep2",
      before_step("moe-ep2", "if step == 1 and run.rank == 1: " +
                  flip("model.layers[0].moe.local_experts[1].fc1.weight", 100)), EXPERTS, ranks=(1,))
fault("ep-dense-stale", "one rank does not update a dense layer", "moe-ep2-dp2",
      ("optimizer.step()  # @step", "run.rank == 3 and setattr(model.layers[0].fc1.weight, 'grad', None); optimizer.step()  # @step"),
      "step", ranks=(3,), near="dense_up", check="replica")

fault("conv-reduce-missing", "channels are not summed", "conv-tp2",
      ("ReduceFromRegion.apply(x, group), batch", "x * 1.0, batch"), "conv2_reduce conv2", near="norm2", check="replica")
fault("conv-groups", "a group norm of more groups than the whole one's", "conv-tp2",
      ('F.group_norm(x, 4 // run.size("tp")', "F.group_norm(x, 4"), "norm1")
fault("conv-swapped", "the ranks have each other's input channels", "conv-tp2-dp2",
      started("conv-tp2-dp2", 'p["conv2.weight"].data = values("conv2.weight", (8, 8, 3, 3)).chunk(2, 1)[1 - run.index("tp")].clone()'),
      "conv2")
fault("conv-sum-for-mean", "gradients are summed and not divided", "conv-dp2",
      ('parameter.grad.div_(run.size("dp"))  # @data_mean', "pass  # @data_mean"), "data_mean decay data_reduce")
fault("conv-decay-one-rank", "one rank has no weight decay", "conv-dp2",
      ("decay=1e-2):", "decay=1e-2):\n    decay = decay * (run.rank == 0)"), "decay update", ranks=(1,), check="replica")
fault("conv-stale", "one rank does not update its second norm", "conv-tp2-dp2",
      ("parameter.sub_(speed * step)  # @update",
       'parameter.sub_(speed * step * (0 if run.rank == 2 and name == "norm2.weight" else 1))  # @update'), "update",
      ranks=(2,), near="norm2", check="replica")
fault("conv-pictures", "one rank has the pictures of the other, with its own labels", "conv-dp2",
      ('run.part(pictures, 0, "dp"), run.part(labels, 0, "dp")  # @batch',
       'pictures.chunk(2)[0], run.part(labels, 0, "dp")  # @batch'), "conv1", ranks=(1,))
fault("mlp-reduce-missing", "one row parallel product is not summed", "mlp-tp2",
      ("x = ReduceFromRegion.apply(torch.matmul(x, weight.t()), tp)  # @row",
       "x = torch.matmul(x, weight.t()); x = x if number == 3 else ReduceFromRegion.apply(x, tp)  # @row"), "row row_bias",
      check="replica")
fault("mlp-bias-twice", "the bias is summed over the ranks", "mlp-tp2",
      (("x = ReduceFromRegion.apply(torch.matmul(x, weight.t()), tp)  # @row",
        "x = ReduceFromRegion.apply(torch.matmul(x, weight.t()) + bias, tp)  # @row"),
       ("x = x + bias  # @row_bias", "x = x + 0  # @row_bias")), "row row_bias", near="reduce_forward all_reduce tanh")
fault("mlp-activation-one-rank", "one rank has another activation", "mlp-tp4-dp2",
      ("torch.tanh(x), layout", "(torch.sigmoid(x) if run.rank == 5 and number == 2 else torch.tanh(x)), layout"), "tanh",
      ranks=(5,))
fault("mlp-reduce-missing-one", "the gradient of one weight is not reduced", "mlp-dp4",
      ("if dp is not None:", 'if parameter is not parameters["fc2.weight"]:'), "data_reduce data_mean step", near="column",
      check="replica")
fault("mlp-wanted", "one rank's part of what is wanted is another's", "mlp-dp4",
      ('wanted = run.part(numbers(f"wanted{step}", (run.batch, sizes[-1])), 0, "dp")',
       'wanted = numbers(f"wanted{step}", (run.batch, sizes[-1])).chunk(4)[run.rank // 3 * 2 if run.rank == 3 else run.rank]'),
      "loss", ranks=(3,))

fault("mix-reduce-missing", "no all-reduce after one projection, modules in the dump", "mix-tp2",
      ("parallel", 'y = ReduceFromRegion.apply(y, run.group("tp"))',
       'y = y if self.name == "layers.0.attn.proj" else ReduceFromRegion.apply(y, run.group("tp"))'),
      "row row_bias reduce_forward", near="residual1", check="replica")
fault("mix-eps", "another epsilon in one norm of one rank, modules in the dump", "mix-tp2",
      started("mix-tp2", "model.final_layernorm.eps = 1e-2 if run.rank == 1 else 1e-5"), NORM, ranks=(1,), check="replica")
fault("mix-sequence-gradients", "gradients of replicated norms are not summed, modules in the dump", "mix-sp2-dp2",
      ("dist.all_reduce(parameter.grad, group=run.group(\"tp\"))  # @sequence_reduce", "pass  # @sequence_reduce"),
      "sequence_reduce step", near="layer_norm row_bias", check="replica")
fault("mix-experts", "two experts of one rank are exchanged, modules in the dump", "moe-mix-ep2",
      ("enumerate(self.local_experts)", "enumerate(list(self.local_experts)[::-1 if run.rank == 1 else 1])"),
      EXPERTS + " expert_input", ranks=(1,))
fault("mix-stage", "the second stage starts with another layer, modules in the dump", "mix-pp2",
      ("layers.{stage * each + number}", "layers.{number}"), "layer_norm column row row_bias", ranks=(1,))
fault("bf16-reduce-missing", "no all-reduce after one MLP, bfloat16", "bf16-tp2",
      ("parallel", 'y = ReduceFromRegion.apply(y, run.group("tp"))',
       'y = y if self.name == "layers.1.mlp.down" else ReduceFromRegion.apply(y, run.group("tp"))'),
      "row reduce_forward", near="residual2", check="replica")
fault("bf16-sum-for-mean", "gradients are summed and not divided, bfloat16", "bf16-dp2",
      ("parameter.grad /= run.size(run.data)  # @data_mean", "pass  # @data_mean"), "data_mean step",
      near="data_reduce embedding column row rms head")
fault("statistics-reduce-missing", "no all-reduce after one projection, statistics alone", "gpt-tp2",
      ("parallel", 'y = ReduceFromRegion.apply(y, run.group("tp"))',
       'y = y if self.name == "layers.0.attn.proj" else ReduceFromRegion.apply(y, run.group("tp"))'),
      "row row_bias reduce_forward", near="residual1", statistics=True, check="replica")
fault("statistics-flip", "a bit of one rank's weight flips before step 1, statistics alone", "gpt-dp2",
      before_step("gpt-dp2", "if step == 1 and run.rank == 1: " + flip("model.layers[1].mlp.linear_fc2.weight", 77, 27)),
      "row", ranks=(1,), statistics=True, check="replica")
fault("statistics-experts", "the ranks have each other's experts, statistics alone", "moe-ep2",
      ('first = run.place["ep"] * self.each', 'first = (1 - run.place["ep"]) * self.each'), EXPERTS, statistics=True)


def corrupted(name, what, base, collective, result, rank, lines, call=3):
    """Below msprobe: it sees the arguments and the result of a call that did something else."""
    FAULTS.append(Fault(name, what, base, (("run", "        torch.manual_seed(1)\n",
                  f"        torch.manual_seed(1); right, calls = dist.{collective}, []\n\n"
                  f"        def other(*a, **k):\n"
                  f"            done = right(*a, **k)\n"
                  f"            calls.append(1)\n"
                  f"            if self.rank == {rank} and len(calls) == {call}:\n"
                  f"                {flip(result, 3)}\n"
                  f"            return done\n"
                  f"        dist.{collective} = other\n"),), lines.split(), (rank,), check="collective"))


corrupted("collective-all-reduce", "one rank gets another sum than the others", "gpt-tp4", "all_reduce", "a[0]", 2,
          "all_reduce")
corrupted("collective-all-gather", "one rank gets another part than was sent", "gpt-sp2", "all_gather", "a[0][0]", 1,
          "all_gather gather_cat")
corrupted("collective-reduce-scatter", "one rank gets another sum", "llama-sp2", "reduce_scatter_tensor", "a[0]", 0,
          "reduce_scatter")
corrupted("collective-all-to-all", "one rank gets another token than was sent", "moe-ep4", "all_to_all_single", "a[0]", 1,
          "all_to_all")
corrupted("collective-receive", "a key arrives changed", "llama-cp4-ring", "recv", "a[0]", 3, "ring_receive", 4)
corrupted("collective-all-reduce-gradient", "one rank gets another gradient", "gpt-dp4", "all_reduce", "a[0]", 3,
          "bucket_reduce", 1)
corrupted("collective-all-reduce-two", "one of two ranks gets another sum", "llama-tp2", "all_reduce", "a[0]", 0,
          "all_reduce", 2)
corrupted("collective-all-gather-keys", "one of four ranks gets other keys", "gpt-cp4-zigzag", "all_gather", "a[0][2]", 1,
          "all_gather gather_cat context_gather", 1)
corrupted("collective-broadcast", "one rank gets other ids", "gpt-tp2-dp2-broadcast", "broadcast", "a[0]", 3, "broadcast", 1)
corrupted("collective-overlap", "one rank gets another gradient, waited for later", "gpt-dp2-overlap", "all_reduce",
          "(done.wait(), a[0])[1]", 1, "async", 5)
corrupted("collective-stage", "what a stage sent arrives changed", "gpt-tp2-pp2-dp2", "recv", "a[0]", 6, "receive", 1)
corrupted("collective-scatter-backward", "one rank gets another sum in the backward pass", "gpt-tp2-sp-cp2",
          "reduce_scatter_tensor", "a[0]", 2, "reduce_scatter", 8)


# A number that is not finite, first on one rank.
fault("nan-activation", "one rank divides by zero in step 1", "gpt-tp4",
      ("x = F.gelu(x)  # @gelu",
       'x = F.gelu(x) / (0.0 if run.rank == 2 and run.number == 1 and "1" in self.name else 1.0)  # @gelu'), "gelu", ranks=(2,),
      check="nan")
fault("nan-stage", "a rank of the first stage makes what is not finite", "gpt-tp2-pp2-dp2",
      ("scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head)  # @scores",
       "scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head * (run.rank != 1))  # @scores"), "scores",
      ranks=(1,), check="nan")
fault("nan-gradient", "the loss of one rank divides by zero", "conv-dp2",
      ("loss.backward()", "(loss / (run.rank == 0)).backward()  # @scaled"), "scaled", ranks=(1,), check="nan")
fault("nan-experts", "an expert of one rank overflows", "moe-ep4",
      ("h = run.mark(f\"{name}.up\", self.fc1(x), layout, factor=run.factor)  # @expert_up",
       "h = run.mark(f\"{name}.up\", self.fc1(x), layout, factor=run.factor)  # @expert_up\n"
       "        h = h * (3e38 if run.rank == 3 else 1.0)  # @overflow"), "overflow", ranks=(3,), check="nan")


def missing(name, what, base, folders, ranks):
    """The dump without these folders: step<N>/rank<R>."""
    FAULTS.append(Fault(name, what, base, (), [], ranks, check="missing", removed=folders))


missing("missing-rank", "one of four ranks left no dump", "gpt-tp4", ("step0/rank2", "step1/rank2"), (2,))
missing("missing-last-step", "one of eight ranks stopped a step earlier", "gpt-tp2-pp2-dp2", ("step1/rank5",), (5,))
missing("missing-two", "two of eight ranks left no dump", "mlp-tp4-dp2",
        ("step0/rank1", "step1/rank1", "step2/rank1", "step0/rank6", "step1/rank6", "step2/rank6"), (1, 6))
missing("missing-middle", "a rank left no dump of a step in the middle", "mlp-dp4", ("step1/rank2",), (2,))
