"""What one run shows: collectives that return something else, numbers that are not finite, missing ranks."""
from fault import corrupted, fault, missing

corrupted("collective-all-reduce", "one rank gets another sum than the others", "gpt-tp4", "all_reduce", "a[0]", 2,
          "all_reduce")
corrupted("collective-all-gather", "one rank gets another part than was sent", "gpt-sp2", "all_gather", "a[0][0]", 1,
          "all_gather gather_cat")
corrupted("collective-reduce-scatter", "one rank gets another sum", "llama-sp2", "reduce_scatter_tensor", "a[0]", 0,
          "reduce_scatter")
corrupted("collective-all-to-all", "one rank gets another token than was sent", "moe-ep4", "all_to_all_single", "a[0]",
      1,
          "all_to_all")
corrupted("collective-receive", "a key arrives changed", "llama-cp4-ring", "recv", "a[0]", 3, "ring_receive", 4)
corrupted("collective-all-reduce-gradient", "one rank gets another gradient", "gpt-dp4", "all_reduce", "a[0]", 3,
          "bucket_reduce", 1)
corrupted("collective-all-reduce-two", "one of two ranks gets another sum", "llama-tp2", "all_reduce", "a[0]", 0,
          "all_reduce", 2)
corrupted("collective-all-gather-keys", "one of four ranks gets other keys", "gpt-cp4-zigzag", "all_gather", "a[0][2]",
      1,
          "all_gather gather_cat context_gather", 1)
corrupted("collective-broadcast", "one rank gets other ids", "gpt-tp2-dp2-broadcast", "broadcast", "a[0]", 3,
      "broadcast", 1)
corrupted("collective-stage", "what a stage sent arrives changed", "gpt-tp2-pp2-dp2", "recv", "a[0]", 6, "receive", 1)
corrupted("collective-scatter-backward", "one rank gets another sum in the backward pass", "gpt-tp2-sp-cp2",
          "reduce_scatter_tensor", "a[0]", 2, "reduce_scatter", 8)


# A number that is not finite, first on one rank.
fault("nan-activation", "one rank divides by zero in step 1", "gpt-tp4",
      ("x = F.gelu(x)  # @gelu",
       'x = F.gelu(x) / (0.0 if run.rank == 2 and run.number == 1 and "1" in self.name else 1.0)  # @gelu'), "gelu",
       ranks=(2,),
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


missing("missing-rank", "one of four ranks left no dump", "gpt-tp4", ("step0/rank2", "step1/rank2"), (2,))
missing("missing-last-step", "one of eight ranks stopped a step earlier", "gpt-tp2-pp2-dp2", ("step1/rank5",), (5,))
missing("missing-two", "two of eight ranks left no dump", "mlp-tp4-dp2",
        ("step0/rank1", "step1/rank1", "step2/rank1", "step0/rank6", "step1/rank6", "step2/rank6"), (1, 6))
missing("missing-middle", "a rank left no dump of a step in the middle", "mlp-dp4", ("step1/rank2",), (2,))
