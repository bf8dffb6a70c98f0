"""Trains the embedded model; resumable at any step, seeded.

    python train.py DATA [--steps N] [--threads N]      DATA from corpus.py and bpe.py -> DATA/checkpoint.pt

The learning rate warms up, stays, and falls linearly to zero over the last part. Since all but that last part does not
depend on --steps, a run can be lengthened: continue from DATA/plateau.pt, saved where the fall begins, with more steps.
"""

import argparse
import os
import pathlib
import time

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # waiting threads sleep: the machine is not ours alone

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch.nn import functional  # noqa: E402

from batches import IGNORED, batch, load_streams, plain  # noqa: E402
from bpe import Tokenizer  # noqa: E402
from hints import hints  # noqa: E402
from model import Config, Gpt2  # noqa: E402
from muon import Muon  # noqa: E402

WARMUP = 100
SHORT_CONTEXT = 32
MATRIX_RATE = 0.01
VECTOR_RATE = 3e-3
TOKEN_RATE = 6e-3  # while the texts are short
TOKEN_RATE_LATER = 1.5e-2
POSITION_RATE = 1e-3
COPIES_SHORT, COPIES = 0.45, 0.25  # share of repetitions among the sequences: of the first short texts, and afterwards


def rate(step: int, steps: int, decay: float) -> float:
    fall = int(steps * (1 - decay))
    return min(1.0, (step + 1) / WARMUP) * min(1.0, (steps - step) / max(1, steps - fall))


def optimizers(model: Gpt2) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside the blocks, AdamW for embeddings, norms and biases."""
    named = list(model.named_parameters())
    matrices = [(name, p) for name, p in named if p.dim() == 2 and name.startswith("blk.")]
    fused = [p for name, p in matrices if "attn_qkv" in name]
    single = [p for name, p in matrices if "attn_qkv" not in name]
    vectors = [p for name, p in named if p.dim() == 1]
    matrix_groups = [
        {"params": fused, "base": MATRIX_RATE, "parts": 3},
        {"params": single, "base": MATRIX_RATE},
    ]
    vector_groups = [
        {"params": vectors, "base": VECTOR_RATE},
        {"params": [model.token_embd.weight], "base": TOKEN_RATE},
        {"params": [model.position_embd.weight], "base": POSITION_RATE},
    ]
    return [
        Muon(matrix_groups, lr=MATRIX_RATE, weight_decay=0.02),
        torch.optim.AdamW(vector_groups, lr=VECTOR_RATE, betas=(0.9, 0.98), weight_decay=0.01),
    ]


def loss_of(model: Gpt2, inputs, targets, offset: int = 0, seen: list[torch.Tensor] | None = None) -> torch.Tensor:
    hidden = model(inputs, offset, seen).flatten(0, 1)
    wanted = targets.flatten()
    kept = wanted != IGNORED  # the head's product is the largest of the whole pass: skip the rows that do not count
    return functional.cross_entropy(hidden[kept] @ model.token_embd.weight.T, wanted[kept])


def quick_measures(model: Gpt2, held, config: Config, context: int, seed: int) -> str:
    """Held-out loss and the strongest head of each kind, for the log; measure.py makes the numbers that count."""
    random = np.random.default_rng(seed)
    text = torch.from_numpy(np.stack([plain(held, random, context + 1) for _ in range(4096 // context)]))
    length = context * 2 // 5
    span = random.integers(0, config.vocabulary, (800 // context + 1, length))
    copied = torch.from_numpy(np.concatenate([span, span], axis=1))
    with torch.no_grad():
        loss = loss_of(model, text[:, :-1], text[:, 1:]).item()
        previous, first, induction, duplicate = [], [], [], []
        for layer, block in enumerate(model.blk):
            weights = attention_weights(model, block, layer, text[:, :-1])
            previous.append(weights.diagonal(-1, 2, 3).mean(dim=(0, 2)))
            first.append(weights[:, :, 1:, 0].mean(dim=(0, 2)))
            weights = attention_weights(model, block, layer, copied)
            induction.append(weights.diagonal(1 - length, 2, 3)[..., 1:].mean(dim=(0, 2)))
            duplicate.append(weights.diagonal(-length, 2, 3).mean(dim=(0, 2)))
    best = [f"{max(x.max().item() for x in kind):.2f}" for kind in (previous, first, induction, duplicate)]
    return f"held-out {loss:.3f}, previous {best[0]}, first {best[1]}, induction {best[2]}, same {best[3]}"


def attention_weights(model: Gpt2, wanted, layer: int, tokens: torch.Tensor) -> torch.Tensor:
    x = model.token_embd(tokens) + model.position_embd.weight[: tokens.shape[1]]
    for block in model.blk[:layer]:
        x = block(x)
    batch_size, length, width = x.shape
    qkv = wanted.attn_qkv(wanted.attn_norm(x)).view(batch_size, length, 3, wanted.heads, -1).permute(2, 0, 3, 1, 4)
    scores = qkv[0] @ qkv[1].transpose(-1, -2) / (width // wanted.heads) ** 0.5
    hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
    return scores.masked_fill(hidden, float("-inf")).softmax(-1)


def save(path: pathlib.Path, model: Gpt2, tools, step: int, seconds: float) -> None:
    state = {"model": model.state_dict(), "tools": [tool.state_dict() for tool in tools], "step": step, "seconds": seconds}
    torch.save(state, path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--short", type=int, default=600, help=f"steps at first on texts of {SHORT_CONTEXT} tokens")
    parser.add_argument("--decay", type=float, default=0.4, help="share of the steps over which the rate falls")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layers", type=int, default=Config.layers)
    parser.add_argument("--resume", type=pathlib.Path, help="default: DATA/checkpoint.pt if there is one")
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    config = Config(layers=options.layers)
    streams = load_streams(options.data, Tokenizer.load(options.data / "vocabulary.json"))
    for split, sources in streams.items():
        print(split, {source: len(stream.tokens) for source, stream in sources.items()}, flush=True)
    model = Gpt2(config)
    print(f"{sum(p.numel() for p in model.parameters())} parameters", flush=True)
    tools = optimizers(model)
    checkpoint = options.data / "checkpoint.pt"
    resume = options.resume or checkpoint
    step, seconds = 0, 0.0
    if resume.exists():
        state = torch.load(resume, weights_only=True)
        model.load_state_dict(state["model"])
        for tool, saved in zip(tools, state["tools"]):
            tool.load_state_dict(saved)
        step, seconds = state["step"], state["seconds"]
        print(f"resumed at step {step}", flush=True)

    plateau_end = int(options.steps * (1 - options.decay))
    started = time.monotonic() - seconds
    saved_at = time.monotonic()
    while step < options.steps:
        if step == plateau_end:
            save(options.data / "plateau.pt", model, tools, step, time.monotonic() - started)
        for tool in tools:
            for group in tool.param_groups:
                later = step >= options.short and group["base"] == TOKEN_RATE
                group["lr"] = (TOKEN_RATE_LATER if later else group["base"]) * rate(step, options.steps, options.decay)
        context = SHORT_CONTEXT if step < options.short else config.context
        size = options.batch * config.context // context
        copies = COPIES_SHORT if step < options.short else COPIES
        inputs, targets = batch(streams["train"], options.seed, step, size, context, config.vocabulary, copies)
        # A short text stands at the beginning half of the time, else anywhere, so that every position is learned.
        offset = step * 37 % (config.context - context + 1) if step % 2 else 0
        inputs, targets = torch.from_numpy(inputs), torch.from_numpy(targets)
        seen: list[torch.Tensor] = []
        loss = loss_of(model, inputs, targets, offset, seen)
        total = loss + hints(model, seen, inputs, step)
        for tool in tools:
            tool.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for tool in tools:
            tool.step()
        step += 1
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f} {time.monotonic() - started:.0f} s", flush=True)
        if step % 100 == 0:
            print(f"step {step} " + quick_measures(model, streams["held-out"], config, context, options.seed), flush=True)
        if time.monotonic() - saved_at > 120 or step == options.steps:
            save(checkpoint, model, tools, step, time.monotonic() - started)
            saved_at = time.monotonic()


if __name__ == "__main__":
    main()
