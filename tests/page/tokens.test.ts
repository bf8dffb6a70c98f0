import assert from "node:assert/strict";
import { test } from "node:test";
import { labelParts, labelText } from "../../web/elements/token-label.js";
import { type Token, tokenize, type Unit } from "../../web/playground/tokens.js";

const texts = (text: string, unit: Unit = "character", limit = 512) =>
  tokenize(text, unit, limit).tokens.map((token) => token.text);

test("tokenize() keeps the space before a word with the word", () => {
  assert.deepEqual(texts("The cat sat"), ["The", " cat", " sat"]);
  assert.deepEqual(texts("a  b "), ["a", " ", " b", " "]);
});

test("tokenize() cuts Chinese by character, or by word when asked", () => {
  assert.deepEqual(texts("在北京学习"), ["在", "北", "京", "学", "习"]);
  const words = texts("小明在北京的大学里学习计算机科学", "word");
  assert.ok(words.includes("学习") && words.includes("北京"), words.join("|"));
  assert.equal(words.join(""), "小明在北京的大学里学习计算机科学");
});

test("tokenize() makes line breaks, tabs and other spaces tokens of their own", () => {
  assert.deepEqual(texts("a\nb\r\nc\td\u00a0e"), ["a", "\n", "b", "\r\n", "c", "\t", "d", "\u00a0", "e"]);
  assert.deepEqual(texts(" \n a"), [" ", "\n", " a"]);
});

test("tokenize() never cuts inside an emoji, a flag, or a letter with its marks", () => {
  assert.deepEqual(texts("👨‍👩‍👧 🇨🇳 e\u0301"), ["👨‍👩‍👧", " 🇨🇳", " e\u0301"]);
  for (const token of texts(`${"e\u0301".repeat(100)}`)) {
    assert.ok(!token.startsWith("\u0301"), "a combining mark lost its letter");
  }
});

test("tokenize() gives copies of a word one id, whatever their case and the space before them", () => {
  const { tokens } = tokenize("The cat and the dog", "character", 512);
  const ids = tokens.map((token) => token.id);
  assert.equal(ids[0], ids[3]);
  assert.equal(new Set(ids).size, 4);
});

test("tokenize() loses nothing: the tokens joined are the text", () => {
  const samples = [
    "",
    " ",
    "\n",
    "a",
    "שלום עולם",
    "x\u200by",
    "Hello, world! 1.5 don't",
    "  a  b  ",
    "\ud83d",
    "你 好\n\n",
  ];
  for (const sample of samples) {
    for (const unit of ["character", "word"] as const) {
      const { tokens, cutAt } = tokenize(sample, unit, 512);
      assert.equal(tokens.map((token) => token.text).join(""), sample);
      assert.equal(cutAt, null);
      for (const token of tokens) assert.equal(sample.slice(token.start, token.end), token.text);
    }
  }
});

test("tokenize() stops at its limit and says where", () => {
  const { tokens, cutAt } = tokenize("a b c d e", "character", 3);
  assert.deepEqual(
    tokens.map(({ text }: Token) => text),
    ["a", " b", " c"],
  );
  assert.equal(cutAt, 5);
  assert.equal(tokenize("a b c", "character", 3).cutAt, null);
});

test("tokenize() of a pasted book costs no more than its first page", () => {
  const book = "word ".repeat(2_000_000);
  const started = performance.now();
  const { tokens, cutAt } = tokenize(book, "character", 512);
  assert.ok(performance.now() - started < 1000);
  assert.equal(tokens.length, 512);
  assert.equal(cutAt, 4 + 5 * 511);
  const oneWord = tokenize("a".repeat(1_000_000), "character", 512);
  assert.equal(oneWord.tokens.length, 512);
  assert.ok(oneWord.cutAt !== null && oneWord.cutAt < 100_000);
});

test("labels tell spaces, breaks and invisible characters apart by sight", () => {
  const shown = [
    " a",
    "\n",
    "\t",
    "\u00a0",
    "\u200d",
    "\u200b",
    "\u202e",
    "\ufeff",
    "\u3164",
    "\r\n",
    "␣",
    "Ġ",
    "[CLS]",
  ];
  const labels = shown.map(labelText);
  assert.deepEqual(labels.slice(0, 4), ["␣a", "↵", "⇥", "⍽"]);
  assert.deepEqual(labels.slice(4, 9), ["‹U+200D›", "‹U+200B›", "‹U+202E›", "‹U+FEFF›", "‹U+3164›"]);
  assert.deepEqual(labels.slice(9), ["↵", "␣", "Ġ", "[CLS]"]);
  // A typed ␣ is text, the mark of a space is not.
  assert.deepEqual(labelParts("␣"), [{ text: "␣", mark: false }]);
  assert.deepEqual(labelParts(" a"), [
    { text: "␣", mark: true },
    { text: "a", mark: false },
  ]);
});

test("labels put a combining mark that has lost its letter on a dotted circle, and leave all others alone", () => {
  for (const [text, label] of [
    ["\u0301", "◌\u0301"],
    ["\u0301\u0323", "◌\u0301\u0323"],
    ["\u0301a", "◌\u0301a"],
    [" \u0301", "␣◌\u0301"],
    ["\n\u0301", "↵◌\u0301"],
    ["\u200b\u0301", "‹U+200B›◌\u0301"],
    ["\u20dd", "◌\u20dd"],
    ["\u093f", "◌\u093f"],
    ["\u3099", "◌\u3099"],
    ["e\u0301\u0323", "e\u0301\u0323"],
    ["क\u093f", "क\u093f"],
    ["か\u3099", "か\u3099"],
    // A typed circle is a character like any other.
    ["◌\u0301", "◌\u0301"],
  ] as const) {
    assert.equal(labelText(text), label, JSON.stringify(text));
  }
  // A stand-in, drawn softer, in one piece: a mark in a span of its own would stand beside the circle.
  assert.deepEqual(labelParts("\u0301\u0323a"), [
    { text: "◌\u0301\u0323", mark: true },
    { text: "a", mark: false },
  ]);
});

test("labels name whatever draws nothing: selectors without a character, fillers, blank symbols", () => {
  for (const text of [
    "\ufe0f",
    "\u{e0100}",
    "\u034f",
    "\u115f",
    "\u3164",
    "\u17b4",
    "\u2800",
    "\u{1d159}",
    "\u{e0041}",
  ]) {
    assert.match(labelText(text), /^‹U\+[0-9A-F]{4,6}›$/, JSON.stringify(text));
  }
  assert.equal(labelText(" \ufe0f"), "␣‹U+FE0F›");
  for (const text of ["☺\ufe0f", "葛\u{e0100}", "1\ufe0f\u20e3"]) assert.equal(labelText(text), text);
});

test("labels leave joiners alone where a script or an emoji needs them", () => {
  for (const text of ["👨‍👩‍👧", "❤️", "می\u200cخواهم", "क्\u200dष", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]) assert.equal(labelText(text), text);
  assert.equal(labelText("a\u200db"), "a‹U+200D›b");
});

test("labels keep markup as the text it is", () => {
  const text = `<img src=x onerror=alert(1)>"'\`&amp;</script>`;
  assert.deepEqual(labelParts(text.replaceAll(" ", "_")), [{ text: text.replaceAll(" ", "_"), mark: false }]);
});
