// Chromium's emulation of screens changes devicePixelRatio without the events that a real change brings: they are made here.
import assert from "node:assert/strict";
import { test } from "node:test";
import { watchPixelRatio } from "../../web/elements/pixel-ratio.js";

test("watchPixelRatio() tells of every change of the screen, until nobody listens", () => {
  let queries: EventTarget[] = [];
  const screen = { devicePixelRatio: 1 };
  const matchMedia = (text: string) => {
    assert.equal(text, `(resolution: ${screen.devicePixelRatio}dppx)`);
    const query = new EventTarget();
    queries.push(query);
    return query;
  };
  Object.assign(globalThis, { window: screen, matchMedia });
  /** The query of the ratio that is left changes, and no other. */
  const change = (ratio: number) => {
    screen.devicePixelRatio = ratio;
    const [left] = queries.splice(0);
    left?.dispatchEvent(new Event("change"));
  };
  const heard: string[] = [];
  const stopOne = watchPixelRatio(() => heard.push("one"));
  const stopTwo = watchPixelRatio(() => heard.push("two"));
  change(2);
  change(1.5);
  assert.deepEqual(heard.splice(0), ["one", "two", "one", "two"]);
  stopOne();
  change(1);
  assert.deepEqual(heard.splice(0), ["two"]);
  stopTwo();
  change(2);
  assert.equal(heard.length, 0);
  queries = [];
  watchPixelRatio(() => heard.push("three"));
  change(3);
  assert.deepEqual(heard, ["three"]);
});
