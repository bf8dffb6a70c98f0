"""GPT-2's forward pass in float64 NumPy, written from the papers; every attention map comes out.

    python reference_forward.py MODEL.gguf "How are you" [--layer N]

Radford et al. 2019 (pre-norm blocks, a last norm), Vaswani et al. 2017 (attention), Ba et al. 2016 (layer norm),
Hendrycks & Gimpel 2016 (gelu; GPT-2 uses its tanh form), Press & Wolf 2016 (the head shares the token embedding).
"""

import argparse
import dataclasses
import pathlib

import numpy as np

import gguf_file
from bpe import Tokenizer


@dataclasses.dataclass
class Model:
    heads: int
    layers: int
    epsilon: float
    tensors: dict[str, np.ndarray]
    tokenizer: Tokenizer

    @staticmethod
    def load(path: pathlib.Path) -> "Model":
        metadata, tensors = gguf_file.read(path)
        merges = [tuple(merge.split(" ")) for merge in metadata["tokenizer.ggml.merges"]]
        return Model(
            heads=metadata["gpt2.attention.head_count"],
            layers=metadata["gpt2.block_count"],
            epsilon=metadata["gpt2.attention.layer_norm_epsilon"],
            tensors={name: tensor.astype(np.float64) for name, tensor in tensors.items()},
            tokenizer=Tokenizer(metadata["tokenizer.ggml.tokens"], merges),
        )

    def linear(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self.tensors[f"{name}.weight"].T + self.tensors[f"{name}.bias"]

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        mean = x.mean(axis=-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
        scaled = (x - mean) / np.sqrt(variance + self.epsilon)
        return scaled * self.tensors[f"{name}.weight"] + self.tensors[f"{name}.bias"]

    def attention(self, x: np.ndarray, block: str) -> tuple[np.ndarray, np.ndarray]:
        """[T,D] -> (output [T,D], weights [H,T,T]): softmax(q kᵀ / √d) over the keys up to the query, times v."""
        length, width = x.shape
        qkv = self.linear(x, f"{block}.attn_qkv").reshape(length, 3, self.heads, width // self.heads)
        query, key, value = qkv.transpose(1, 2, 0, 3)
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(width // self.heads)
        scores[:, np.triu(np.ones((length, length), bool), 1)] = -np.inf
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        heads = (weights @ value).transpose(1, 0, 2).reshape(length, width)
        return self.linear(heads, f"{block}.attn_output"), weights

    def forward(self, tokens: list[int] | np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """(logits [T,V], for each layer its weights [H,T,T])."""
        x = self.tensors["token_embd.weight"][tokens] + self.tensors["position_embd.weight"][: len(tokens)]
        maps = []
        for layer in range(self.layers):
            block = f"blk.{layer}"
            attended, weights = self.attention(self.norm(x, f"{block}.attn_norm"), block)
            maps.append(weights)
            x = x + attended
            x = x + self.linear(gelu(self.linear(self.norm(x, f"{block}.ffn_norm"), f"{block}.ffn_up")), f"{block}.ffn_down")
        return self.norm(x, "output_norm") @ self.tensors["token_embd.weight"].T, maps


def gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def shown(token: bytes) -> str:
    return token.decode("utf-8", "backslashreplace").replace(" ", "␣").replace("\n", "↵")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("prompt")
    parser.add_argument("--layer", type=int, help="default: all of them")
    options = parser.parse_args()
    model = Model.load(options.model)
    ids = model.tokenizer.encode(options.prompt)
    names = [shown(model.tokenizer.decode_bytes([index])) for index in ids]
    print("tokens:", " ".join(f"{name}({index})" for name, index in zip(names, ids)))
    logits, maps = model.forward(ids)
    for layer in range(model.layers) if options.layer is None else [options.layer]:
        for head in range(model.heads):
            print(f"layer {layer} head {head}: a row per query, a column per key")
            for name, row in zip(names, maps[layer][head]):
                print(f"{name:>12} " + " ".join(f"{weight:.4f}" for weight in row))
    for index in np.argsort(-logits[-1])[:5]:
        print(f"next: {shown(model.tokenizer.decode_bytes([int(index)]))} {logits[-1, index]:.4f}")


if __name__ == "__main__":
    main()
