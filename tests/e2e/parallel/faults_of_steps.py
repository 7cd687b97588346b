"""Faults of DP, PP and EP, of other nets, and of other forms of dump."""
from fault import before_step, fault, flip, started

NORM = "layer_norm"
fault("dp-sum-for-mean", "gradients are summed and not divided", "gpt-dp2",
      ("parameter.grad /= run.size(run.data)  # @data_mean", "pass  # @data_mean"), "data_mean step",
      near="data_reduce")
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
      ("with run.step(model):\n            mark",
      "labels = labels.roll(run.rank, 0)\n        with run.step(model):\n            mark"),
      "chosen cross_entropy loss", ranks=(1,),
      near="head")
fault("dp-bucket-offset", "the gradients in a bucket are moved by one", "gpt-dp4",
      ("zip(gradients, flat.split(", "zip(gradients, flat.roll(1).split("),
      "bucket_copy bucket_split bucket bucket_mean bucket_reduce step",
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
      started("gpt-dp4", "w = model.layers[0].self_attention.linear_proj.weight.data; run.rank == 2 and w.mul_(1.25)"),
      "row",
      ranks=(2,), check="replica")
fault("dp-flip-gradient", "a bit of one rank's gradient flips after the all-reduce", "gpt-dp2",
      ("            optimizer.step()  # @step", "            if step == 0 and run.rank == 1: " +
       flip("model.layers[1].self_attention.linear_qkv.weight.grad", 17) + "\n            optimizer.step()  # @step"),
      "step data_mean", ranks=(1,), near="column", check="replica")
fault("dp-flip-activation", "a bit of one rank's activation flips in step 1", "gpt-dp2",
      ("x = F.gelu(x)  # @gelu\n", "x = F.gelu(x)  # @gelu\n        if run.rank == 1 and run.number == 1 and "
       "self.name[7] == \"0\": " + flip("x", 33) + "\n"), "gelu row", ranks=(1,))
fault("dp-flip-parameter", "a bit of one rank's weight flips before step 1", "llama-dp3",
      before_step("llama-dp3", "if step == 1 and run.rank == 2: " + flip("model.layers[1].mlp.linear_fc2.weight", 77)),
      "row",
      ranks=(2,), check="replica")
fault("dp-bf16-gradient", "one rank rounds its gradients to bfloat16 before the sum", "gpt-dp2",
      ("dist.all_reduce(parameter.grad, group=group)  # @data_reduce",
       "run.rank and parameter.grad.copy_(parameter.grad.bfloat16()); "
       "dist.all_reduce(parameter.grad, group=group)  # @data_reduce"), "data_reduce", ranks=(1,))

fault("dp-overlap-wait", "gradients are divided by another number of ranks", "gpt-dp2-overlap",
      ("parameter.grad /= run.size(run.data)  # @async_mean", "parameter.grad /= 4  # @async_mean"), "async_mean",
      near="async step")
fault("dp-overlap-missing", "the last gradients are not reduced", "gpt-dp2-overlap",
      ("async_op=True) for parameter in parameters]",
      "async_op=True) for parameter in parameters[:20]]"),
      "async async_mean step", near="column row row_bias layer_norm head", check="replica")
fault("broadcast-root", "ids are broadcast from a rank that has not read them", "gpt-tp2-dp2-broadcast",
      ('dist.broadcast(ids, run.ranks_over("tp")[0], group',
      'dist.broadcast(ids, run.ranks_over("tp")[run.place["dp"]], group'),
      "broadcast", ranks=(2, 3),
      near="embedding embedding_start")
fault("broadcast-missing", "one rank does not get the ids", "gpt-tp2-dp2-broadcast",
      ("ids = broadcast(run, ids)", "ids = broadcast(run, ids) * (run.rank != 1)  # @nothing"),
      "broadcast nothing embedding_start", ranks=(1,), check="replica",
      near="embedding embedding_start")

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
      ("send(run, x.grad, ranks[stage - 1])  # @stage_send_grad",
      "send(run, x.grad / 2, ranks[stage - 1])  # @stage_send_grad"),
      "stage_send_grad send", near="receive stage_receive_grad residual2 row_bias")
fault("pp-tied-gradients", "the gradients of the tied embedding are not summed over the stages", "tied-pp2",
      ('if run.tied and run.size("pp") > 1 and "word_embeddings" in name:', "if False:"), "tied_reduce step",
      near="embedding head")
fault("pp-layer-missing", "the second stage skips its layer's MLP", "llama-tp2-sp-pp2",
      ("x = x + self.mlp(normed)  # @residual2",
      "x = x + self.mlp(normed) * (0.0 if run.place['pp'] else 1.0)  # @residual2"),
      "residual2 column swiglu row", ranks=(2, 3), near="rms")
fault("pp-eps", "another epsilon in the last stage", "gpt-tp2-sp-pp2-dp2",
      ("return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)  # @layer_norm",
       "return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, "
       "1e-2 if dist.get_rank() > 3 else 1e-5)  # @layer_norm"),
      NORM, ranks=(4, 5, 6, 7))

EXPERTS = "expert_up expert_down"
fault("ep-exchanged", "the ranks have each other's experts", "moe-ep2",
      ('first = run.place["ep"] * self.each', 'first = (1 - run.place["ep"]) * self.each'), EXPERTS)
fault("ep-exchanged-two", "two experts of one rank are exchanged", "moe-ep2",
      ("enumerate(self.local_experts)", "enumerate(list(self.local_experts)[::-1 if run.rank == 1 else 1])"),
      EXPERTS + " expert_input", ranks=(1,))
fault("ep4-exchanged", "two of four ranks have each other's experts", "moe-ep4",
      ('first = run.place["ep"] * self.each', 'first = [0, 3, 2, 1][run.place["ep"]] * self.each'), EXPERTS, ranks=(1,
      3))
fault("ep-combine-order", "results are sent back in another order", "moe-ep2",
      ("AllToAll.apply(torch.cat(results), group, received, sent)",
       "AllToAll.apply(torch.cat(results).flip(0), group, received, sent)"), "combine exchange all_to_all",
      near="weigh index_add")
fault("ep-weights", "the weight of the best expert for all of a token", "moe-ep2",
      ("back * weights[rows, slots]", "back * weights[rows, slots * 0]"), "weigh",
      near="index_add")
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
      ("optimizer.step()  # @step",
      "run.rank == 3 and setattr(model.layers[0].fc1.weight, 'grad', None); optimizer.step()  # @step"),
      "step", ranks=(3,), near="dense_up", check="replica")

fault("conv-reduce-missing", "channels are not summed", "conv-tp2",
      ("ReduceFromRegion.apply(x, group), batch", "x * 1.0, batch"), "conv2_reduce conv2", near="norm2",
      check="replica")
fault("conv-groups", "a group norm of more groups than the whole one's", "conv-tp2",
      ('F.group_norm(x, 4 // run.size("tp")', "F.group_norm(x, 4"), "norm1")
fault("conv-swapped", "the ranks have each other's input channels", "conv-tp2-dp2",
      started("conv-tp2-dp2",
      'p["conv2.weight"].data = values("conv2.weight", (8, 8, 3, 3)).chunk(2, 1)[1 - run.index("tp")].clone()'),
      "conv2")
fault("conv-sum-for-mean", "gradients are summed and not divided", "conv-dp2",
      ('parameter.grad.div_(run.size("dp"))  # @data_mean', "pass  # @data_mean"), "data_mean decay data_reduce")
fault("conv-decay-one-rank", "one rank has no weight decay", "conv-dp2",
      ("decay=1e-2):", "decay=1e-2):\n    decay = decay * (run.rank == 0)"), "decay update", ranks=(1,),
      check="replica")
fault("conv-stale", "one rank does not update its second norm", "conv-tp2-dp2",
      ("parameter.sub_(speed * step)  # @update",
       'parameter.sub_(speed * step * (0 if run.rank == 2 and name == "norm2.weight" else 1))  # @update'), "update",
      ranks=(2,), near="norm2", check="replica")
fault("conv-pictures", "one rank has the pictures of the other, with its own labels", "conv-dp2",
      ('run.part(pictures, 0, "dp"), run.part(labels, 0, "dp")  # @batch',
       'pictures.chunk(2)[0], run.part(labels, 0, "dp")  # @batch'), "conv1", ranks=(1,))
fault("mlp-reduce-missing", "one row parallel product is not summed", "mlp-tp2",
      ("x = ReduceFromRegion.apply(torch.matmul(x, weight.t()), tp)  # @row",
       "x = torch.matmul(x, weight.t()); x = x if number == 3 else ReduceFromRegion.apply(x, tp)  # @row"),
       "row row_bias",
      check="replica")
fault("mlp-bias-twice", "the bias is summed over the ranks", "mlp-tp2",
      (("x = ReduceFromRegion.apply(torch.matmul(x, weight.t()), tp)  # @row",
        "x = ReduceFromRegion.apply(torch.matmul(x, weight.t()) + bias, tp)  # @row"),
       ("x = x + bias  # @row_bias", "x = x + 0  # @row_bias")), "row row_bias", near="reduce_forward all_reduce tanh")
fault("mlp-activation-one-rank", "one rank has another activation", "mlp-tp4-dp2",
      ("torch.tanh(x), layout", "(torch.sigmoid(x) if run.rank == 5 and number == 2 else torch.tanh(x)), layout"),
      "tanh",
      ranks=(5,))
fault("mlp-reduce-missing-one", "the gradient of one weight is not reduced", "mlp-dp4",
      ("if dp is not None:", 'if parameter is not parameters["fc2.weight"]:'), "data_reduce data_mean step",
      near="column",
      check="replica")
fault("mlp-wanted", "one rank's part of what is wanted is another's", "mlp-dp4",
      ('wanted = run.part(numbers(f"wanted{step}", (run.batch, sizes[-1])), 0, "dp")',
       'wanted = numbers(f"wanted{step}", (run.batch, sizes[-1])).chunk(4)[min(run.rank, 2)]'),
      "loss", ranks=(3,))

fault("mix-reduce-missing", "no all-reduce after one projection, modules in the dump", "mix-tp2",
      ('y = ReduceFromRegion.apply(y, run.group("tp"))',
       'y = y if self.name == "layers.0.attn.proj" else ReduceFromRegion.apply(y, run.group("tp"))'),
      "row row_bias reduce_forward", near="residual1", check="replica")
fault("mix-eps", "another epsilon in one norm of one rank, modules in the dump", "mix-tp2",
      started("mix-tp2", "model.final_layernorm.eps = 1e-2 if run.rank == 1 else 1e-5"), NORM, ranks=(1,),
      check="replica")
fault("mix-sequence-gradients", "gradients of replicated norms are not summed, modules in the dump", "mix-sp2-dp2",
      ("dist.all_reduce(parameter.grad, group=run.group(\"tp\"))  # @sequence_reduce", "pass  # @sequence_reduce"),
      "sequence_reduce step", near="layer_norm row_bias", check="replica")
fault("mix-experts", "two experts of one rank are exchanged, modules in the dump", "moe-mix-ep2",
      ("enumerate(self.local_experts)", "enumerate(list(self.local_experts)[::-1 if run.rank == 1 else 1])"),
      EXPERTS + " expert_input", ranks=(1,))
fault("mix-stage", "the second stage starts with another layer, modules in the dump", "mix-pp2",
      ("layers.{stage * each + number}", "layers.{number}"), "layer_norm column row row_bias", ranks=(1,))
fault("bf16-reduce-missing", "no all-reduce after one MLP, bfloat16", "bf16-tp2",
      ('y = ReduceFromRegion.apply(y, run.group("tp"))',
       'y = y if self.name == "layers.1.mlp.down" else ReduceFromRegion.apply(y, run.group("tp"))'),
      "row reduce_forward", near="residual2", check="replica")
fault("bf16-sum-for-mean", "gradients are summed and not divided, bfloat16", "bf16-dp2",
      ("parameter.grad /= run.size(run.data)  # @data_mean", "pass  # @data_mean"), "data_mean step",
      near="data_reduce embedding column row rms head")
fault("statistics-reduce-missing", "no all-reduce after one projection, statistics alone", "gpt-tp2",
      ('y = ReduceFromRegion.apply(y, run.group("tp"))',
       'y = y if self.name == "layers.0.attn.proj" else ReduceFromRegion.apply(y, run.group("tp"))'),
      "row row_bias reduce_forward", near="residual1", statistics=True, check="replica")
fault("statistics-flip", "a bit of one rank's weight flips before step 1, statistics alone", "gpt-dp2",
      before_step("gpt-dp2", "if step == 1 and run.rank == 1: " + flip("model.layers[1].mlp.linear_fc2.weight", 77,
      27)),
      "row", ranks=(1,), statistics=True, check="replica")
fault("statistics-experts", "the ranks have each other's experts, statistics alone", "moe-ep2",
      ('first = run.place["ep"] * self.each', 'first = (1 - run.place["ep"]) * self.each'), EXPERTS, statistics=True)
