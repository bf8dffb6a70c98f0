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
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.05 if "embd" in name else self.config.width**-0.5)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        for block in self.blk:
            nn.init.normal_(block.attn_qkv.weight[: 2 * self.config.width], std=0.02)  # attention starts almost even
            nn.init.zeros_(block.attn_output.weight)
            nn.init.zeros_(block.ffn_down.weight)
        # Positions are learned, but start as sinusoids, whose shift by one is a rotation: a head for the previous token
        # then has something to find from the first step on. As large as the tokens, and learned slowly: at the tokens'
        # rate the noise of the first hundred steps wipes the pattern out.
        position = torch.arange(self.config.context)[:, None]
        frequency = torch.exp(-torch.arange(0, self.config.width, 2) / self.config.width * math.log(1000.0))
        with torch.no_grad():
            self.position_embd.weight[:, 0::2] = 0.1 * torch.sin(position * frequency)
            self.position_embd.weight[:, 1::2] = 0.1 * torch.cos(position * frequency)

    def forward(self, tokens: torch.Tensor, offset: int = 0) -> torch.Tensor:
        """[B,T] token ids at positions offset .. -> [B,T,width] after the last norm: the caller applies the head."""
        x = self.token_embd(tokens) + self.position_embd.weight[offset : offset + tokens.shape[1]]
        for block in self.blk:
            x = block(x)
        return self.output_norm(x)
