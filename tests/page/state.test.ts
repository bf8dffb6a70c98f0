import assert from "node:assert/strict";
import { test } from "node:test";
import { headCode, headKey, offIn, parseHeadCode } from "../../web/playground/head-key.js";
import { DEFAULT_SOURCE } from "../../web/playground/sources/index.js";
import { examples, fromFragment, initialState, type State, toFragment } from "../../web/playground/state.js";

const start = initialState("en");
const back = (state: State) => fromFragment(`#${toFragment(state)}`, initialState("zh"));
// A source with a fixed input leaves the text to the page that opens the link.
const withoutText = (state: State) => ({ ...state, text: "", unit: "" });

test("a link gives back the whole view", () => {
  const states: State[] = [
    start,
    initialState("zh"),
    {
      ...start,
      text: "小明 & <b>#=+%&?</b>\n\t👨‍👩‍👧 שלום",
      unit: "word",
      causal: false,
      head: 7,
      pinned: { query: 3, key: null },
    },
    { ...start, off: new Set([1, 5]), scale: "head", tab: "numbers", pinned: null },
    { ...start, text: "" },
    { ...start, source: "built", causal: false },
    { ...start, source: "tiny", layer: 3, head: 7, off: new Set([headKey(0, 5), headKey(2, 1), headKey(3, 7)]) },
    { ...start, source: "file", layer: 31, head: 63 },
  ];
  for (const state of states) assert.deepEqual(back(state), state);
  const numpy: State = { ...start, source: "numpy", causal: true, head: 1, pinned: { query: 2, key: 0 } };
  assert.deepEqual(withoutText(back(numpy)), withoutText(numpy));
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
    "#t=hello&s=built&y=9&h=99999&q=-1&k=1e9&x=3.x.77.&d=%E0%A4%A&v=zzz&l=xx&u=__proto__&c=maybe",
    start,
  );
  assert.deepEqual(odd, {
    ...start,
    text: "hello",
    source: "built",
    head: 7,
    pinned: null,
    off: new Set([3]),
    causal: false,
  });
});

test("a head of a model is one number, and in links its layer and itself", () => {
  assert.deepEqual([headKey(0, 3), headCode(headKey(0, 3)), parseHeadCode("3")], [3, "3", 3]);
  assert.equal(headCode(headKey(11, 2)), "11-2");
  assert.equal(parseHeadCode("11-2"), headKey(11, 2));
  for (const broken of ["", "x", "1-", "-1", "1-2-3", "1e3", "99999"])
    assert.equal(parseHeadCode(broken), null, broken);
  assert.deepEqual(offIn(new Set([headKey(1, 4), headKey(0, 4), headKey(1, 0)]), 1), new Set([4, 0]));
});
