/** What a key does in a matrix: moves the place looked at, or something else. */

import type { Spot } from "../attention-view.js";

export type HeatCommand =
  | { readonly do: "move"; readonly query: number; readonly key: number }
  | { readonly do: "pick" | "unpin" | "fit" }
  | { readonly do: "zoom"; readonly factor: number }
  | { readonly do: "head"; readonly by: number };

const PAGE = 10;
const ZOOM_STEP = 1.5;

export function heatCommand(
  event: Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey">,
  spot: Spot | null,
  rows: number,
  columns: number,
): HeatCommand | null {
  if (event.altKey || event.metaKey) return null;
  const query = spot?.query ?? 0;
  const key = spot?.key ?? 0;
  const move = (toQuery: number, toKey: number): HeatCommand => ({
    do: "move",
    query: Math.max(0, Math.min(rows - 1, toQuery)),
    key: Math.max(0, Math.min(columns - 1, toKey)),
  });
  if (event.ctrlKey) {
    // Ctrl with + and − is the browser's own zoom.
    if (event.key === "Home") return move(0, 0);
    return event.key === "End" ? move(rows, columns) : null;
  }
  switch (event.key) {
    case "ArrowRight":
      return move(query, key + 1);
    case "ArrowLeft":
      return move(query, key - 1);
    case "ArrowDown":
      return move(query + 1, key);
    case "ArrowUp":
      return move(query - 1, key);
    case "Home":
      return move(query, 0);
    case "End":
      return move(query, columns);
    case "PageDown":
      return move(query + PAGE, key);
    case "PageUp":
      return move(query - PAGE, key);
    case "Enter":
    case " ":
      return { do: "pick" };
    case "Escape":
      return { do: "unpin" };
    case "+":
    case "=":
      return { do: "zoom", factor: ZOOM_STEP };
    case "-":
    case "_":
      return { do: "zoom", factor: 1 / ZOOM_STEP };
    case "0":
      return { do: "fit" };
    case "[":
      return { do: "head", by: -1 };
    case "]":
      return { do: "head", by: 1 };
    default:
      return null;
  }
}
