/** A curve of costs over heads taken out, as an SVG. Presentation attributes only: the policy allows no inline styles. */

export interface Point {
  readonly removed: number;
  readonly cost: number;
}

export interface Curve {
  readonly points: readonly Point[];
  readonly className: string;
}

export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export const FRAME: Frame = { width: 560, height: 250, left: 46, right: 12, top: 14, bottom: 34 };

const LEAST_WIDTH = 280;

/** Steps of 1, 2 or 5 times a power of ten: about four of them up to `most`. */
export function ticks(most: number): number[] {
  if (!(most > 0)) return [0];
  const raw = most / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5].find((factor) => factor * power >= raw) ?? 10) * power;
  const count = Math.ceil(most / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, i) => i * step);
}

/** From heads and costs to places in the frame. `low` is below 0 where a text is foreseen better without some head. */
export function scaleOf(curves: readonly Curve[], heads: number, frame: Frame = FRAME) {
  const costs = curves.flatMap(({ points }) => points.map(({ cost }) => cost));
  const marks = ticks(Math.max(0.001, ...costs));
  const high = marks[marks.length - 1] as number;
  const low = Math.min(0, ...costs);
  const x = (removed: number) => frame.left + (removed / heads) * (frame.width - frame.left - frame.right);
  const y = (cost: number) => frame.top + ((high - cost) / (high - low)) * (frame.height - frame.top - frame.bottom);
  return { x, y, marks, low, high };
}

export function pathOf(points: readonly Point[], { x, y }: Pick<ReturnType<typeof scaleOf>, "x" | "y">): string {
  return points
    .map(({ removed, cost }, i) => `${i ? "L" : "M"}${x(removed).toFixed(1)} ${y(cost).toFixed(1)}`)
    .join("");
}

const NAMESPACE = "http://www.w3.org/2000/svg";

function svg(tag: string, attributes: Readonly<Record<string, string | number>>, ...children: (Node | string)[]) {
  const node = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

export interface Labels {
  /** What the picture says, for those who do not see it. */
  readonly title: string;
  readonly across: string;
  readonly up: string;
}

/** @param most the width that there is: drawn wider and made smaller, its words could not be read */
export function chart(curves: readonly Curve[], heads: number, labels: Labels, most: number = FRAME.width): SVGElement {
  const frame = { ...FRAME, width: Math.max(LEAST_WIDTH, Math.min(FRAME.width, most)) };
  const { width, height, left, right, top, bottom } = frame;
  const scale = scaleOf(curves, heads, frame);
  const { x, y } = scale;
  const picture = svg("svg", {
    ...{ viewBox: `0 0 ${width} ${height}`, class: "prune-chart", role: "img", "aria-label": labels.title },
  });
  for (const mark of scale.marks) {
    picture.append(
      svg("line", { x1: left, x2: width - right, y1: y(mark), y2: y(mark), class: mark === 0 ? "axis" : "rule" }),
      svg("text", { x: left - 6, y: y(mark) + 4, "text-anchor": "end" }, String(Number(mark.toPrecision(3)))),
    );
  }
  for (let i = 0; i <= 4; i++) {
    const removed = Math.round((i * heads) / 4);
    const anchor = i === 4 ? "end" : "middle";
    picture.append(svg("text", { x: x(removed), y: height - bottom + 16, "text-anchor": anchor }, String(removed)));
  }
  const middle = (left + width - right) / 2;
  picture.append(
    svg("text", { x: middle, y: height - 3, "text-anchor": "middle", class: "name" }, labels.across),
    svg("text", { x: left, y: top - 4, class: "name" }, labels.up),
  );
  for (const { points, className } of curves) {
    picture.append(svg("path", { d: pathOf(points, scale), class: className, fill: "none" }));
    for (const point of points) {
      picture.append(svg("circle", { cx: x(point.removed), cy: y(point.cost), r: 2.5, class: className }));
    }
  }
  return picture;
}
