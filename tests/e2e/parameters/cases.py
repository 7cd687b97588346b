"""Pairs of small checkpoints whose truth is known: which parameter of one is which of the other.

The names and layouts are those of public models and of the converters between them; the values are random. Half of the
cases are for fitting the rules, the other half shows what they are worth.
"""
import numpy as np

HIDDEN, LAYERS, HEADS, GROUPS, FFN, VOCAB = 64, 3, 8, 2, 176, 320
HEAD = HIDDEN // HEADS


class Case:
    """a, b: parameters by name. truth: what a row says of a pair of names; alone: of a name without partner."""

    def __init__(self):
        self.a, self.b = {}, {}
        self.truth = {}   # (name in a, name in b): verdict, or several words that the row must show
        self.alone = {}   # ("a" or "b", name): verdict
        self.files_a = self.files_b = 1
        self.dtype_a = self.dtype_b = "F32"
        self.form_b = "safetensors"

    def put(self, name_a, value, name_b, value_b=None, says="same"):
        self.a[name_a] = value
        self.b[name_b] = value if value_b is None else value_b
        self.truth[name_a, name_b] = says

    def only(self, side, name, value, says="unmatched"):
        (self.a if side == "a" else self.b)[name] = value
        self.alone[side, name] = says

    def swapped(self):
        """The same with candidate and reference exchanged."""
        other = Case()
        other.a, other.b = self.b, self.a
        other.truth = {(b, a): says for (a, b), says in self.truth.items()}
        other.alone = {("b" if side == "a" else "a", name): says for (side, name), says in self.alone.items()}
        other.files_a, other.files_b = self.files_b, self.files_a
        other.dtype_a, other.dtype_b = self.dtype_b, self.dtype_a
        return other


class Random:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.common = {}

    def weight(self, *shape):
        return (self.rng.standard_normal(shape) * 0.02).astype(np.float32)

    def gamma(self, count=HIDDEN):
        """Scales of layers are alike: a common part, and a smaller one of each layer."""
        common = self.common.setdefault(count, 1 + 0.3 * self.rng.standard_normal(count))
        return (common + 0.05 * self.rng.standard_normal(count)).astype(np.float32)

    def bias(self, count=HIDDEN):
        return (0.05 * self.rng.standard_normal(count)).astype(np.float32)


def near(value, rng, part=0.02):
    """The value after some steps of training."""
    return (value + part * value.std() * rng.standard_normal(value.shape)).astype(np.float32)


def grouped(q, k, v, groups):
    """Megatron's order: of each group its queries, then its key, then its value."""
    parts = [np.split(one, groups) for one in (q, k, v)]
    return np.concatenate([np.concatenate(group) for group in zip(*parts)])


def pairs_to_halves(weight, heads):
    """Rotary position embedding: neighbouring rows turn together in Meta's files, halves of a head in Hugging Face's."""
    rows = weight.shape[0] // heads
    rest = weight.shape[1:]
    return weight.reshape(heads, rows // 2, 2, *rest).swapaxes(1, 2).reshape(weight.shape)


def llama(random, layers=LAYERS, kv=GROUPS, bias=False):
    """A decoder with the names of Hugging Face."""
    values = {"model.embed_tokens.weight": random.weight(VOCAB, HIDDEN)}
    for i in range(layers):
        at = f"model.layers.{i}."
        for name, rows in (("q", HEADS * HEAD), ("k", kv * HEAD), ("v", kv * HEAD)):
            values[f"{at}self_attn.{name}_proj.weight"] = random.weight(rows, HIDDEN)
            if bias:
                values[f"{at}self_attn.{name}_proj.bias"] = random.bias(rows)
        values[f"{at}self_attn.o_proj.weight"] = random.weight(HIDDEN, HIDDEN)
        values[f"{at}mlp.gate_proj.weight"] = random.weight(FFN, HIDDEN)
        values[f"{at}mlp.up_proj.weight"] = random.weight(FFN, HIDDEN)
        values[f"{at}mlp.down_proj.weight"] = random.weight(HIDDEN, FFN)
        values[f"{at}input_layernorm.weight"] = random.gamma()
        values[f"{at}post_attention_layernorm.weight"] = random.gamma()
    values["model.norm.weight"] = random.gamma()
    values["lm_head.weight"] = random.weight(VOCAB, HIDDEN)
    return values


MINDFORMERS = (("model.embed_tokens.weight", "model.tok_embeddings.embedding_weight"),
               (".self_attn.q_proj.", ".attention.wq."), (".self_attn.k_proj.", ".attention.wk."),
               (".self_attn.v_proj.", ".attention.wv."), (".self_attn.o_proj.", ".attention.wo."),
               (".mlp.gate_proj.", ".feed_forward.w1."), (".mlp.down_proj.", ".feed_forward.w2."),
               (".mlp.up_proj.", ".feed_forward.w3."), (".input_layernorm.", ".attention_norm."),
               (".post_attention_layernorm.", ".ffn_norm."), ("model.norm.", "model.norm_out."))
META = (("model.embed_tokens.", "tok_embeddings."), ("lm_head.", "output."), ("model.layers.", "layers."),
        ("model.norm.", "norm."), *MINDFORMERS[1:-1])
MCORE = (("model.embed_tokens.", "embedding.word_embeddings."), ("lm_head.", "output_layer."),
         ("model.layers.", "decoder.layers."), ("model.norm.", "decoder.final_layernorm."),
         (".self_attn.o_proj.", ".self_attention.linear_proj."), (".mlp.down_proj.", ".mlp.linear_fc2."),
         (".input_layernorm.weight", ".self_attention.linear_qkv.layer_norm_weight"),
         (".post_attention_layernorm.weight", ".mlp.linear_fc1.layer_norm_weight"))


def renamed(name, rules):
    for old, new in rules:
        name = name.replace(old, new)
    return name


def rename_all(values, rules, change=lambda name, value: value, says=lambda name: "same", but=()):
    case = Case()
    for name, value in values.items():
        if not any(part in name for part in but):
            case.put(name, value, renamed(name, rules), change(name, value), says(name))
    return case


def concatenated(case, values, names, whole, joined):
    for name in names:
        case.a[name] = values[name]
        case.truth[name, whole] = "same part"
    case.b[whole] = joined


# ---- for fitting


def hf_mindformers():
    return rename_all(llama(Random(1)), MINDFORMERS)


def hf_mindformers_concat():
    values = llama(Random(2), kv=HEADS)
    case = rename_all(values, MINDFORMERS, but=("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj"))
    for i in range(LAYERS):
        at = f"model.layers.{i}."
        qkv = [f"{at}self_attn.{one}_proj.weight" for one in "qkv"]
        concatenated(case, values, qkv, f"{at}attention.w_qkv.weight", np.concatenate([values[one] for one in qkv]))
        gate = [f"{at}mlp.{one}_proj.weight" for one in ("gate", "up")]
        concatenated(case, values, gate, f"{at}feed_forward.w_gate_hidden.weight",
                     np.concatenate([values[one] for one in gate]))
    return case


def hf_meta():
    def change(name, value):
        if "q_proj" in name or "k_proj" in name:
            return pairs_to_halves_inverse(value, value.shape[0] // HEAD)
        return value
    return rename_all(llama(Random(3)), META, change,
                      lambda name: "same rotary" if "q_proj" in name or "k_proj" in name else "same")


def pairs_to_halves_inverse(weight, heads):
    rows = weight.shape[0] // heads
    return weight.reshape(heads, 2, rows // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def gpt2_megatron():
    """Hugging Face keeps these transposed; Megatron joins per head, pads the vocabulary and ties the output."""
    random, case = Random(4), Case()
    embedding = random.weight(VOCAB, HIDDEN)
    padded = np.concatenate([embedding, np.zeros((64, HIDDEN), np.float32)])
    at_b = "language_model.embedding."
    case.put("transformer.wte.weight", embedding, f"{at_b}word_embeddings.weight", padded, "shape more rows")
    case.put("transformer.wpe.weight", random.weight(128, HIDDEN), f"{at_b}position_embeddings.weight")
    for i in range(LAYERS):
        a, b = f"transformer.h.{i}.", f"language_model.encoder.layers.{i}."
        for one, other in (("ln_1", "input_layernorm"), ("ln_2", "post_attention_layernorm")):
            case.put(f"{a}{one}.weight", random.gamma(), f"{b}{other}.weight")
            case.put(f"{a}{one}.bias", random.bias(), f"{b}{other}.bias")
        qkv, bias = random.weight(3 * HIDDEN, HIDDEN), random.bias(3 * HIDDEN)
        mixed = [grouped(*np.split(one, 3), HEADS) for one in (qkv, bias)]
        case.put(f"{a}attn.c_attn.weight", qkv.T.copy(), f"{b}self_attention.query_key_value.weight", mixed[0],
                 "differ|same")
        case.put(f"{a}attn.c_attn.bias", bias, f"{b}self_attention.query_key_value.bias", mixed[1], "differ|same")
        for one, other, shape in (("attn.c_proj", "self_attention.dense", (HIDDEN, HIDDEN)),
                                  ("mlp.c_fc", "mlp.dense_h_to_4h", (FFN, HIDDEN)),
                                  ("mlp.c_proj", "mlp.dense_4h_to_h", (HIDDEN, FFN))):
            weight = random.weight(*shape)
            case.put(f"{a}{one}.weight", weight.T.copy(), f"{b}{other}.weight", weight, "same transposed")
            case.put(f"{a}{one}.bias", random.bias(shape[0]), f"{b}{other}.bias")
    case.put("transformer.ln_f.weight", random.gamma(), "language_model.encoder.final_layernorm.weight")
    case.put("transformer.ln_f.bias", random.bias(), "language_model.encoder.final_layernorm.bias")
    case.only("a", "lm_head.weight", embedding, "skipped tied")
    return case


def bert_values(random, constant=False):
    values = {}
    for name, rows in (("word", VOCAB), ("position", 128), ("token_type", 2)):
        values[f"bert.embeddings.{name}_embeddings.weight"] = random.weight(rows, HIDDEN)

    def norm(at):
        values[f"{at}.weight"] = np.ones(HIDDEN, np.float32) if constant else random.gamma()
        values[f"{at}.bias"] = np.zeros(HIDDEN, np.float32) if constant else random.bias()

    norm("bert.embeddings.LayerNorm")
    for i in range(LAYERS):
        at = f"bert.encoder.layer.{i}."
        for name, shape in (("attention.self.query", (HIDDEN, HIDDEN)), ("attention.self.key", (HIDDEN, HIDDEN)),
                            ("attention.self.value", (HIDDEN, HIDDEN)), ("attention.output.dense", (HIDDEN, HIDDEN)),
                            ("intermediate.dense", (FFN, HIDDEN)), ("output.dense", (HIDDEN, FFN))):
            values[f"{at}{name}.weight"] = random.weight(*shape)
            values[f"{at}{name}.bias"] = np.zeros(shape[0], np.float32) if constant else random.bias(shape[0])
        norm(f"{at}attention.output.LayerNorm")
        norm(f"{at}output.LayerNorm")
    values["bert.pooler.dense.weight"] = random.weight(HIDDEN, HIDDEN)
    values["bert.pooler.dense.bias"] = random.bias()
    return values


BERT_MINDSPORE = (("bert.embeddings.word_embeddings.weight", "bert.bert_embedding_lookup.embedding_table"),
                  ("bert.embeddings.token_type_embeddings.weight",
                   "bert.bert_embedding_postprocessor.token_type_embedding.embedding_table"),
                  ("bert.embeddings.position_embeddings.weight",
                   "bert.bert_embedding_postprocessor.full_position_embedding.embedding_table"),
                  ("bert.embeddings.LayerNorm.", "bert.bert_embedding_postprocessor.layernorm."),
                  ("bert.encoder.layer.", "bert.bert_encoder.layers."), ("bert.pooler.dense.", "bert.dense."),
                  ("attention.self.query", "attention.attention.query_layer"),
                  ("attention.self.key", "attention.attention.key_layer"),
                  ("attention.self.value", "attention.attention.value_layer"),
                  ("attention.output.LayerNorm", "attention.output.layernorm"),
                  ("output.LayerNorm", "output.layernorm"), ("layernorm.weight", "layernorm.gamma"),
                  ("layernorm.bias", "layernorm.beta"))


def bert_mindspore():
    return rename_all(bert_values(Random(5)), BERT_MINDSPORE)


def resnet_values(random):
    values = {"conv1.weight": random.weight(16, 3, 7, 7)}

    def norm(at, count):
        values[f"{at}.weight"] = random.gamma(count)
        values[f"{at}.bias"] = random.bias(count)
        values[f"{at}.running_mean"] = random.bias(count)
        values[f"{at}.running_var"] = np.abs(random.gamma(count))

    norm("bn1", 16)
    for stage, (inner, outer) in enumerate(((16, 32), (32, 64)), 1):
        for block in range(2):
            at = f"layer{stage}.{block}."
            first = (16, 32)[stage - 1] if block == 0 else outer
            values[f"{at}conv1.weight"] = random.weight(inner, first, 1, 1)
            norm(f"{at}bn1", inner)
            values[f"{at}conv2.weight"] = random.weight(inner, inner, 3, 3)
            norm(f"{at}bn2", inner)
            values[f"{at}conv3.weight"] = random.weight(outer, inner, 1, 1)
            norm(f"{at}bn3", outer)
            if block == 0:
                values[f"{at}downsample.0.weight"] = random.weight(outer, first, 1, 1)
                norm(f"{at}downsample.1", outer)
    values["fc.weight"] = random.weight(10, 64)
    values["fc.bias"] = random.bias(10)
    return values


def resnet_mindspore():
    def rule(name):
        name = name.replace("downsample.", "down_sample_layer.")
        if ".running_" in name:
            return name.replace("running_mean", "moving_mean").replace("running_var", "moving_variance")
        if "bn" in name or "layer.1." in name:
            return name.replace("weight", "gamma").replace("bias", "beta")
        return name.replace("fc.", "end_point.")
    case = Case()
    for name, value in resnet_values(Random(6)).items():
        case.put(name, value, rule(name))
    case.form_b = "ckpt"
    return case


def resharded():
    values = llama(Random(7))
    changed = "model.layers.1.mlp.up_proj.weight"
    case = rename_all(values, (), lambda name, value: value + 1 if name == changed else value,
                      lambda name: "differ" if name == changed else "same")
    case.files_a, case.files_b = 2, 3
    return case


def fine_tuned():
    rng = np.random.default_rng(80)
    return rename_all(llama(Random(8)), MINDFORMERS, lambda _, value: near(value, rng), lambda _: "differ|close")


def half_precision():
    case = rename_all(llama(Random(9)), MINDFORMERS, says=lambda _: "close")
    case.dtype_b = "BF16"
    return case


def wrapped():
    """Unlike values, as of two seeds: only the names tell."""
    other = llama(Random(110))
    return rename_all(llama(Random(11)), (("model.", "module.network.backbone."), ("lm_head", "module.network.lm_head")),
                      lambda name, _: other[name], lambda _: "differ")


def untied():
    """The reference ties its output to its embedding; the candidate has an output of its own, which is trained."""
    values = llama(Random(12))
    case = rename_all(values, (), but=("lm_head",))
    case.only("a", "lm_head.weight", values["lm_head.weight"])
    return case


def fresh_constants():
    """Nothing is trained: scales are 1 and biases 0."""
    return rename_all(bert_values(Random(13), constant=True), BERT_MINDSPORE)


# ---- held out


def hf_megatron_core(change_key=False):
    random = Random(31)
    values = llama(random)
    case = rename_all(values, MCORE, but=("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj"))
    for i in range(LAYERS):
        a, b = f"model.layers.{i}.", f"decoder.layers.{i}."
        qkv = [f"{a}self_attn.{one}_proj.weight" for one in "qkv"]
        joined = [values[one] for one in qkv]
        if change_key and i == 1:
            joined[1] = joined[1].copy()
            joined[1][:, 5] += 1
        concatenated(case, values, qkv, f"{b}self_attention.linear_qkv.weight", grouped(*joined, GROUPS))
        if change_key and i == 1:
            case.truth[qkv[1], f"{b}self_attention.linear_qkv.weight"] = "differ part"
        gate = [f"{a}mlp.{one}_proj.weight" for one in ("gate", "up")]
        concatenated(case, values, gate, f"{b}mlp.linear_fc1.weight", np.concatenate([values[one] for one in gate]))
    return case


def hf_megatron_core_wrong_key():
    return hf_megatron_core(True)


def megatron_core_hf():
    return hf_megatron_core().swapped()


def qwen_mindformers_biases():
    values = llama(Random(32), kv=HEADS, bias=True)
    for name in values:
        if name.endswith("k_proj.bias"):
            values[name][:] = 0
    case = rename_all(values, MINDFORMERS, but=("q_proj", "k_proj", "v_proj"))
    for i in range(LAYERS):
        for kind in ("weight", "bias"):
            qkv = [f"model.layers.{i}.self_attn.{one}_proj.{kind}" for one in "qkv"]
            concatenated(case, values, qkv, f"model.layers.{i}.attention.w_qkv.{kind}",
                         np.concatenate([values[one] for one in qkv]))
    return case


def mixtral_megatron():
    random, case = Random(33), Case()
    for i in range(LAYERS):
        a, b = f"model.layers.{i}.block_sparse_moe.", f"decoder.layers.{i}.mlp."
        case.put(f"{a}gate.weight", random.weight(4, HIDDEN), f"{b}router.weight")
        for j in range(4):
            expert, local = f"{a}experts.{j}.", f"{b}experts.local_experts.{j}."
            w1, w2, w3 = random.weight(FFN, HIDDEN), random.weight(HIDDEN, FFN), random.weight(FFN, HIDDEN)
            case.put(f"{expert}w2.weight", w2, f"{local}linear_fc2.weight")
            case.a[f"{expert}w1.weight"], case.a[f"{expert}w3.weight"] = w1, w3
            case.b[f"{local}linear_fc1.weight"] = np.concatenate([w1, w3])
            for one in ("w1", "w3"):
                case.truth[f"{expert}{one}.weight", f"{local}linear_fc1.weight"] = "same part"
    return case


def stacked_experts():
    random, case = Random(34), Case()
    for i in range(LAYERS):
        a, b = f"model.layers.{i}.mlp.", f"model.layers.{i}.feed_forward."
        case.put(f"{a}gate.weight", random.weight(6, HIDDEN), f"{b}routed_experts.router.dense.weight")
        for one, other, shape in (("gate_proj", "w1", (FFN, HIDDEN)), ("up_proj", "w3", (FFN, HIDDEN)),
                                  ("down_proj", "w2", (HIDDEN, FFN))):
            experts = [random.weight(*shape) for _ in range(6)]
            for j, value in enumerate(experts):
                case.a[f"{a}experts.{j}.{one}.weight"] = value
                case.truth[f"{a}experts.{j}.{one}.weight", f"{b}routed_experts.ffn.{other}.weight"] = "same part"
            case.b[f"{b}routed_experts.ffn.{other}.weight"] = np.stack([value.T for value in experts])
    return case


def vit_timm():
    random, case = Random(35), Case()
    case.put("vit.embeddings.cls_token", random.weight(1, 1, HIDDEN), "cls_token")
    case.put("vit.embeddings.position_embeddings", random.weight(1, 17, HIDDEN), "pos_embed")
    case.put("vit.embeddings.patch_embeddings.projection.weight", random.weight(HIDDEN, 3, 4, 4),
             "patch_embed.proj.weight")
    case.put("vit.embeddings.patch_embeddings.projection.bias", random.bias(), "patch_embed.proj.bias")
    for i in range(LAYERS):
        a, b = f"vit.encoder.layer.{i}.", f"blocks.{i}."
        for kind in ("weight", "bias"):
            parts = [random.weight(HIDDEN, HIDDEN) if kind == "weight" else random.bias() for _ in range(3)]
            for one, value in zip(("query", "key", "value"), parts):
                case.a[f"{a}attention.attention.{one}.{kind}"] = value
                case.truth[f"{a}attention.attention.{one}.{kind}", f"{b}attn.qkv.{kind}"] = "same part"
            case.b[f"{b}attn.qkv.{kind}"] = np.concatenate(parts)
            for one, other, shape in (("attention.output.dense", "attn.proj", (HIDDEN, HIDDEN)),
                                      ("intermediate.dense", "mlp.fc1", (FFN, HIDDEN)),
                                      ("output.dense", "mlp.fc2", (HIDDEN, FFN))):
                value = random.weight(*shape) if kind == "weight" else random.bias(shape[0])
                case.put(f"{a}{one}.{kind}", value, f"{b}{other}.{kind}")
            for one, other in (("layernorm_before", "norm1"), ("layernorm_after", "norm2")):
                value = random.gamma() if kind == "weight" else random.bias()
                case.put(f"{a}{one}.{kind}", value, f"{b}{other}.{kind}")
    case.put("vit.layernorm.weight", random.gamma(), "norm.weight")
    case.put("vit.layernorm.bias", random.bias(), "norm.bias")
    case.put("classifier.weight", random.weight(10, HIDDEN), "head.weight")
    case.put("classifier.bias", random.bias(10), "head.bias")
    return case


def tensorflow_bert():
    """TensorFlow keeps the weights of dense layers transposed, and its names have slashes."""
    rules = (("bert.encoder.layer.", "bert/encoder/layer_"), (".LayerNorm.weight", "/LayerNorm/gamma"),
             (".LayerNorm.bias", "/LayerNorm/beta"), ("_embeddings.weight", "_embeddings"))

    def tensorflow(name):
        name = renamed(name, rules)
        return name.replace(".weight", ".kernel").replace(".", "/")

    case = Case()
    for name, value in bert_values(Random(36)).items():
        dense = value.ndim == 2 and "embeddings" not in name
        case.put(name, value, tensorflow(name), value.T.copy() if dense else value,
                 "same transposed" if dense else "same")
    return case


def keras_convolutions():
    """HWIO against OIHW."""
    case = Case()
    for name, value in resnet_values(Random(37)).items():
        if value.ndim == 4:
            case.put(name, value, name.replace(".weight", "/kernel"), value.transpose(2, 3, 1, 0).copy(),
                     "same transposed")
        else:
            case.put(name, value, name.replace(".weight", "/gamma" if "fc" not in name else "/kernel")
                     .replace(".bias", "/beta" if "fc" not in name else "/bias")
                     .replace(".running_mean", "/moving_mean").replace(".running_var", "/moving_variance"),
                     value.T.copy() if value.ndim == 2 else value, "same transposed" if value.ndim == 2 else "same")
    return case


def clip_openai():
    random, case = Random(38), Case()
    for i in range(LAYERS):
        a, b = f"vision_model.encoder.layers.{i}.", f"visual.transformer.resblocks.{i}."
        for kind in ("weight", "bias"):
            parts = [random.weight(HIDDEN, HIDDEN) if kind == "weight" else random.bias() for _ in range(3)]
            for one, value in zip("qkv", parts):
                case.a[f"{a}self_attn.{one}_proj.{kind}"] = value
                case.truth[f"{a}self_attn.{one}_proj.{kind}", f"{b}attn.in_proj_{kind}"] = "same part"
            case.b[f"{b}attn.in_proj_{kind}"] = np.concatenate(parts)
            for one, other, shape in (("self_attn.out_proj", "attn.out_proj", (HIDDEN, HIDDEN)),
                                      ("mlp.fc1", "mlp.c_fc", (FFN, HIDDEN)), ("mlp.fc2", "mlp.c_proj", (HIDDEN, FFN))):
                value = random.weight(*shape) if kind == "weight" else random.bias(shape[0])
                case.put(f"{a}{one}.{kind}", value, f"{b}{other}.{kind}")
            for one, other in (("layer_norm1", "ln_1"), ("layer_norm2", "ln_2")):
                value = random.gamma() if kind == "weight" else random.bias()
                case.put(f"{a}{one}.{kind}", value, f"{b}{other}.{kind}")
    projection = random.weight(HIDDEN, 48)
    case.put("visual_projection.weight", projection.T.copy(), "visual.proj", projection, "same transposed")
    return case


def t5_tied():
    random, case = Random(39), Case()
    shared = random.weight(VOCAB, HIDDEN)
    case.put("shared.weight", shared, "shared.weight")
    for name in ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"):
        case.only("b", name, shared, "skipped tied")
    for i in range(LAYERS):
        for one in "qkvo":
            name = f"encoder.block.{i}.layer.0.SelfAttention.{one}.weight"
            case.put(name, random.weight(HIDDEN, HIDDEN), name)
    return case


def interleaved_gate():
    """Rows of gate and up take turns."""
    values = llama(Random(40))
    case = rename_all(values, (("model.", "transformer."),), but=("gate_proj", "up_proj"))
    for i in range(LAYERS):
        gate = [f"model.layers.{i}.mlp.{one}_proj.weight" for one in ("gate", "up")]
        joined = np.stack([values[one] for one in gate], 1).reshape(2 * FFN, HIDDEN)
        concatenated(case, values, gate, f"transformer.layers.{i}.mlp.gate_up_proj.weight", joined)
    return case


def optimizer_states():
    values = llama(Random(41), layers=1)
    case = rename_all(values, ())
    for name, value in values.items():
        case.only("b", f"adam_m.{name}", value * 0.1)
        case.only("b", f"adam_v.{name}", value * value)
    case.only("b", "global_step", np.array([7], np.int32))
    case.form_b = "ckpt"
    return case


def transposed_by_mistake():
    values = llama(Random(42))
    wrong = "model.layers.1.self_attn.o_proj.weight"
    return rename_all(values, (), lambda name, value: value.T.copy() if name == wrong else value,
                      lambda name: "differ transpose" if name == wrong else "same")


def padded_and_trained():
    rng = np.random.default_rng(430)
    values = llama(Random(43))
    last = np.concatenate([values["model.embed_tokens.weight"], rng.standard_normal((8, HIDDEN)).astype(np.float32)])
    return rename_all(values, MCORE[:4], lambda name, value: last if "embed_tokens" in name else value,
                      lambda name: "shape more rows" if "embed_tokens" in name else "same")


def fine_tuned_megatron():
    rng = np.random.default_rng(440)
    case = hf_megatron_core()
    case.b = {name: near(value, rng) for name, value in case.b.items()}
    case.truth = {pair: says.replace("same", "differ|close") for pair, says in case.truth.items()}
    return case


def bf16_meta_from_ckpt():
    case = rename_all(llama(Random(45), kv=HEADS), META, says=lambda _: "close")
    case.dtype_b, case.form_b = "BF16", "ckpt"
    return case


def unrelated():
    """Two networks: what little could be paired means nothing."""
    case = Case()
    for name, value in llama(Random(46)).items():
        case.only("a", name, value, "unmatched")
    for name, value in resnet_values(Random(47)).items():
        case.only("b", name, value, "unmatched")
    return case


FIT = (hf_mindformers, hf_mindformers_concat, hf_meta, gpt2_megatron, bert_mindspore, resnet_mindspore, resharded,
       fine_tuned, half_precision, wrapped, untied, fresh_constants)
HELD = (hf_megatron_core, hf_megatron_core_wrong_key, megatron_core_hf, qwen_mindformers_biases, mixtral_megatron,
        stacked_experts, vit_timm, tensorflow_bert, keras_convolutions, clip_openai, t5_tied, interleaved_gate,
        optimizer_states, transposed_by_mistake, padded_and_trained, fine_tuned_megatron, bf16_meta_from_ckpt,
        unrelated)
