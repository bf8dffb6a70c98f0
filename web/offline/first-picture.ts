/**
 * Vite plugin: puts the first matrix into index.html, so that a visit sees a head before anything has been downloaded. It
 * is computed at build time by the built package, from the same built heads that the page runs, and gives way to the live
 * one. Two of them, English and Chinese; public/theme.js says which is shown, and hides both where a link asks for another
 * view.
 */

import { pathToFileURL } from "node:url";
import type { Headscope } from "headscope";
import type { Plugin } from "vite";
import { ramp } from "../elements/ramp.js";
import { labelText } from "../elements/token-label.js";
import { en } from "../i18n/en.js";
import { zh } from "../i18n/zh.js";
import { buildWeights, D, embed, HEADS, heads } from "../playground/sources/built-heads.js";
import type { Example } from "../playground/state.js";
import { initialState } from "../playground/state.js";
import { tokenize } from "../playground/tokens.js";

/** Shades of the ramp: more would not be told apart at this size, and each is a path. */
const SHADES = 24;
const CELL = 40;
const LEFT = 88;
const TOP = 74;
const PLACE = "<!-- first picture -->";

export function firstPicture(packageFile: string): Plugin {
  return {
    name: "headscope-first-picture",
    async transformIndexHtml(html) {
      if (!html.includes(PLACE)) return html;
      const { load } = (await import(pathToFileURL(packageFile).href)) as typeof import("headscope");
      const core = await load({ variant: "simd" });
      return html.replace(PLACE, (["en", "zh"] as const).map((language) => figure(core, language)).join(""));
    },
  };
}

function figure(core: Headscope, language: "en" | "zh"): string {
  const words = language === "en" ? en : zh;
  const { text, unit, head } = initialState(language) as Example & { text: string };
  const { tokens } = tokenize(text, unit, 64);
  const layer = core.multiHeadAttention({ dModel: D, numHeads: HEADS }, buildWeights());
  const { weights } = layer.forward(embed(tokens), { causal: true, want: ["weights"] });
  layer.dispose();
  const count = tokens.length;
  const weight = (query: number, key: number) => weights.data[(head * count + query) * count + key] as number;
  const labels = tokens.map((token) => escaped(labelText(token.text)));
  const kind = words[(heads[head] as (typeof heads)[number]).name as keyof typeof words];
  const name = escaped(words["page.first"].replace("{head}", String(head)).replace("{kind}", kind));
  const size = CELL * count;
  const rows = labels.map((label, i) => `<text x="${LEFT - 6}" y="${TOP + (i + 0.6) * CELL}">${label}</text>`).join("");
  const columns = labels
    .map((label, i) => {
      const [x, y] = [LEFT + (i + 0.5) * CELL, TOP - 8];
      return `<text x="${x}" y="${y}" transform="rotate(-38 ${x} ${y})">${label}</text>`;
    })
    .join("");
  const picture = (["light", "dark"] as const)
    .map((theme) => `<g class="only-${theme}">${cells(count, weight, theme)}</g>`)
    .join("");
  return `<figure class="first card" lang="${language === "zh" ? "zh-CN" : "en"}" data-first="${language}"><svg viewBox="0 0 ${LEFT + size + 40} ${TOP + size}" role="img" aria-label="${name}"><g class="rows">${rows}</g><g class="columns">${columns}</g><path class="ground" d="M${LEFT} ${TOP}h${size}v${size}h-${size}z"/>${picture}</svg><figcaption class="soft">${name}</figcaption></figure>`;
}

/** One path for all cells of a shade. Cells that the mask hides are not there. */
function cells(count: number, weight: (query: number, key: number) => number, theme: "light" | "dark"): string {
  const { colors } = ramp(theme);
  const paths = new Map<number, string>();
  for (let query = 0; query < count; query++) {
    for (let key = 0; key <= query; key++) {
      const shade = Math.round(weight(query, key) * SHADES);
      const at = `M${LEFT + key * CELL} ${TOP + query * CELL}h39v39h-39z`;
      paths.set(shade, (paths.get(shade) ?? "") + at);
    }
  }
  return [...paths]
    .map(([shade, d]) => {
      const [r, g, b] = colors[Math.round((shade / SHADES) * 255)] as readonly [number, number, number];
      return `<path fill="#${[r, g, b].map((c) => c.toString(16).padStart(2, "0")).join("")}" d="${d}"/>`;
    })
    .join("");
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
}
