"""GPT-2's architecture in PyTorch: pre-norm blocks, learned positions, tanh gelu, causal attention, tied head."""

import dataclasses
import math

import torch
from torch import nn
from torch.nn import functional


@dataclasses.dataclass(frozen=True)
class Config:
    vocabulary: int = 3072
    context: int = 256
    width: int = 128
    heads: int = 8
    layers: int = 4
    epsilon: float = 1e-5


class Block(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.attn_norm = nn.LayerNorm(width, eps=config.epsilon)
        self.attn_qkv = nn.Linear(width, 3 * width)
        self.attn_output = nn.Linear(width, width)
        self.ffn_norm = nn.LayerNorm(width, eps=config.epsilon)
        self.ffn_up = nn.Linear(width, 4 * width)
        self.ffn_down = nn.Linear(4 * width, width)

    def log_weights(self, x: torch.Tensor, head: int) -> torch.Tensor:
        """[B,T,width] -> log of one head's weights, [B,T,T]."""
        width = x.shape[-1]
        size = width // self.heads
        rows = torch.arange(head * size, (head + 1) * size)
        x = self.attn_norm(x)
        query = functional.linear(x, self.attn_qkv.weight[rows], self.attn_qkv.bias[rows])
        key = functional.linear(x, self.attn_qkv.weight[width + rows], self.attn_qkv.bias[width + rows])
        scores = query @ key.transpose(-1, -2) / size**0.5
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        return scores.masked_fill(later, float("-inf")).log_softmax(-1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        qkv = self.attn_qkv(self.attn_norm(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        heads = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.attn_output(heads.transpose(1, 2).reshape(batch, length, width))
        return x + self.ffn_down(functional.gelu(self.ffn_up(self.ffn_norm(x)), approximate="tanh"))


class Gpt2(nn.Module):
    """Modules carry the names that llama.cpp gives the tensors, so that the export has nothing to rename."""

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.token_embd = nn.Embedding(config.vocabulary, config.width)
        self.position_embd = nn.Embedding(config.context, config.width)
        self.blk = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.output_norm = nn.LayerNorm(config.width, eps=config.epsilon)
        self.initialise()

    def initialise(self) -> None:
        width = self.config.width
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.5 if "embd" in name else width**-0.5)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        # After Trockman & Kolter 2023 ("Mimetic Initialization"): key weights start as the query weights, the output
        # projection as a small transpose of the value weights. A head then looks at what is like the query and copies
        # it. From unrelated weights q, k and v, o must find each other by chance: 400 steps left attention even.
        with torch.no_grad():
            for block in self.blk:
                query, key, value = block.attn_qkv.weight.chunk(3)
                key.copy_(query)
                block.attn_output.weight.copy_(0.3 * value.T)
                nn.init.zeros_(block.ffn_down.weight)
            # Positions are learned, but start as sinusoids, whose shift by one is a rotation: a head for the previous
            # token has something to find. They are learned slowly, else the noise of the first steps wipes that out.
            # Tokens and positions are large, so that the first block's output does not drown them for the heads above
            # (with the usual 0.02 it was 15 to 60 times as large); the last norm makes up for it before the tied head.
            self.output_norm.weight.fill_(0.15)
            position = torch.arange(self.config.context)[:, None]
            frequency = torch.exp(-torch.arange(0, width, 2) / width * math.log(1000.0))
            self.position_embd.weight[:, 0::2] = 0.7 * torch.sin(position * frequency)
            self.position_embd.weight[:, 1::2] = 0.7 * torch.cos(position * frequency)

    def forward(self, tokens: torch.Tensor, offset: int = 0, seen: list[torch.Tensor] | None = None) -> torch.Tensor:
        """[B,T] token ids at positions offset .. -> [B,T,width] after the last norm: the caller applies the head.

        What each block reads is appended to `seen`.
        """
        x = self.token_embd(tokens) + self.position_embd.weight[offset : offset + tokens.shape[1]]
        for block in self.blk:
            if seen is not None:
                seen.append(x)
            x = block(x)
        return self.output_norm(x)
