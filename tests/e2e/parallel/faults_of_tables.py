"""Faults of the recommender (nets/dlrm_parallel.py), a net of another kind than those before. They, its pairs and their
names, and by these the halves, were written down before msdump saw a dump of it."""
from fault import fault

fault("dlrm-rows-start", "a rank's rows start one too early", "dlrm-rows2",
      ('* self.rows  # @row_start', '* (self.rows - 1)  # @row_start'), "row_start lookup_rows row_mask", ranks=(1,),
      near="all_reduce reduce_forward")
fault("dlrm-rows-unmasked", "rows of other ranks are not masked", "dlrm-rows2",
      ("x = x.masked_fill(outside.unsqueeze(-1), 0.0).sum(1)  # @row_mask", "x = x.sum(1)  # @row_mask"),
      "row_mask lookup_rows", near="all_reduce reduce_forward")
fault("dlrm-rows-reduce", "no all-reduce after the bags", "dlrm-rows2",
      ('return ReduceFromRegion.apply(x, run.group("tp"))  # @rows_reduce', "return x  # @rows_reduce"),
      "rows_reduce row_mask reduce_forward", near="join dots", check="replica")
fault("dlrm-width-order", "the parts of a width are joined in reverse", "dlrm-tp2",
      ('gather(x, run.group("tp"), 1)  # @width_gather', 'gather(x, run.group("tp"), 1).roll(4, 1)  # @width_gather'),
      "width_gather gather_cat", near="join")
fault("dlrm-width-backward", "a rank takes the other's part of the gradient", "dlrm-tp2",
      ('return ctx.run.part(grad, 1, "tp"), None',
          'return grad.chunk(2, 1)[1 - ctx.run.index("tp")].contiguous(), None'),
      "width_backward", near="lookup")
fault("dlrm-tables-exchanged", "the ranks have each other's tables", "dlrm-ep2",
      ('first = run.place["ep"] * each', 'first = (1 - run.place["ep"]) * each'), "first_table lookup bags",
      near="travel exchange all_to_all arrived join")
fault("dlrm-arrival-order", "what arrives is taken for that of other ranks", "dlrm-ep2",
      ('torch.cat(made.chunk(run.size("ep")), 1)', 'torch.cat(made.chunk(run.size("ep"))[::-1], 1)'), "arrived",
      near="join dots")
fault("dlrm-next-ids", "the ids of the next table", "dlrm-ep4",
      ("self.bag(ids[:, number], table, number)", "self.bag(ids[:, (number + 1) % run.tables], table, number)"),
          "bags lookup")
fault("dlrm-gradient-stays", "gradients of bags do not travel back", "dlrm-ep4",
      ("return Exchange.exchange(grad, ctx.group), None", "return grad.clone(), None"), "exchange_backward",
      near="travel bags lookup")
fault("dlrm-tables-mixed", "gradients of different tables are summed", "dlrm-ep2",
      ('over = "dp" if "tables" in name else run.data', "over = run.data"), "reduce_over data_reduce data_mean",
      near="step lookup")
fault("dlrm-norm-gradients", "gradients of the norm are not summed", "dlrm-dp2",
      ("if run.group(over) is not None:", 'if run.group(over) is not None and "norm" not in name:'),
      "data_reduce data_mean step", near="norm", check="replica")
fault("dlrm-sum-for-mean", "gradients are not divided", "dlrm-dp2",
      ("parameter.grad /= run.size(run.data)", "parameter.grad /= 1"), "data_mean data_reduce", near="step")
fault("dlrm-stage-bfloat16", "what a stage hands on is rounded to bfloat16", "dlrm-pp2",
      ("dist.send(joined.detach().contiguous(), ", "dist.send(joined.detach().bfloat16().float(), "), "stage_send",
      near="stage_receive dots pairs")
fault("dlrm-stage-gradient", "the gradient that is sent back is doubled", "dlrm-pp2",
      ("dist.send(joined.grad, ", "dist.send(joined.grad * 2, "), "stage_send_grad",
      near="stage_receive_grad stage_backward join")
fault("dlrm-epsilon-one-rank", "another epsilon in the norm of one rank", "dlrm-tp2",
      ("self.norm_weight, self.norm_bias)  # @norm",
          "self.norm_weight, self.norm_bias, 1e-2 if run.rank == 1 else 1e-5)  # @norm"),
      "norm", ranks=(1,), check="replica")
fault("dlrm-factor-one-rank", "one rank multiplies by another number", "dlrm-dp2",
      ("torch.tanh(self.down(x))", "torch.tanh(self.down(x) * (1 + 0.1 * (self.run.rank == 1)))"), "bottom_tanh",
          ranks=(1,))
