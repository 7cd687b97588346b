"""The trainer as Megatron has it: [sequence, batch, hidden], queries, keys and values by group, and other names."""
import torch
import torch.nn.functional as F
from torch import nn

from trainer import RMSNorm, TokenLogProbs, attend_packed, rotate_half

RENAMED = {
    "model.embed_tokens": "embedding.word_embeddings", "model.norm": "decoder.final_layernorm", "model.layers": "decoder.layers",
    "lm_head": "output_layer", "self_attn": "self_attention", "q_norm": "q_layernorm", "k_norm": "k_layernorm",
    "o_proj": "linear_proj", "post_attention_layernorm": "pre_mlp_layernorm", ".gate.": ".router.",
    ".experts.": ".experts.local_experts.", "down_proj": "linear_fc2"}


class SelfAttention(nn.Module):
    class DotProductAttention(nn.Module):
        """Stands for a fused kernel; returns [sequence, batch, hidden]."""

        def __init__(self, config, index):
            super().__init__()
            self.scale, self.cap, self.window = config.head_dim ** -0.5, config.cap, config.window * (index % 2 == 0)

        def forward(self, query, key, value, bounds):
            groups = query.shape[2] // key.shape[2]
            query, key, value = (one.permute(1, 2, 0, 3) for one in (query, key, value))
            key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
            rows = [attend_packed(q, k, v, bounds, self.scale, self.cap, self.window) for q, k, v in zip(query, key, value)]
            return torch.stack(rows).permute(2, 0, 1, 3).flatten(2)

    def __init__(self, config, index):
        super().__init__()
        self.groups, self.head_dim = config.kv_heads, config.head_dim
        heads = config.heads * config.head_dim
        self.linear_qkv = nn.Linear(config.hidden, heads + 2 * config.kv_heads * config.head_dim, bias=False)
        self.q_layernorm = RMSNorm(config.head_dim, config.eps)
        self.k_layernorm = RMSNorm(config.head_dim, config.eps)
        self.core_attention = self.DotProductAttention(config, index)
        self.linear_proj = nn.Linear(heads, config.hidden, bias=False)

    def forward(self, hidden_states, rotary_pos_emb, bounds):
        mixed = self.linear_qkv(hidden_states).unflatten(-1, (self.groups, -1))
        query, key, value = mixed.split([mixed.shape[-1] - 2 * self.head_dim, self.head_dim, self.head_dim], -1)
        query = self.q_layernorm(query.unflatten(-1, (-1, self.head_dim)).flatten(2, 3))
        key = self.k_layernorm(key)
        cos, sin = rotary_pos_emb.cos().to(query.dtype), rotary_pos_emb.sin().to(query.dtype)
        query, key = query * cos + rotate_half(query) * sin, key * cos + rotate_half(key) * sin
        return self.linear_proj(self.core_attention(query, key, value, bounds))


class MLP(nn.Module):
    def __init__(self, config, size):
        super().__init__()
        self.linear_fc1 = nn.Linear(config.hidden, 2 * size, bias=False)
        self.linear_fc2 = nn.Linear(size, config.hidden, bias=False)

    def forward(self, hidden_states):
        gate, up = self.linear_fc1(hidden_states).chunk(2, -1)
        return self.linear_fc2(F.silu(gate) * up)


class Router(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.weight, self.top_k = nn.Parameter(torch.empty(config.experts, config.hidden)), config.experts_of_token

    def forward(self, hidden_states):
        logits = F.linear(hidden_states, self.weight)
        scores, chosen = torch.topk(logits.float(), self.top_k, dim=-1)
        return torch.zeros_like(logits).scatter(-1, chosen, torch.softmax(scores, -1).to(logits.dtype))


class Experts(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.local_experts = nn.ModuleList(MLP(config, config.expert_mlp) for _ in range(config.experts))

    def forward(self, tokens, counts):
        return torch.cat([expert(part) for expert, part in zip(self.local_experts, tokens.split(counts.tolist()))])


class MoELayer(nn.Module):
    """Tokens are put in the order of their experts, and back."""

    def __init__(self, config):
        super().__init__()
        self.router, self.experts = Router(config), Experts(config)

    def forward(self, hidden_states):
        flat = hidden_states.flatten(0, 1)
        probs = self.router(flat)
        expert, row = torch.where(probs.T > 0)
        outputs = self.experts(flat[row], torch.bincount(expert, minlength=probs.shape[1]))
        return torch.zeros_like(flat).index_add(0, row, outputs * probs[row, expert, None]).view_as(hidden_states)


class TransformerLayer(nn.Module):
    def __init__(self, config, index):
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden, config.eps)
        self.self_attention = SelfAttention(config, index)
        self.pre_mlp_layernorm = RMSNorm(config.hidden, config.eps)
        self.mlp = MoELayer(config) if index % 2 else MLP(config, config.mlp)

    def forward(self, hidden_states, rotary_pos_emb, bounds):
        hidden_states = hidden_states + self.self_attention(self.input_layernorm(hidden_states), rotary_pos_emb, bounds)
        return hidden_states + self.mlp(self.pre_mlp_layernorm(hidden_states))


class TransformerBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layers = nn.ModuleList(TransformerLayer(config, index) for index in range(config.layers))
        self.final_layernorm = RMSNorm(config.hidden, config.eps)

    def forward(self, hidden_states, rotary_pos_emb, bounds):
        for layer in self.layers:
            hidden_states = layer(hidden_states, rotary_pos_emb, bounds)
        return self.final_layernorm(hidden_states)


class Embedding(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.scale = config.hidden ** 0.5 if config.scale_embeddings else 1.0
        self.word_embeddings = nn.Embedding(config.vocabulary, config.hidden)

    def forward(self, input_ids, position_ids):
        del position_ids  # for learned positions
        return self.word_embeddings(input_ids).transpose(0, 1).contiguous() * self.scale


class GPTModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding, self.decoder = Embedding(config), TransformerBlock(config)
        self.output_layer = nn.Linear(config.hidden, config.vocabulary, bias=False)
        self.log_probs = TokenLogProbs()

    def forward(self, input_ids, position_ids, labels, response_mask, attention_mask=None, cu_seqlens=None):
        inverse = self.config.theta ** -(torch.arange(0, self.config.head_dim, 2).float() / self.config.head_dim)
        angles = (position_ids.T[..., None].float() * inverse).repeat(1, 1, 2)[:, :, None]
        bounds = [0, input_ids.shape[1]] if cu_seqlens is None else cu_seqlens.tolist()
        hidden_states = self.decoder(self.embedding(input_ids=input_ids, position_ids=position_ids), angles, bounds)
        logits = self.output_layer(hidden_states)
        if self.config.cap_logits:
            logits = torch.tanh(logits / self.config.cap_logits) * self.config.cap_logits
        return self.log_probs(logits.transpose(0, 1).contiguous(), labels) * response_mask

    def load(self, weights):
        """The weights under the names of Transformers."""
        found = {}
        for name, value in weights.items():
            for old, new in RENAMED.items():
                name = name.replace(old, new)
            found[name] = value
        for name in [one for one in found if "gate_proj" in one]:
            up = found.pop(name.replace("gate_proj", "up_proj"))
            found[name.replace("gate_proj", "linear_fc1")] = torch.cat((found.pop(name), up))
        for name in [one for one in found if "q_proj" in one]:
            parts = [found.pop(name.replace("q_proj", f"{kind}_proj")) for kind in "qkv"]
            groups = [part.unflatten(0, (self.config.kv_heads, -1)) for part in parts]
            found[name.replace("q_proj", "linear_qkv")] = torch.cat(groups, 1).flatten(0, 1)
        self.load_state_dict(found)
