import assert from "node:assert/strict";
import { test } from "node:test";
import { loadLanguage } from "../../web/i18n/index.js";
import { fromFragment, isPacked, packFragment, toFragment, unpackFragment } from "../../web/playground/fragment.js";
import { headCode, headKey, namesOf, offIn, parseHeadCode } from "../../web/playground/head-key.js";
import { packText, unpackText } from "../../web/playground/packed-text.js";
import { DEFAULT_SOURCE } from "../../web/playground/sources/index.js";
import { examples, initialState, type State, tidyText } from "../../web/playground/state.js";

await loadLanguage("en");

const start = initialState("en");
const back = (state: State) => fromFragment(`#${toFragment(state)}`, initialState("zh"));
// A source with a fixed input leaves the text to the page that opens the link.
const withoutText = (state: State) => ({ ...state, text: "", unit: "" });

const ODD = "小明 & <b>#=+%&?</b>\n\t👨‍👩‍👧 שלום e\u0301\u200b\u200d";

test("a link gives back the whole view", () => {
  const states: State[] = [
    start,
    initialState("zh"),
    { ...start, text: ODD, unit: "word", causal: false, head: 7, pinned: { query: 3, key: null } },
    { ...start, off: new Set([1, 5]), scale: "head", tab: "numbers", table: "k3-", pinned: null },
    { ...start, rows: "character", hide: "first", sort: "entropy", scale: "uniform" },
    { ...start, rows: "word", hide: "special", sort: "importance", scale: "log", table: "w-" },
    { ...start, tab: "lines", lines: new Set([0, 3, 7]), top: 3, threshold: 0.001 },
    { ...start, tab: "lines", lines: new Set([1]), top: 0, combine: "mean", direction: "horizontal", threshold: 0 },
    { ...start, tab: "compare", against: "text", otherText: "The dog & <i>", otherHead: 4 },
    { ...start, tab: "compare", against: "off", sort: "kind" },
    { ...start, text: "" },
    { ...start, source: "built", causal: false },
    { ...start, source: "tiny", layer: 3, head: 7, off: new Set([headKey(0, 5), headKey(2, 1), headKey(3, 7)]) },
    { ...start, source: "file", layer: 31, head: 63 },
  ];
  for (const state of states) assert.deepEqual(back(state), state);
  const numpy: State = { ...start, source: "numpy", causal: true, head: 1, pinned: { query: 2, key: 0 } };
  assert.deepEqual(withoutText(back(numpy)), withoutText(numpy));
});

test("a long text is packed in a link, and comes back to the letter", async () => {
  const english = "It was the best of times, it was the worst of times. ".repeat(40);
  const chinese = "小明在北京的大学里学习计算机科学，".repeat(60);
  for (const text of [english, chinese, ODD.repeat(30), "𠮷".repeat(300)]) {
    const state = { ...start, text, pinned: { query: 2, key: 1 } };
    const fragment = await packFragment(toFragment(state));
    assert.ok(isPacked(`#${fragment}`));
    assert.ok(fragment.length < toFragment(state).length / 2, `${fragment.length} letters`);
    assert.match(fragment, /^z=[\w-]+&/);
    assert.deepEqual(fromFragment((await unpackFragment(`#${fragment}`)) ?? "", initialState("zh")), state);
  }
  const short = toFragment(start);
  assert.equal(await packFragment(short), short);
});

test("a text that packing would lengthen stays as it is", async () => {
  let seed = 1;
  const letters = Array.from({ length: 260 }, () => {
    seed = (seed * 48271) % 0x7fffffff;
    return String.fromCharCode(48 + (seed % 10), 97 + (seed % 26), 65 + (seed % 23));
  });
  const text = letters.join("").slice(0, 210);
  const fragment = toFragment({ ...start, text });
  const packed = await packFragment(fragment);
  assert.ok(packed.length <= fragment.length);
  assert.equal(fromFragment(isPacked(packed) ? ((await unpackFragment(packed)) ?? "") : packed, start).text, text);
});

test("the text beside it is packed too, each by itself", async () => {
  const long = "one two three ".repeat(60);
  for (const [text, otherText] of [
    [long, `${long}four`],
    ["short", long],
    [long, "short"],
  ] as const) {
    const state = { ...start, text, otherText };
    const packed = await packFragment(toFragment(state));
    assert.ok(packed.length < 350 && isPacked(packed), packed);
    const { text: t, otherText: e } = fromFragment((await unpackFragment(packed)) ?? "", start);
    assert.deepEqual([t, e], [text, otherText]);
  }
  assert.equal(await unpackFragment("t=one&i=AAAA"), null);
});

test("without CompressionStream links hold the text as it is, and packed ones say that they cannot be read", async () => {
  const { CompressionStream, DecompressionStream } = globalThis;
  const text = "word ".repeat(100);
  const packed = await packFragment(toFragment({ ...start, text }));
  try {
    Object.assign(globalThis, { CompressionStream: undefined, DecompressionStream: undefined });
    const fragment = toFragment({ ...start, text });
    assert.equal(await packFragment(fragment), fragment);
    assert.equal(await unpackFragment(packed), null);
  } finally {
    Object.assign(globalThis, { CompressionStream, DecompressionStream });
  }
});

test("a damaged packed text is refused, and so is one that unfolds without end", async () => {
  for (const broken of ["", "!!!", "AAAA", "zz", "_-_-_-"]) assert.equal(await unpackText(broken), null, broken);
  const good = (await packText("word ".repeat(100))) as string;
  assert.equal(await unpackText(good.slice(0, -4)), null);
  const bomb = (await packText("a".repeat(5_000_000))) as string;
  assert.ok(bomb.length < 10_000);
  assert.equal(await unpackText(bomb), null);
});

test("namesOf() names heads, and counts them where a list would be no sentence", () => {
  const of = (...keys: number[]) => namesOf(new Set(keys), true);
  assert.equal(of(headKey(1, 2), headKey(0, 4)), "L0 H4, L1 H2");
  assert.equal(namesOf(new Set([3, 1]), false), "H1, H3");
  const many = Array.from({ length: 144 }, (_, i) => headKey(Math.floor(i / 12), i % 12));
  assert.match(of(...many.slice(0, 9)), /H7, L0 H8$/);
  assert.equal(of(...many), "L0 H0, L0 H1, L0 H2, L0 H3, L0 H4, L0 H5, L0 H6, L0 H7 and 136 more");
});

test("the examples open with a cell of their own matrix picked", () => {
  for (const { text, pinned, head } of examples) {
    assert.ok(text.length > 0 && pinned.query >= (pinned.key ?? 0) && head < 8);
  }
});

test("a broken link falls back field by field and never fails", () => {
  assert.equal(fromFragment("", start), start);
  assert.equal(fromFragment("#heads", start), start);
  assert.equal(fromFragment("#t=hello&s=nonsense", start).source, DEFAULT_SOURCE);
  const odd = fromFragment(
    "#t=hello&s=built&y=9&h=99999&q=-1&k=1e9&x=3.x.77.&d=%E0%A4%A&v=zzz&l=xx&u=__proto__&c=maybe&r=x&w=&o=constructor&g=2.99.x&n=-3&m=1&b=12&j=k3--",
    start,
  );
  assert.deepEqual(odd, {
    ...start,
    text: "hello",
    source: "built",
    head: 7,
    pinned: null,
    off: new Set([3]),
    lines: new Set([2]),
    otherHead: 7,
    causal: false,
  });
});

test("tidyText() makes what a text field would make of it, and whole characters", () => {
  assert.equal(tidyText("a\r\nb\rc\nd"), "a\nb\nc\nd");
  assert.equal(tidyText("x\ud83dy\udc68z👨"), "x\ufffdy\ufffdz👨");
});

test("a head of a model is one number, and in links its layer and itself", () => {
  assert.deepEqual([headKey(0, 3), headCode(headKey(0, 3)), parseHeadCode("3")], [3, "3", 3]);
  assert.equal(headCode(headKey(11, 2)), "11-2");
  assert.equal(parseHeadCode("11-2"), headKey(11, 2));
  for (const broken of ["", "x", "1-", "-1", "1-2-3", "1e3", "99999"])
    assert.equal(parseHeadCode(broken), null, broken);
  assert.deepEqual(offIn(new Set([headKey(1, 4), headKey(0, 4), headKey(1, 0)]), 1), new Set([4, 0]));
});
