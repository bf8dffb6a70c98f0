/** Messages in the chosen language, as plain text or with elements in the places of `{name}`. */

import { en } from "./en.js";
import type { enMore } from "./en-more.js";

export type MessageKey = keyof typeof en | keyof typeof enMore;

export type Language = "en" | "zh";

type Messages = Readonly<Record<MessageKey, string>>;

/** Those that are here: of a language what the page opens with, and the rest when a part of the page has asked for it. */
const known: Partial<Record<Language, Partial<Messages>>> & { en: Partial<Messages> } = { en };

let current: Language = "en";

/** Whether strings of later parts are needed, of every language that is spoken. */
let more = false;

/** Fetches the messages of a language, if they are not here yet. */
export async function loadLanguage(language: Language): Promise<void> {
  if (language === "zh") {
    known.zh ??= { ...(await import("./zh.js")).zh };
    if (more) await loadMore("zh");
  }
  // Back from another language: now all of the markup has to be translated.
  else if (more || current !== "en") await loadMore("en");
}

async function loadMore(language: Language): Promise<void> {
  const strings = language === "zh" ? (await import("./zh-more.js")).zhMore : (await import("./en-more.js")).enMore;
  known[language] = { ...known[language], ...strings };
}

/** For what is fetched when it is wanted: comes with the strings of such parts. */
export async function withWords<Module>(module: Promise<Module>): Promise<Module> {
  more = true;
  // A language that has been fetched may be about to be spoken.
  const languages: Language[] = known.zh && current !== "zh" ? [current, "zh"] : [current];
  await Promise.all(languages.map(loadMore));
  return module;
}

/** False where the language has not been loaded: the old one stays. */
export function setLanguage(language: Language): boolean {
  if (!known[language]) return false;
  current = language;
  return true;
}

/** Undefined where the markup already says it in English and the message has not been fetched. */
export function message(key: MessageKey): string | undefined {
  return (known[current] ?? known.en)[key];
}

export function language(): Language {
  return current;
}

/** The browser's first language that the page speaks. */
export function preferredLanguage(preferences: readonly string[]): Language {
  for (const tag of preferences) {
    const primary = tag.toLowerCase().split("-")[0];
    if (primary === "zh" || primary === "en") return primary;
  }
  return "en";
}

export function say(key: MessageKey, values: Readonly<Record<string, string | number>> = {}): string {
  return (message(key) ?? key).replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

/** What went wrong, in somebody else's words, as a sentence that another one can follow. */
export function ended(reason: string): string {
  return /[.!?…。！？]$/.test(reason) ? reason : `${reason}${current === "zh" ? "。" : "."}`;
}

/** The message with nodes in it; whatever a node holds stays a node and is never read as markup. */
export function compose(key: MessageKey, values: Readonly<Record<string, Node | string | number>>): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const parts = (message(key) ?? key).split(/\{(\w+)\}/);
  for (const [i, part] of parts.entries()) {
    if (i % 2 === 0) fragment.append(part);
    else {
      const value = values[part];
      fragment.append(value instanceof Node ? value : String(value));
    }
  }
  return fragment;
}
