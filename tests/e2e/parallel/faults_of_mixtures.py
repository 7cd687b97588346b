"""Faults in bfloat16, between two cut runs, of four ranks of data, of batched messages, of eight ranks, of statistics."""
from fault import fault, started

NORM = "layer_norm"
EXPERTS = "expert_up expert_down"
fault("bf16-eps-one-rank", "another epsilon in the norms of one rank, bfloat16", "bf16-tp2",
      ("torch.rsqrt(variance + self.eps)", "torch.rsqrt(variance + (0.1 if dist.get_rank() == 1 else self.eps))"),
      "rms", ranks=(1,), check="replica")
fault("bf16-swapped-down", "the ranks have each other's part of a weight, bfloat16", "bf16-tp2",
      started("bf16-tp2", 'model.layers[1].mlp.linear_fc2.weight.data = '
              'values("layers.1.mlp.down.weight", (32, 64)).chunk(2, 1)[1 - run.index("tp")].bfloat16().clone()'),
      "row", near="all_reduce reduce_forward residual2")
fault("bf16-scale-one-rank", "one rank divides its scores by another number, bfloat16", "bf16-tp2-dp2",
      ("scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head)  # @scores",
       "scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head * (3 if run.rank == 3 else 1))"
       "  # @scores"), "scores", ranks=(3,))
fault("bf16-scatter-mean", "the mean is scattered instead of the sum, bfloat16", "bf16-sp2",
      ("return reduce_scatter(x, group, axis)  # @sequence_scatter",
       "return reduce_scatter(x, group, axis) / 2  # @sequence_scatter"), "sequence_scatter",
      near="rms residual1 residual2")
fault("bf16-experts", "the ranks have each other's experts, bfloat16", "moe-bf16-ep2",
      ('first = run.place["ep"] * self.each', 'first = (1 - run.place["ep"]) * self.each'), EXPERTS)
fault("bf16-stage-half", "a stage hands on half of what it has made, bfloat16", "bf16-pp2",
      ("send(run, y.detach(), ranks[stage + 1])  # @stage_send",
       "send(run, y.detach() / 2, ranks[stage + 1])  # @stage_send"),
      "stage_send send", near="receive stage_receive rms residual1")
fault("conv4-sum-for-mean", "gradients of four ranks are divided by two", "conv-dp4",
      ('parameter.grad.div_(run.size("dp"))  # @data_mean', "parameter.grad.div_(2)  # @data_mean"),
      "data_mean decay data_reduce")
fault("conv4-slope-one-rank", "one of four ranks has a leaky activation", "conv-dp4",
      ('x = F.relu(run.mark("norm2", x, batch, factor=factor))  # @relu2',
       'x = F.leaky_relu(run.mark("norm2", x, batch, factor=factor), 0.1 * (run.rank == 1))  # @relu2'),
      "relu2", ranks=(1,))
fault("moe4-router-gradients", "one rank's gradient of a router is not reduced", "moe-dp4",
      ("parameter.grad /= run.size(run.data)  # @data_mean",
       'kept = parameter.grad.clone(); parameter.grad /= run.size(run.data)  # @data_mean\n'
       '        run.rank == 2 and name == "layers.1.moe.gate.weight" and parameter.grad.copy_(kept)  # @kept'),
      "data_mean kept step", ranks=(2,), near="router", check="replica")
fault("moe8-combine-order", "results of one rank are sent back in another order", "moe-ep4-dp2",
      ("AllToAll.apply(torch.cat(results), group, received, sent)",
       "AllToAll.apply(torch.cat(results).flip(0) if run.rank == 6 else torch.cat(results), group, received, sent)"),
      "combine exchange all_to_all", ranks=(6,), near="weigh index_add")
fault("batched-send-order", "sequences of the batch arrive in another order, batched", "gpt-pp2-batched",
      ("send(run, y.detach(), ranks[stage + 1])  # @stage_send",
       "send(run, y.detach().roll(1, run.batch_axis), ranks[stage + 1])  # @stage_send"),
      "stage_send batched_send", near="batched_receive stage_receive layer_norm residual1")
fault("batched-gradient-twice", "the gradient that is sent back is doubled, batched", "tied-pp2-dp2-batched",
      ("send(run, x.grad, ranks[stage - 1])  # @stage_send_grad",
       "send(run, x.grad * 2, ranks[stage - 1])  # @stage_send_grad"),
      "stage_send_grad batched_send", near="batched_receive stage_receive_grad residual2 row row_bias")
fault("sp8-bias-gradients", "gradients of replicated biases are not summed, eight ranks", "gpt-tp4-sp-dp2",
      ('("layernorm" in name or name.endswith("fc2.bias") or name.endswith("proj.bias"))', '"layernorm" in name'),
      "sequence_reduce step", near="row_bias", check="replica")
fault("sp8-rotary-keys", "keys are rotated from position 0, eight ranks", "llama-tp2-sp-cp2-dp2",
      ("q, k = rotate(q, positions), rotate(k, positions)",
       "q, k = rotate(q, positions), rotate(k, positions - positions[0])  # @rotary"), "rotary angle rotate",
      ranks=(2, 3, 6, 7), near="context_gather")
fault("tp4-to-tp2-reduce-mean", "the mean after one MLP; four ranks against two", "gpt-tp4",
      ('y = ReduceFromRegion.apply(y, run.group("tp"))',
       'y = ReduceFromRegion.apply(y, run.group("tp")) / (4 if self.name == "layers.0.mlp.down" else 1)  # @reduced'),
      "reduced", near="row_bias", reference="gpt-tp2")
fault("sp2-to-tp2-gather-order", "the gathered sequence in the reverse order; with against without it", "gpt-sp2",
      ("return torch.cat(parts, axis)  # @gather_cat", "return torch.cat(parts[::-1], axis)  # @gather_cat"),
      "gather_cat sequence_gather", near="column", reference="gpt-tp2")
fault("ep4-to-ep2-weights", "the weight of the best expert for all of a token; four ranks against two", "moe-ep4",
      ("back * weights[rows, slots]", "back * weights[rows, slots * 0]"), "weigh", near="index_add",
      reference="moe-ep2")
fault("dp4-to-dp2-eps", "another epsilon in one norm of one rank; four ranks against two", "gpt-dp4",
      started("gpt-dp4", "model.layers[0].pre_mlp_layernorm.eps = 1e-2 if run.rank == 3 else 1e-5"), NORM, ranks=(3,),
      reference="gpt-dp2")
fault("statistics-stage-eps", "another epsilon in the last stage, statistics alone", "gpt-pp2",
      ("return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)  # @layer_norm",
       "return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, "
       "1e-1 if dist.get_rank() == 1 else 1e-5)  # @layer_norm"), NORM, ranks=(1,), statistics=True)
fault("statistics-scatter-mean", "the mean is scattered instead of the sum, statistics alone", "gpt-sp2",
      ("return reduce_scatter(x, group, axis)  # @sequence_scatter",
       "return reduce_scatter(x, group, axis) / 2  # @sequence_scatter"), "sequence_scatter",
      near="row_bias layer_norm", statistics=True)
fault("statistics-router", "one rank's router was never broadcast, statistics alone", "moe-ep4",
      started("moe-ep4", "run.rank == 2 and model.layers[0].moe.gate.weight.data.mul_(1.5)"), "router", ranks=(2,),
      statistics=True, check="replica")
