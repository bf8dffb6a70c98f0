import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import test, { type TestContext } from "node:test";

import { Tokenizer } from "@huggingface/tokenizers";
import { type Headscope, load } from "headscope";
import { type Model, openModel, type Token } from "headscope/models";
import { Random } from "../support/random.ts";
import { configJson, ggufModel, safetensorsModel } from "./fixtures/model-files.ts";
import { randomModel } from "./fixtures/random-model.ts";
import {
  bertKeys,
  bertTokenizerJson,
  bertTokens,
  bool,
  byteCharacters,
  bytePairKeys,
  gpt2Keys,
  type Keys,
  llama2,
  llama2Keys,
  llama3Json,
  llama3Keys,
} from "./fixtures/vocabularies.ts";
import { u32 } from "./write-files.ts";

interface Vector {
  readonly name: string;
  readonly text: string;
  readonly tokens: readonly string[];
  readonly ids: readonly number[];
}

const VECTORS = new URL("../../../shared/conformance/tokenizers/hf_tokenizer_vectors.json", import.meta.url);

function vectorsOf(name: string, t: TestContext): readonly Vector[] {
  if (!existsSync(VECTORS)) {
    t.skip(`there are no shared test vectors at ${VECTORS.pathname}`);
    return [];
  }
  const all: Record<string, Vector[]> = JSON.parse(readFileSync(VECTORS, "utf8"));
  const vectors = (all[name] ?? []).filter(({ name: kind }) => kind !== "TEXT_PAIR"); // one text at a time
  assert.ok(vectors.length > 0, `vectors of ${name}`);
  return vectors;
}

const INSTALL = "the vocabularies are not installed (npm ci in tests/models/vocabularies)";

let hs: Headscope | undefined;
const running = async (): Promise<Headscope> => (hs ??= await load({ variant: "simd" }));

async function gguf(keys: Keys, family: "gpt2" | "bert" | "llama" = "gpt2"): Promise<Model> {
  return openModel(await running(), ggufModel(randomModel(family), { keys }));
}

async function withJson(tokenizer: unknown, family: "bert" | "llama" | "gpt2"): Promise<Model> {
  const model = randomModel(family);
  return openModel(await running(), safetensorsModel(model), { config: configJson(model), tokenizer });
}

const ids = (tokens: readonly Token[]): number[] => tokens.map(({ id }) => id);

async function gptTokenizer(): Promise<((text: string) => number[]) | undefined> {
  const file = new URL("./vocabularies/node_modules/gpt-tokenizer/esm/encoding/r50k_base.js", import.meta.url);
  return existsSync(file) ? (await import(file.href)).encode : undefined;
}

/** What every list of tokens has to keep to, whatever the vocabulary. */
function assertPlaces(text: string, tokens: readonly Token[], label: string): void {
  let end = 0;
  for (const token of tokens) {
    assert.ok(token.start <= token.end && token.end <= text.length, `${label}: ${JSON.stringify(token)}`);
    // Pieces of one character share it; all else follows what came before.
    assert.ok(token.partial || token.start >= end || token.start === token.end, `${label}: ${JSON.stringify(token)}`);
    if (!token.special && !token.partial) {
      assert.equal(token.text, text.slice(token.start, token.end), label);
      assert.deepEqual(token.bytes, new TextEncoder().encode(token.text), label);
    }
    end = Math.max(end, token.end);
  }
}

/** For vocabularies that lose nothing: the bytes give the text back. */
function assertBytes(text: string, tokens: readonly Token[], label: string): void {
  const bytes = Buffer.concat(tokens.filter(({ special }) => !special).map((token) => token.bytes));
  assert.equal(bytes.toString("utf8"), Buffer.from(text, "utf8").toString("utf8"), label);
}

function checkVectors(model: Model, vectors: readonly Vector[], options: { marks: boolean; lossless: boolean }): void {
  for (const { name, text, ids: expected } of vectors) {
    const tokens = model.tokenize(text, { special: true });
    const marked = options.marks ? tokens : tokens.filter(({ special }) => !special || expected.includes(0));
    assert.deepEqual(ids(marked), expected, `${name}: ${JSON.stringify(text)}`);
    assertPlaces(text, tokens, name);
    if (options.lossless) assertBytes(text, model.tokenize(text), name);
  }
}

for (const name of ["Xenova/gpt2", "openai-community/gpt2"]) {
  test(`tokenize: GPT-2's vocabulary in a GGUF file gives the vectors of ${name}`, async (t) => {
    const vectors = vectorsOf(name, t);
    const keys = gpt2Keys();
    if (keys === undefined) return t.skip(INSTALL);
    checkVectors(await gguf(keys), vectors, { marks: true, lossless: true });
  });
}

test("tokenize: GPT-2's ids are those of gpt-tokenizer, also of random text", async (t) => {
  const keys = gpt2Keys();
  const oracle = await gptTokenizer();
  if (keys === undefined || oracle === undefined) return t.skip(INSTALL);
  const model = await gguf(keys);
  assert.deepEqual(ids(model.tokenize("How are")), [2437, 389]);
  const random = new Random(7);
  const alphabet = [..."aZ é\u0301ß中文👋🏽🦙\t\n\r 12٣'.,\u00a0\u200d#\u3000ﬁ§"];
  const texts = ["hello 👋 world 🌍", "“wrote jack a letter”", "█", "I'll we'Ve  ran\n\n\t   leading ", "a\ufeffb"];
  for (let i = 0; i < 200; ++i) {
    texts.push(Array.from({ length: 1 + random.below(30) }, () => alphabet[random.below(alphabet.length)]).join(""));
  }
  for (const text of texts) {
    const tokens = model.tokenize(text);
    assert.deepEqual(ids(tokens), oracle(text), JSON.stringify(text));
    assertPlaces(text, tokens, JSON.stringify(text));
    assertBytes(text, tokens, JSON.stringify(text));
  }
});

test("tokenize: pieces of a character say so, and share its place", async (t) => {
  const keys = gpt2Keys();
  if (keys === undefined) return t.skip(INSTALL);
  const model = await gguf(keys);
  const view = (text: string) =>
    model.tokenize(text).map(({ text: shown, start, end, partial }) => [shown, start, end, partial]);
  assert.deepEqual(view("Führer"), [
    ["F", 0, 1, false],
    ["ü", 1, 2, false],
    ["h", 2, 3, false],
    ["rer", 3, 6, false],
  ]);
  // The llama is one character of two UTF-16 units and four bytes, of which GPT-2 makes three tokens.
  assert.deepEqual(view("a 🦙!"), [
    ["a", 0, 1, false],
    [" <0xF0><0x9F>", 1, 4, true],
    ["<0xA6>", 2, 4, true],
    ["<0x99>", 2, 4, true],
    ["!", 4, 5, false],
  ]);
  for (const text of ["🦙", "我想", "█ x"])
    for (const token of model.tokenize(text)) assert.ok(!token.text.includes("\ufffd"));
  // A lone surrogate is no character: UTF-8 has U+FFFD for it.
  assertPlaces("a\ud83e!", model.tokenize("a\ud83e!"), "lone surrogate");
});

test("tokenize: typed marks are text unless asked otherwise", async (t) => {
  const keys = gpt2Keys();
  if (keys === undefined) return t.skip(INSTALL);
  const model = await gguf(keys);
  const text = "a<|endoftext|> b";
  const typed = model.tokenize(text);
  assert.ok(typed.length > 5 && typed.every(({ special, id }) => !special && id !== 50256));
  assertBytes(text, typed, "typed");
  const marked = model.tokenize(text, { special: true });
  assert.deepEqual(
    marked.map(({ id, start, end, special }) => [id, start, end, special]),
    [
      [64, 0, 1, false],
      [50256, 1, 14, true],
      [275, 14, 16, false],
    ],
  );
  assert.deepEqual(model.tokenize(""), []);
  assert.equal(
    model
      .tokenize("   ")
      .map((token) => token.text)
      .join(""),
    "   ",
  );
});

for (const source of ["a GGUF file", "tokenizer.json"]) {
  test(`tokenize: BERT's vocabulary in ${source} gives the vectors of Xenova/bert-base-uncased`, async (t) => {
    const vectors = vectorsOf("Xenova/bert-base-uncased", t);
    const tokens = bertTokens();
    if (tokens === undefined) return t.skip(INSTALL);
    const model = await (source === "a GGUF file"
      ? gguf(bertKeys(tokens), "bert")
      : withJson(bertTokenizerJson(tokens), "bert"));
    checkVectors(model, vectors, { marks: true, lossless: false });
  });
}

test("tokenize: WordPiece shows the text as it was typed, with capitals and accents", async (t) => {
  const tokens = bertTokens();
  if (tokens === undefined) return t.skip(INSTALL);
  const model = await gguf(bertKeys(tokens), "bert");
  const text = "  Cafè\u0301  UNwantéd 生x [CLS]";
  const shown = model.tokenize(text);
  assertPlaces(text, shown, text);
  assert.deepEqual(
    shown.map((token) => [token.piece, token.text, token.start, token.end, token.special]),
    [
      ["[CLS]", "[CLS]", 0, 0, true],
      ["cafe", "Cafè\u0301", 2, 7, false],
      ["unwanted", "UNwantéd", 9, 17, false],
      ["生", "生", 18, 19, false],
      ["x", "x", 19, 20, false],
      ["[", "[", 21, 22, false],
      ["cl", "CL", 22, 24, false],
      ["##s", "S", 24, 25, false],
      ["]", "]", 25, 26, false],
      ["[SEP]", "[SEP]", 26, 26, true],
    ],
  );
  // Unknown words are shown as they are too.
  const [, unknown] = model.tokenize("\u{1F999}\u{1F999} b");
  assert.deepEqual([unknown?.piece, unknown?.text, unknown?.start, unknown?.end], ["[UNK]", "🦙🦙", 0, 4]);
  assert.deepEqual(
    model.tokenize("").map(({ piece }) => piece),
    ["[CLS]", "[SEP]"],
  );
  const masked = model.tokenize("a [MASK] b", { special: true });
  assert.deepEqual(masked.map(({ piece, special }) => [piece, special])[2], ["[MASK]", true]);
});

for (const source of ["a GGUF file", "tokenizer.json"]) {
  test(`tokenize: Llama's vocabulary in ${source} gives the vectors of Xenova/llama-tokenizer`, async (t) => {
    const vectors = vectorsOf("Xenova/llama-tokenizer", t);
    const vocabulary = await llama2();
    if (vocabulary === undefined) return t.skip(INSTALL);
    const { tokens, json } = vocabulary;
    const model = await (source === "a GGUF file" ? gguf(llama2Keys(tokens), "llama") : withJson(json, "llama"));
    checkVectors(model, vectors, { marks: true, lossless: true });
  });

  test(`tokenize: Llama 3's vocabulary in ${source} gives the vectors of Xenova/llama3-tokenizer`, async (t) => {
    // The package's tokenizer.json is the older one, which puts no mark before a text.
    const vectors = vectorsOf(`Xenova/llama3-tokenizer${source === "a GGUF file" ? "-new" : ""}`, t);
    const json = llama3Json();
    if (json === undefined) return t.skip(INSTALL);
    const model = await (source === "a GGUF file" ? gguf(llama3Keys(json), "llama") : withJson(json, "llama"));
    checkVectors(model, vectors, { marks: true, lossless: true });
  });
}

/** A Unigram tokenizer as multilingual MiniLM has it, with a vocabulary of a few pieces. */
function unigramJson(): unknown {
  const vocab = [
    ["<unk>", 0],
    ["<s>", 0],
    ["</s>", 0],
    ["▁", -3],
    ["▁a", -1],
    ["a", -4],
    ["b", -4],
    ["s", -4],
    ["f", -4],
    ["i", -4],
    ["<", -5],
    [">", -5],
    ["/", -5],
  ];
  const mark = (content: string, id: number) => ({
    ...{ id, content, special: true, lstrip: false, rstrip: false, normalized: false, single_word: false },
  });
  return {
    added_tokens: [mark("<s>", 1), mark("</s>", 2)],
    normalizer: { type: "Sequence", normalizers: [{ type: "NFKC" }, { type: "Lowercase" }] },
    pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "always", add_prefix_space: true },
    post_processor: { type: "RobertaProcessing", cls: ["<s>", 1], sep: ["</s>", 2] },
    decoder: { type: "Metaspace", replacement: "▁", prepend_scheme: "always", add_prefix_space: true },
    model: { type: "Unigram", unk_id: 0, vocab },
  };
}

test("tokenize: Unigram keeps typed marks as text, and places unknown and folded characters", async () => {
  const model = await withJson(unigramJson(), "bert");
  const view = (text: string, special = false) =>
    model.tokenize(text, { special }).map((token) => [token.piece, token.text, token.start, token.end, token.partial]);
  const around =
    (...tokens: unknown[][]) =>
    (length: number) => [["<s>", "<s>", 0, 0, false], ...tokens, ["</s>", "</s>", length, length, false]];
  // The mark in front of the text is in the first piece and nowhere in the text.
  assert.deepEqual(view("A b"), around(["▁a", "A", 0, 1, false], ["▁", " ", 1, 2, false], ["b", "b", 2, 3, false])(3));
  assert.ok(model.tokenize("a<s>b").every(({ id, start, end }) => id !== 1 || start === end));
  assert.equal(view("a<s>b", true).filter(([piece]) => piece === "<s>").length, 2);
  // One typed character, two pieces.
  assert.deepEqual(
    view("a\ufb01b"),
    around(["▁a", "a", 0, 1, false], ["f", "f", 1, 2, true], ["i", "i", 1, 2, true], ["b", "b", 2, 3, false])(3),
  );
  // What is unknown reaches to what is known.
  assert.deepEqual(
    view("a\u{1f999}\u5c31b"),
    around(["▁a", "a", 0, 1, false], ["<unk>", "\u{1f999}\u5c31", 1, 4, false], ["b", "b", 4, 5, false])(5),
  );
  assert.deepEqual(view(""), around()(0));
});

test("tokenize: NFC in front of byte-level pieces, as Qwen2 has it, keeps the places of what was typed", async (t) => {
  const keys = gpt2Keys("qwen2");
  if (keys === undefined) return t.skip(INSTALL);
  const model = await gguf(keys);
  const text = "cafe\u0301 12 \ud55c\u1100\u1161 x\u0302!";
  const tokens = model.tokenize(text);
  assertPlaces(text, tokens, text);
  const shown = tokens.map((token) => text.slice(token.start, token.end));
  assert.equal(
    [...new Set(tokens.map(({ start }) => start))]
      .map((start) => shown[tokens.findIndex((token) => token.start === start)])
      .join(""),
    text,
  );
  assert.ok(tokens.some((token) => token.text === "1") && tokens.some((token) => token.text === "2"), "digits apart");
});

/** A vocabulary that nobody would train: pairs of any pieces in any order, some of them without a piece of their own. */
function wildVocabulary(random: Random): { tokens: string[]; merges: [string, string][] } {
  const tokens = byteCharacters();
  const merges = new Map<string, [string, string]>();
  while (merges.size < 400) {
    const pair: [string, string] = [
      tokens[random.below(2) ? 97 + random.below(4) : random.below(tokens.length)] as string,
      tokens[random.below(2) ? 97 + random.below(4) : random.below(tokens.length)] as string,
    ];
    const piece = pair.join("");
    if ([...piece].length > 6) continue;
    merges.set(pair.join(" "), pair);
    if (!tokens.includes(piece)) tokens.push(piece);
  }
  const list = [...merges.values()];
  for (let i = list.length - 1; i > 0; --i) {
    const other = random.below(i + 1);
    [list[i], list[other]] = [list[other] as [string, string], list[i] as [string, string]];
  }
  // The last pieces are forgotten, and made all the same.
  return { tokens: [...tokens.slice(0, -20), "<mark>", "<unk>"], merges: list };
}

const GPT2_PATTERN = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

test("tokenize: byte pairs of a GGUF file are what the library makes of the same rules, whatever the merges", async () => {
  const random = new Random(5);
  const letters = [..."abcdabcdabcd  '12٣é中👋🏽\t\n\u0085\ufeff\u00a0.,"];
  for (let round = 0; round < 12; ++round) {
    const { tokens, merges } = wildVocabulary(random);
    const [mark, unknown] = [tokens.length - 2, tokens.length - 1];
    const pre = round % 2 === 0 ? "gpt-2" : "starcoder";
    const space = round % 3 === 0;
    const model = await gguf([
      ...bytePairKeys(
        tokens,
        merges.map((pair) => pair.join(" ")),
        pre,
        [mark],
      ),
      ...(round % 4 === 0 ? [] : ([["tokenizer.ggml.unknown_token_id", u32(unknown)]] as Keys)),
      ["tokenizer.ggml.add_space_prefix", bool(space)],
      ["tokenizer.ggml.add_eos_token", bool(round % 5 === 0)],
    ]);
    const digits = { type: "Digits", individual_digits: true };
    const oracle = new Tokenizer(
      {
        added_tokens: [],
        normalizer: null,
        pre_tokenizer: {
          type: "Sequence",
          pretokenizers: [
            ...(pre === "starcoder" ? [digits] : []),
            { type: "Split", pattern: { Regex: GPT2_PATTERN }, behavior: "Isolated", invert: false },
            { type: "ByteLevel", add_prefix_space: space, use_regex: false },
          ],
        },
        post_processor: null,
        decoder: { type: "ByteLevel" },
        model: {
          type: "BPE",
          unk_token: round % 4 === 0 ? null : "<unk>",
          vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
          merges,
        },
      },
      {},
    );
    for (let i = 0; i < 60; ++i) {
      const length = i === 0 ? 3000 : 1 + random.below(40);
      const source = Array.from({ length }, () => letters[random.below(i === 0 ? 12 : letters.length)]).join("");
      const made = model.tokenize(source).filter(({ special }) => !special);
      assert.deepEqual(
        made.map(({ piece }) => piece),
        oracle.tokenize(source),
        `round ${round}: ${JSON.stringify(source)}`,
      );
      assert.equal(model.tokenize(source).length - made.length, round % 5 === 0 ? 1 : 0);
    }
  }
});
