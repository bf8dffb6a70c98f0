import assert from "node:assert/strict";
import { test } from "node:test";
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
  const odd = fromFragment(
    "#t=hello&s=nonsense&h=99999&q=-1&k=1e9&x=3.x.77.&d=%E0%A4%A&v=zzz&l=xx&u=__proto__&c=maybe",
    start,
  );
  assert.deepEqual(odd, {
    ...start,
    text: "hello",
    head: 7,
    pinned: null,
    off: new Set([3]),
    causal: false,
  });
});
