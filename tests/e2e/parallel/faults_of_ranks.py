"""Faults of one rank or of all, one of each kind of run that had few: eight ranks, bfloat16, rings, batched messages."""
from fault import fault

fault("residual-one-rank", "one rank adds more of an MLP to the residual", "gpt-dp4",
      ("x = x + self.mlp(normed)  # @residual2",
       "x = x + self.mlp(normed) * (1.5 if dist.get_rank() == 2 else 1)  # @residual2"), "residual2", ranks=(2,))
fault("scores-one-part", "one rank divides its scores by another number, sequence and batch", "gpt-cp2-dp2",
      ("scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head)  # @scores",
       "scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head * (2 if run.rank == 3 else 1))  # @scores"),
      "scores", ranks=(3,))
fault("swiglu-exchanged", "the gate and what it gates are exchanged", "llama-tp2",
      ("x = F.silu(gate) * up  # @swiglu", "x = F.silu(up) * gate  # @swiglu"), "swiglu", near="row")
fault("eps-of-stage", "another epsilon in the norms of the second stage", "llama-dp2-pp2",
      ("torch.rsqrt(variance + self.eps)", "torch.rsqrt(variance + (0.1 if dist.get_rank() > 1 else self.eps))"),
      "rms", ranks=(2, 3))
fault("mask-one-rank", "one rank does not see the diagonal", "gpt-tp2-dp2",
      ("scores = scores.masked_fill(keys.unsqueeze(0) > positions.unsqueeze(1), -1e9)  # @masked",
       "scores = scores.masked_fill(keys.unsqueeze(0) >= positions.unsqueeze(1) + (run.rank != 1), -1e9)  # @masked"),
      "masked", near="softmax", ranks=(1,))
fault("embedding-scale", "the first stage multiplies its embeddings", "gpt-pp2",
      ("x = self.word_embeddings(ids)\n", "x = self.word_embeddings(ids) * 1.1  # @embed_scale\n"), "embed_scale",
      near="layer_norm residual1")
fault("gather-backward-half", "half of the gradient of the gathered sequence, two stages", "llama-tp2-sp-pp2",
      ("return reduce_scatter(grad, ctx.group, ctx.axis), None, None  # @sequence_gather_backward",
       "return reduce_scatter(grad, ctx.group, ctx.axis) / 2, None, None  # @sequence_gather_backward"),
      "sequence_gather_backward", near="rms residual1 residual2 reduce_scatter")
fault("copy-backward-mean", "the mean of the gradient before column parallel layers", "gpt-tp4",
      ("return all_reduce(grad.clone(), ctx.group), None  # @copy_backward",
       "return all_reduce(grad.clone(), ctx.group) / 4, None  # @copy_backward"), "copy_backward",
      near="layer_norm residual1 residual2 all_reduce")
fault("bucket-max", "the largest gradient in place of the sum, eight ranks", "gpt-tp2-pp2-dp2",
      ("dist.all_reduce(flat, group=group)  # @bucket_reduce",
       "dist.all_reduce(flat, op=dist.ReduceOp.MAX, group=group)  # @bucket_reduce"),
      "bucket_reduce bucket_mean bucket_split bucket_copy step", near="column row row_bias layer_norm embedding")
fault("momentum-one-rank", "one rank has no momentum", "gpt-dp4",
      ("momentum=0.9", "momentum=0.0 if run.rank == 3 else 0.9"), "step", ranks=(3,))
fault("decay-missing", "no weight decay", "tied-cp2-dp2", ("weight_decay=0.1", "weight_decay=0.0"), "step",
      near="embedding position column row row_bias layer_norm head")
fault("labels-not-shifted", "labels are the tokens themselves", "gpt-cp2",
      ("ids, labels = tokens[:, :-1], tokens[:, 1:]\n", "ids, labels = tokens[:, :-1], tokens[:, :-1]  # @labels\n"),
      "labels", near="chosen chosen_reduce cross_entropy loss")
fault("weights-normalized", "one rank's weights of a token's experts sum to one, eight ranks", "moe-ep4-dp2",
      ("weights, chosen = torch.softmax(logits, -1).topk(run.top, -1)  # @top",
       "weights, chosen = torch.softmax(logits, -1).topk(run.top, -1)  # @top\n"
       "        weights = weights / weights.sum(-1, keepdim=True) if run.rank == 5 else weights  # @normalized"),
      "normalized", near="weigh", ranks=(5,))
fault("expert-activation", "the experts of one rank have another activation", "moe-dp2",
      ("self.fc2(F.gelu(h))", "self.fc2(F.relu(h) if run.rank == 1 else F.gelu(h))"), "expert_down", ranks=(1,))
fault("expert-input-order", "what ranks sent to an expert is joined in another order", "moe-ep2-dp2",
      ("made = expert(torch.cat(mine)).split", "made = expert(torch.cat(mine[::-1])).split"), "expert_input",
      near="expert_up expert_down combine exchange all_to_all weigh index_add")
fault("dense-shift", "one rank adds a number to a dense layer's output", "moe-top1-ep2",
      ('h = run.mark(f"{name}.up", self.fc1(normed), run.tokens, factor=run.factor)  # @dense_up',
       'h = run.mark(f"{name}.up", self.fc1(normed) + 0.1 * (run.rank == 1), run.tokens, factor=run.factor)'
       '  # @dense_up'), "dense_up", ranks=(1,))
fault("pictures-mirrored", "one rank mirrors what a convolution reads", "conv-tp2-dp2",
      ('x = F.conv2d(x, p["conv2.weight"], padding=1)  # @conv2',
       'x = F.conv2d(x.flip(3) if run.rank == 2 else x, p["conv2.weight"], padding=1)  # @conv2'), "conv2",
      near="conv2_reduce", ranks=(2,))
fault("pool-max", "the largest in place of the mean of each window", "conv-dp4",
      ("F.avg_pool2d(x, 2)", "F.max_pool2d(x, 2)"), "pool2")
fault("loss-twice", "twice the loss, eight ranks", "mlp-tp4-dp2",
      ("loss = ((x - wanted) ** 2).mean()  # @loss", "loss = ((x - wanted) ** 2).mean() * 2  # @loss"), "loss")
fault("mean-of-two", "gradients of four ranks are divided by two, bfloat16", "mlp-bf16-dp4",
      ('parameter.grad /= run.size("dp")  # @data_mean', "parameter.grad /= 2  # @data_mean"),
      "data_mean data_reduce step", near="column row row_bias tanh")
fault("received-clamped", "a stage drops the negative part of what it receives, batched", "llama-pp2-batched",
      ("receive(run, x, ranks[stage - 1])  # @stage_receive",
       "receive(run, x, ranks[stage - 1])  # @stage_receive\n        x.clamp_(min=0)  # @clamped"), "clamped",
      near="stage_receive batched_receive rms residual1")
fault("ring-old", "the running softmax is rescaled the wrong way", "llama-cp2-ring",
      ("old = 0.0 if peak is None else torch.exp(peak - new)",
       "old = 0.0 if peak is None else torch.exp(new - peak)  # @ring_old"), "ring_old",
      near="ring_mixed ring_total ring_out")
fault("head-one-rank", "one rank multiplies what the head reads, bfloat16", "gpt-bf16-tp4",
      ("logits = F.linear(normed, weight)  # @head",
       "logits = F.linear(normed * (1.2 if dist.get_rank() == 2 else 1), weight)  # @head"), "head", ranks=(2,))
fault("values-moved", "one rank reads the values of the position before, bfloat16", "gpt-bf16-cp2-zigzag",
      ("return torch.matmul(weights, v)  # @mixed",
       "return torch.matmul(weights, v.roll(1, 2) if run.rank == 1 else v)  # @mixed"), "mixed", ranks=(1,))
fault("keys-and-values", "one of six ranks exchanges keys and values", "odd-tp3-dp2",
      ("return fused.split(self.sizes, -1)  # @split_qkv",
       "return [fused.split(self.sizes, -1)[n] for n in ((0, 2, 1) if run.rank == 4 else (0, 1, 2))]  # @split_qkv"),
      "split_qkv", near="heads angle rotate repeat scores mixed", ranks=(4,))
fault("relu-one-rank", "one rank has another activation, modules in the dump", "mix-tp2",
      ("x = F.gelu(x)  # @gelu", "x = F.relu(x) if run.rank == 0 else F.gelu(x)  # @gelu"), "gelu", ranks=(0,))
fault("projection-one-rank", "one of eight ranks doubles its part of a projection", "gpt-tp2-cp2-dp2",
      ("y = F.linear(x, self.weight)  # @row",
       'y = F.linear(x, self.weight) * (2 if dist.get_rank() == 5 and "0.attn" in self.name else 1)  # @row'), "row",
      near="all_reduce reduce_forward row_bias", ranks=(5,))
fault("gathered-twice", "one rank joins its own part of the sequence twice, bfloat16", "gpt-bf16-sp2",
      ("return torch.cat(parts, axis)  # @gather_cat",
       "return torch.cat([parts[1], parts[1]] if dist.get_rank() == 1 else parts, axis)  # @gather_cat"),
      "gather_cat sequence_gather", near="column", ranks=(1,))
