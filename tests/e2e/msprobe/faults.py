"""The faults: what is changed in the script of a net, and where a right answer lies.

Lines are called by the marker at their end ("# @scores"), modules by their path in the model with * for any part of it.
A root is right on one of the lines or in one of the modules. At level L0, which sees modules alone, `near` are the next
that read what a function outside of them made. The truth was written before msdump was asked; `near` and `unseen`
were completed by that rule for all nets. Faults at even places of ALL are for fitting, those at odd places are
held out: a rule is made from what the first show, and is good when the second agree.
"""
from dataclasses import dataclass


@dataclass
class Form:
    level: str
    task: str
    noise: float = 0.0
    precision: str = "float32"  # of the reference
    device: str = ""  # of the candidate, where it is another

    def text(self):
        rounding = f"noise {self.noise:g}" if self.noise else "no noise"
        return f"{self.level} {self.task}, {self.device or self.precision}, {rounding}"


FORMS = {
    "A": Form("L1", "tensor"),
    "B": Form("mix", "statistics", 1e-4),
    "C": Form("mix", "tensor", 1e-3),
    "D": Form("L0", "statistics", 1e-4),
    "E": Form("L1", "statistics", 2e-3, "bfloat16"),
    "F": Form("L1", "statistics", 1e-3),
    "G": Form("mix", "statistics", device="autocast"),
    "H": Form("mix", "statistics"),
    "I": Form("L0", "tensor", 1e-3),
    "J": Form("mix", "tensor", 1e-5),
}

# The optimizer runs outside of every module: level L0 sees what it made, the parameters of the next step.
UPDATED = ("parameters",)
START = "initialise(model)"


@dataclass
class Fault:
    net: str
    name: str
    what: str
    changes: tuple  # (old, new), each in one line
    lines: tuple = ()
    modules: tuple = ()
    near: tuple = ()
    unseen: tuple = ()  # lines that read the result next, at level L1, which does not see a recurrent layer
    hidden: str = ""  # forms in which nobody can see it: below the noise, or not in the dump
    both: tuple = ()  # changes of the reference, too, which then is a run of its own

    @property
    def reference(self):
        return f"{self.name}-ref" if self.both else "ref"

    @property
    def is_fault(self):
        """Others are pairs that differ by rounding, whatever was changed."""
        return bool(self.lines or self.modules)


def after_start(net, name, what, statement, **truth):
    return Fault(net, name, what, ((START, f"{START}; {statement}"),), **truth)


DECODER = [
    after_start("decoder", "eps", "epsilon 1e-2 instead of 1e-6 in one RMSNorm", "model.blocks[1].norm2.eps = 1e-2",
                lines=("rms",), modules=("blocks.1.norm2",)),
    Fault("decoder", "scale", "scores not divided by the root of the head's width",
          ((" / math.sqrt(q.shape[-1])", ""),), ("scores", "masked", "softmax"), ("blocks.*.attn",),
          near=("blocks.*.attn.drop",)),
    Fault("decoder", "mask", "a token sees the next one", ((".triu(1)", ".triu(2)"),), ("mask", "masked", "softmax"),
          ("blocks.*.attn",), ("blocks.0", "blocks.1", "blocks.2", "blocks.*.attn.drop")),
    Fault("decoder", "shift", "labels are not shifted", (
        ("logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()", "logits.flatten(0, 1), tokens.flatten()"),),
          ("loss",), near=("head",)),
    Fault("decoder", "dropout", "dropout left on", (("nn.Dropout(0.0)", "nn.Dropout(0.1)"),), ("softmax",),
          ("blocks.*.attn.drop",)),
    after_start("decoder", "weight", "one weight initialised otherwise",
                "nn.init.normal_(model.blocks[2].mlp.down.weight, 0, 0.1)",
                lines=("down",), modules=("blocks.2.mlp.down",)),
    after_start("decoder", "transposed", "one square weight loaded transposed",
                "w = model.blocks[1].attn.proj.weight; w.data = w.data.t().contiguous()",
                lines=("proj",), modules=("blocks.1.attn.proj",)),
    Fault("decoder", "activation", "GELU instead of SiLU", (("F.silu(gate)", "F.gelu(gate)"),), ("silu",),
          ("blocks.*.mlp",),
          near=("blocks.*.mlp.down",)),
    Fault("decoder", "residual", "the residual of the MLP is missing", (("return x + self.mlp", "return self.mlp"),),
          ("residual2",), ("blocks.0", "blocks.1", "blocks.2"),
          near=("blocks.*.norm1", "norm")),
    Fault("decoder", "positions", "positions count from 1",
          (("torch.arange(0, time).float()", "torch.arange(1, time + 1).float()"),), ("positions", "angle"),
          hidden="DI"),
    Fault("decoder", "heads", "heads cut out of the wrong axis",
          (("x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)", "x.view(*x.shape[:2], -1, HEADS).permute(0, 3, 1, 2)"),),
          ("heads", "rotate", "rotate2", "scores", "mixed"), ("blocks.*.attn",),
          near=("blocks.*.attn.drop", "blocks.*.attn.proj")),
    Fault("decoder", "betas", "the second beta of AdamW 0.999 instead of 0.95", (("(0.9, 0.95)", "(0.9, 0.999)"),),
          ("step",), hidden="DI"),
    after_start("decoder", "untied", "the head does not share the embedding's weight",
                "model.head.weight = nn.Parameter(model.emb.weight.detach().clone())",
                lines=("head", "embed", "step"), modules=("head", "emb"), near=UPDATED),
    Fault("decoder", "bfloat16", "the product of up is rounded to bfloat16",
          (("up = self.up(x)", "up = self.up(x).bfloat16().float()"),), ("up", "product"), ("blocks.*.mlp",),
          hidden="CEFGI",
          near=("blocks.*.mlp.down",)),
]
TRANSLATOR = [
    Fault("translator", "sum", "the loss is the sum", (("ignore_index=PAD)", 'ignore_index=PAD, reduction="sum")'),),
          ("loss",), near=("head",)),
    Fault("translator", "accumulation", "the loss is not divided by the number of micro batches",
          (("loss = loss / MICRO", "pass"),), ("divided", "backward", "loss"), near=("head",)),
    Fault("translator", "gelu", "GELU by tanh in the encoder",
          (("self.gelu = nn.GELU()", 'self.gelu = nn.GELU("tanh")'),), ("gelu",), ("encoder.*.gelu",), hidden="I"),
    after_start("translator", "eps", "epsilon 1e-1 instead of 1e-5 in one LayerNorm",
                "model.encoder[1].norm1.eps = 1e-1", lines=("encoder_norm1",), modules=("encoder.1.norm1",)),
    Fault("translator", "axis", "softmax over the wrong axis",
          (("torch.softmax(scores, dim=-1)", "torch.softmax(scores, dim=-2)"),), ("cross_softmax",),
          ("decoder.*.cross",),
          near=("decoder.*.cross.out",)),
    Fault("translator", "unpadded", "padding counts in the loss", ((", ignore_index=PAD)", ")"),), ("loss",),
          near=("head",)),
    Fault("translator", "padding", "another token is taken for padding", (("source == PAD", "source == PAD + 1"),),
          ("padding", "self_attention", "cross_masked"), ("encoder.*.attention", "decoder.*.cross"),
          ("encoder.0", "decoder.0", "decoder.*.cross.out")),
    Fault("translator", "positions", "positions count from 1",
          (("torch.arange(0, tokens.shape[1])", "torch.arange(1, tokens.shape[1] + 1)"),), ("positions", "position"),
          ("position",)),
    Fault("translator", "detached", "no gradient into the encoder",
          (("self.encode(source, padding)", "self.encode(source, padding).detach()"),),
          ("memory", "cross_key", "cross_value", "encoder_norm2"),
          ("encoder.*", "decoder.*.cross.key", "decoder.*.cross.value", "source"), UPDATED),
    after_start("translator", "weight", "one weight initialised otherwise",
                "nn.init.normal_(model.decoder[1].mlp[2].weight, 0, 0.08)",
                lines=("decoder_norm3",), modules=("decoder.1.mlp.2",)),
    Fault("translator", "clip", "gradients clipped at 0.3 instead of 1",
          (("model.parameters(), 1.0)", "model.parameters(), 0.3)"),), ("clip", "step"), near=UPDATED),
    Fault("translator", "rate", "learning rate 0.3 instead of 0.1", (("lr=0.1", "lr=0.3"),), ("step",), near=UPDATED),
    Fault("translator", "value", "the key's layer makes the value",
          (("self.split(self.value(memory))", "self.split(self.key(memory))"),), ("cross_value", "cross_mixed"),
          ("decoder.*.cross", "decoder.*.cross.value", "decoder.*.cross.key"),
          near=("decoder.*.cross.out",)),
    Fault("translator", "unscaled", "the embedding is not scaled", ((" * math.sqrt(WIDTH)", ""),),
          ("scale", "position"), near=("encoder.0", "encoder.0.attention", "decoder.0", "decoder.0.qkv")),
]
CONVOLUTION = [
    after_start("convolution", "eps", "epsilon 0.1 instead of 1e-5 in one BatchNorm", "model.layer2.norm2.eps = 0.1",
                lines=("conv2",), modules=("layer2.norm2",)),
    after_start("convolution", "momentum", "momentum 0.9 instead of 0.1 in one BatchNorm",
                "model.layer1.norm1.momentum = 0.9", lines=("conv1",), modules=("layer1.norm1",), hidden="DI"),
    after_start("convolution", "eval", "one BatchNorm left in evaluation", "model.norm.eval()", lines=("stem",),
                modules=("norm",)),
    Fault("convolution", "padding", "padding by replication instead of zeros",
          (("self.stem = nn.Conv2d(3, 8, 3, padding=1,",
            'self.stem = nn.Conv2d(3, 8, 3, padding=1, padding_mode="replicate",'),), ("stem",), ("stem",)),
    Fault("convolution", "residual", "the residual is missing", (("h = h + self.short(x)", "h = h"),),
          ("residual",), ("layer1", "layer2", "layer3", "layer2.short"),
          near=("layer2.conv1", "layer2.short", "layer3.conv1", "head")),
    Fault("convolution", "pool", "mean pooling instead of maximum", (("F.max_pool2d(x, 2)", "F.avg_pool2d(x, 2)"),),
          ("pool",), near=("layer1", "layer1.conv1", "layer1.short")),
    Fault("convolution", "normalised", "pictures are not divided by the standard deviation",
          (("((pictures - mean) / std)", "(pictures - mean)"),), ("normalise", "stem"), near=("stem",)),
    Fault("convolution", "channels", "channels in the order blue, green, red",
          (("((pictures - mean) / std).to(", "((pictures - mean) / std).flip(1).to("),), ("normalise", "stem"),
          near=("stem",)),
    after_start("convolution", "weight", "one weight initialised otherwise",
                "nn.init.kaiming_normal_(model.layer3.conv1.weight)", lines=("conv1",), modules=("layer3.conv1",)),
    after_start("convolution", "dilation", "one convolution dilated",
                "model.layer2.conv2.dilation = model.layer2.conv2.padding = (2, 2)", lines=("conv2",),
                modules=("layer2.conv2",)),
    Fault("convolution", "leaky", "leaky ReLU instead of ReLU", (("h = F.relu(h)", "h = F.leaky_relu(h, 0.1)"),),
          ("relu",), ("layer1", "layer2", "layer3"),
          near=("layer*.conv2",)),
    Fault("convolution", "smoothing", "labels are not smoothed", ((", label_smoothing=0.1", ""),), ("loss",),
          near=("head",)),
    Fault("convolution", "decay", "weight decay 0.1 instead of 1e-4", (("weight_decay=1e-4", "weight_decay=0.1"),),
          ("step",), near=UPDATED, hidden="I"),
    after_start("convolution", "flipped", "one filter turned by 180 degrees",
                "w = model.layer2.conv1.weight; w.data = w.data.flip(2, 3)", lines=("conv1",),
                modules=("layer2.conv1",)),
]
RECURRENT = [
    after_start("recurrent", "gates", "the gates of the LSTM in another order",
                "w = model.lstm.weight_ih_l0; w.data = w.data.roll(WIDTH, 0)", lines=("lstm",), modules=("lstm",),
          unseen=("norm",)),
    Fault("recurrent", "detached", "no gradient through time",
          (("self.cell(moment, h)", "self.cell(moment, h.detach())"),), ("cell", "stack"), ("cell",),
          unseen=("norm",)),
    Fault("recurrent", "reversed", "time runs backwards", (("x, _ = self.lstm(x)", "x, _ = self.lstm(x.flip(1))"),),
          ("lstm", "embed"), ("lstm",),
          unseen=("norm",)),
    Fault("recurrent", "axis", "softmax over the batch", ((", dim=1)", ", dim=0)"),), ("softmax",), ("pool",),
          near=("hidden",)),
    Fault("recurrent", "sigmoid", "sigmoid instead of tanh", (("torch.tanh(self", "torch.sigmoid(self"),), ("tanh",),
          ("pool",), ("pool.vector",)),
    Fault("recurrent", "mean", "padding counts in the mean",
          (("there.sum(1, keepdim=True)", "there.shape[1]"),), ("mean",), ("pool",),
          near=("hidden",)),
    Fault("recurrent", "sum", "the loss is the sum", ((", wanted)", ', wanted, reduction="sum")'),), ("loss",),
          near=("out",)),
    Fault("recurrent", "ones", "the first hidden state is 1", (("torch.zeros(len(tokens)", "torch.ones(len(tokens)"),),
          ("zeros", "cell"), ("cell",),
          unseen=("tanh", "focus", "mean")),
    after_start("recurrent", "eps", "epsilon 1e-2 instead of 1e-5 in the LayerNorm", "model.norm.eps = 1e-2",
                lines=("norm",), modules=("norm",)),
    after_start("recurrent", "weight", "one weight initialised otherwise",
                "nn.init.normal_(model.cell.weight_hh, 0, 0.1)", lines=("cell",), modules=("cell",),
          unseen=("tanh", "focus", "mean")),
    Fault("recurrent", "alpha", "alpha of RMSprop 0.99 instead of 0.9", (("alpha=0.9,", "alpha=0.99,"),), ("step",),
          near=UPDATED),
    Fault("recurrent", "clip", "gradients are not clipped", (("model.parameters(), 0.5)", "model.parameters(), 1e9)"),),
          ("clip", "step"), hidden="DI"),
    Fault("recurrent", "embedding", "the embedding's rows moved by one",
          (("self.emb(tokens)", "self.emb((tokens + 1) % 37)"),), ("embed",), ("emb",)),
    Fault("recurrent", "elu", "ReLU instead of ELU", (("F.elu(", "F.relu("),), ("hidden",), near=("out",)),
]

# Nets of kinds that no other set has. Their faults, truths and right pairs were written down, and the nets split into
# those to look at and HELD, before msdump saw a dump of them.
LAYERS = ("blocks.0", "blocks.1", "blocks.2")


def kernel(net, name, call, kind, **truth):
    """Below msprobe (kernels/plant.py), of which level L0 has no call."""
    return after_start(net, name, f"{call}: {kind}", f'from plant import plant; plant("{call}", "{kind}")', hidden="DI",
                       **truth)


WAVENET = [
    after_start("wavenet", "dilation", "one convolution with another dilation", "model.blocks[2].causal.dilation = 1",
                lines=("pad", "conv"), modules=("blocks.2.causal",)),
    Fault("wavenet", "ahead", "convolutions look ahead", (("(self.dilation * (TAPS - 1), 0)",
          "(0, self.dilation * (TAPS - 1))"),),
          ("pad", "conv"), ("blocks.*.causal",)),
    Fault("wavenet", "gates", "wave and gate are exchanged", (("wave, gate = ", "gate, wave = "),), ("chunk", "gated"),
          LAYERS, near=("blocks.*.skip", "blocks.*.out")),
    Fault("wavenet", "residual", "the sum of the residual is not scaled", ((" * math.sqrt(0.5), skip", ", skip"),),
          ("residual", "pad"), LAYERS, near=("blocks.*.causal",)),
    Fault("wavenet", "skips", "the last block's skip alone is used", (("total = total + skip", "total = skip"),),
          ("total", "skipped"), near=("middle",)),
    Fault("wavenet", "local", "the condition is not added", (("h = h + self.local(condition)", "h = h"),),
          ("local", "chunk"), (*LAYERS, "blocks.*.local"), near=("blocks.*.skip", "blocks.*.out")),
    Fault("wavenet", "axis", "weights normalised for each input channel", (("norm(dim=(1, 2)", "norm(dim=(0, 2)"),),
          ("size", "weight"), ("blocks.*.causal",)),
    kernel("wavenet", "kernel", "Functional.conv1d.5", "tail", lines=("local",), modules=("blocks.1",
          "blocks.1.local")),
    Fault("wavenet", "detached", "no gradient into the condition",
          (("self.upsample(frames)", "self.upsample(frames).detach()"),), ("upsample", "condition", "local"),
          ("upsample", "blocks.*.local"), near=UPDATED),
    Fault("wavenet", "twice", "two updates with one gradient", (("optimizer.step()",
          "optimizer.step(), optimizer.step()"),),
          ("step",), near=UPDATED),
]
OUTS = ("0", "0.policy", "0.policy.out", "0.critic", "0.critic.out")
ACTOR = [
    Fault("actor", "lambda", "advantages forget faster", (("0.97 * 0.9 *", "0.97 * 0.5 *"),), ("running",), near=OUTS),
    Fault("actor", "alive", "what comes after the end counts", (("value[moment + 1] * alive[moment]",
          "value[moment + 1]"),),
          ("ahead", "error"), near=OUTS),
    Fault("actor", "spread", "advantages are not divided by their deviation", ((" / (gain.std() + 1e-6)", ""),),
          ("normalised", "better"), near=OUTS),
    Fault("actor", "ratio", "the ratio upside down", (("torch.exp(now - old)", "torch.exp(old - now)"),), ("ratio",),
          near=OUTS),
    Fault("actor", "better", "the larger of the two ratios", (("torch.minimum(", "torch.maximum("),), ("better",),
          near=OUTS),
    Fault("actor", "wanted", "the critic learns the advantage, not the return", (("wanted = gain + stable[:-1]",
          "wanted = gain"),),
          ("wanted", "huber"), near=OUTS),
    Fault("actor", "slow", "the critic itself is asked, not its slow copy", (("stable = slow(seen)",
          "stable = model.critic(seen)"),),
          ("slow", "ahead", "error"), ("1", "1.*", "0.critic", "0.critic.*"), unseen=("first",)),
    Fault("actor", "follow", "the slow copy does not follow", (("theirs.lerp_(ours, 0.2)", "pass"),), ("follow",),
          ("1", "1.*"), unseen=("slow", "first")),
    Fault("actor", "bfloat16", "what a layer gives is rounded to bfloat16",
          (("F.mish(self.second(h))", "F.mish(self.second(h).bfloat16().float())"),), ("second",),
          ("0.policy", "0.critic", "1"), near=("0.policy.out", "0.critic.out", "1.out"), hidden="CEFGI"),
    kernel("actor", "kernel", "Functional.layer_norm.1", "factor 1.01", lines=("first",),
           modules=("0.critic", "0.critic.norm")),
]
SWIN = [
    Fault("swin", "roll", "moved the other way", (("torch.roll(h, (-self.shift, -self.shift)",
          "torch.roll(h, (self.shift, self.shift)"),),
          ("roll",), ("blocks.1",), near=("blocks.1.attn", "blocks.1.attn.qkv")),
    Fault("swin", "unmasked", "what the move brought together sees each other",
          (("mask_of(side, shift) if shift else None", "None"),),
          ("masked", "softmax"), ("blocks.1.attn",), near=("blocks.1.attn.proj",)),
    Fault("swin", "table", "the table of places is read with its axes exchanged",
          (("apart[0] * (2 * WINDOW - 1) + apart[1]", "apart[1] * (2 * WINDOW - 1) + apart[0]"),), ("table", "scores"),
          ("blocks.*.attn", "last.attn"), near=("blocks.*.attn.proj", "last.attn.proj")),
    Fault("swin", "scale", "scores are divided by the root of the whole width", (("(width // HEADS) ** -0.5",
          "width ** -0.5"),),
          ("scores",), ("blocks.*.attn", "last.attn"), near=("blocks.*.attn.proj", "last.attn.proj")),
    Fault("swin", "merge", "neighbours are joined row by row",
          (("x[:, 1::2, 0::2], x[:, 0::2, 1::2]", "x[:, 0::2, 1::2], x[:, 1::2, 0::2]"),), ("merge", "reduce"),
          ("merge", "merge.norm")),
    Fault("swin", "unrolled", "not moved back", (("h = torch.roll(h, (self.shift, self.shift), (1, 2))", "h = h"),),
          ("rolled", "residual1"), ("blocks.0", "blocks.1", "last"), near=("blocks.*.norm2", "last.norm2")),
    after_start("swin", "loaded", "queries and keys of one layer are loaded exchanged",
                "w = model.blocks[1].attn.qkv.weight; w.data = w.data.unflatten(0, (3, -1))[[1, 0, 2]].flatten(0, 1)",
                lines=("qkv",), modules=("blocks.1.attn.qkv",)),
    kernel("swin", "kernel", "Torch.softmax.1", "other axis", lines=("softmax",), modules=("blocks.1.attn",)),
    Fault("swin", "labels", "the labels of another batch", (('f"labels{step}"', 'f"labels{step + 1}"'),), ("loss",),
          near=("head",)),
    Fault("swin", "again", "the last block is run twice", (("x = self.last(x)", "x = self.last(self.last(x))"),),
          ("last", "norm1", "mean"), ("last", "last.*"), near=("final_norm",)),
]
MIXTURE = [
    Fault("mixture", "unnormalised", "the weights of the chosen experts do not add up to 1",
          (("best = best / best.sum(-1, keepdim=True)", "best = best"),), ("normalised", "weighted"), ("blocks.*.moe",)),
    Fault("mixture", "axis", "the router's softmax is over the tokens", (("F.softmax(logits, 1)",
          "F.softmax(logits, 0)"),),
          ("chances",), ("blocks.*.moe",), near=("blocks.*.moe.experts.*",)),
    Fault("mixture", "slots", "what an expert makes has the weight of the other expert", (("best[row, slot, None]",
          "best[row, 1 - slot, None]"),),
          ("weighted",), ("blocks.*.moe",)),
    Fault("mixture", "overwritten", "of the two experts of a token the last is kept", (("total.index_add(",
          "total.index_copy("),),
          ("added", "view"), ("blocks.*.moe",)),
    after_start("mixture", "loaded", "the rows of a router are loaded moved by one",
                "w = model.blocks[1].moe.router.weight; w.data = w.data.roll(1, 0)", lines=("router",),
                modules=("blocks.1.moe.router",), near=("blocks.1.moe.experts.*",)),
    Fault("mixture", "detached", "the loss of balance has no gradient", (("torch.cat(found)",
          "torch.cat(found).detach()"),),
          ("joined", "shares", "imbalance", "loss", "router"), ("blocks.*.moe.router",), near=UPDATED),
    Fault("mixture", "window", "the window of attention is larger by one", (("(apart >= WINDOW)",
          "(apart > WINDOW)"),),
          ("mask", "masked", "softmax"), ("blocks.*.attn",), near=("blocks.0", "blocks.1", "blocks.*.attn.out")),
    Fault("mixture", "groups", "keys are repeated in the order of groups", (("k.repeat_interleave(HEADS // GROUPS, 1)",
          "k.repeat(1, HEADS // GROUPS, 1, 1)"),),
          ("keys", "scores"), ("blocks.*.attn",), near=("blocks.*.attn.out",)),
    Fault("mixture", "residual", "what goes around the experts is missing", (("return x + h, logits",
          "return h, logits"),),
          ("residual2", "attn", "head"), ("blocks.0", "blocks.1"), near=("blocks.*.norm1", "norm")),
    Fault("mixture", "epsilon", "epsilon of AdamW 1e-3, not 1e-8", (("weight_decay=0.1)",
          "weight_decay=0.1, eps=1e-3)"),),
          ("step",), near=UPDATED),
]
MOLECULE = [
    Fault("molecule", "degree", "bonds that begin at an atom are counted, not those that end there",
          (("index_add(0, target, x.new_ones(len(target)))", "index_add(0, source, x.new_ones(len(source)))"),),
          ("degree",), ("convolution",)),
    Fault("molecule", "segment", "the softmax is over all bonds, not those of an atom",
          (("share / (total[target] + 1e-9)", "share / (share.sum(0) + 1e-9)"),), ("share", "message"), ("layers.*",),
          near=("layers.*.out",)),
    Fault("molecule", "scale", "scores are divided by the root of the whole width", (("math.sqrt(WIDTH // HEADS)",
          "math.sqrt(WIDTH)"),),
          ("scores",), ("layers.*",), near=("layers.*.out",)),
    Fault("molecule", "padding", "padding counts in the mean", (("whole / count[:, None]", "whole / ATOMS"),),
          ("mean", "out"), near=("hidden",)),
    Fault("molecule", "unmasked", "padding is not left out of the sum", (("x = x * there[:, None]", "x = x"),),
          ("there", "whole"), near=("hidden",)),
    Fault("molecule", "direction", "an atom receives its own value",
          (("self.value(x).index_select(0, source)", "self.value(x).index_select(0, target)"),), ("value", "message"),
          ("layers.*",), near=("layers.*.out",)),
    Fault("molecule", "bonds", "the type of a bond is not asked", (("k = k + self.bond(kind)", "k = k"),),
          ("bond", "scores"), ("layers.*", "layers.*.bond"), near=("layers.*.out",)),
    Fault("molecule", "known", "unknown targets count", (("(error * known).sum() / known.sum()", "error.mean()"),),
          ("loss",), near=("out",)),
    Fault("molecule", "detached", "no gradient into the shares of the bonds", (("share[..., None]",
          "share.detach()[..., None]"),),
          ("message", "share", "total", "exp", "scores", "bond", "key", "query"),
          ("layers.*.query", "layers.*.key", "layers.*.bond"), near=UPDATED),
    Fault("molecule", "rho", "rho of Adadelta 0.99, not 0.9", (("rho=0.9,", "rho=0.99,"),), ("step",), near=UPDATED),
]

MIXERS = ("blocks.*.mixer",)
MAMBA = [
    Fault("mamba", "ahead", "the convolution sees what comes, not what was", (("x[..., :TIME]", "x[..., TAPS - 1:]"),),
          ("cut", "silu"), MIXERS, near=("blocks.*.mixer.select",)),
    Fault("mamba", "bias", "the bias of the step size is added twice",
          (("F.softplus(self.rate(low))", "F.softplus(self.rate(low) + self.rate.bias)"),), ("rate",), MIXERS,
          near=("blocks.*.mixer.out",)),
    Fault("mamba", "reset", "the state is forgotten a token late", (("torch.arange(TIME) != first)",
          "torch.arange(TIME) != first + 1)"),),
          ("left",), MIXERS, near=("blocks.*", "blocks.*.mixer.out")),
    Fault("mamba", "gate", "the gate is a sigmoid", (("y * F.silu(gate)", "y * torch.sigmoid(gate)"),), ("gated",),
          MIXERS, near=("blocks.*.mixer.out",)),
    Fault("mamba", "through", "what goes past the state is missing", (("y = y + x * self.through", "y = y"),),
          ("through", "gated"), MIXERS, near=("blocks.*.mixer.out",)),
    after_start("mamba", "loaded", "of one layer what is written and what is read are loaded exchanged",
                "w = model.blocks[1].mixer.select.weight; "
                "w.data = torch.cat((w.data[:RANK], w.data[RANK:].roll(STATES, 0)))",
                lines=("select",), modules=("blocks.1.mixer.select",)),
    Fault("mamba", "detached", "no gradient into the state of the token before",
          (("left[:, now] * state +", "left[:, now] * state.detach() +"),), ("state", "left", "drive"), MIXERS,
          near=("blocks.*.mixer.select", "blocks.*.mixer.rate", "blocks.*.mixer.conv", *UPDATED)),
    kernel("mamba", "kernel", "Functional.softplus.1", "rolled", lines=("rate",),
           modules=("blocks.1", "blocks.1.mixer")),
    Fault("mamba", "known", "the loss is divided by all tokens, padding too", (("cost.sum() / known.sum()",
          "cost.mean()"),),
          ("loss",), near=("head",)),
    Fault("mamba", "coupled", "the decay of weights goes through the gradient", (("optim.AdamW(", "optim.Adam("),),
          ("step",), near=UPDATED),
]
COUPLINGS = ("level1.*.couple", "level2.*.couple")
FLOW = [
    Fault("flow", "order", "the halves are joined in the other order", (("torch.cat((a, b), 1), volume",
          "torch.cat((b, a), 1), volume"),),
          ("joined",), COUPLINGS),
    Fault("flow", "length", "the volume of the matrix counts once, not at each place", (("volume * x.shape[2]",
          "volume"),),
          ("volumes", "added"), ("level1.*.mix", "level2.*.mix"), near=("level1.0", "level1.1", "level2.0",
          "level2.1")),
    Fault("flow", "transposed", "channels are mixed by the transposed matrix", (("self.weight[..., None]",
          "self.weight.t()[..., None]"),),
          ("mixed",), ("level1.*.mix", "level2.*.mix")),
    Fault("flow", "unmoved", "the sigmoid is not moved by 2", (("torch.sigmoid(scale + 2.0)", "torch.sigmoid(scale)"),),
          ("sigmoid",), COUPLINGS),
    Fault("flow", "average", "the mean of the logarithms, not their sum", ((".sum((1, 2))  # @logs",
          ".mean((1, 2))  # @logs"),),
          ("logs",), COUPLINGS),
    Fault("flow", "folded", "channels are in another order when places are folded into them",
          ((".permute(0, 1, 3, 2)", ".permute(0, 3, 1, 2)"),), ("folded", "flat"),
          near=("level1.0", "level1.0.scale", "level2.0", "level2.0.scale")),
    Fault("flow", "detached", "no gradient into the volume of the matrix", (("slogdet(self.weight.float())",
          "slogdet(self.weight.detach().float())"),),
          ("volume", "volumes"), ("level1.*.mix", "level2.*.mix"), near=UPDATED),
    kernel("flow", "kernel", "Torch.tanh.2", "tail", lines=("first",), modules=("level2.0", "level2.0.couple")),
    after_start("flow", "swapped", "the matrices of two steps are loaded exchanged",
                "p, q = (step.mix.weight for step in model.level1); p.data, q.data = q.data.clone(), p.data.clone()",
                lines=("volume", "mixed"), modules=("level1.*.mix",)),
    Fault("flow", "frozen", "the second half is not given to the optimizer",
          (("Adamax(model.parameters()", "Adamax(model.level1.parameters()"),), ("step",), near=UPDATED),
]
DIFFUSION = [
    Fault("diffusion", "schedule", "the noise of the time before", (("left[when]", "left[when - 1]"),),
          ("of", "clear", "dark", "ratio"), near=("inlet",)),
    after_start("diffusion", "groups", "one norm has two groups, not four", "model.after.norm2.groups = 2",
                lines=("norm",), modules=("after.norm2",)),
    Fault("diffusion", "larger", "pictures grow by interpolation, not by repetition", (('mode="nearest"',
          'mode="bilinear"'),),
          ("larger",), near=("up",)),
    Fault("diffusion", "joined", "what was kept is joined before what comes up, not behind it", (("(x, kept), 1)",
          "(kept, x), 1)"),),
          ("after", "norm", "residual"), ("after.norm1", "after.short"), near=("after",)),
    Fault("diffusion", "mask", "words that are not there are read, those that are there are not",
          (("(~there[:, None, None]", "(there[:, None, None]"),), ("masked", "softmax"), ("cross",),
          near=("cross.out",)),
    after_start("diffusion", "loaded", "one square weight loaded transposed",
                "w = model.cross.key.weight; w.data = w.data.t().contiguous()", lines=("key",), modules=("cross.key",)),
    Fault("diffusion", "detached", "no gradient into what tells the time", (("self.clock(when)",
          "self.clock(when).detach()"),),
          ("clock", "second", "told"), ("clock", "clock.*", "before", "after"), near=UPDATED),
    Fault("diffusion", "scale", "the time's scale is not one more", (("h * (1 + scale) + shift", "h * scale + shift"),),
          ("moved",), ("before", "after"), near=("before.conv2", "after.conv2")),
    kernel("diffusion", "kernel", "Functional.group_norm.4", "rolled", lines=("norm",), modules=("after",
          "after.norm2")),
    Fault("diffusion", "early", "the rate grows before the update, not after it", (("rate.step()", "pass"),
          ("optimizer.step()", "rate.step(); optimizer.step()")),
          ("step",), near=UPDATED),
]
TRANSDUCER = [
    Fault("transducer", "apart", "distances are counted the other way", (
        ("(FRAMES)[:, None] - torch.arange(FRAMES) +", "(FRAMES) - torch.arange(FRAMES)[:, None] +"),),
          ("apart", "gathered"), ("conformer.attention",), near=("conformer.attention.out",)),
    Fault("transducer", "half", "the whole of the first layers is added, not half of it", (("x + 0.5 * h", "x + h"),),
          ("half",), ("conformer",), near=("conformer.attention", "conformer.attention.norm")),
    Fault("transducer", "gate", "gate and value are exchanged", (("F.glu(h, -1)", "F.glu(h.roll(WIDTH, -1), -1)"),),
          ("glu",), ("conformer.conv",), near=("conformer.conv.depth",)),
    Fault("transducer", "padding", "the convolution reads padding", (("h * there[..., None]", "h"),),
          ("heard", "depth"), ("conformer.conv",), near=("conformer.conv.depth",)),
    after_start("transducer", "gates", "the gates of the GRU are loaded in another order",
                "[w.data.copy_(w.data.unflatten(0, (3, -1))[[1, 0, 2]].flatten(0, 1)) "
                "for w in model.writer.cell.parameters()]",
                lines=("cell",), modules=("writer.cell",), unseen=("joined",)),
    Fault("transducer", "blank", "a frame is left by its own blank, not that of the frame before", (("frame - 1]",
          "frame]"),),
          ("came",), near=("join", "join.out")),
    Fault("transducer", "length", "the number of frames is rounded down, not up", (("(length + 3) // 4",
          "length // 4"),),
          ("length",), near=("conformer", "conformer.attention", "conformer.conv")),
    kernel("transducer", "kernel", "Functional.silu.1", "tail", lines=("conv_out",), modules=("conformer",
          "conformer.conv")),
    Fault("transducer", "clipped", "gradients are clipped after the update", (
        ("torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)", "optimizer.step()"),
        ("optimizer.step()  # @step", "torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)  # @step")),
          ("clip", "step"), near=UPDATED),
    Fault("transducer", "decay", "vectors decay, too", (('small, "weight_decay": 0.0',
          'small, "weight_decay": 0.05'),),
          ("step",), near=UPDATED),
]
LATENT = [
    Fault("latent", "turned", "heads turn the other way, the words do not", (
        ("asked = turn(place, cos, sin)", "asked = turn(place, cos, -sin)"),),
          ("turn_query", "turned", "scores"), ("*attn",), near=("*attn.out",)),
    Fault("latent", "few", "what is kept of a word is not normalised", (("few = self.few_norm(few)", "few = few * 1.0"),
          ),
          ("few", "up"), ("*attn", "*attn.up"), near=("*attn.up",)),
    Fault("latent", "scale", "scores are divided by the root of a part of the head",
          (("(PLAIN + TURNED) ** -0.5", "PLAIN ** -0.5"),), ("scaled",), ("*attn",), near=("*attn.out",)),
    Fault("latent", "exchanged", "keys and values are exchanged", (("k, v = both", "v, k = both"),), ("split", "plain"),
          ("*attn",), near=("*attn.out",)),
    Fault("latent", "tilted", "an expert counts by what chose it, not by its chance", (
        ("best = chances.gather(1, chosen)", "best = (chances + self.tilt).gather(1, chosen)"),),
          ("best", "normalised"), ("second.feed",), near=("second.feed",)),
    Fault("latent", "unweighted", "the sum of the experts is not scaled to one", (
        ("best / best.sum(-1, keepdim=True)", "best * 1.0"),),
          ("normalised", "weighted"), ("second.feed",), near=("second.feed",)),
    Fault("latent", "same", "the further block reads the word itself, not the next one", (
        ("words[:, 1:], cos", "words[:, :-1], cos"),),
          ("further", "both"), ("further", "further.norm_word"), near=("further.norm_word",)),
    Fault("latent", "weight", "the word after the next counts as the next one", (("0.3 * after", "1.0 * after"),),
          ("loss",), near=("norm", "further.block", *UPDATED)),
    kernel("latent", "kernel", "Functional.silu.2", "tail", lines=("gate", "feed"), modules=("second.feed",
          "second.feed.*", "further.block.feed", "further.block.feed.*")),
    Fault("latent", "kept", "gradients of the step before are not deleted", (("optimizer.zero_grad()", "pass"),),
          ("backward", "clip", "step"), near=("norm", "emb", "further.block*", *UPDATED)),
]
SEGMENT = [
    Fault("segment", "squared", "the size of an organ is a sum of squares", (("chances.sum(SPACE) +",
          "chances.square().sum(SPACE) +"),),
          ("organ_size", "score"), near=("fine", *UPDATED)),
    Fault("segment", "background", "the background counts as an organ", (("score[:, 1:]", "score[:, :]"),), ("missed",),
          near=("fine", *UPDATED)),
    after_start("segment", "slope", "one activation has another slope", "model.bottom.slope = 0.2",
                lines=("relu1", "relu2"), modules=("bottom",), near=("bottom.conv2", "up1.grow")),
    Fault("segment", "gate", "what is kept is added to what the gate lets through", (("kept * open",
          "kept * (1 + open)"),),
          ("gated",), ("up1.gate", "up2.gate"), near=("up1.gate", "up2.gate")),
    after_start("segment", "grown", "one growing convolution loaded with its kernel turned",
                "w = model.up2.grow.weight; w.data = w.data.flip(2)", lines=("grow",), modules=("up2.grow",)),
    after_start("segment", "eps", "epsilon 0.1 instead of 1e-5 in one norm", "model.middle.norm1.eps = 0.1",
                lines=("conv1",), modules=("middle.norm1",)),
    Fault("segment", "pool", "the largest of eight cells, not their mean", (("F.avg_pool3d(first, 2)",
          "F.max_pool3d(first, 2)"),),
          ("middle",), near=("middle", "middle.conv1")),
    Fault("segment", "part", "the loss is that of the batch, not of the update", (("loss / PARTS", "loss * 1.0"),),
          ("part",), near=("fine", "coarse", *UPDATED)),
    kernel("segment", "kernel", "Functional.leaky_relu.2", "rolled", lines=("relu1",), modules=("middle",)),
    Fault("segment", "alpha", "squares of gradients are forgotten more slowly", (("alpha=0.9,", "alpha=0.99,"),),
          ("step",), near=UPDATED),
]
MASKED = [
    Fault("masked", "scale", "scores are divided by the root of the whole width",
          (("(WIDTH // HEADS) ** 0.5", "WIDTH ** 0.5"),), ("query",), ("blocks.*.attn",), near=("blocks.*.attn.key",
          "blocks.*.attn.out")),
    Fault("masked", "filled", "what is filled up is seen",
          ((".masked_fill(~there, -1e4)", ".masked_fill(~there, 0.0)"),),
          ("masked", "softmax"), ("blocks.*.attn",), near=("blocks.*.attn.out",)),
    Fault("masked", "sides", "before and after are taken for the same",
          (("(apart > 0) * BUCKETS", "(apart > TIME) * BUCKETS"),),
          ("side", "distance", "apart"), ("distance",), near=("blocks.0.attn",)),
    Fault("masked", "before", "normalised before the sum", (("self.norm1(x + self.attn(x, near, there))",
          "x + self.norm1(self.attn(x, near, there))"),),
          ("norm1",), ("blocks.*.norm1", "blocks.*"), near=("blocks.*.wide",)),
    Fault("masked", "untied", "the head has a copy of the words' weight, without a gradient",
          (("self.words.word.weight.t()", "self.words.word.weight.detach().t()"),), ("guess",), ("words.word",),
          near=UPDATED),
    Fault("masked", "moved", "the answer reads the second word", (("x[:, 0])", "x[:, 1])"),), ("pooled",), ("pool",)),
    after_start("masked", "kinds", "two kinds of words are loaded exchanged",
                "w = model.words.kind.weight; w.data = w.data[[1, 0, 2]].clone()", lines=("words",),
                modules=("words.kind", "words"), near=("words.norm",)),
    Fault("masked", "rate", "the plain parameters have the common rate", ((", \"lr\": 4e-3", ""),), ("step",),
          near=UPDATED),
    kernel("masked", "kernel", "Functional.layer_norm.3", "tail", lines=("norm1",), modules=("blocks.1.norm1",)),
    Fault("masked", "sum", "the loss of the words is their sum",
          (("wanted.flatten())", "wanted.flatten(), reduction=\"sum\")"),), ("word_loss", "loss"),
          near=("change_norm", "pool", "answer", *UPDATED)),
]
MATCHER = [
    after_start("matcher", "grouped", "a convolution reads the channels of the other group",
                "w = model.picture.block2.conv2.weight; w.data = torch.cat(w.data.chunk(2)[::-1])", lines=("conv2",),
                modules=("picture.block2.conv2",)),
    after_start("matcher", "momentum", "one BatchNorm is left in evaluation", "model.picture.block1.norm2.eval()",
                lines=("conv2",), modules=("picture.block1.norm2",)),
    Fault("matcher", "gate", "a hard sigmoid weights the channels",
          (("torch.sigmoid(self.large", "F.hardsigmoid(self.large"),),
          ("weight",), ("picture.block1", "picture.block2"), near=("picture.block*.short",)),
    Fault("matcher", "average", "the mean of two places instead of the largest", (("F.max_pool2d(", "F.avg_pool2d("),),
          ("pool",), ("picture",), near=("picture.block2", "picture.block2.conv1", "picture.block2.short")),
    Fault("matcher", "exchanged", "keys and values are exchanged", (("k, v = self", "v, k = self"),), ("both", "scores"),
          ("sentence",), near=("sentence.joint",)),
    Fault("matcher", "beyond", "a word too few counts", (("[None, :] >= lengths", "[None, :] >= (lengths - 1)"),),
          ("beyond", "masked", "softmax"), ("sentence",), near=("sentence.joint",)),
    Fault("matcher", "long", "sentences are not brought to length one",
          (("F.normalize(self.joint(x), dim=-1)  # @sentence", "self.joint(x)  # @sentence"),), ("sentence", "alike"),
          ("sentence", "sentence.joint"), near=("sentence",)),
    Fault("matcher", "thrice", "the way back counts twice", (("(there + back) / 2", "(there + 2 * back) / 2"),),
          ("loss",),
          near=("picture", "sentence", "picture.joint", "sentence.joint")),
    kernel("matcher", "kernel", "Functional.hardswish.3", "block", lines=("conv1",), modules=("picture.block2",)),
    Fault("matcher", "fast", "the slow copy is a fast one", (("alpha=1 - SLOW", "alpha=SLOW"),
          ("old.mul_(SLOW)", "old.mul_(1 - SLOW)")),
          ("slow", "slow_alike"), hidden="DI"),
]


FORGER = [
    Fault("forger", "slope", "another slope in the generator's blocks",
          (("F.leaky_relu(x, 0.2)  # @leaky", "F.leaky_relu(x, 0.02)  # @leaky"),), ("leaky",),
          ("generator.low", "generator.high"), near=("generator.picture1", "generator.picture2")),
    Fault("forger", "exchanged", "scales and shifts are exchanged", (("scale, shift = self", "shift, scale = self"),),
          ("style", "styled"), ("generator.low", "generator.high")),
    Fault("forger", "low", "the lower resolution adds nothing to the picture",
          (("F.interpolate(picture, scale_factor=2.0) + self.picture2(x)", "self.picture2(x)"),),
          ("picture2",), ("generator",), near=("critic.first",)),
    Fault("forger", "labels", "the critic asks for another label", (("(self.label(labels) * x)",
          "(self.label(labels.flip(0)) * x)"),), ("score",), ("critic", "critic.label")),
    Fault("forger", "hinge", "the hinge of what was made has the other sign",
          (("F.relu(1 + false)", "F.relu(1 - false)"),), ("hinge",), near=("critic", "critic.score")),
    after_start("forger", "turned", "a weight of the critic with its channels exchanged",
                "w = model['critic'].inside; w.data = w.data.transpose(0, 1).contiguous()",
                lines=("deviation", "standard"), modules=("critic",), near=("critic.last",)),
    Fault("forger", "spread", "the spread of a sample, not of the batch", (("x.std(0, unbiased=False)", "x.std(0)"),),
          ("spread", "varied"), ("critic",), near=("critic.last",)),
    Fault("forger", "attached", "what was made for the critic is not detached", ((".detach()  # @made", "  # @made"),),
          ("made", "backward", "step_generator"), ("generator",), near=UPDATED),
    kernel("forger", "kernel", "Functional.conv2d.2", "tail", lines=("conv",), modules=("generator.high",)),
    Fault("forger", "momentum", "the generator's Adam has a momentum",
          (("generator.parameters(), lr=2e-3, betas=(0.0, 0.99)", "generator.parameters(), lr=2e-3, betas=(0.9, 0.99)"),),
          ("step_generator",), hidden="DI"),
]


PHYSICS = [
    Fault("physics", "cosine", "a sine in place of the cosine", (("torch.cos(angle)", "torch.sin(angle)"),),
          ("features",), near=("first",)),
    Fault("physics", "detached", "the slope by time is detached",
          (("slope_of(heat, time)  # @by_time", "slope_of(heat, time).detach()  # @by_time"),),
          ("by_time", "backward", "equation"), near=("first", "last", "layers.*")),
    Fault("physics", "bend", "the second slope is by the time", (("slope_of(by_place, place)", "slope_of(by_place, time)"),),
          ("bend", "slope", "equation"), near=("first", "last", "layers.*")),
    Fault("physics", "sign", "the conductivity has the other sign", (("by_time - conductivity", "by_time + conductivity"),),
          ("equation",), near=("last", "layers.*")),
    Fault("physics", "gate", "the gate is turned round",
          (("g * h + (1 - g) * x", "(1 - g) * h + g * x"),), ("mixed",), ("layers.*",), near=("last",)),
    after_start("physics", "slope", "one layer lost its slopes", "model.layers[1].slope.data.zero_()", lines=("tanh",),
                modules=("layers.1",), near=("layers.2", "layers.2.linear", "layers.2.gate")),
    Fault("physics", "weight", "later points count more", (("-time.detach()", "time.detach()"),), ("weight",),
          near=("last",)),
    Fault("physics", "border", "the border counts half", (("inside + 2 * border", "inside + border"),), ("loss",),
          near=("last",)),
    kernel("physics", "kernel", "Functional.linear.3", "tail", lines=("tanh",), modules=("layers.1",)),
    Fault("physics", "largest", "the largest square is not kept", (("amsgrad=True", "amsgrad=False"),), ("step",),
          hidden="DI"),
]
PLAYER = [
    Fault("player", "fresh", "the memory outlives its game", (("state * fresh[moment, :, None]", "state"),),
          ("memory",), ("memory",)),
    Fault("player", "allowed", "moves that are not allowed have the score 0",
          (("masked_fill(~allowed, -1e4)", "masked_fill(~allowed, 0.0)"),), ("allowed", "policy"), near=("policy",)),
    Fault("player", "ahead", "the value ahead counts beyond the end of a game",
          (("value[moment + 1] * fresh[moment + 1]", "value[moment + 1]"),), ("ahead", "error"), hidden="DI"),
    Fault("player", "fade", "errors do not fade", (("0.99 * 0.95 * fresh", "0.99 * fresh"),), ("running",),
          hidden="DI"),
    Fault("player", "better", "the larger of both gains", (("torch.minimum(ratio * gain", "torch.maximum(ratio * gain"),),
          ("better",), near=("policy",)),
    Fault("player", "smaller", "the smaller of both errors of the value",
          (("torch.maximum((value - wanted)", "torch.minimum((value - wanted)"),), ("value_error",), near=("value",)),
    Fault("player", "surprise", "surprise is punished", (("- 0.01 * surprise", "+ 0.01 * surprise"),), ("loss",),
          near=("policy",)),
    Fault("player", "half", "the second half is the first again",
          (("slice(half * GAMES // 2, (half + 1) * GAMES // 2)", "slice(0, GAMES // 2)"),),
          ("batch", "model", "look1", "memory", "allowed", "now"), ("look1",)),
    kernel("player", "kernel", "Functional.silu.4", "tail", lines=("look1",), modules=("look1", "norm")),
    Fault("player", "cleared", "gradients are not cleared", (("optimizer.zero_grad()", "pass"),),
          ("backward", "limited", "step"),
          near=(*UPDATED, "look1", "look2", "norm", "memory", "policy", "value")),
]


def right(net, name, what, changes=(), **more):
    return Fault(net, f"right-{name}", what, changes, **more)


NOISY = "BCDEFIJ"  # a real device computes again what it computed, noise of its own is another
RIGHT = [
    right("wavenet", "sigmoid", "a sigmoid by tanh", (("torch.sigmoid(gate)", "(0.5 * torch.tanh(0.5 * gate) + 0.5)"),
          )),
    right("wavenet", "cat", "padded by joining zeros", (
        ("F.pad(x, (self.dilation * (TAPS - 1), 0))",
         "torch.cat((x.new_zeros(*x.shape[:2], self.dilation * (TAPS - 1)), x), 2)"),)),
    right("wavenet", "renamed", "a class has another name", (("class Block(", "class Layer("), ("(Block(", "(Layer("))),
    right("wavenet", "wide", "other sizes", both=(("= 32, 12, 4, 8,", "= 48, 24, 6, 8,"),)),
    right("actor", "distribution", "the likelihood by torch.distributions",
          (("-0.5 * z.square() - spread - 0.5 * math.log(2 * math.pi)",
            "torch.distributions.Normal(mean, torch.exp(spread)).log_prob(actions)"),)),
    right("actor", "smooth", "the loss by its other name", (("F.huber_loss(", "F.smooth_l1_loss("),)),
    right("actor", "checkpoint", "the policy's activations are computed again", (
        ("self.policy(seen)", "torch.utils.checkpoint.checkpoint(self.policy, seen, use_reentrant=False)"),),
          hidden=NOISY),
    right("actor", "wide", "other sizes", both=(("= 9, 3, 32, 5, 4", "= 9, 3, 48, 6, 6"),)),
    right("swin", "sdpa", "fused attention", (
        ("scores = torch.matmul(q * self.scale, k.transpose(-1, -2)) + bias", "scores = bias"),
        ("weights = torch.softmax(scores, -1)", "scale = self.scale"),
        ("torch.matmul(weights, v)", "F.scaled_dot_product_attention(q, k, v, attn_mask=scores, scale=scale)"))),
    right("swin", "scaled", "scores are scaled after the product",
          (("torch.matmul(q * self.scale, k.transpose(-1, -2))", "torch.matmul(q, k.transpose(-1, -2)) * self.scale"),
          )),
    right("swin", "checkpoint", "the last block's activations are computed again",
          (("self.last(x)", "torch.utils.checkpoint.checkpoint(self.last, x, use_reentrant=False)"),), hidden=NOISY),
    right("swin", "wide", "other sizes", both=(("= 8, 4, 16, 2, 2, 6", "= 8, 4, 32, 4, 3, 6"),)),
    right("mixture", "late", "the softmax is over the chosen experts", (
        ("best, chosen = torch.topk(chances,", "best, chosen = torch.topk(logits,"),
        ("best = best / best.sum(-1, keepdim=True)", "best = F.softmax(best, -1)"))),
    right("mixture", "dense", "every expert runs over all rows, and is 0 where it is not chosen", (
        ("(rows.index_select(0, row))", "(rows)"),
        ("best[row, slot, None]", "(best * (chosen == number)).sum(-1, keepdim=True)"),
        ("total.index_add(0, row, h.to(total.dtype))", "total + h"))),
    right("mixture", "reversed", "experts run in the other order",
          (("in range(EXPERTS):", "in reversed(range(EXPERTS)):"),)),
    right("mixture", "checkpoint", "activations of the blocks are computed again",
          (("block(x, mask)", "torch.utils.checkpoint.checkpoint(block, x, mask, use_reentrant=False)"),),
          hidden=NOISY),
    right("molecule", "unshifted", "the largest score is not subtracted", (("scores - highest[target]", "scores"),)),
    right("molecule", "product", "messages are added by a product", (
        ("sent.new_zeros(len(x), WIDTH).index_add(0, target, sent)  # @collected",
         "F.one_hot(target, len(x)).to(sent.dtype).t() @ sent  # @collected"),)),
    right("molecule", "root", "one root of both degrees",
          (("inverse[source] * inverse[target]", "(degree[source] * degree[target]).rsqrt()"),)),
    right("molecule", "checkpoint", "activations of the layers are computed again",
          (("layer(x, source, target, kind)",
            "torch.utils.checkpoint.checkpoint(layer, x, source, target, kind, use_reentrant=False)"),), hidden=NOISY),
    right("mamba", "silu", "the gate by its parts", (("y * F.silu(gate)", "y * (gate * torch.sigmoid(gate))"),)),
    right("mamba", "einsum", "the state is read by an einsum", (("(state * read[:, now, None]).sum(-1)",
          "torch.einsum('bin,bn->bi', state, read[:, now])"),)),
    right("mamba", "segments", "all states at once, by the sums of what they lose", (
        ("for now in range(TIME):", "for now in range(0):"),
        ("torch.stack(seen, 1)",
         "(lambda sums, same: torch.einsum('btsin,bsin,btn->bti', torch.exp((sums[:, :, None] - sums[:, None])"
         ".masked_fill(~same[..., None, None], float('-inf'))), drive, read))(power.cumsum(1), "
         "((1 - keep).cumsum(1)[:, :, None] == (1 - keep).cumsum(1)[:, None]) & torch.ones(TIME, TIME).tril().bool())"),
        ), hidden=NOISY),  # counts of documents are compared: with noise they are equal no more
    right("mamba", "native", "the norm as one call", (("size = x.pow(2).mean(-1, keepdim=True)", "size = (WIDTH,)"),
          ("x * torch.rsqrt(size + self.eps) * self.weight", "F.rms_norm(x, size, self.weight, self.eps)"))),
    right("mamba", "checkpoint", "activations of the blocks are computed again",
          (("block(x, keep)", "torch.utils.checkpoint.checkpoint(block, x, keep, use_reentrant=False)"),),
          hidden=NOISY),
    right("flow", "product", "channels are mixed by a product", (("F.conv1d(x, self.weight[..., None])",
          "torch.matmul(self.weight, x)"),)),
    right("flow", "logsigmoid", "the logarithm of the sigmoid in one", (
        ("scale = torch.sigmoid(scale + 2.0)", "more = scale + 2.0; scale = torch.sigmoid(more)"),
        ("torch.log(scale).sum((1, 2))", "F.logsigmoid(more).sum((1, 2))"))),
    right("flow", "divided", "divided by the deviation, not multiplied by its inverse", (
        ("(leaves - mean) * torch.exp(-spread)", "(leaves - mean) / torch.exp(spread)"),)),
    right("flow", "rows", "the steps' volumes are added first, then what leaves", (
        ("total = total + likely", "late = likely"),
        ("return total + rest.flatten(1).sum(1)", "return total + (late + rest.flatten(1).sum(1))"))),
    right("flow", "checkpoint", "activations of the steps are computed again",
          (("step(x)  # @step2", "torch.utils.checkpoint.checkpoint(step, x, use_reentrant=False)  # @step2"),),
          hidden=NOISY),
    right("diffusion", "sdpa", "fused attention", (
        ("torch.matmul(q, k.transpose(-1, -2)) * (DEEP // HEADS) ** -0.5", "there"),
        ('scores.masked_fill(~there[:, None, None], float("-inf"))', "scores[:, None, None]"),
        ("torch.softmax(scores, -1)", "scores"),
        ("torch.matmul(weights, v)", "F.scaled_dot_product_attention(q, k, v, attn_mask=weights)"))),
    right("diffusion", "parts", "the norm by its parts", (
        ("F.group_norm(x, self.groups, self.weight, self.bias, self.eps)",
         "(lambda y: ((y - y.mean(2, True)) * torch.rsqrt(y.var(2, False, keepdim=True) + self.eps)).view_as(x))"
         "(x.reshape(len(x), self.groups, -1)) * self.weight[:, None, None] + self.bias[:, None, None]"),)),
    right("diffusion", "inplace", "an activation overwrites what it reads", (("F.silu(h)  # @silu2",
          "F.silu(h, inplace=True)  # @silu2"),)),
    right("diffusion", "einsum", "scores by an einsum", (("torch.matmul(q, k.transpose(-1, -2))",
          "torch.einsum('bhpd,bhwd->bhpw', q, k)"),)),
    right("diffusion", "repeated", "pictures grow by repeated rows and columns", (
        ('F.interpolate(x, scale_factor=2, mode="nearest")', "x.repeat_interleave(2, 2).repeat_interleave(2, 3)"),)),
    right("diffusion", "unfolded", "a convolution as a product of its windows", (
        ("self.down(kept)",
         "(torch.matmul(self.down.weight.flatten(1), F.unfold(kept, 3, padding=1, stride=2))"
         " + self.down.bias[:, None]).unflatten(2, (SIDE // 2, -1))"),)),
    right("diffusion", "fused", "the optimizer as one call", (("weight_decay=0.01)",
          "weight_decay=0.01, fused=True)"),)),
    right("diffusion", "checkpoint", "activations of the attention are computed again", (
        ("self.cross(x, text, there)",
         "torch.utils.checkpoint.checkpoint(self.cross, x, text, there, use_reentrant=False)"),), hidden=NOISY),
    right("transducer", "glu", "the gate by its parts", (("F.glu(h, -1)",
          "h[..., :WIDTH] * torch.sigmoid(h[..., WIDTH:])"),)),
    right("transducer", "cells", "ways are added letter by letter", (
        ("import math", "import itertools; import math"),
        ("torch.logcumsumexp(came - written[:, frame], 1)",
         "torch.stack(list(itertools.accumulate(range(LETTERS), lambda way, last: torch.logaddexp(came[:, last + 1], "
         "way + letter[:, frame, last]), initial=came[:, 0])), 1)"),
        ("way + written[:, frame]", "way"))),
    right("transducer", "taps", "a convolution as a sum over its taps", (
        ("self.depth(h.transpose(1, 2)).transpose(1, 2)",
         "sum(F.pad(h, (0, 0, 1, 1))[:, tap:tap + FRAMES] * self.depth.weight[:, 0, tap] for tap in range(TAPS))"),)),
    right("transducer", "skewed", "distances are found by moving each row, not by an index", (
        ("far.gather(3, apart.expand(BATCH, HEADS, FRAMES, FRAMES))",
         "F.pad(far.flip(3), (1, 0)).flatten(2)[..., FRAMES:].unflatten(2, (FRAMES, -1))[..., :FRAMES]"),)),
    right("transducer", "foreach", "the optimizer updates all parameters at once", (("momentum=0.9)",
          "momentum=0.9, foreach=True)"),)),
    right("transducer", "layout", "the heads lie in the memory one after another", (
        ("x.unflatten(2, (HEADS, -1)).transpose(1, 2)  # @heads",
         "x.reshape(len(x), -1, HEADS, WIDTH // HEADS).permute(0, 2, 1, 3).contiguous()  # @heads"),)),
    right("transducer", "merged", "keys and values by one product", (
        ("k = self.heads(self.key(h))",
         "k, v = F.linear(h, torch.cat((self.key.weight, self.value.weight))).chunk(2, -1); k = self.heads(k)"),
        ("self.heads(self.value(h))", "self.heads(v)"))),
    right("transducer", "checkpoint", "activations of the convolution are computed again", (
        ("self.conv(x, there)", "torch.utils.checkpoint.checkpoint(self.conv, x, there, use_reentrant=False)"),),
          hidden=NOISY),
    right("latent", "absorbed", "heads ask what is kept, no key is made", (
        ("k, v = both.split((PLAIN, PLAIN), -1)",
         "v = both[..., PLAIN:]; keys = self.up.weight.unflatten(0, (HEADS, 2, PLAIN))[:, 0]"),
        ("torch.matmul(q, k.transpose(-1, -2))",
         "torch.matmul(torch.matmul(q, keys), few[:, None].transpose(-1, -2))"))),
    right("latent", "sdpa", "fused attention", (
        ("scores = torch.matmul(q, k.transpose(-1, -2))", "q = torch.cat((q, asked), -1)"),
        ("scores = scores + torch.matmul(asked, told[:, None].transpose(-1, -2))",
         "k = torch.cat((k, told[:, None].expand(-1, HEADS, -1, -1)), -1)"),
        ("scores = scores * (PLAIN + TURNED) ** -0.5", "scores = ~mask"),
        ("scores = scores.masked_fill(mask, float(\"-inf\"))", "pass"),
        ("weights = torch.softmax(scores, -1)", "pass"),
        ("torch.matmul(weights, v)", "F.scaled_dot_product_attention(q, k, v, attn_mask=scores)"))),
    right("latent", "native", "the norm as one call", (
        ("size = x.float().pow(2).mean(-1, keepdim=True)", "size = self.weight.shape"),
        ("(x * torch.rsqrt(size + self.eps)).to(x.dtype) * self.weight", "F.rms_norm(x, size, self.weight, self.eps)"))),
    right("latent", "halves", "a number turns as a sum of two products", (
        ("torch.cat((left * cos - right * sin, left * sin + right * cos), -1)",
         "x * torch.cat((cos, cos), -1) + torch.cat((-right, left), -1) * torch.cat((sin, sin), -1)"),)),
    right("latent", "merged", "gate and value by one product", (
        ("gate = F.silu(self.gate(x))",
         "gate, up = F.linear(x, torch.cat((self.gate.weight, self.up.weight))).chunk(2, -1); gate = F.silu(gate)"),
        ("gate * self.up(x)", "gate * up"))),
    right("latent", "scattered", "every expert has a weight for every word", (
        ("best = best / best.sum(-1, keepdim=True)",
         "best = torch.zeros_like(chances).scatter(1, chosen, best / best.sum(-1, keepdim=True))"),
        ("best[row, slot]", "best[row, number]"))),
    right("latent", "shared", "the expert for all words is asked first", (
        ("total = torch.zeros_like(rows)", "total = self.shared(rows)"),
        ("total = total + self.shared(rows)", "pass"))),
    right("latent", "likelihood", "the entropy by its parts", (
        ("F.cross_entropy(near.flatten(0, 1), tokens[:, 1:-1].flatten())",
         "F.nll_loss(F.log_softmax(near.flatten(0, 1), -1), tokens[:, 1:-1].flatten())"),)),
    right("latent", "checkpoint", "activations of the attention are computed again", (
        ("self.attn(self.norm1(x), cos, sin, mask)",
         "torch.utils.checkpoint.checkpoint(self.attn, self.norm1(x), cos, sin, mask, use_reentrant=False)"),),
          hidden=NOISY),
    right("segment", "einsum", "what is covered by an einsum", (("(chances * there).sum(SPACE)",
          "torch.einsum('bcxyz,bcxyz->bc', chances, there)"),)),
    right("segment", "group", "a norm of each picture as one of groups", (
        ("self.norm1(self.conv1(x))",
         "F.group_norm(self.conv1(x), len(self.norm1.weight), self.norm1.weight, self.norm1.bias)"),)),
    right("segment", "shuffled", "a growing convolution as a product, its cells put in order", (
        ("self.grow(x)",
         "torch.einsum('bcxyz,coijk->boxiyjzk', x, self.grow.weight).flatten(6, 7).flatten(4, 5).flatten(2, 3)"
         " + self.grow.bias[:, None, None, None]"),)),
    right("segment", "joined", "the gate's two convolutions as one", (
        ("self.kept(kept) + self.seen(seen)",
         "F.conv3d(torch.cat((kept, seen), 1), torch.cat((self.kept.weight, self.seen.weight), 1), self.kept.bias)"),)),
    right("segment", "maximum", "an activation as the larger of two", (("F.leaky_relu(x, self.slope)  # @relu1",
          "torch.maximum(x, self.slope * x)  # @relu1"),)),
    right("segment", "likelihood", "the entropy by its parts", (("F.cross_entropy(coarse, organs, weight)",
          "F.nll_loss(F.log_softmax(coarse, 1), organs, weight)"),)),
    right("segment", "layout", "maps lie in the memory cell by cell", (("model = run.cast(Net())",
          "model = run.cast(Net()).to(memory_format=torch.channels_last_3d)"),)),
    right("segment", "parts", "each loss is divided, not their sum", (
        ("missed(fine, organs) + entropy + 0.4 * rough",
         "missed(fine, organs) / PARTS + entropy / PARTS + 0.4 / PARTS * rough"), ("loss = loss / PARTS", "pass"))),
    right("segment", "foreach", "the optimizer updates all parameters at once", (("momentum=0.9)",
          "momentum=0.9, foreach=True)"),)),
    right("segment", "checkpoint", "activations of the bottom are computed again", (
        ("self.bottom(F.avg_pool3d(second, 2))",
         "torch.utils.checkpoint.checkpoint(self.bottom, F.avg_pool3d(second, 2), use_reentrant=False)"),),
          hidden=NOISY),
    right("masked", "sdpa", "fused attention", (
        (" / (WIDTH // HEADS) ** 0.5", ""), ("scores = q @ k.transpose(-2, -1)", "pass"),
        ("scores = scores + near", "bias = near.masked_fill(~there, -1e4)"),
        ("scores = scores.masked_fill(~there, -1e4)", "pass"), ("weights = F.softmax(scores, dim=-1)", "pass"),
        ("(weights @ v)", "F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))"))),
    right("masked", "merged", "queries, keys and values by one product", (
        ("q = self.heads(self.query(x))",
         "q, k, v = F.linear(x, torch.cat((self.query.weight, self.key.weight, self.value.weight)), torch.cat(("
         "self.query.bias, self.key.bias, self.value.bias))).chunk(3, -1); q = self.heads(q)"),
        ("self.heads(self.key(x))", "self.heads(k)"), ("self.heads(self.value(x))", "self.heads(v)"))),
    right("masked", "once", "words and kinds from one table", (
        ("self.word(tokens) + self.kind(kinds)",
         "F.embedding(torch.stack((tokens, kinds + VOCABULARY), -1), torch.cat((self.word.weight, "
         "self.kind.weight))).sum(2)"),)),
    right("masked", "first", "the head reads all words, the places are chosen after it", (
        ("h = x.gather(1, places[:, :, None].expand(-1, -1, WIDTH))", "h = x"),
        ("guess = h @ self.words.word.weight.t() + self.bias",
         "guess = (h @ self.words.word.weight.t() + self.bias).gather(1, "
         "places[:, :, None].expand(-1, -1, VOCABULARY))"))),
    right("masked", "einsum", "products by einsum", (
        ("q @ k.transpose(-2, -1)", "torch.einsum('bhid,bhjd->bhij', q, k)"),
        ("(weights @ v).transpose(1, 2)", "torch.einsum('bhij,bhjd->bihd', weights, v)"))),
    right("masked", "smoothed", "the smoothing by hand", (
        ("F.cross_entropy(answer, follows, label_smoothing=0.1)",
         "-(F.log_softmax(answer, -1) * (0.9 * F.one_hot(follows, 2) + 0.05)).sum(-1).mean()"),)),
    right("masked", "foreach", "the optimizer updates all parameters at once", (
        ("decoupled_weight_decay=True)", "decoupled_weight_decay=True, foreach=True)"),)),
    right("masked", "checkpoint", "activations of the blocks are computed again", (
        ("block(x, near, there)", "torch.utils.checkpoint.checkpoint(block, x, near, there, use_reentrant=False)"),),
          hidden=NOISY),
    right("matcher", "lengths", "brought to length one by the norm", (
        ("F.normalize(self.joint(x), dim=-1)  # @sentence",
         "F.linear(x, self.joint.weight) / F.linear(x, self.joint.weight).norm(dim=-1, keepdim=True)  # @sentence"),)),
    right("matcher", "groups", "two convolutions, joined, instead of groups", (
        ("self.norm2(self.conv2(h))",
         "self.norm2(torch.cat([F.conv2d(part, weight, None, 1, 1) for part, weight in zip(h.chunk(2, 1), "
         "self.conv2.weight.chunk(2))], 1))"),)),
    right("matcher", "pointwise", "the weights of channels by convolutions", (
        ("mean = h.mean((2, 3))", "mean = F.adaptive_avg_pool2d(h, 1)"),
        ("self.large(F.relu(self.small(mean)))",
         "F.conv2d(F.relu(F.conv2d(mean, self.small.weight[..., None, None], self.small.bias)), "
         "self.large.weight[..., None, None], self.large.bias)"),
        ("weight[:, :, None, None]", "weight"))),
    right("matcher", "hard", "an activation by its parts", (
        ("F.hardswish(h + self.short(x))", "(h + self.short(x)) * F.relu6(h + self.short(x) + 3) / 6"),)),
    right("matcher", "product", "scores as a product", (
        ("(k * self.asked).sum(-1)", "torch.einsum('bthd,hd->bth', k, self.asked)"),)),
    right("matcher", "filled", "words beyond the end are given no weight afterwards", (
        ("scores = scores.masked_fill(beyond[:, :, None], float(\"-inf\"))", "there = ~beyond[:, :, None]"),
        ("torch.softmax(scores, 1)",
         "(torch.exp(scores - scores.amax(1, True)) * there) / (torch.exp(scores - "
         "scores.amax(1, True)) * there).sum(1, True)"))),
    right("matcher", "inside", "the factor goes into the pictures", (
        ("factor * (p @ s.t())", "(factor * p) @ s.t()"),)),
    right("matcher", "foreach", "the optimizer updates all parameters at once", (
        ("weight_decay=1e-3)", "weight_decay=1e-3, foreach=True)"),)),
    right("matcher", "checkpoint", "activations of the sentences are computed again", (
        ("self.sentence(tokens, lengths)",
         "torch.utils.checkpoint.checkpoint(self.sentence, tokens, lengths, use_reentrant=False)"),),
          hidden=NOISY),
    right("forger", "leaky", "an activation as a maximum",
          (("F.leaky_relu(x, 0.2)  # @leaky", "torch.maximum(x, 0.2 * x)  # @leaky"),)),
    right("forger", "repeated", "places are repeated instead of interpolated",
          (("x = F.interpolate(x, scale_factor=2.0)", "x = x.repeat_interleave(2, 2).repeat_interleave(2, 3)"),)),
    right("forger", "parts", "the norm by its parts", (
        ("F.instance_norm(x)", "(x - x.mean((2, 3), True)) * torch.rsqrt(x.var((2, 3), False, keepdim=True) + 1e-5)"),)),
    right("forger", "clamp", "the hinge by another function",
          (("F.relu(1 - real).mean() + F.relu(1 + false).mean()",
            "torch.clamp(1 - real, min=0).mean() + torch.clamp(1 + false, min=0).mean()"),)),
    right("forger", "einsum", "the label by an einsum",
          (("(self.label(labels) * x).sum(-1) / CHANNELS",
            "torch.einsum('bc,bc->b', self.label(labels), x) / CHANNELS"),)),
    right("forger", "before", "pooled before the convolution of one place",
          (("F.avg_pool2d(self.short(x), 2)", "self.short(F.avg_pool2d(x, 2))"),)),
    right("forger", "two", "scales and shifts by a product each", (
        ("scale, shift = self.style(style).chunk(2, -1)",
         "scale, shift = [F.linear(style, w, b) for w, b in zip(self.style.weight.chunk(2), self.style.bias.chunk(2))]"),
    )),
    right("forger", "foreach", "the optimizer updates all parameters at once",
          (("generator.parameters(), lr=2e-3, betas=(0.0, 0.99)",
            "generator.parameters(), lr=2e-3, betas=(0.0, 0.99), foreach=True"),)),
    right("forger", "checkpoint", "activations of a block are computed again",
          (("self.high(x, style, grain)",
            "torch.utils.checkpoint.checkpoint(self.high, x, style, grain, use_reentrant=False)"),), hidden=NOISY),
    right("physics", "product", "a square as a product", (("left.square()", "left * left"),)),
    right("physics", "shifted", "a cosine as a shifted sine",
          (("torch.cos(angle)", "torch.sin(angle + math.pi / 2)"),)),
    right("physics", "lerp", "both mixed by one function", (("g * h + (1 - g) * x", "torch.lerp(x, h, g)"),)),
    right("physics", "waves", "a product of two numbers by its parts",
          (("torch.cat((place, time), -1) @ self.waves", "place * self.waves[0] + time * self.waves[1]"),)),
    right("physics", "ones", "a gradient of ones instead of a sum",
          (("heat.sum(), by, create_graph", "heat, by, torch.ones_like(heat), create_graph"),)),
    right("physics", "mean", "a loss by its parts",
          (("F.mse_loss(model(begin, torch.zeros_like(begin)), torch.sin(math.pi * begin))",
            "(model(begin, torch.zeros_like(begin)) - torch.sin(math.pi * begin)).square().mean()"),)),
    right("physics", "log", "a softmax by its logarithm",
          (("torch.softmax(-time.detach(), 0)", "torch.exp(torch.log_softmax(-time.detach(), 0))"),)),
    right("physics", "dot", "a weighted sum as a product",
          (("(weight * left.square()).sum()", "(weight.t() @ left.square()).squeeze()"),)),
    right("physics", "foreach", "the optimizer updates all parameters at once",
          (("amsgrad=True)", "amsgrad=True, foreach=True)"),)),
    right("player", "silu", "an activation by its parts",
          (("F.silu(self.look2(x))", "self.look2(x) * torch.sigmoid(self.look2(x))"),)),
    right("player", "chosen", "chosen by a product", (
        ('logits.gather(-1, batch["move"][..., None]).squeeze(-1)',
         '(logits * F.one_hot(batch["move"], MOVES)).sum(-1)'),)),
    right("player", "divided", "a ratio of two chances",
          (('torch.exp(now - batch["old"])', 'torch.exp(now) / torch.exp(batch["old"])'),)),
    right("player", "within", "limits by two functions", (
        ("ratio.clamp(1 - clip, 1 + clip)",
         "torch.minimum(ratio.new_full((), 1 + clip), torch.maximum(ratio.new_full((), 1 - clip), ratio))"),)),
    right("player", "root", "a deviation as a root",
          (("(gain.std() + 1e-6)  # @normalised", "(gain.var().sqrt() + 1e-6)  # @normalised"),)),
    right("player", "joined", "both heads by one product", (
        ("logits = self.policy(states).masked_fill",
         "both = F.linear(states, torch.cat((self.policy.weight, self.value.weight)), "
         "torch.cat((self.policy.bias, self.value.bias))); logits = both[..., :MOVES].masked_fill"),
        ("self.value(states).squeeze(-1)", "both[..., MOVES]"))),
    right("player", "addcmul", "errors run together in one function",
          (("error + 0.99 * 0.95 * fresh[moment + 1] * running",
            "torch.addcmul(error, fresh[moment + 1], running, value=0.99 * 0.95)"),)),
    right("player", "foreach", "the optimizer updates all parameters at once",
          (("momentum=0.5)", "momentum=0.5, foreach=True)"),)),
    right("player", "checkpoint", "activations are computed again", (
        ('model(batch["seen"], batch["allowed"], batch["fresh"])',
         'torch.utils.checkpoint.checkpoint(model, batch["seen"], batch["allowed"], batch["fresh"], use_reentrant=False)'),
    ), hidden=NOISY),
]
KINDS = ("wavenet", "actor", "swin", "mixture", "molecule", "mamba", "flow", "diffusion", "transducer", "latent",
         "segment", "masked", "matcher", "forger", "physics", "player")
HELD = ("matcher",)
ALL = (DECODER + TRANSLATOR + CONVOLUTION + RECURRENT + WAVENET + ACTOR + SWIN + MIXTURE + MOLECULE + MAMBA + FLOW
       + DIFFUSION + TRANSDUCER + LATENT + SEGMENT + MASKED + MATCHER + FORGER + PHYSICS + PLAYER
       + RIGHT)
NETS = ("decoder", "translator", "convolution", "recurrent", *KINDS)

# Of every net, in every form: nothing but the noise. More of them in these forms.
CLEAN = {"noise": "ABCDEFGHIJ", "noise2": "BCDEFIJ", "threads": "BDF"}


def forms_of(net):
    if net == "segment":
        return "ABDFGJ"  # the CPU has no pooling in three dimensions in bfloat16
    return "ABDEFGJ" if net in KINDS else "ABCDEFGHI"


def pairs_of(net, form):
    """Those with a change, then those with noise alone."""
    return [fault for fault in ALL if fault.net == net and form in forms_of(net) and form not in fault.hidden] + [
        Fault(net, f"clean-{kind}", "", ()) for kind, forms in CLEAN.items() if form in forms and form in forms_of(net)]


def is_held(fault):
    """Of the older nets every second fault, and every second net's clean pairs."""
    if fault.net in KINDS:
        return fault.net in HELD
    return (ALL.index(fault) if fault in ALL else NETS.index(fault.net)) % 2 == 1
