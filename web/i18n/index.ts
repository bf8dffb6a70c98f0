/** Messages in the chosen language, as plain text or with elements in the places of `{name}`. */

import type { MessageKey } from "./en.js";
import { en } from "./en.js";
import { zh } from "./zh.js";

export type { MessageKey } from "./en.js";

export type Language = "en" | "zh";

export const languages: Readonly<Record<Language, Readonly<Record<MessageKey, string>>>> = { en, zh };

let current: Language = "en";

export function setLanguage(language: Language): void {
  current = language;
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
  return languages[current][key].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

/** The message with nodes in it; whatever a node holds stays a node and is never read as markup. */
export function compose(key: MessageKey, values: Readonly<Record<string, Node | string | number>>): DocumentFragment {
  const fragment = document.createDocumentFragment();
  for (const [i, part] of languages[current][key].split(/\{(\w+)\}/).entries()) {
    if (i % 2 === 0) fragment.append(part);
    else {
      const value = values[part];
      fragment.append(value instanceof Node ? value : String(value));
    }
  }
  return fragment;
}
