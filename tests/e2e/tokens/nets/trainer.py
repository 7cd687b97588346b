"""The trainer: a decoder as Transformers has it, and the log-probabilities of the responses as a trainer of actors has them.

One forward pass over prompts and responses, of a batch that is padded on the right, or of one row of packed sequences.
"""
import math
from typing import List

import torch
import torch.nn.functional as F
from torch import nn

from model import TEMPERATURE


@torch.jit.script
def attend_packed(query, key, value, bounds: List[int], scale: float, cap: float, window: int):
    """Stands for a kernel of packed sequences: no tool sees what is inside."""
    results = []
    for index in range(len(bounds) - 1):
        begin, end = bounds[index], bounds[index + 1]
        q, k, v = query[:, begin:end].float(), key[:, begin:end].float(), value[:, begin:end].float()
        scores = torch.bmm(q, k.transpose(1, 2)) * scale
        if cap > 0:
            scores = torch.tanh(scores / cap) * cap
        ones = torch.ones_like(scores[0], dtype=torch.bool)
        hidden = ones.triu(1)
        if window > 0:
            hidden = hidden | ones.tril(-window)
        results.append(torch.bmm(torch.softmax(scores.masked_fill(hidden, float("-inf")), -1), v))
    return torch.cat(results, 1).to(query.dtype)


class RMSNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        dtype = hidden_states.dtype
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states.to(dtype)


class RotaryEmbedding(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.inverse = 1.0 / (config.theta ** (torch.arange(0, config.head_dim, 2).float() / config.head_dim))

    def forward(self, x, position_ids):
        angles = position_ids[..., None].float() * self.inverse
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


def rotate_half(x):
    left, right = x.chunk(2, dim=-1)
    return torch.cat((-right, left), dim=-1)


def apply_rotary_pos_emb(q, k, cos, sin):
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)


class Attention(nn.Module):
    def __init__(self, config, index):
        super().__init__()
        self.config, self.index = config, index
        heads, kv = config.heads * config.head_dim, config.kv_heads * config.head_dim
        self.q_proj = nn.Linear(config.hidden, heads, bias=False)
        self.k_proj = nn.Linear(config.hidden, kv, bias=False)
        self.v_proj = nn.Linear(config.hidden, kv, bias=False)
        self.o_proj = nn.Linear(heads, config.hidden, bias=False)
        self.q_norm = RMSNorm(config.head_dim, config.eps)
        self.k_norm = RMSNorm(config.head_dim, config.eps)
        self.scaling = config.head_dim ** -0.5

    def forward(self, hidden_states, position_embeddings, attention_mask=None, cu_seqlens=None):
        shape = (*hidden_states.shape[:-1], -1, self.config.head_dim)
        query = self.q_norm(self.q_proj(hidden_states).view(shape)).transpose(1, 2)
        key = self.k_norm(self.k_proj(hidden_states).view(shape)).transpose(1, 2)
        value = self.v_proj(hidden_states).view(shape).transpose(1, 2)
        query, key = apply_rotary_pos_emb(query, key, *position_embeddings)
        groups = self.config.heads // self.config.kv_heads
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        window = self.config.window if self.index % 2 == 0 else 0
        if cu_seqlens is not None:
            output = attend_packed(query[0], key[0], value[0], cu_seqlens, self.scaling, self.config.cap, window)[None]
        else:
            output = self.attend(query, key, value, attention_mask, window)
        return self.o_proj(output.transpose(1, 2).flatten(2))

    def attend(self, query, key, value, attention_mask, window):
        scores = torch.matmul(query, key.transpose(2, 3)) * self.scaling
        if self.config.cap:
            scores = torch.tanh(scores / self.config.cap) * self.config.cap
        if window:
            places = torch.arange(scores.shape[-1])
            far = places[None, :] <= places[:, None] - window
            attention_mask = attention_mask.masked_fill(far, torch.finfo(attention_mask.dtype).min)
        weights = F.softmax(scores + attention_mask, dim=-1, dtype=torch.float32).to(query.dtype)
        return torch.matmul(weights, value)


class MLP(nn.Module):
    def __init__(self, config, size):
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden, size, bias=False)
        self.up_proj = nn.Linear(config.hidden, size, bias=False)
        self.down_proj = nn.Linear(size, config.hidden, bias=False)
        self.act_fn = nn.SiLU()

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class SparseMoeBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.top_k = config.experts_of_token
        self.gate = nn.Linear(config.hidden, config.experts, bias=False)
        self.experts = nn.ModuleList(MLP(config, config.expert_mlp) for _ in range(config.experts))

    def forward(self, hidden_states):
        flat = hidden_states.flatten(0, 1)
        weights = F.softmax(self.gate(flat), dim=1, dtype=torch.float32)
        weights, chosen = torch.topk(weights, self.top_k, dim=-1)
        weights = (weights / weights.sum(dim=-1, keepdim=True)).to(flat.dtype)
        result = torch.zeros_like(flat)
        for index, expert in enumerate(self.experts):
            row, slot = torch.where(chosen == index)
            result.index_add_(0, row, expert(flat[row]) * weights[row, slot, None])
        return result.view_as(hidden_states)


class DecoderLayer(nn.Module):
    def __init__(self, config, index):
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden, config.eps)
        self.self_attn = Attention(config, index)
        self.post_attention_layernorm = RMSNorm(config.hidden, config.eps)
        self.mlp = SparseMoeBlock(config) if index % 2 else MLP(config, config.mlp)

    def forward(self, hidden_states, position_embeddings, **attention):
        hidden_states = hidden_states + self.self_attn(self.input_layernorm(hidden_states), position_embeddings, **attention)
        return hidden_states + self.mlp(self.post_attention_layernorm(hidden_states))


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocabulary, config.hidden)
        self.layers = nn.ModuleList(DecoderLayer(config, index) for index in range(config.layers))
        self.norm = RMSNorm(config.hidden, config.eps)
        self.rotary_emb = RotaryEmbedding(config)

    def forward(self, input_ids, position_ids, attention_mask=None, cu_seqlens=None):
        hidden_states = self.embed_tokens(input_ids)
        if self.config.scale_embeddings:
            hidden_states = hidden_states * math.sqrt(self.config.hidden)
        attention = {"cu_seqlens": cu_seqlens.tolist()} if cu_seqlens is not None else {
            "attention_mask": causal_mask(attention_mask, hidden_states.dtype)}
        embeddings = self.rotary_emb(hidden_states, position_ids)
        for layer in self.layers:
            hidden_states = layer(hidden_states, embeddings, **attention)
        return self.norm(hidden_states)


def causal_mask(attention_mask, dtype):
    size = attention_mask.shape[1]
    hidden = torch.ones(size, size, dtype=torch.bool).triu(1) | (attention_mask[:, None, None, :] == 0)
    return torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, torch.finfo(dtype).min)


class TokenLogProbs(nn.Module):
    """Of the token that follows each row."""

    def forward(self, logits, labels):
        scaled = logits.float() / TEMPERATURE
        return F.log_softmax(scaled, dim=-1).gather(-1, labels[..., None]).squeeze(-1)


class CausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.model = Model(config)
        self.lm_head = nn.Linear(config.hidden, config.vocabulary, bias=False)
        self.log_probs = TokenLogProbs()

    def forward(self, input_ids, position_ids, labels, response_mask, attention_mask=None, cu_seqlens=None):
        form = {"attention_mask": attention_mask} if cu_seqlens is None else {"cu_seqlens": cu_seqlens}
        logits = self.lm_head(self.model(input_ids=input_ids, position_ids=position_ids, **form))
        if self.config.cap_logits:
            logits = torch.tanh(logits / self.config.cap_logits) * self.config.cap_logits
        return self.log_probs(logits, labels) * response_mask


def padded_batch(sequences):
    """Inputs of the model, and the row of each place: (sequence, position), None of padding."""
    whole = [prompt + response for prompt, response in sequences]
    size = max(map(len, whole))
    fill = lambda rows, value: torch.tensor([row + [value] * (size - len(row)) for row in rows])
    inputs = {
        "input_ids": fill(whole, 0), "attention_mask": fill([[1] * len(row) for row in whole], 0),
        "position_ids": torch.arange(size).expand(len(whole), size).clone(), "labels": fill([row[1:] for row in whole], 0),
        "response_mask": fill([[0] * (len(prompt) - 1) + [1] * len(response) for prompt, response in sequences], 0)}
    return inputs, [[index, at] if at < len(row) else None for index, row in enumerate(whole) for at in range(size)]


def packed_batch(sequences, order):
    whole = [sequences[index][0] + sequences[index][1] for index in order]
    ends = torch.tensor([0] + [len(row) for row in whole]).cumsum(0).to(torch.int32)
    mask = [[0] * (len(sequences[index][0]) - 1) + [1] * len(sequences[index][1]) + [0] for index in order]
    row = lambda parts: torch.tensor([[value for part in parts for value in part]])
    inputs = {"input_ids": row(whole), "position_ids": row([range(len(part)) for part in whole]), "cu_seqlens": ends,
              "labels": row([part[1:] + [0] for part in whole]), "response_mask": row(mask)}
    return inputs, [[index, at] for index, part in zip(order, whole) for at in range(len(part))]
