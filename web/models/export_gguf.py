"""Writes the trained checkpoint as one GGUF file.

    python export_gguf.py DATA OUT.gguf [--checkpoint FILE]

Tensor names are llama.cpp's, which model.py's modules carry already; the head is tied, so there is no output.weight.
"""

import argparse
import pathlib

import torch

import gguf_file
from bpe import Tokenizer
from model import Config

NORMAL, CONTROL = 1, 3  # tokenizer.ggml.token_type


def metadata(config: Config, tokenizer: Tokenizer) -> dict:
    return {
        "general.architecture": "gpt2",
        "general.name": "headscope embedded",
        "general.description": "A small GPT-2 trained so that its attention heads can be looked at",
        "general.license": "mit",
        "general.quantization_version": 2,
        "general.file_type": 7,  # mostly Q8_0
        "gpt2.context_length": config.context,
        "gpt2.embedding_length": config.width,
        "gpt2.feed_forward_length": 4 * config.width,
        "gpt2.block_count": config.layers,
        "gpt2.attention.head_count": config.heads,
        "gpt2.attention.layer_norm_epsilon": config.epsilon,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": tokenizer.tokens,
        "tokenizer.ggml.token_type": [
            CONTROL if index == tokenizer.end_of_text else NORMAL for index in range(len(tokenizer.tokens))
        ],
        "tokenizer.ggml.merges": [" ".join(pair) for pair in tokenizer.merges],
        "tokenizer.ggml.bos_token_id": tokenizer.end_of_text,
        "tokenizer.ggml.eos_token_id": tokenizer.end_of_text,
        "tokenizer.ggml.add_bos_token": False,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--checkpoint", type=pathlib.Path)
    options = parser.parse_args()
    state = torch.load(options.checkpoint or options.data / "checkpoint.pt", weights_only=True)
    tensors = {name: tensor.numpy() for name, tensor in state["model"].items()}
    layers = 1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("blk."))
    vocabulary, width = tensors["token_embd.weight"].shape
    config = Config(vocabulary=vocabulary, context=len(tensors["position_embd.weight"]), width=width, layers=layers)
    tokenizer = Tokenizer.load(options.data / "vocabulary.json")
    gguf_file.write(options.out, metadata(config, tokenizer), tensors)
    print(f"step {state['step']}, {state['seconds']:.0f} s of training, {options.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
