// The documentation says what is there, in both languages, and shows the code that it runs.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { pages } from "../../web/docs/pages/content/elements.js";
import type { Text } from "../../web/docs/pages/content/types.js";
import { figureFile, propertiesOf } from "../../web/docs/pages/element-page.js";
import { allPages, navigation } from "../../web/docs/pages/plugin.js";
import { render } from "../../web/docs/pages/template.js";

const folder = fileURLToPath(new URL("../../web/elements/", import.meta.url));
const read = (name: string) => readFileSync(folder + name, "utf8");
const sources = (readdirSync(folder, { recursive: true }) as string[]).filter((name) => name.endsWith(".ts")).map(read);
const all = sources.join("\n");
const html = new Map(allPages().map((page) => [page.name, render(page, navigation())]));
const plain = (markup: string) =>
  markup.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");

/** Names with a setter that a class and the classes before it have. */
function settable(file: string): string[] {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
  const names: string[] = [];
  for (const statement of source.statements) {
    if (!ts.isClassDeclaration(statement)) continue;
    for (const member of statement.members) if (ts.isSetAccessor(member)) names.push(member.name.getText());
    const base = statement.heritageClauses?.[0]?.types[0]?.expression.getText();
    if (base === "HeadElement") names.push(...settable("head-element.ts"));
    if (base === "ScopeElement") names.push(...settable("scope-element.ts"));
  }
  return names;
}

for (const page of pages) {
  test(`<${page.tag}>: every property is described, and none that is not there`, () => {
    assert.deepEqual(
      propertiesOf(page)
        .map(({ name }) => name)
        .sort(),
      settable(`${page.tag}.ts`).sort(),
    );
  });

  test(`<${page.tag}>: attributes, events, parts and custom properties are those of the source`, () => {
    for (const { name, attribute } of propertiesOf(page)) {
      if (attribute !== undefined) assert.ok(all.includes(`"${attribute || name.toLowerCase()}"`), name);
    }
    for (const { name } of page.events) {
      assert.match(all, new RegExp(`(?:CustomEvent|new Event|announce)\\("${name}"`), name);
    }
    for (const name of page.parts.flatMap((row) => row.name.split(", "))) {
      assert.match(all, new RegExp(`part: "(?:[\\w ]* )?${name}\\b|part: \`${name}|part: "${name}"|"${name}"`), name);
    }
    for (const name of (page.custom ?? []).flatMap((row) => row.name.match(/--[\w-]+/g) ?? [])) {
      assert.ok(all.includes(name) || all.includes(`${name.slice("--hs-".length)}:`), name);
    }
  });

  test(`<${page.tag}>: the page shows the very code that it runs`, () => {
    const markup = html.get(page.tag) as string;
    const shown = [...markup.matchAll(/<code>([^<]*)<\/code><\/pre>/g)].map(([, code = ""]) => plain(code));
    assert.ok(page.figures.length >= 2);
    for (const { name } of page.figures) {
      assert.ok(shown.includes(figureFile(page.tag, name, "js").trimEnd()), `${name}.js`);
      assert.ok(shown.includes(figureFile(page.tag, name, "html").trimEnd()), `${name}.html`);
      assert.ok(markup.includes(`<div class="figure card">\n${figureFile(page.tag, name, "html")}</div>`));
      assert.ok(markup.includes(`src="./docs/figures/${page.tag}/${name}.js"`));
    }
  });
}

test("every sentence is there in English and in Chinese", () => {
  const texts: Text[] = [];
  const collect = (value: unknown): void => {
    if (Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "string")) {
      texts.push(value as unknown as Text);
    } else if (typeof value === "object" && value !== null) Object.values(value).forEach(collect);
  };
  collect(pages);
  assert.ok(texts.length > 150, String(texts.length));
  for (const [en, zh] of texts) {
    assert.match(zh, /\p{Script=Han}/u, en);
    assert.doesNotMatch(en, /\p{Script=Han}/u, en);
    assert.equal(en.split("`").length, zh.split("`").length, `code in ${en}`);
  }
});

test("pages lead to each other, and no address is of another host", () => {
  for (const [name, markup] of html) {
    for (const [, target = ""] of markup.matchAll(/href="\.\/([\w-]+)\.html"/g)) assert.ok(html.has(target), target);
    for (const [, target = ""] of markup.matchAll(/href="#([^"]+)"/g))
      assert.ok(markup.includes(`id="${target}"`), target);
    assert.doesNotMatch(markup, /(?:src|href)="https?:/, name);
    assert.equal(
      markup.match(/aria-current="page"/g)?.length ?? 0,
      name === "elements" || name === "api" ? 1 : 0,
      name,
    );
  }
});

test("the page of the API holds every name that the entries export", () => {
  const markup = html.get("api") as string;
  for (const name of [
    "load",
    "Headscope",
    "AttentionOptions",
    "cost",
    "loadWorker",
    "WorkerModel",
    "openModel",
    "inspectPrompt",
  ]) {
    assert.ok(markup.includes(`id="${name}"`), name);
  }
  assert.doesNotMatch(plain(markup), /#private|private readonly/);
});
