"""Faults of TP, SP and CP."""
from fault import before_step, fault, flip, started

NORM = "layer_norm"
fault("tp-reduce-missing", "no all-reduce after any row parallel layer", "gpt-tp2",
      ("return all_reduce(x.clone(), group)  # @reduce_forward", "return x.clone()  # @reduce_forward"),
      "reduce_forward row embedding embedding_mask row_bias", near="layer_norm", check="replica")
fault("tp-reduce-missing-proj", "no all-reduce after one projection", "gpt-tp2",
      ('y = ReduceFromRegion.apply(y, run.group("tp"))',
       'y = y if self.name == "layers.1.attn.proj" else ReduceFromRegion.apply(y, run.group("tp"))'),
      "row row_bias reduce_forward", near="residual1", check="replica")
fault("tp-reduce-missing-down", "no all-reduce after one MLP, grouped queries", "llama-tp2",
      ('y = ReduceFromRegion.apply(y, run.group("tp"))',
       'y = y if self.name == "layers.0.mlp.down" else ReduceFromRegion.apply(y, run.group("tp"))'),
      "row reduce_forward", near="residual2", check="replica")
fault("tp-reduce-mean", "the mean over ranks after one MLP", "gpt-tp2",
      ('y = ReduceFromRegion.apply(y, run.group("tp"))',
       'y = ReduceFromRegion.apply(y, run.group("tp")) / (2 if self.name == "layers.1.mlp.down" else 1)  # @reduced'),
      "reduced", near="row_bias")
fault("tp-reduce-max", "the maximum instead of the sum after every row parallel layer", "gpt-tp4",
      ("dist.all_reduce(x, group=group)  # @all_reduce",
       "dist.all_reduce(x, op=dist.ReduceOp.MAX, group=group)  # @all_reduce"),
      "all_reduce reduce_forward")
fault("tp-reduce-group", "the all-reduce of one layer over the ranks of the batch", "gpt-tp2-dp2",
      ('y = ReduceFromRegion.apply(y, run.group("tp"))',
       'y = ReduceFromRegion.apply(y, run.group("dp" if self.name == "layers.0.mlp.down" else "tp"))'),
      "all_reduce reduce_forward row", near="row_bias", check="replica")
fault("tp-backward-missing", "no all-reduce of the gradient before column parallel layers", "gpt-tp2",
      ("return all_reduce(grad.clone(), ctx.group), None  # @copy_backward",
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
      started("gpt-tp4", 'qkv = model.layers[1].self_attention.linear_qkv; whole = '
              'values("layers.1.attn.qkv.weight", (96, 32)).split(32); qkv.weight.data = torch.cat(['
              'part.chunk(4)[[0, 1, 3, 2][run.rank]] for part in whole])'),
      "column", ranks=(2, 3))
fault("tp-qkv-contiguous", "a fused QKV is cut as one matrix", "gpt-tp2",
      started("gpt-tp2", 'model.layers[0].self_attention.linear_qkv.weight.data = '
              'values("layers.0.attn.qkv.weight", (96, 32)).chunk(2)[run.index("tp")].clone()'), "column")
fault("tp-qkv-contiguous-all", "every fused QKV is cut as one matrix", "gpt-tp2",
      ("for block in whole.split(self.blocks)", "for block in (whole,)"), "column")
fault("tp-qkv-order", "keys and values exchanged in one layer", "gpt-tp2",
      ("return fused.split(self.sizes, -1)  # @split_qkv",
       'return [fused.split(self.sizes, -1)[n] for n in ((0, 2, 1) if self.name[7] == "1" else (0, 1, 2))]'
       '  # @split_qkv'),
      "split_qkv heads rotate", near="scores mixed")
fault("tp-gqa-repeat", "queries read the keys of another group", "llama-dp2-pp2",
      ("(part.repeat_interleave(run.heads // run.kv_heads, 1) for part in (k, v))  # @repeat",
       "(part.repeat(1, run.heads // run.kv_heads, 1, 1) for part in (k, v))  # @repeat"), "repeat",
      near="scores mixed")
fault("tp-vocabulary-start", "the second rank's part of the vocabulary starts one row late", "gpt-tp2",
      ('local = ids - run.index("tp") * self.rows', 'local = ids - run.index("tp") * (self.rows + 1)'),
      "embedding_start embedding embedding_mask", ranks=(1,),
      near="all_reduce reduce_forward reduce_scatter")
fault("tp-vocabulary-mask", "embeddings of other ranks' ids are not masked", "tied-sp2-padded",
      ("x = x.masked_fill(outside.unsqueeze(-1), 0.0)  # @embedding_mask",
       "x = x.masked_fill(outside.unsqueeze(-1), 1.0) * 1.0  # @embedding_mask"), "embedding_mask embedding",
      near="all_reduce reduce_forward reduce_scatter")
fault("tp-loss-total", "the sum of the softmax is not reduced", "gpt-tp2",
      ("total = all_reduce(exponents.sum(-1), group)  # @total_reduce",
       "total = exponents.sum(-1)  # @total_reduce"),
      "total_reduce cross_entropy", check="replica",
      near="loss head")
fault("tp-loss-mask", "labels of other ranks are counted", "gpt-tp4",
      (".squeeze(-1).masked_fill(outside, 0.0)  # @chosen", ".squeeze(-1)  # @chosen"),
      "chosen chosen_reduce", near="all_reduce cross_entropy loss head")
fault("tp-loss-start", "every rank takes its part of the vocabulary for the first", "gpt-tp2",
      ("logits, labels, run.group(\"tp\"), start)  # @cross_entropy",
      "logits, labels, run.group(\"tp\"), 0)  # @cross_entropy"),
      "cross_entropy chosen chosen_reduce", ranks=(1,),
      near="loss head")
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
      (("y = F.linear(x, self.weight)  # @row", "y = F.linear(x, self.weight, self.bias)  # @row"),
       ("y = y + self.bias  # @row_bias", "y = y + 0  # @row_bias")), "row row_bias",
      near="all_reduce reduce_forward")
fault("tp-scale-one-rank", "one rank divides its scores by another number", "gpt-tp2",
      ("scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head)  # @scores",
       "scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head * (1 + run.rank))  # @scores"), "scores",
      ranks=(1,))
fault("tp-flip-norm", "a bit of one rank's weight of a norm flips before step 1", "gpt-tp4",
      before_step("gpt-tp4", "if step == 1 and run.rank == 3: " + flip("model.layers[0].pre_mlp_layernorm.weight")),
      NORM,
      ranks=(3,), check="replica")
fault("tp-flip-shard", "a bit of one rank's part of a weight flips before step 1", "gpt-tp2",
      before_step("gpt-tp2", "if step == 1 and run.rank == 1: " + flip("model.layers[1].mlp.linear_fc2.weight", 40)),
      "row",
      ranks=(1,))
fault("tp-stale-rank", "one rank does not update", "gpt-tp2",
      ("optimizer.step()  # @step", "run.rank != 1 and optimizer.step()  # @step"),
      "step", ranks=(1,), near="embedding column row layer_norm row_bias head", check="replica")
fault("tp-stale-parameter", "one rank's optimizer lacks a weight", "gpt-tp2",
      ("torch.optim.SGD(model.parameters()", 'torch.optim.SGD([p for n, p in model.named_parameters() if run.rank or '
       '"layers.1.mlp.linear_fc1.weight" not in n]'), "step", ranks=(0,), near="column")
fault("tp-dropout-one-rank", "dropout is on in one rank", "gpt-tp2",
      ("x = x + self.mlp(normed)  # @residual2",
      "x = x + F.dropout(self.mlp(normed), 0.1, run.rank == 1)  # @residual2"),
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
      ("return torch.cat(parts, axis)  # @gather_cat", "return torch.cat(parts[::-1], axis)  # @gather_cat"),
      "gather_cat sequence_gather", near="column")
fault("sp-gather-axis", "gathered along the batch, then laid out as the sequence", "llama-sp2",
      ("return torch.cat(parts, axis)  # @gather_cat",
       "return torch.cat(parts, 1).view([-1, *x.shape[1:]])  # @gather_cat"), "gather_cat sequence_gather",
      near="column")
fault("sp-scatter-order", "the summed sequence is given to the ranks in reverse order", "gpt-sp2",
      ("for part in x.chunk(size, axis)])  # @scatter_cat", "for part in x.chunk(size, axis)[::-1]])  # @scatter_cat"),
      "scatter_cat sequence_scatter reduce_scatter", near="row_bias layer_norm")
fault("sp-scatter-mean", "the mean is scattered instead of the sum", "llama-sp2",
      ("return reduce_scatter(x, group, axis)  # @sequence_scatter",
       "return reduce_scatter(x, group, axis) / 2  # @sequence_scatter"), "sequence_scatter",
      near="rms residual1 residual2")
fault("sp-backward-slice", "the gradient of the gathered sequence is sliced and not summed", "gpt-sp2",
      ("return reduce_scatter(grad, ctx.group, ctx.axis), None, None  # @sequence_gather_backward",
       "return grad.chunk(2, ctx.axis)[dist.get_rank(ctx.group)].clone(), None, None  # @sequence_gather_backward"),
      "sequence_gather_backward column head", near="layer_norm")
fault("sp-position-slice", "learned positions of the other rank's part", "tied-sp2-padded",
      ('return run.part(x, axis, "tp")  # @split_sequence',
       'return x.chunk(2, axis)[1 - run.index("tp")].contiguous()  # @split_sequence'), "split_sequence position",
      near="embed_position")

fault("cp-positions", "every rank counts its positions from 0", "gpt-cp2",
      ("positions = run.context_part(torch.arange(run.time), 0)  # @positions",
       'positions = torch.arange(run.time // run.size("cp"))  # @positions'), "positions angle masked rotate",
      ranks=(1,))
fault("cp-positions-zigzag", "zigzag parts with contiguous positions", "gpt-cp2-zigzag-ring",
      ("positions = run.context_part(torch.arange(run.time), 0)  # @positions",
       'positions = torch.arange(run.time).chunk(2)[run.place["cp"]]  # @positions'),
       "positions angle ring_masked rotate")
fault("cp-rotary-keys", "keys are rotated from position 0", "gpt-cp2",
      ("q, k = rotate(q, positions), rotate(k, positions)",
       "q, k = rotate(q, positions), rotate(k, positions - positions[0])  # @rotary"), "rotary angle rotate",
      ranks=(1,),
      near="context_gather")
fault("cp-slice", "the last rank's part of the sequence starts one token early", "gpt-cp2",
      ("return whole.chunk(size, axis)[place]  # @context_part",
       "return whole.roll(place, axis).chunk(size, axis)[place]  # @context_part"), "positions embedding angle",
      ranks=(1,))
fault("cp-zigzag-slice", "the two chunks of a rank are exchanged", "gpt-cp4-zigzag",
      ("return torch.cat((chunks[place], chunks[2 * size - 1 - place]), axis)  # @zigzag_part",
       "return torch.cat((chunks[place], chunks[2 * size - 1 - place])[::1 if whole.dim() == 1 else -1], axis)"
       "  # @zigzag_part"),
      "zigzag_part embedding embedding_start")
fault("cp-learned-positions", "learned positions of the first part on every rank", "tied-cp2-dp2",
      ("place = self.position_embeddings(positions)  # @position",
       "place = self.position_embeddings(positions - positions[0])  # @position"), "position", ranks=(1, 3))
fault("cp-gather-missing", "each rank attends to its own part alone", "gpt-cp2",
      ("        if group is not None:\n            k, v = Gather",
      "        if group is None:\n            k, v = Gather"),
      "scores masked context_gather mixed softmax")
fault("cp-gather-order", "keys and values are joined in another order than their positions", "gpt-cp2",
      ("return gather(x, group, 2)  # @context_gather",
      "return gather(x, group, 2).roll(x.shape[2], 2)  # @context_gather"),
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
       "total = total + exponents.sum(-1, keepdim=True)  # @ring_total"), "ring_total", near="ring_out row")
fault("cp-ring-direction", "values travel round the ring the other way", "llama-cp4-ring",
      ("k, v = Pass.apply(k, run), Pass.apply(v, run)  # @ring_pass",
       "k, v = Pass.apply(k, run), Pass.apply(Pass.apply(Pass.apply(v, run), run), run)  # @ring_pass"),
      "ring_pass ring ring_send ring_receive", near="ring_mixed ring_out row")
fault("cp-ring-positions", "the positions of the keys do not travel", "llama-cp2-ring",
      ("keys = Pass.shift(keys, run, 1)", "keys = keys.clone()  # @keys"), "keys ring_masked",
      near="ring_out row")
fault("cp-ring-last", "the ring ends one turn early", "llama-cp4-ring",
      ('for turn in range(run.size("cp")):', 'for turn in range(run.size("cp") - 1):'),
      "ring_scores ring_masked ring_exponents ring_mixed ring_total ring_out ring_pass",
      near="ring_out row")
fault("cp-gradients-missing", "gradients are not summed over the parts of the sequence", "gpt-cp2-dp2",
      ('self.data = "cp dp"', 'self.data = "dp"'), "data_reduce backward data_mean step loss", check="replica")
