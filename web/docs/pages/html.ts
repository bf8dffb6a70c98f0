/** Pieces of HTML. Everything that is not markup of these files goes through `escapeHtml`. */

import type { Text } from "./content/types.js";

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

/** Text in which `code` stands between backquotes. */
function inline(text: string): string {
  return text
    .split("`")
    .map((part, i) => (i % 2 === 0 ? escapeHtml(part) : `<code>${escapeHtml(part)}</code>`))
    .join("");
}

/** Both languages; the style sheet shows the page's. */
export function say([en, zh]: Text): string {
  return `<span lang="en">${inline(en)}</span><span lang="zh">${inline(zh)}</span>`;
}

export function code(text: string, label: string): string {
  return `<figure class="code"><figcaption>${escapeHtml(label)}</figcaption><pre tabindex="0"><code>${escapeHtml(text.trimEnd())}</code></pre></figure>`;
}

/**
 * A table with a heading row; cells are HTML. A table without rows is nothing. On a phone, where the heading is gone and the
 * cells stand below each other, those between the first and the last bring their heading with them.
 */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const names = head.map((cell) => `<th scope="col">${cell}</th>`).join("");
  const cellOf = (cell: string, column: number, { length }: readonly string[]) => {
    const isBetween = column > 0 && column < length - 1 && cell !== "";
    return `<td>${isBetween ? `<span class="heading">${head[column]}</span> ` : ""}${cell}</td>`;
  };
  const body = rows.map((row) => `<tr>${row.map(cellOf).join("")}</tr>`).join("");
  return `<div class="table"><table><thead><tr>${names}</tr></thead><tbody>${body}</tbody></table></div>`;
}
