/** Messages in the chosen language, as plain text or with elements in the places of `{name}`. */

import type { en } from "./en.js";
import type { enMore } from "./en-more.js";

export type MessageKey = keyof typeof en | keyof typeof enMore;

export type Language = "en" | "zh";

type Messages = Partial<Readonly<Record<MessageKey, string>>>;

/** What the page opens with. public/theme.js has the one that is wanted fetched together with the page's code. */
const first: Readonly<Record<Language, () => Promise<Messages>>> = {
  en: async () => (await import("./en.js")).en,
  zh: async () => (await import("./zh.js")).zh,
};

/** The rest, when a part of the page has asked for it. */
const rest: Readonly<Record<Language, () => Promise<Messages>>> = {
  en: async () => (await import("./en-more.js")).enMore,
  zh: async () => (await import("./zh-more.js")).zhMore,
};

/** Those that are here. */
const known: Partial<Record<Language, Messages>> = {};

let current: Language = "en";

/** Whether strings of later parts are needed, of every language that is spoken. */
let more = false;

/** The last language that was asked for. */
let asked: Promise<void> = Promise.resolve();

/** Fetches the messages of a language, if they are not here yet. */
export function loadLanguage(language: Language): Promise<void> {
  asked = load(language);
  return asked;
}

async function load(language: Language): Promise<void> {
  if (!known[language]) {
    const messages = await first[language]();
    known[language] ??= messages;
  }
  // Back to English from another language: now all of the markup has to be translated.
  if (more || (language === "en" && current !== "en")) await loadMore(language);
}

async function loadMore(language: Language): Promise<void> {
  const strings = await rest[language]();
  known[language] = { ...known[language], ...strings };
}

/** For what is fetched when it is wanted: comes with the strings of such parts. */
export async function withWords<Module>(module: Promise<Module>): Promise<Module> {
  more = true;
  // One that did not come has been told of by whoever asked for it.
  await asked.catch(() => {});
  // A language that has been fetched may be about to be spoken.
  await Promise.all((Object.keys(known) as Language[]).map(loadMore));
  return module;
}

/** Whether there are messages of any language: without them nothing can be said. */
export function canSpeak(): boolean {
  return Object.keys(known).length > 0;
}

/** False where the language has not been loaded: the old one stays, or whichever has come in its place. */
export function setLanguage(language: Language): boolean {
  if (known[language]) current = language;
  else if (!known[current]) current = (Object.keys(known) as Language[])[0] ?? current;
  return current === language;
}

/** Undefined where the markup already says it in English and the message has not been fetched. */
export function message(key: MessageKey): string | undefined {
  return known[current]?.[key];
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
