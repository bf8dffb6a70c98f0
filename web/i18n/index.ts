/** Messages in the chosen language, as plain text or with elements in the places of `{name}`. */

import type { MessageKey } from "./en.js";
import { en } from "./en.js";

export type { MessageKey } from "./en.js";

export type Language = "en" | "zh";

type Messages = Readonly<Record<MessageKey, string>>;

/** Those that are here. English always is; the other is fetched by those who read it. */
const known: Partial<Record<Language, Messages>> & { en: Messages } = { en };

let current: Language = "en";

/** Fetches the messages of a language, if they are not here yet. */
export async function loadLanguage(language: Language): Promise<void> {
  if (language === "zh") known.zh ??= (await import("./zh.js")).zh;
}

/** False where the language has not been loaded: the old one stays. */
export function setLanguage(language: Language): boolean {
  if (!known[language]) return false;
  current = language;
  return true;
}

function message(key: MessageKey): string {
  return (known[current] ?? en)[key];
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
  return message(key).replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

/** The message with nodes in it; whatever a node holds stays a node and is never read as markup. */
export function compose(key: MessageKey, values: Readonly<Record<string, Node | string | number>>): DocumentFragment {
  const fragment = document.createDocumentFragment();
  for (const [i, part] of message(key)
    .split(/\{(\w+)\}/)
    .entries()) {
    if (i % 2 === 0) fragment.append(part);
    else {
      const value = values[part];
      fragment.append(value instanceof Node ? value : String(value));
    }
  }
  return fragment;
}
