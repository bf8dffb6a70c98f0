import assert from "node:assert/strict";
import { test } from "node:test";
import { digitsFor, labelStep, layoutHeat } from "../../web/elements/heat/layout.js";
import {
  cellAt,
  cellSize,
  centerOn,
  clampViewport,
  FIT,
  maxZoom,
  type Plot,
  panBy,
  pinch,
  reveal,
  visibleArea,
  zoomAt,
} from "../../web/elements/viewport.js";

const plot = (rows: number, columns: number, cellWidth: number, cellHeight = cellWidth): Plot => ({
  rows,
  columns,
  cellWidth,
  cellHeight,
  width: cellWidth * columns,
  height: cellHeight * rows,
});

test("cellAt() names the cell under a point, and nothing outside the box", () => {
  const p = plot(4, 5, 10);
  assert.deepEqual(cellAt(p, FIT, 0, 0), { query: 0, key: 0 });
  assert.deepEqual(cellAt(p, FIT, 49.9, 39.9), { query: 3, key: 4 });
  assert.deepEqual(cellAt(p, FIT, 10, 9.99), { query: 0, key: 1 });
  assert.equal(cellAt(p, FIT, 50, 0), null);
  assert.equal(cellAt(p, FIT, 0, -0.1), null);
  assert.equal(cellAt(p, FIT, Number.NaN, 0), null);
});

test("zoomAt() keeps the point of the matrix that is under the pointer", () => {
  const p = plot(512, 512, 1);
  let view = FIT;
  for (const [factor, x, y] of [
    [4, 100, 300],
    [1.7, 511, 3],
    [2.2, 250, 250],
  ] as const) {
    const before = cellAt(p, view, x, y);
    view = zoomAt(p, view, factor, x, y);
    assert.deepEqual(cellAt(p, view, x, y), before, `×${factor}`);
  }
  assert.ok(Math.abs(view.zoom - 4 * 1.7 * 2.2) < 1e-9);
});

test("pinch() takes what was between the fingers to where they are, also out of the whole matrix", () => {
  const p = plot(100, 100, 4);
  const view = pinch(p, FIT, 3, { x: 100, y: 200 }, { x: 130, y: 180 });
  assert.deepEqual(cellAt(p, view, 130.1, 180.1), { query: 50, key: 25 });
  assert.equal(view.zoom, 3);
  // Without a change of distance it is a pan.
  const moved = pinch(p, view, 1, { x: 130, y: 180 }, { x: 140, y: 175 });
  const panned = panBy(p, view, 10, -5);
  for (const name of ["zoom", "row", "column"] as const) assert.ok(Math.abs(moved[name] - panned[name]) < 1e-9, name);
});

test("zoomAt() goes no further out than the whole and no further in than a readable cell", () => {
  const p = plot(512, 512, 1);
  assert.deepEqual(zoomAt(p, FIT, 0.1, 30, 30), FIT);
  const near = zoomAt(p, FIT, 1e6, 0, 0);
  assert.equal(near.zoom, maxZoom(p));
  assert.deepEqual(cellSize(p, near.zoom), { width: 72, height: 72 });
  assert.deepEqual(clampViewport(p, { zoom: near.zoom, row: 9999, column: -5 }), {
    zoom: near.zoom,
    row: 512 - 512 / 72,
    column: 0,
  });
});

test("zooming one query and 300 keys widens the keys and leaves the row whole", () => {
  const p = plot(1, 300, 1.5, 28);
  const view = zoomAt(p, FIT, 10, 0, 0);
  assert.deepEqual(cellSize(p, view.zoom), { width: 15, height: 28 });
  assert.deepEqual(visibleArea(p, view), { row: 0, column: 0, rows: 1, columns: 30 });
});

test("one cell cannot be zoomed", () => {
  assert.equal(maxZoom(plot(1, 1, 92)), 1);
});

test("panBy() moves the matrix with the hand and stops at its edges", () => {
  const p = plot(100, 100, 4);
  const zoomed = zoomAt(p, FIT, 5, 0, 0);
  const moved = panBy(p, zoomed, -40, -20);
  assert.deepEqual(moved, { zoom: 5, row: 1, column: 2 });
  assert.deepEqual(panBy(p, moved, 1e6, 1e6), { zoom: 5, row: 0, column: 0 });
  assert.deepEqual(panBy(p, FIT, -50, -50), FIT);
});

test("reveal() moves just as far as a whole cell needs, and not at all for one in view", () => {
  const p = plot(100, 100, 4);
  const zoomed = zoomAt(p, FIT, 5, 0, 0); // 20 × 20 cells in view
  assert.deepEqual(reveal(p, zoomed, 5, 19), zoomed);
  assert.deepEqual(reveal(p, zoomed, 5, 20), { zoom: 5, row: 0, column: 1 });
  assert.deepEqual(reveal(p, zoomed, 99, 99), { zoom: 5, row: 80, column: 80 });
});

test("centerOn() puts a place into the middle where the edges allow it", () => {
  const p = plot(100, 100, 4);
  const zoomed = zoomAt(p, FIT, 5, 0, 0);
  assert.deepEqual(centerOn(p, zoomed, 50, 3), { zoom: 5, row: 40, column: 0 });
});

test("visibleArea() of the whole is the whole, whatever the cell's width in binary", () => {
  for (const count of [3, 7, 49, 300, 1023]) {
    const p = plot(count, count, 500 / count);
    assert.deepEqual(visibleArea(p, FIT), { row: 0, column: 0, rows: count, columns: count });
  }
});

test("layoutHeat() makes square cells, at most 92 wide, within the given width", () => {
  for (const [rows, columns] of [
    [1, 1],
    [9, 9],
    [512, 512],
    [1024, 1024],
  ] as const) {
    for (const width of [320, 560, 1900]) {
      const { plot: p, left } = layoutHeat({ rows, columns, width, maxPlot: 720, label: 60 });
      assert.equal(p.cellWidth, p.cellHeight);
      assert.ok(p.cellWidth <= 92);
      assert.ok(left + p.width <= width, `${columns} columns in ${width}`);
      assert.ok(p.height <= 720);
    }
  }
});

test("layoutHeat() keeps one row of 300 keys, and one column of 300 queries, large enough to hit", () => {
  const wide = layoutHeat({ rows: 1, columns: 300, width: 560, maxPlot: 720, label: 60 }).plot;
  assert.equal(wide.cellHeight, 28);
  assert.ok(wide.width > 400);
  const tall = layoutHeat({ rows: 300, columns: 1, width: 560, maxPlot: 720, label: 60 }).plot;
  assert.equal(tall.cellWidth, 28);
  assert.ok(tall.height <= 560);
});

test("layoutHeat() stands labels up on phones and for narrow cells", () => {
  assert.equal(layoutHeat({ rows: 9, columns: 9, width: 560, maxPlot: 720, label: 60 }).slant, 38);
  assert.equal(layoutHeat({ rows: 9, columns: 9, width: 320, maxPlot: 720, label: 60 }).slant, 64);
  assert.equal(layoutHeat({ rows: 60, columns: 60, width: 560, maxPlot: 720, label: 60 }).slant, 64);
});

test("labelStep() leaves out labels where they would touch", () => {
  assert.equal(labelStep(40, 90), 1);
  assert.equal(labelStep(5, 90), 3);
  assert.equal(labelStep(0.5, 90), 22);
  assert.equal(labelStep(11, 64), 2);
});

test("digitsFor() writes as many digits as a cell holds", () => {
  assert.deepEqual(
    [10, 20, 36, 48].map((width) => digitsFor(width, width)),
    [0, 2, 3, 4],
  );
  assert.equal(digitsFor(60, 10), 0);
});
