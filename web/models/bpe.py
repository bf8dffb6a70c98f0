"""Byte-level byte-pair encoding as GPT-2 does it: training and encoding, nothing else.

    python bpe.py DATA          DATA/documents.jsonl  ->  DATA/vocabulary.json

The text is cut by GPT-2's pattern, each piece becomes its UTF-8 bytes, and the most frequent neighbouring pair is
merged again and again. Ids: 256 bytes in GPT-2's order, one per merge, then the separator of documents.
"""

import collections
import functools
import heapq
import json
import pathlib
import sys

import regex

VOCABULARY_SIZE = 3072
END_OF_TEXT = "<|endoftext|>"
PATTERN = regex.compile(r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""")

# Of the largest English sources every second or third document counts; the Chinese ones, 9 % of the bytes, count more often, so that
# about a third of the merges make Chinese characters and words.
WEIGHTS = {"manpages-zh": 3, "poems-zh": 6}
EVERY = {"wordnet": 3, "sotu": 2}


def byte_characters() -> dict[int, str]:
    """GPT-2's printable stand-in for each byte, in the order of its first 256 ids."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    table = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        if byte not in table:
            table[byte] = chr(256 + len(table) - len(printable))
    return table


BYTE_CHARACTERS = byte_characters()


def pieces(text: str) -> list[str]:
    return PATTERN.findall(text)


def spelled(piece: str) -> str:
    return "".join(BYTE_CHARACTERS[byte] for byte in piece.encode())


def train(documents, size: int) -> list[tuple[str, str]]:
    """The merges, most frequent first. Ties go to the pair that sorts first: the result depends on the text alone."""
    frequency: collections.Counter[str] = collections.Counter()
    for number, document in enumerate(documents):
        if number % EVERY.get(document["source"], 1):
            continue
        weight = WEIGHTS.get(document["source"], 1)
        for piece, count in collections.Counter(pieces(document["text"])).items():
            frequency[piece] += weight * count
    words = [(list(spelled(piece)), count) for piece, count in sorted(frequency.items()) if count >= 3]
    pair_counts: collections.Counter[tuple[str, str]] = collections.Counter()
    where: dict[tuple[str, str], set[int]] = collections.defaultdict(set)
    for index, (symbols, count) in enumerate(words):
        for pair in zip(symbols, symbols[1:]):
            pair_counts[pair] += count
            where[pair].add(index)
    heap = [(-count, pair) for pair, count in pair_counts.items()]
    heapq.heapify(heap)
    merges = []
    while len(merges) < size - 257:
        negative, pair = heapq.heappop(heap)
        if -negative != pair_counts[pair]:
            continue  # an entry from before its count changed; the current one is in the heap as well
        merges.append(pair)
        changed = set()
        for index in where.pop(pair):
            symbols, count = words[index]
            for old in zip(symbols, symbols[1:]):
                pair_counts[old] -= count
                changed.add(old)
            symbols = merged(symbols, pair)
            words[index] = (symbols, count)
            for new in zip(symbols, symbols[1:]):
                pair_counts[new] += count
                where[new].add(index)
                changed.add(new)
        for other in changed:
            if pair_counts[other] > 0:
                heapq.heappush(heap, (-pair_counts[other], other))
    return merges


def merged(symbols: list[str], pair: tuple[str, str]) -> list[str]:
    out = []
    i = 0
    while i < len(symbols):
        if i + 1 < len(symbols) and symbols[i] == pair[0] and symbols[i + 1] == pair[1]:
            out.append(pair[0] + pair[1])
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return out


class Tokenizer:
    def __init__(self, tokens: list[str], merges: list[tuple[str, str]]):
        self.tokens = tokens
        self.merges = merges
        self.ids = {token: index for index, token in enumerate(tokens)}
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.end_of_text = self.ids[END_OF_TEXT]
        self.encode_piece = functools.cache(self.encode_piece_uncached)
        self.bytes_of_character = {character: byte for byte, character in BYTE_CHARACTERS.items()}

    @staticmethod
    def from_merges(merges: list[tuple[str, str]]) -> "Tokenizer":
        joined = [first + second for first, second in merges]
        return Tokenizer([*BYTE_CHARACTERS.values(), *joined, END_OF_TEXT], merges)

    @staticmethod
    def load(path: pathlib.Path) -> "Tokenizer":
        return Tokenizer.from_merges([tuple(pair) for pair in json.loads(path.read_text("utf-8"))["merges"]])

    def encode_piece_uncached(self, piece: str) -> list[int]:
        symbols = list(spelled(piece))
        while len(symbols) > 1:
            best = min(zip(symbols, symbols[1:]), key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            symbols = merged(symbols, best)
        return [self.ids[symbol] for symbol in symbols]

    def encode(self, text: str) -> list[int]:
        return [token for piece in pieces(text) for token in self.encode_piece(piece)]

    def decode_bytes(self, ids: list[int]) -> bytes:
        characters = "".join(self.tokens[index] for index in ids if index != self.end_of_text)
        return bytes(self.bytes_of_character[character] for character in characters)


def main() -> None:
    data = pathlib.Path(sys.argv[1])
    with open(data / "documents.jsonl", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    merges = train(documents, VOCABULARY_SIZE)
    (data / "vocabulary.json").write_text(json.dumps({"merges": merges}, ensure_ascii=False), "utf-8")
    tokenizer = Tokenizer.from_merges(merges)
    assert len(tokenizer.tokens) == VOCABULARY_SIZE == len(tokenizer.ids)
    for text in ("How are you? I've seen 3 whales.", "敏捷的棕色狐狸跳过了懒狗。", "naïve 🐋\n\n  end "):
        ids = tokenizer.encode(text)
        assert tokenizer.decode_bytes(ids) == text.encode()
        print([tokenizer.decode_bytes([index]).decode("utf-8", "backslashreplace") for index in ids])
    decoded = [tokenizer.decode_bytes([index]).decode("utf-8", "ignore") for index in range(VOCABULARY_SIZE)]
    chinese = sum(any("\u3400" <= character <= "\u9fff" for character in text) for text in decoded)
    print(f"{VOCABULARY_SIZE} tokens, {chinese} of them with whole Chinese characters")


if __name__ == "__main__":
    main()
