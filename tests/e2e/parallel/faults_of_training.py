"""Faults as reviews of training code find them: biases, masks, rotary positions, losses, stale weights, groups."""
from fault import before_step, fault, started

ROW_REDUCE = 'y = ReduceFromRegion.apply(y, run.group("tp"))'
DENSE = "column row row_bias"

fault("bias-of-one-rank", "one rank leaves out the bias of column parallel layers", "gpt-tp4",
      ("y = F.linear(x, self.weight, self.bias)  # @column",
       "y = F.linear(x, self.weight, self.bias if dist.get_rank() != 1 else None)  # @column"), "column", ranks=(1,))
fault("bias-doubled", "the bias of one projection is added twice", "gpt-tp2",
      ("y = y + self.bias  # @row_bias",
       'y = y + self.bias * (2 if self.name == "layers.1.attn.proj" else 1)  # @row_bias'),
      "row_bias")
fault("bias-in-sum", "the bias of one projection is in the sum of three ranks, too", "odd-tp3-dp2",
      ("y = F.linear(x, self.weight)  # @row",
       'y = F.linear(x, self.weight, self.bias if "0.attn" in self.name else None)  # @row'), "row row_bias",
      near="reduce_forward all_reduce residual1")
fault("scores-not-scaled", "attention scores are not divided", "llama-tp2",
      ("scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head)  # @scores",
       "scores = torch.matmul(q, k.transpose(-1, -2)) / 1.0  # @scores"), "scores", near="masked softmax")
fault("rotary-base", "another base of the rotary frequencies", "gpt-dp4", ("10000.0 ** (", "1000.0 ** ("), "angle",
      near="rotate")
fault("rotary-neighbours", "neighbours are rotated in place of halves", "llama-dp3",
      ("left, right = x.chunk(2, -1)", "left, right = x[..., ::2], x[..., 1::2]"), "rotate")
fault("positions-local", "each part of the sequence counts positions from 0", "tied-cp2-dp2",
      ("positions = run.context_part(torch.arange(run.time), 0)  # @positions",
       'positions = torch.arange(run.time // run.size("cp"))  # @positions'), "position positions",
      near="embed_position masked", ranks=(1, 3))
fault("labels-of-zigzag", "labels are in another order than the chunks of the sequence", "gpt-cp2-zigzag-ring",
      ("with run.step(model):\n            mark",
       "labels = labels.roll(labels.shape[1] // 2, 1)\n        with run.step(model):\n            mark"),
      "chosen cross_entropy loss", near="head")
fault("ring-diagonal", "the ring masks the diagonal, too", "llama-cp2-ring",
      ("scores = scores.masked_fill(keys.unsqueeze(0) > positions.unsqueeze(1), -1e9)  # @ring_masked",
       "scores = scores.masked_fill(keys.unsqueeze(0) >= positions.unsqueeze(1), -1e9)  # @ring_masked"), "ring_masked",
      near="ring_exponents ring_mixed ring_total")
fault("gathered-keys-moved", "gathered keys and values are moved by two positions", "gpt-cp4-zigzag",
      ("return gather(x, group, 2)  # @context_gather", "return gather(x, group, 2).roll(2, 2)  # @context_gather"),
      "context_gather gather_cat", near="scores mixed")
fault("context-gradient-local", "gradients of gathered keys and values are not summed", "gpt-cp2",
      ("return reduce_scatter(grad, ctx.group, 2), None  # @context_scatter",
       "return grad.chunk(2, 2)[dist.get_rank(ctx.group)].contiguous(), None  # @context_scatter"), "context_scatter",
      near="rotate heads split_qkv column")
fault("norm-stale", "one of eight ranks does not update a norm", "gpt-tp4-sp-dp2",
      ("optimizer.step()  # @step", 'run.rank == 3 and setattr(model.layers[0].input_layernorm.weight, "grad", None); '
       "optimizer.step()  # @step"), "step", ranks=(3,), near="layer_norm", check="replica")
fault("gradients-kept", "gradients of the step before are not set to zero", "gpt-dp2",
      ("optimizer.zero_grad()", "pass  # @zero"), "zero step data_reduce data_mean",
      near="embedding layer_norm head " + DENSE)
fault("rate-halved", "half of the learning rate, bfloat16", "bf16-tp2", ("lr=0.1, momentum", "lr=0.05, momentum"),
      "step", near="embedding column row rms head")
fault("clipped-one-rank", "one rank clips its gradients", "conv-dp2",
      ("step = parameter.grad + decay * parameter  # @decay",
       "step = (parameter.grad.clamp(-1e-3, 1e-3) if run.rank == 1 else parameter.grad) + decay * parameter  # @decay"),
      "decay update data_mean", ranks=(1,), check="replica")
fault("loss-summed", "the sum of the losses in place of their mean", "conv-tp2-dp2",
      ("loss = F.cross_entropy(forward(run, p, pictures), labels)  # @loss",
       'loss = F.cross_entropy(forward(run, p, pictures), labels, reduction="sum")  # @loss'), "loss")
fault("loss-smoothed", "labels are smoothed", "conv-tp2",
      ("loss = F.cross_entropy(forward(run, p, pictures), labels)  # @loss",
       "loss = F.cross_entropy(forward(run, p, pictures), labels, label_smoothing=0.1)  # @loss"), "loss")
fault("label-ignored", "one rank ignores a label", "moe-dp2",
      ("model(ids).float().flatten(0, 1), labels)  # @loss",
       "model(ids).float().flatten(0, 1), labels, ignore_index=int(labels[0]) if run.rank == 1 else -100)  # @loss"),
      "loss", ranks=(1,))
fault("weights-one", "experts are not weighted", "moe-top1-ep2",
      (".topk(run.top, -1)  # @top\n",
       ".topk(run.top, -1)  # @top\n        weights = weights * 0 + 1  # @ones\n"),
      "ones top", near="weigh")
fault("dispatch-halved", "one rank sends half of its tokens' values", "moe-ep4",
      ("AllToAll.apply(tokens[rows], group, sent, received)",
       "AllToAll.apply(tokens[rows] * (0.5 if run.rank == 2 else 1.0), group, sent, received)"),
      "dispatch all_to_all exchange", near="expert_up expert_input")
fault("expert-without-bias", "an expert of one of eight ranks has no second bias", "moe-ep4-dp2",
      started("moe-ep4-dp2", "run.rank == 3 and model.layers[0].moe.local_experts[0].fc2.bias.data.zero_()"),
      "expert_down", ranks=(3,), check="replica")
fault("router-jitter", "one rank's router has noise, modules in the dump", "moe-mix-ep2",
      ("self.gate(tokens), run.tokens",
       "self.gate(tokens) + 0.3 * (run.rank == 1) * tokens[:, :run.experts], run.tokens"),
      "router", ranks=(1,), near="top")
fault("tokens-dropped", "the last tokens of the experts are dropped", "moe-ep2",
      ("scaled = back * weights[rows, slots].unsqueeze(-1)  # @weigh",
       "scaled = back * weights[rows, slots].unsqueeze(-1) * (torch.arange(len(rows)) < len(rows) - 3).unsqueeze(-1)"
       "  # @weigh"), "weigh", near="index_add")
fault("stage-rounded", "a stage rounds what it sends to bfloat16", "gpt-pp2",
      ("send(run, y.detach(), ranks[stage + 1])  # @stage_send",
       "send(run, y.detach().bfloat16().float(), ranks[stage + 1])  # @stage_send"),
      "stage_send send", near="receive stage_receive layer_norm residual1")
fault("stage-gradient-order", "gradients of a stage arrive in another order of the batch", "tied-pp2",
      ("send(run, x.grad, ranks[stage - 1])  # @stage_send_grad",
       "send(run, x.grad.roll(1, run.batch_axis), ranks[stage - 1])  # @stage_send_grad"), "stage_send_grad send",
      near="receive stage_receive_grad residual2 row")
fault("stage-gradient-twice", "a stage doubles the gradient that it receives", "llama-dp2-pp2",
      ("y.backward(grad)", "y.backward(grad * 2)  # @twice"), "twice", near="residual2 row receive stage_receive_grad")
fault("shard-of-other", "one rank has the other's part of a weight", "llama-tp2",
      started("llama-tp2", "dist.broadcast(model.layers[0].mlp.linear_fc2.weight.data, 0)"), "row", ranks=(1,))
fault("head-of-other", "all ranks have one rank's part of the head", "odd-tp3",
      started("odd-tp3", "dist.broadcast(model.output_weight.data, 1)"), "head", ranks=(0, 2))
fault("scatter-moved", "the sequence is scattered from the next position on, modules in the dump", "mix-sp2-dp2",
      ("return reduce_scatter(x, group, axis)  # @sequence_scatter",
       "return reduce_scatter(x.roll(1, axis), group, axis)  # @sequence_scatter"),
      "sequence_scatter reduce_scatter scatter_cat", near="row_bias residual1 layer_norm")
fault("weights-dropped", "one of eight ranks drops attention weights", "gpt-tp2-cp2-dp2",
      ("weights = torch.softmax(scores, -1)  # @softmax",
       "weights = torch.dropout(torch.softmax(scores, -1), 0.1, run.rank == 3)  # @softmax"), "softmax", ranks=(3,),
      near="mixed")
fault("softmax-of-queries", "the softmax of one layer goes over the queries, bfloat16", "gpt-bf16-dp4",
      ("weights = torch.softmax(scores, -1)  # @softmax",
       'weights = torch.softmax(scores, -2 if "1" in self.name else -1)  # @softmax'), "softmax", near="mixed")
fault("norm-left-out", "one layer's MLP reads what is not normalized, bfloat16, eight ranks", "gpt-bf16-tp2-pp2-dp2",
      ('normed = run.mark(f"{name}.norm2", self.pre_mlp_layernorm(x), layout, grad=False)',
       'normed = self.pre_mlp_layernorm(x); normed = normed * 0 + x if "0" in name else normed  # @norm_left'),
      "norm_left",
      near="column residual1 layer_norm")
fault("rows-of-rank", "one rank's rows of a padded vocabulary start one too early", "tied-sp2-padded",
      ('local = ids - run.index("tp") * self.rows  # @embedding_start',
       'local = ids - run.index("tp") * (self.rows - 1)  # @embedding_start'), "embedding_start", ranks=(1,),
      near="embedding embedding_mask")
fault("tanh-left-out", "one activation is left out", "mlp-tp2",
      ("torch.tanh(x), layout", "(x * 1.0 if number == 1 else torch.tanh(x)), layout"), "tanh", near="row_bias column")
fault("padding-circular", "pictures are padded with themselves, bfloat16", "conv-bf16-tp2",
      ('x = F.conv2d(x, p["conv1.weight"], p["conv1.bias"], padding=1)  # @conv1',
       'x = F.conv2d(F.pad(x, (1, 1, 1, 1), "circular"), p["conv1.weight"], p["conv1.bias"])  # @conv1'), "conv1")
fault("group-norm-eps", "one of four ranks has another epsilon", "conv-dp4",
      ('x = F.group_norm(x, 4, p["norm2.weight"], p["norm2.bias"])  # @norm2',
       'x = F.group_norm(x, 4, p["norm2.weight"], p["norm2.bias"], 0.1 if run.rank == 2 else 1e-5)  # @norm2'), "norm2",
      ranks=(2,))
fault("norms-exchanged", "one of four ranks takes the other norm", "moe-dp4",
      ("self.norm1(x), run.tokens", "(self.norm2 if run.rank == 3 else self.norm1)(x) + 0 * self.norm1(x), run.tokens"),
      "norm1", ranks=(3,))
fault("experts-repeated", "both ranks have the first rank's experts, bfloat16", "moe-bf16-ep2",
      ('first = run.place["ep"] * self.each', "first = 0"), "expert_up expert_down", ranks=(1,))
fault("group-of-data", "one projection is summed over the ranks of data", "gpt-tp2-dp2",
      (ROW_REDUCE, 'y = ReduceFromRegion.apply(y, run.group("dp" if self.name == "layers.0.attn.proj" else "tp"))'),
      "row row_bias reduce_forward all_reduce", near="residual1")
fault("summed-twice", "one projection is summed twice", "gpt-tp2-dp2-broadcast",
      (ROW_REDUCE, ROW_REDUCE + '\n            if self.name == "layers.1.mlp.down": ' + ROW_REDUCE),
      "reduce_forward all_reduce row_bias", near="row residual2")
fault("loss-scaled", "the loss is scaled, the gradients are not scaled back, bfloat16", "bf16-dp2",
      ("else loss).backward()  # @backward", "else loss * 8).backward()  # @backward"), "backward loss",
      near="cross_entropy head")
fault("bucket-partly", "the first gradients of the bucket are not reduced, bfloat16", "bf16-tp2-dp2",
      ("dist.all_reduce(flat, group=group)  # @bucket_reduce",
       "dist.all_reduce(flat[1000:], group=group)  # @bucket_reduce"),
      "bucket_reduce bucket_mean bucket_split bucket_copy bucket step", near="embedding", check="replica")
fault("batch-of-other", "ids are in another order than labels, eight ranks", "llama-cp2-dp2-pp2",
      ("with run.step(model):\n            mark",
       "ids = ids.roll(1, run.batch_axis)\n        with run.step(model):\n            mark"),
      "embedding embedding_start")
fault("adam-eps", "another epsilon of the optimizer", "adam-tp2",
      ("lr=1e-2, weight_decay", "lr=1e-2, eps=1e-2, weight_decay"), "step", near="embedding layer_norm head " + DENSE)
fault("weight-scaled", "a weight is scaled before step 1 on all ranks", "gpt-tp4",
      before_step("gpt-tp4", "if step == 1: model.layers[1].self_attention.linear_proj.weight.data.mul_(1.05)"), "row")
