// The page's state and the one that the elements share.
import assert from "node:assert/strict";
import { test } from "node:test";
import { headKey } from "../../web/playground/head-key.js";
import { LinkedView } from "../../web/playground/link-view.js";
import type { Scene, Shell } from "../../web/playground/shell.js";
import { initialState, type State } from "../../web/playground/state.js";

function page(given: Partial<State> = {}) {
  const calls: unknown[] = [];
  let state: State = { ...initialState("en"), pinned: null, head: 2, ...given };
  const shell = {
    get state() {
      return state;
    },
    update(change: Partial<State>) {
      calls.push(change);
      state = { ...state, ...change };
    },
    selectHead(head: number) {
      calls.push({ head });
      state = { ...state, head };
    },
    preview(spot: unknown) {
      calls.push({ preview: spot });
    },
  } as unknown as Shell;
  const linked = new LinkedView(shell);
  const write = (scene: Partial<Scene>, off: ReadonlySet<number> = new Set()) => {
    linked.write({ head: state.head, layer: 0, pinned: state.pinned, given: null, ...scene } as Scene, off);
    return calls.splice(0);
  };
  return { linked, calls, write };
}

test("what the page writes comes back to it as nothing", () => {
  const { write, linked } = page();
  assert.deepEqual(write({ pinned: { query: 3, key: 1 }, given: { query: 3, key: 1 } }, new Set([5])), []);
  assert.deepEqual([linked.state.query, linked.state.key, linked.state.heads], [3, 1, [2]]);
  assert.deepEqual([...linked.state.off], [5]);
});

test("looking, picking, enlarging and switching off in an element reach the page", () => {
  const { write, linked, calls } = page();
  write({ layer: 3 });
  linked.state.preview({ query: 4, key: 2 });
  assert.deepEqual(calls.splice(0), [{ preview: { query: 4, key: 2 } }]);
  linked.state.preview(null);
  assert.deepEqual(calls.splice(0), [{ preview: null }]);
  linked.state.pin({ query: 4, key: null });
  assert.deepEqual(calls.splice(0), [{ pinned: { query: 4, key: null } }, { preview: null }]);
  linked.state.set({ heads: [6, 2] });
  assert.deepEqual(calls.splice(0), [{ head: 6 }, { lines: new Set([2]) }, { preview: null }]);
  linked.state.ablate(7, true);
  assert.deepEqual(calls.splice(0), [{ off: new Set([headKey(3, 7)]) }, { preview: null }]);
});

test("a head that is switched off leaves those of other layers as they are", () => {
  const { write, linked, calls } = page({ off: new Set([headKey(0, 1), headKey(2, 4)]) });
  write({ layer: 2 }, new Set([4]));
  linked.state.ablate(4, false);
  assert.deepEqual(calls[0], { off: new Set([headKey(0, 1)]) });
});

test("a pin that the heads on screen cannot show stays while somebody only looks", () => {
  const { write, linked, calls } = page({ pinned: { query: 40, key: 3 } });
  // The text on screen is shorter: there the page shows no pin.
  write({ pinned: null });
  linked.state.preview({ query: 1, key: 1 });
  assert.deepEqual(calls, [{ preview: { query: 1, key: 1 } }]);
});
