import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { en } from "../../web/i18n/en.js";
import { enMore } from "../../web/i18n/en-more.js";
import { loadLanguage, message, preferredLanguage, say, setLanguage, withWords } from "../../web/i18n/index.js";
import { zh } from "../../web/i18n/zh.js";
import { zhMore } from "../../web/i18n/zh-more.js";

await loadLanguage("en");

const web = fileURLToPath(new URL("../../web", import.meta.url));
const languages = { en: { ...en, ...enMore }, zh: { ...zh, ...zhMore } };
const keys = Object.keys(languages.en);
const placeholders = (message: string) => [...message.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

function sources(folder: string): string {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name !== "i18n")
    .map((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return sources(path);
      return /\.(ts|html)$/.test(entry.name) ? readFileSync(path, "utf8") : "";
    })
    .join("\n");
}

test("both languages have every message, none empty, with the same places to fill in", () => {
  assert.deepEqual(Object.keys(languages.zh).sort(), [...keys].sort());
  for (const key of keys as (keyof typeof languages.en)[]) {
    assert.notEqual(languages.zh[key].trim(), "", key);
    assert.deepEqual(placeholders(languages.zh[key]), placeholders(languages.en[key]), key);
  }
});

test("the markup asks only for messages that exist", () => {
  const html = readFileSync(join(web, "index.html"), "utf8");
  const asked = [...html.matchAll(/data-say(?:-\w+)?="([^"]+)"/g)].map(([, key]) => key as string);
  assert.ok(asked.length > 30, "the page's texts are marked for translation");
  for (const key of asked) assert.ok(keys.includes(key), key);
});

test("what a page opens with in Chinese holds all of its markup, and what English opens with", () => {
  const html = readFileSync(join(web, "index.html"), "utf8");
  const marked = [...html.matchAll(/data-say(?:-\w+)?="([^"]+)"/g)].map(([, key]) => key as string);
  assert.deepEqual(
    [...marked, ...Object.keys(en)].filter((key) => !Object.hasOwn(zh, key)),
    [],
  );
});

test("what a page opens with in English is all that its markup does not say itself", () => {
  const html = readFileSync(join(web, "index.html"), "utf8");
  const marks = [...html.matchAll(/<[^>]*data-say[^>]*>[^<]*/g)].flatMap(([tag]) =>
    [...tag.matchAll(/data-say(-\w+)?="([^"]+)"/g)].map(([, name = "", key = ""]) => ({
      tag,
      name: name.slice(1),
      key,
    })),
  );
  assert.ok(marks.length > 40);
  for (const { tag, name, key } of marks) {
    const said = name === "" ? /[^>]*$/.exec(tag)?.[0] : new RegExp(` (?:aria-)?${name}="([^"]*)"`).exec(tag)?.[1];
    if (Object.hasOwn(en, key)) continue;
    assert.equal(said, languages.en[key as keyof typeof languages.en], `${key}, ${name || "text"}`);
  }
});

test("the English text in the markup, seen before the script runs, is that of the messages", () => {
  const html = readFileSync(join(web, "index.html"), "utf8");
  const marked = [...html.matchAll(/data-say="([^"]+)"[^>]*>([^<]+)</g)];
  assert.ok(marked.length > 20);
  for (const [, key, text] of marked) assert.equal(text, languages.en[key as keyof typeof languages.en], key);
});

test("no message is left that nothing shows", () => {
  const code = sources(web);
  // Families that are put together from a part: kind.previous, page.theme.dark, node.unscaled.
  const built = /^(kind\.(previous|self|next|first|duplicate|induction|rare)|page\.theme\.|input\.causal\.|node\.)/;
  for (const key of keys) assert.ok(code.includes(`"${key}"`) || built.test(key), `${key} is not used`);
});

test("preferredLanguage() takes the browser's first language that the page speaks", () => {
  assert.equal(preferredLanguage(["fr-FR", "zh-TW", "en"]), "zh");
  assert.equal(preferredLanguage(["en-GB", "zh"]), "en");
  assert.equal(preferredLanguage(["de"]), "en");
  assert.equal(preferredLanguage([]), "en");
});

test("say() fills in values as they are, also when they look like a place to fill in", () => {
  setLanguage("en");
  assert.equal(say("heads.name", { head: 3 }), "Head 3");
  assert.equal(
    say("input.failed", { reason: "{head} $& $1" }),
    "This could not be computed: {head} $& $1 The last good picture is kept.",
  );
});

test("a language is fetched before it is spoken", async () => {
  setLanguage("en");
  assert.equal(setLanguage("zh"), false);
  assert.equal(say("heads.name", { head: 3 }), "Head 3");
  await loadLanguage("zh");
  assert.equal(setLanguage("zh"), true);
  assert.equal(say("heads.name", { head: 3 }), "第 3 头");
  setLanguage("en");
});

test("parts of the page come with their strings, in the language that is spoken and in one that is spoken later", async () => {
  await loadLanguage("zh");
  setLanguage("zh");
  assert.equal(message("open.cancelled"), undefined);
  await withWords(Promise.resolve());
  assert.equal(message("open.cancelled"), zhMore["open.cancelled"]);
  await loadLanguage("en");
  setLanguage("en");
  assert.equal(message("open.cancelled"), enMore["open.cancelled"]);
});
