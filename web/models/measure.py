"""What the heads of the exported file do, and how well it predicts, in float64 from the dequantised weights.

    python measure.py DATA MODEL.gguf OUT.json [--golden GOLDEN.json]

For each head, means over the queries that can show the behaviour:
  previous   weight on the token before the query                           held-out text, queries 1 ..
  first      weight on the first token                                      held-out text, queries 1 ..
  induction  weight on the token after the earlier copy of the query        random tokens twice, queries of the 2nd half
  same       weight on the earlier copy of the query itself                 random tokens twice, queries of the 2nd half
"""

import argparse
import hashlib
import json
import pathlib
import re

import numpy as np

from batches import MIXTURE, load_streams, unigram
from bpe import Tokenizer
from reference_forward import Model

SEED = 20
SEQUENCES = 8  # of held-out text, for each source
LENGTH = 256
SPAN = 100  # random tokens, then the same ones again
COPIES = 16
KINDS = ("previous", "first", "induction", "same")

GOLDEN_PROMPTS = {"english": "How are you? I am not what I am, said the whale.", "chinese": "文件的名字和鲸鱼的大小，文件的名字"}


def losses(logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=-1)) - shifted[np.arange(len(targets)), targets]


def head_measures(model: Model, texts: list[np.ndarray], copies: list[np.ndarray]) -> dict[str, np.ndarray]:
    """{kind: [layers, heads]}"""
    sums = {kind: np.zeros((model.layers, model.heads)) for kind in KINDS}
    for tokens in texts:
        maps = np.stack(model.forward(tokens)[1])
        sums["previous"] += maps.diagonal(-1, 2, 3).mean(axis=-1) / len(texts)
        sums["first"] += maps[:, :, 1:, 0].mean(axis=-1) / len(texts)
    for tokens in copies:
        maps = np.stack(model.forward(tokens)[1])
        span = len(tokens) // 2
        sums["induction"] += maps.diagonal(-(span - 1), 2, 3)[..., 1:].mean(axis=-1) / len(copies)
        sums["same"] += maps.diagonal(-span, 2, 3).mean(axis=-1) / len(copies)
    return sums


def copies_loss(model: Model, copies: list[np.ndarray]) -> tuple[float, float]:
    """Mean loss in the first and in the second half: what a whole model gains from copying."""
    both = np.array([losses(model.forward(tokens[:-1])[0], tokens[1:]) for tokens in copies])
    half = copies[0].size // 2
    return float(both[:, : half - 1].mean()), float(both[:, half:].mean())


def golden(model: Model, texts: dict[str, np.ndarray], copies: list[np.ndarray]) -> dict:
    """Small enough to commit: two prompts in full, and eight sequences with the measures on exactly those."""
    prompts = {}
    for language, prompt in GOLDEN_PROMPTS.items():
        ids = model.tokenizer.encode(prompt)
        logits, maps = model.forward(ids)
        top = np.argsort(-logits[-1])[:10]
        prompts[language] = {
            "prompt": prompt,
            "ids": ids,
            "weights": {str(layer): np.round(maps[layer], 7).tolist() for layer in (0, model.layers - 1)},
            "topIds": top.tolist(),
            "topLogits": np.round(logits[-1, top], 6).tolist(),
        }
    chosen = [texts[source] for source in ("moby-dick", "bible-kjv", "sotu", "manpages-zh")]
    measures = head_measures(model, [tokens[:-1] for tokens in chosen], copies[:4])
    probe = {
        "text": [tokens.tolist() for tokens in chosen],
        "copies": [tokens.tolist() for tokens in copies[:4]],
        "loss": float(np.mean([losses(model.forward(tokens[:-1])[0], tokens[1:]) for tokens in chosen])),
        "heads": {kind: np.round(values, 6).tolist() for kind, values in measures.items()},
    }
    return {"prompts": prompts, "probe": probe}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--golden", type=pathlib.Path)
    options = parser.parse_args()
    model = Model.load(options.model)
    vocabulary = len(model.tokenizer.tokens)
    streams = load_streams(options.data, Tokenizer.load(options.data / "vocabulary.json"))
    random = np.random.default_rng(SEED)
    texts = {
        source: [streams["held-out"][source].crop(random, LENGTH + 1) for _ in range(SEQUENCES)] for source in MIXTURE
    }
    copies = [np.resize(random.integers(0, vocabulary, SPAN), 2 * SPAN) for _ in range(COPIES)]

    frequency = unigram(streams["train"], vocabulary)
    by_source, unigram_by_source = {}, {}
    for source, sequences in texts.items():
        by_source[source] = float(np.mean([losses(model.forward(s[:-1])[0], s[1:]) for s in sequences]))
        unigram_by_source[source] = -float(np.mean([np.log(frequency[s[1:]]) for s in sequences]))
    heads = head_measures(model, [s[:-1] for sequences in texts.values() for s in sequences], copies)
    loss = sum(MIXTURE[source] * value for source, value in by_source.items())
    baseline = sum(MIXTURE[source] * value for source, value in unigram_by_source.items())
    first_half, second_half = copies_loss(model, copies)

    best = {}
    for kind, values in heads.items():
        layer, head = np.unravel_index(int(values.argmax()), values.shape)
        best[kind] = {"layer": int(layer), "head": int(head), "weight": round(float(values.max()), 4)}
    result = {
        "file": options.model.name,
        "bytes": options.model.stat().st_size,
        "sha256": hashlib.sha256(options.model.read_bytes()).hexdigest(),
        "parameters": int(sum(tensor.size for tensor in model.tensors.values())),
        "best": best,
        "heads": {kind: np.round(values, 4).tolist() for kind, values in heads.items()},
        "loss": {"heldOut": round(loss, 4), "unigram": round(baseline, 4), "gain": round(baseline - loss, 4)},
        "lossBySource": {source: round(value, 4) for source, value in by_source.items()},
        "unigramBySource": {source: round(value, 4) for source, value in unigram_by_source.items()},
        "randomTokensTwice": {"firstHalf": round(first_half, 4), "secondHalf": round(second_half, 4)},
    }
    # A row of heads is a line.
    text = re.sub(r"\[[\s\d.,]*\]", lambda row: f"[{' '.join(row[0][1:-1].split())}]", json.dumps(result, indent=2))
    options.out.write_text(text + "\n")
    print(json.dumps({key: value for key, value in result.items() if key != "heads"}, indent=2))
    for kind, values in heads.items():
        print(kind)
        print(np.round(values, 2))
    if options.golden:
        firsts = {source: sequences[0] for source, sequences in texts.items()}
        options.golden.write_text(json.dumps(golden(model, firsts, copies), ensure_ascii=False) + "\n", "utf-8")
        print(f"golden: {options.golden.stat().st_size} bytes")


if __name__ == "__main__":
    main()
