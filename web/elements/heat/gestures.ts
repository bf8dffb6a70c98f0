/** Pointers and wheel on the box of a heatmap, told apart: looking, tapping, dragging, pinching. */

import type { Point } from "../viewport.js";

export interface GestureTarget {
  /** Pixels inside the box. `touch`: there is no pointer that could hover. */
  look(x: number, y: number): void;
  leave(): void;
  click(x: number, y: number, touch: boolean): void;
  pan(dx: number, dy: number): void;
  /** Zooms by a factor, and moves what was at `before` to `after`. */
  zoom(factor: number, before: Point, after: Point): void;
  /** Whether dragging pans: at full view a finger scrolls the page. */
  readonly pannable: boolean;
}

/** A pointer that moves no further than this between down and up has clicked. */
const STILL = 4;

export function listenToGestures(box: HTMLElement, target: GestureTarget): void {
  const down = new Map<number, Point>();
  let travelled = 0;
  let touch = false;

  const place = (event: MouseEvent): Point => {
    const { left, top, width } = box.getBoundingClientRect();
    // A page may be zoomed by CSS: the box counts in its own pixels.
    const zoom = width / box.offsetWidth || 1;
    return { x: (event.clientX - left) / zoom, y: (event.clientY - top) / zoom };
  };

  box.addEventListener("pointerdown", (event) => {
    touch = event.pointerType === "touch";
    if (event.button !== 0) return;
    if (down.size === 0) travelled = 0;
    down.set(event.pointerId, place(event));
  });

  // Pressing beside the grid's cell would take the focus from it, and with it the place looked at.
  box.addEventListener("mousedown", (event) => event.preventDefault());

  box.addEventListener("pointermove", (event) => {
    const now = place(event);
    const before = down.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") target.look(now.x, now.y);
      return;
    }
    const [dx, dy] = [now.x - before.x, now.y - before.y];
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      travelled = Infinity;
      const apart = (a: Point) => Math.max(1, Math.hypot(a.x - other.x, a.y - other.y));
      const middle = (a: Point) => ({ x: (a.x + other.x) / 2, y: (a.y + other.y) / 2 });
      target.zoom(apart(now) / apart(before), middle(before), middle(now));
    } else if (target.pannable) {
      travelled += Math.hypot(dx, dy);
      // A hand is never quite still: what is no drag yet must not move the cell away from under the click.
      if (travelled <= STILL) return;
      if (!box.hasPointerCapture(event.pointerId)) box.setPointerCapture(event.pointerId);
      target.pan(dx, dy);
    }
    down.set(event.pointerId, now);
  });

  for (const type of ["pointerup", "pointercancel"] as const) {
    box.addEventListener(type, (event) => down.delete(event.pointerId));
  }
  box.addEventListener("pointerleave", (event) => {
    if (!box.hasPointerCapture(event.pointerId)) down.delete(event.pointerId);
    if (event.pointerType !== "touch") target.leave();
  });
  box.addEventListener("click", (event) => {
    const { x, y } = place(event);
    if (travelled <= STILL) target.click(x, y, touch);
    travelled = 0;
  });
  box.addEventListener(
    "wheel",
    (event) => {
      // A pinch on a touchpad comes as a wheel with Ctrl. Without it the page scrolls, as over any other figure.
      if (!event.ctrlKey) return;
      event.preventDefault();
      const at = place(event);
      const pixels = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * 16;
      target.zoom(Math.exp(-Math.max(-60, Math.min(60, pixels)) / 100), at, at);
    },
    { passive: false },
  );
}
