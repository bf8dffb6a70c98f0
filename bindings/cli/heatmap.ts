import { cutTo, padEnd } from "./width.js";

/** How cells are drawn: 24-bit colour, Unicode's shades, or digits. */
export type HeatmapStyle = "color" | "blocks" | "digits";

export interface Terminal {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Colour on a terminal that has it; shades where NO_COLOR asks for none (no-color.org); digits for pipes and files. */
export function heatmapStyle({ isTTY, env }: Terminal): HeatmapStyle {
  if (!isTTY || env["TERM"] === "dumb") return "digits";
  return env["NO_COLOR"] ? "blocks" : "color";
}

export interface Heatmap {
  /** `[T,S]` of one head. */
  readonly weights: Float32Array;
  readonly visible: Uint8Array;
  readonly queries: number;
  readonly keys: number;
  /** One for each query, ready to print. */
  readonly labels: readonly string[];
}

const LABEL_WIDTH = 14;
const MOST_ROWS = 64;

/** Lines: queries down, keys across, the axes numbered, and a legend. */
export function drawHeatmap(map: Heatmap, style: HeatmapStyle, columns: number): string[] {
  const { queries, keys, labels } = map;
  const digits = String(Math.max(queries, keys) - 1).length;
  const margin = digits + 1 + LABEL_WIDTH + 1;
  const cell = Math.max(2, digits + 1);
  const shownKeys = Math.max(1, Math.min(keys, Math.floor((columns - margin) / cell)));
  const shownQueries = Math.min(queries, MOST_ROWS);
  const lines = ["rows: queries, columns: keys"];
  const numbers = Array.from({ length: shownKeys }, (_, key) => String(key).padEnd(cell));
  lines.push((" ".repeat(margin) + numbers.join("")).trimEnd());
  for (let query = 0; query < shownQueries; ++query) {
    const label = padEnd(cutTo(labels[query] ?? "", LABEL_WIDTH), LABEL_WIDTH);
    let row = `${String(query).padStart(digits)} ${label} `;
    for (let key = 0; key < shownKeys; ++key) {
      const at = query * keys + key;
      row += drawCell(map.weights[at] as number, map.visible[at] === 1, style, cell);
    }
    lines.push(style === "color" ? row : row.trimEnd());
  }
  const missing = [
    ...(shownQueries < queries ? [`${queries - shownQueries} more queries`] : []),
    ...(shownKeys < keys ? [`${keys - shownKeys} more keys`] : []),
  ];
  if (missing.length > 0) lines.push(`… and ${missing.join(" and ")}; --json has them all`);
  lines.push(legend(style));
  return lines;
}

function drawCell(weight: number, visible: boolean, style: HeatmapStyle, width: number): string {
  if (!visible) return "-".padEnd(width);
  if (Number.isNaN(weight)) return "?".padEnd(width);
  const share = Math.min(1, Math.max(0, weight));
  if (style === "digits") return (share < 0.1 ? "." : String(Math.min(9, Math.floor(share * 10)))).padEnd(width);
  if (style === "blocks") return (SHADES[Math.min(4, Math.floor(share * 5))] as string).repeat(width);
  const [r, g, b] = color(share);
  return `\u001b[48;2;${r};${g};${b}m${" ".repeat(width)}\u001b[0m`;
}

function legend(style: HeatmapStyle): string {
  if (style === "digits") return "digits: tenths of a weight, . below 0.1, - hidden by the mask";
  if (style === "blocks") return 'shades: fifths of a weight from 0 (" ") to 1 ("█"), - hidden by the mask';
  const cells = Array.from({ length: 11 }, (_, i) => drawCell(i / 10, true, "color", 2));
  return `0 ${cells.join("")} 1, - hidden by the mask`;
}

const SHADES = [" ", "░", "▒", "▓", "█"] as const;

/** One hue, ever lighter: the page's dark ramp, so that no weight is nearly black. */
const STOPS = [
  [20, 23, 28],
  [32, 48, 79],
  [52, 88, 154],
  [109, 155, 224],
  [188, 214, 242],
  [253, 245, 211],
] as const;

function color(share: number): readonly number[] {
  const place = share * (STOPS.length - 1);
  const low = Math.min(STOPS.length - 2, Math.floor(place));
  const [from, to] = [STOPS[low], STOPS[low + 1]] as [readonly number[], readonly number[]];
  return from.map((value, i) => Math.round(value + (place - low) * ((to[i] as number) - value)));
}
