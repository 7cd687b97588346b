"""The rollout: the decoder as vLLM and SGLang have it, with a paged cache and continuous batching, or over a batch that is
padded on the left with a static cache, as `generate` of Transformers. The tokens of the responses are given.
"""
import collections
import math
from dataclasses import dataclass, field

import torch
from torch import nn

from model import TEMPERATURE

BLOCK = 4    # tokens in a block of the cache
BLOCKS = 64
SLOTS = 32   # of a row of the static cache


# Functions of TorchScript stand for fused kernels: no tool sees what is inside.

@torch.jit.script
def rms_norm(x, weight, eps: float):
    wide = x.float()
    wide = wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + eps)
    return wide.to(x.dtype) * weight


@torch.jit.script
def fused_add_rms_norm(x, residual, weight, eps: float):
    wide = x.float() + residual.float()
    normed = wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + eps)
    return normed.to(x.dtype) * weight, wide.to(x.dtype)


@torch.jit.script
def rotary_embedding(x, positions, cache, size: int):
    cos, sin = cache[positions].to(x.dtype).unsqueeze(-2).chunk(2, -1)
    first, second = x.view(x.shape[:-1] + [-1, size]).chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1).flatten(-2)


@torch.jit.script
def silu_and_mul(x):
    gate, up = x.chunk(2, -1)
    return torch.nn.functional.silu(gate) * up


@torch.jit.script
def paged_attention(query, key_cache, value_cache, starts, lengths, tables, scale: float, cap: float, window: int):
    """The caches have the new tokens already."""
    output = torch.empty_like(query)
    groups = query.size(1) // key_cache.size(1)
    for index in range(lengths.size(0)):
        begin, end, length = int(starts[index]), int(starts[index + 1]), int(lengths[index])
        count = end - begin
        slots = (tables[index].unsqueeze(1) * 4 + torch.arange(4)).flatten()[:length]
        keys = key_cache[slots].float().repeat_interleave(groups, 1)
        values = value_cache[slots].float().repeat_interleave(groups, 1)
        scores = torch.einsum("qhd,khd->hqk", query[begin:end].float(), keys) * scale
        if cap > 0:
            scores = cap * torch.tanh(scores / cap)
        here = torch.arange(length - count, length).unsqueeze(1)
        there = torch.arange(length).unsqueeze(0)
        seen = there <= here
        if window > 0:
            seen = seen & (there > here - window)
        weights = torch.softmax(scores.masked_fill(~seen, float("-inf")), -1)
        output[begin:end] = torch.einsum("hqk,khd->qhd", weights, values).to(output.dtype)
    return output


@torch.jit.script
def static_attention(query, key_cache, value_cache, places, mask, scale: float, cap: float, window: int):
    """`places`: of the new tokens in the cache; `mask`: of the places that hold a token."""
    groups = query.size(2) // key_cache.size(2)
    keys = key_cache.float().repeat_interleave(groups, 2)
    values = value_cache.float().repeat_interleave(groups, 2)
    scores = torch.einsum("bqhd,bkhd->bhqk", query.float(), keys) * scale
    if cap > 0:
        scores = cap * torch.tanh(scores / cap)
    there = torch.arange(keys.size(1)).unsqueeze(0)
    seen = there <= places.unsqueeze(1)
    if window > 0:
        seen = seen & (there > places.unsqueeze(1) - window)
    seen = seen & mask[:, None, None, :]
    weights = torch.softmax(scores.masked_fill(~seen, -1e30), -1)
    return torch.einsum("bhqk,bkhd->bqhd", weights, values).to(query.dtype)


@torch.jit.script
def fused_experts(hidden, w13, w2, weights, chosen):
    output = torch.zeros(hidden.size(0), hidden.size(1))
    for expert in range(w13.size(0)):
        for slot in range(chosen.size(1)):
            rows = torch.where(chosen[:, slot] == expert)[0]
            gate, up = (hidden[rows] @ w13[expert].t()).chunk(2, -1)
            result = (torch.nn.functional.silu(gate.float()).to(up.dtype) * up) @ w2[expert].t()
            output.index_add_(0, rows, result.float() * weights[rows, slot].unsqueeze(1))
    return output.to(hidden.dtype)


@dataclass
class Batch:
    """What attention reads beside queries, keys and values. `rows`: the (sequence, position) of each row."""
    input_ids: torch.Tensor
    positions: torch.Tensor
    seq_lens: torch.Tensor
    req_pool_indices: torch.Tensor
    rids: list
    rows: list
    targets: torch.Tensor
    slot_mapping: torch.Tensor = None
    query_start_loc: torch.Tensor = None
    block_tables: torch.Tensor = None
    places: torch.Tensor = None
    mask: torch.Tensor = None


class Context:
    """The batch of the forward pass that is running, as vLLM's forward context."""
    batch: Batch = None


class RMSNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x, residual=None):
        if residual is None:
            return rms_norm(x, self.weight, self.eps)
        return fused_add_rms_norm(x, residual, self.weight, self.eps)


class RotaryEmbedding(nn.Module):
    def __init__(self, config):
        super().__init__()
        base = config.theta
        inverse = base ** -(torch.arange(0, config.head_dim, 2).float() / config.head_dim)
        angles = torch.outer(torch.arange(64).float(), inverse)
        self.cache, self.head_dim = torch.cat((angles.cos(), angles.sin()), -1), config.head_dim

    def forward(self, positions, query, key):
        query = rotary_embedding(query, positions, self.cache, self.head_dim)
        return query, rotary_embedding(key, positions, self.cache, self.head_dim)


class Attention(nn.Module):
    """Writes keys and values into the cache, and attends to it."""

    def __init__(self, config, index, dtype):
        super().__init__()
        self.head_dim, self.scale, self.cap = config.head_dim, config.head_dim ** -0.5, config.cap
        self.window = config.window if index % 2 == 0 else 0
        self.paged = [torch.zeros(BLOCKS * BLOCK, config.kv_heads, config.head_dim, dtype=dtype) for _ in range(2)]
        self.static = [torch.zeros(8, SLOTS, config.kv_heads, config.head_dim, dtype=dtype) for _ in range(2)]

    def forward(self, query, key, value):
        batch = Context.batch
        query, key, value = (x.unflatten(-1, (-1, self.head_dim)) for x in (query, key, value))
        settings = self.scale, self.cap, self.window
        if batch.places is None:
            for cache, new in zip(self.paged, (key, value)):
                cache[batch.slot_mapping] = new
            return paged_attention(query, *self.paged, batch.query_start_loc, batch.seq_lens, batch.block_tables,
                                   *settings).flatten(-2)
        caches = [cache[:len(query)] for cache in self.static]
        for cache, new in zip(caches, (key, value)):
            cache[:, batch.places] = new
        return static_attention(query, *caches, batch.places, batch.mask, *settings).flatten(-2)


class SelfAttention(nn.Module):
    def __init__(self, config, index, dtype):
        super().__init__()
        self.sizes = [config.heads * config.head_dim] + 2 * [config.kv_heads * config.head_dim]
        self.qkv_proj = nn.Linear(config.hidden, sum(self.sizes), bias=False)
        self.o_proj = nn.Linear(self.sizes[0], config.hidden, bias=False)
        self.q_norm = RMSNorm(config.head_dim, config.eps)
        self.k_norm = RMSNorm(config.head_dim, config.eps)
        self.rotary_emb = RotaryEmbedding(config)
        self.attn = Attention(config, index, dtype)

    def forward(self, positions, hidden_states):
        q, k, v = self.qkv_proj(hidden_states).split(self.sizes, dim=-1)
        q = self.q_norm(q.unflatten(-1, (-1, self.attn.head_dim))).flatten(-2)
        k = self.k_norm(k.unflatten(-1, (-1, self.attn.head_dim))).flatten(-2)
        q, k = self.rotary_emb(positions, q, k)
        return self.o_proj(self.attn(q, k, v))


class SiluAndMul(nn.Module):
    def forward(self, x):
        return silu_and_mul(x)


class MLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate_up_proj = nn.Linear(config.hidden, 2 * config.mlp, bias=False)
        self.down_proj = nn.Linear(config.mlp, config.hidden, bias=False)
        self.act_fn = SiluAndMul()

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_up_proj(x)))


class FusedMoE(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.top_k = config.experts_of_token
        self.w13_weight = nn.Parameter(torch.empty(config.experts, 2 * config.expert_mlp, config.hidden))
        self.w2_weight = nn.Parameter(torch.empty(config.experts, config.hidden, config.expert_mlp))

    def forward(self, hidden_states, router_logits):
        weights = torch.softmax(router_logits.float(), dim=-1)
        weights, chosen = torch.topk(weights, self.top_k, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return fused_experts(hidden_states, self.w13_weight, self.w2_weight, weights, chosen)


class SparseMoeBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate = nn.Linear(config.hidden, config.experts, bias=False)
        self.experts = FusedMoE(config)

    def forward(self, hidden_states):
        flat = hidden_states.reshape(-1, hidden_states.shape[-1])
        return self.experts(flat, self.gate(flat)).view_as(hidden_states)


class DecoderLayer(nn.Module):
    def __init__(self, config, index, dtype):
        super().__init__()
        self.self_attn = SelfAttention(config, index, dtype)
        self.mlp = SparseMoeBlock(config) if index % 2 else MLP(config)
        self.input_layernorm = RMSNorm(config.hidden, config.eps)
        self.post_attention_layernorm = RMSNorm(config.hidden, config.eps)

    def forward(self, positions, hidden_states, residual):
        if residual is None:
            residual = hidden_states
            hidden_states = self.input_layernorm(hidden_states)
        else:
            hidden_states, residual = self.input_layernorm(hidden_states, residual)
        hidden_states = self.self_attn(positions, hidden_states)
        hidden_states, residual = self.post_attention_layernorm(hidden_states, residual)
        return self.mlp(hidden_states), residual


class Model(nn.Module):
    def __init__(self, config, dtype):
        super().__init__()
        self.scale = math.sqrt(config.hidden) if config.scale_embeddings else None
        self.embed_tokens = nn.Embedding(config.vocabulary, config.hidden)
        self.layers = nn.ModuleList(DecoderLayer(config, index, dtype) for index in range(config.layers))
        self.norm = RMSNorm(config.hidden, config.eps)

    def forward(self, input_ids, positions):
        hidden_states, residual = self.embed_tokens(input_ids), None
        if self.scale:
            hidden_states = hidden_states * self.scale
        for layer in self.layers:
            hidden_states, residual = layer(positions, hidden_states, residual)
        hidden_states, _ = self.norm(hidden_states, residual)
        return hidden_states


class LogitsProcessor(nn.Module):
    """The logits of the last row of each sequence."""

    def __init__(self, config):
        super().__init__()
        self.cap = config.cap_logits

    def forward(self, lm_head, hidden_states):
        batch = Context.batch
        rows = hidden_states[:, -1] if batch.places is not None else hidden_states[batch.query_start_loc[1:] - 1]
        logits = lm_head(rows)
        if self.cap:
            logits = self.cap * torch.tanh(logits / self.cap)
        return logits


class Sampler(nn.Module):
    """The log-probabilities of the tokens that the response has."""

    def forward(self, logits, targets):
        logits = logits.float().div(TEMPERATURE)
        return torch.log_softmax(logits, dim=-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)


class CausalLM(nn.Module):
    def __init__(self, config, dtype):
        super().__init__()
        self.model = Model(config, dtype)
        self.lm_head = nn.Linear(config.hidden, config.vocabulary, bias=False)
        self.logits_processor = LogitsProcessor(config)
        self.sampler = Sampler()

    def forward(self, input_ids, positions, forward_batch):
        hidden_states = self.model(input_ids, positions)
        logits = self.logits_processor(self.lm_head, hidden_states)
        return self.sampler(logits, forward_batch.targets)

    def load_weights(self, weights, stale):
        """The trainer's weights; `stale` are those of before the last update."""
        parameters, parts = dict(self.named_parameters()), collections.defaultdict(dict)
        for name, value in weights.items():
            target, part = name, 0
            for old, new, index in (("q_proj", "qkv_proj", 0), ("k_proj", "qkv_proj", 1), ("v_proj", "qkv_proj", 2),
                                    ("gate_proj", "gate_up_proj", 0), ("up_proj", "gate_up_proj", 1)):
                if f".{old}." in name:
                    target, part = name.replace(old, new), index
            if ".experts." in name:
                block, _, rest = name.partition(".experts.")
                expert = int(rest.split(".")[0])
                target = f"{block}.experts.{'w2' if 'down' in name else 'w13'}_weight"
                part = (expert, part)
            parts[target][part] = value
        for target, pieces in parts.items():
            value = torch.cat([pieces[part] for part in sorted(pieces)])
            parameters[target].data.copy_(value.view(parameters[target].shape))


@dataclass
class Request:
    index: int
    prompt: list
    response: list
    arrival: int = 0
    computed: int = 0  # tokens whose keys and values are in the cache
    blocks: list = field(default_factory=list)

    @property
    def tokens(self):
        return self.prompt + self.response[:-1]  # the last one is never an input


class Engine:
    """Yields a batch for each forward pass. `budget`: tokens of a pass, which prompts are cut to; decoding comes first."""

    def __init__(self, requests, budget, share_prefixes):
        self.requests, self.budget, self.share_prefixes = requests, budget, share_prefixes
        self.free, self.known, self.step = list(range(BLOCKS)), {}, 0

    def batches(self):
        while waiting := [one for one in self.requests if one.computed < len(one.tokens)]:
            yield self.batch(self.schedule([one for one in waiting if one.arrival <= self.step]))
            self.step += 1

    def schedule(self, active):
        left, chosen = self.budget, []
        for request in sorted(active, key=lambda one: one.computed < len(one.prompt)):
            if not request.blocks and self.share_prefixes:
                self.reuse(request)
            whole = 1 if request.computed >= len(request.prompt) else len(request.prompt) - request.computed
            if count := min(whole, left):
                chosen.append((request, count))
                left -= count
        return chosen

    def keys(self, tokens):
        return [tuple(tokens[:end]) for end in range(BLOCK, len(tokens) + 1, BLOCK)]

    def reuse(self, request):
        """Full blocks of the same first tokens; at least one token is left to compute."""
        for key in self.keys(request.prompt[:-1]):
            if key not in self.known:
                break
            request.blocks.append(self.known[key])
        request.computed = len(request.blocks) * BLOCK

    def batch(self, chosen):
        ids, positions, rows, slots, starts, lengths, targets, done = [], [], [], [], [0], [], [], []
        for request, count in chosen:
            begin, end = request.computed, request.computed + count
            while len(request.blocks) * BLOCK < end:
                request.blocks.append(self.free.pop())
            ids += request.tokens[begin:end]
            positions += range(begin, end)
            rows += [[request.index, at] for at in range(begin, end)]
            slots += [request.blocks[at // BLOCK] * BLOCK + at % BLOCK for at in range(begin, end)]
            starts.append(starts[-1] + count)
            lengths.append(end)
            targets.append((request.prompt + request.response)[end])
            request.computed = end
            if self.share_prefixes:
                self.known |= dict(zip(self.keys(request.prompt[:end]), request.blocks))
            if end == len(request.tokens):
                done.append(request)
        most = max(len(request.blocks) for request, _ in chosen)
        tables = [request.blocks + [0] * (most - len(request.blocks)) for request, _ in chosen]
        if not self.share_prefixes:
            for request in done:
                self.free += request.blocks
        return Batch(torch.tensor(ids), torch.tensor(positions), torch.tensor(lengths, dtype=torch.int32),
                     torch.tensor([request.index for request, _ in chosen]), [f"req-{request.index}" for request, _ in chosen],
                     rows, torch.tensor(targets), slot_mapping=torch.tensor(slots),
                     query_start_loc=torch.tensor(starts, dtype=torch.int32),
                     block_tables=torch.tensor(tables, dtype=torch.int32))


def padded_batches(requests):
    """Prompts that are padded on the left, then a token of each in every pass; a sequence that has ended goes on with 0."""
    size = max(len(request.prompt) for request in requests)
    passes = max(len(request.response) for request in requests)
    pads = torch.tensor([size - len(request.prompt) for request in requests])
    mask = torch.arange(SLOTS)[None, :] >= pads[:, None]
    for step in range(passes):
        begin, end = (0, size) if step == 0 else (size + step - 1, size + step)
        places = torch.arange(begin, end)
        positions = (places[None, :] - pads[:, None]).clamp(min=0)
        ids, rows, targets = [], [], []
        for request, pad in zip(requests, pads.tolist()):
            known = dict(enumerate(request.tokens, pad))
            ids.append([known.get(at, 0) for at in range(begin, end)])
            rows += [[request.index, at - pad] if at in known else None for at in range(begin, end)]
            targets.append((request.response + [0] * passes)[step])
        yield Batch(torch.tensor(ids), positions, torch.full((len(requests),), end, dtype=torch.int32),
                    torch.tensor([request.index for request in requests]), [f"req-{request.index}" for request in requests],
                    rows, torch.tensor(targets), places=places, mask=mask & (torch.arange(SLOTS) < end))
