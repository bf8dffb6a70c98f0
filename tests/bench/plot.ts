import type { Result } from "./measure.ts";
import { bestRow, gflops } from "./table.ts";

const WIDTH = 720;
const HEIGHT = 380;
const BOX = { left: 52, right: 180, top: 40, bottom: 46 };
/** Okabe and Ito's colours, readable on both papers and for the colour-blind. */
const COLOURS = ["#0072b2", "#56b4e9", "#d55e00", "#009e73", "#cc79a7", "#8a7a00", "#777777"];

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

interface Line {
  readonly name: string;
  readonly points: readonly { readonly T: number; readonly value: number }[];
}

/** GFLOP/s over T of whole layers in one engine, as an SVG that follows the reader's theme. */
export function plotSvg(title: string, results: readonly Result[], whos: readonly string[]): string {
  const square = results
    .map((result) => ({ result, T: Number(/^D768 T(\d+)$/.exec(result.case)?.[1] ?? 0) }))
    .filter(({ T }) => T > 0)
    .sort((a, b) => a.T - b.T);
  const lines: Line[] = whos
    .map((name) => ({
      name,
      points: square.flatMap(({ result, T }) => {
        const row = bestRow(result, name);
        return row ? [{ T, value: gflops(result, row) }] : [];
      }),
    }))
    .filter((line) => line.points.length > 0);
  const limits = square.map(({ result, T }) => ({ T, value: result.limit.relaxed ?? result.limit.simd ?? 0 }));
  lines.unshift({ name: "limit", points: limits });
  const largest = Math.max(10, ...lines.flatMap((line) => line.points.map((point) => point.value)));
  const top = Math.ceil(largest / 10) * 10;
  const all = square.map(({ T }) => T);
  const [from, to] = [Math.log2(Math.min(...all)), Math.log2(Math.max(...all))];
  const x = (T: number) => BOX.left + ((Math.log2(T) - from) / (to - from || 1)) * (WIDTH - BOX.left - BOX.right);
  const y = (value: number) => HEIGHT - BOX.bottom - (value / top) * (HEIGHT - BOX.top - BOX.bottom);
  const at = (n: number) => n.toFixed(1);

  const grid = Array.from({ length: top / 10 + 1 }, (_, i) => i * 10).map(
    (value) =>
      `<path class="grid" d="M${BOX.left} ${at(y(value))}H${WIDTH - BOX.right}"/>` +
      `<text x="${BOX.left - 8}" y="${at(y(value) + 4)}" text-anchor="end">${value}</text>`,
  );
  const ticks = all.map(
    (T) => `<text x="${at(x(T))}" y="${HEIGHT - BOX.bottom + 18}" text-anchor="middle">${T}</text>`,
  );
  // Names stand at the ends of their lines, as far from one another as a line of text is high.
  const ends = lines.map((line, i) => ({ line, i, y: y(line.points.at(-1)?.value ?? 0) })).sort((a, b) => a.y - b.y);
  ends.forEach((end, i) => {
    if (i > 0) end.y = Math.max(end.y, (ends[i - 1]?.y ?? 0) + 16);
  });
  const drawn = ends.map(({ line, i, y: nameY }) => {
    const points = line.points.map((point) => `${at(x(point.T))} ${at(y(point.value))}`);
    const dash = line.name === "limit" ? ' stroke-dasharray="5 4"' : "";
    const colour = line.name === "limit" ? "currentColor" : (COLOURS[(i - 1) % COLOURS.length] as string);
    const last = line.points.at(-1);
    return (
      `<path d="M${points.join("L")}" fill="none" stroke="${colour}" stroke-width="2"${dash}/>` +
      points
        .map((point) => `<circle cx="${point.split(" ")[0]}" cy="${point.split(" ")[1]}" r="3" fill="${colour}"/>`)
        .join("") +
      `<text x="${at(x(last?.T ?? 1) + 10)}" y="${at(nameY + 4)}" style="fill:${colour}">${escaped(line.name)}</text>`
    );
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">
<style>
svg { color: #222; background: #fff; font: 13px system-ui, sans-serif }
text { fill: currentColor }
.grid { stroke: currentColor; stroke-opacity: 0.15 }
@media (prefers-color-scheme: dark) { svg { color: #ddd; background: #16181c } }
</style>
<text x="${BOX.left}" y="20">${escaped(title)}</text>
${grid.join("\n")}
${ticks.join("\n")}
<text x="${(BOX.left + WIDTH - BOX.right) / 2}" y="${HEIGHT - 8}" text-anchor="middle">tokens</text>
${drawn.join("\n")}
</svg>
`;
}
