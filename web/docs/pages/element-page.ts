/** One element's page. */

import { readFileSync } from "node:fs";
import { everyProperty, headProperties } from "./content/common.js";
import type { ElementPage, Property, Row, Sample, Text } from "./content/types.js";
import { code, escapeHtml, say, table } from "./html.js";
import type { Page } from "./template.js";

const words = {
  properties: ["Properties", "属性"],
  name: ["name", "名称"],
  type: ["type", "类型"],
  attribute: ["attribute", "HTML 属性"],
  initial: ["default", "默认值"],
  what: ["what it is", "说明"],
  events: ["Events", "事件"],
  eventsNote: [
    "They bubble and leave shadow roots. `preventDefault()` on `preview`, `pick` and `ablate` keeps the state as it is.",
    "事件会冒泡并穿出 shadow root。对 `preview`、`pick`、`ablate` 调用 `preventDefault()` 可保持状态不变。",
  ],
  keys: ["Keyboard", "键盘"],
  parts: ["Parts", "部件"],
  partsNote: ["For `::part()` in your own style sheet.", "在自己的样式表中用 `::part()` 选取。"],
  custom: ["Custom properties", "自定义属性"],
  html: ["HTML", "HTML"],
} as const satisfies Record<string, Text>;

/** The two files of a figure: the page shows and runs the same ones. */
export function figureFile(page: string, name: string, extension: "html" | "js"): string {
  return readFileSync(new URL(`../figures/${page}/${name}.${extension}`, import.meta.url), "utf8");
}

export function figure(page: string, { name, title, what }: { name: string; title: Text; what: Text }): string {
  const markup = figureFile(page, name, "html");
  return `<section class="example" aria-labelledby="figure-${name}">
<h2 id="figure-${name}">${say(title)}</h2>
<p>${say(what)}</p>
<div class="figure card">
${markup}</div>
${code(markup, "HTML")}
${code(figureFile(page, name, "js"), "JavaScript")}
</section>`;
}

export function sample({ title, what, language, code: text }: Sample): string {
  const label = {
    python: "Python",
    js: "JavaScript",
    html: "HTML",
    css: "CSS",
    tsx: "TSX",
    vue: "Vue",
    svelte: "Svelte",
  }[language];
  return `<section class="example"><h2>${say(title)}</h2><p>${say(what)}</p>${code(text, label ?? language)}</section>`;
}

function propertyRow({ name, type, attribute, initial, what }: Property): string[] {
  const asAttribute = attribute === undefined ? "" : `<code>${escapeHtml(attribute || name.toLowerCase())}</code>`;
  return [
    `<code>${escapeHtml(name)}</code>`,
    `<code>${escapeHtml(type)}</code>`,
    asAttribute,
    `<code>${escapeHtml(initial)}</code>`,
    say(what),
  ];
}

const row = ({ name, what }: Row) => [`<code>${escapeHtml(name)}</code>`, say(what)];

function rows(title: Text, list: readonly Row[] | undefined, note?: Text): string {
  if (!list || list.length === 0) return "";
  return `<section><h2>${say(title)}</h2>${note ? `<p>${say(note)}</p>` : ""}${table([say(words.name), say(words.what)], list.map(row))}</section>`;
}

export function propertiesOf({ properties, head }: Pick<ElementPage, "properties" | "head">): readonly Property[] {
  return [...(head ? headProperties : []), ...properties, ...everyProperty];
}

export function elementPage(page: ElementPage): Page {
  const { tag, definition, figures, samples = [], notes = [] } = page;
  const head = [words.name, words.type, words.attribute, words.initial, words.what].map(say);
  const body = `<h1><code>&lt;${tag}&gt;</code></h1>
<p class="definition">${say(definition)}</p>
${notes.map((note) => `<p>${say(note)}</p>`).join("\n")}
${figures.map((each) => figure(tag, each)).join("\n")}
${samples.map(sample).join("\n")}
<section><h2 id="properties">${say(words.properties)}</h2>${table(head, propertiesOf(page).map(propertyRow))}</section>
${rows(words.events, page.events, words.eventsNote)}
${rows(words.keys, page.keys)}
${rows(words.parts, page.parts, words.partsNote)}
${rows(words.custom, page.custom)}`;
  const title: Text = [`<${tag}>`, `<${tag}>`];
  const scripts = figures.map(({ name }) => `./docs/figures/${tag}/${name}.js`);
  return { name: tag, title, description: definition, body, scripts };
}
