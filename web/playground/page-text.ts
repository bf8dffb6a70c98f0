/** The words of the static markup: `data-say` is the text of an element, `data-say-label` its name, and so on. */

import type { MessageKey } from "../i18n/index.js";
import { message, say } from "../i18n/index.js";

const ATTRIBUTES = { sayLabel: "aria-label", sayPlaceholder: "placeholder" } as const;

export function translatePage(page: Document): void {
  page.title = say("page.title");
  page.querySelector('meta[name="description"]')?.setAttribute("content", say("page.description"));
  for (const node of page.querySelectorAll<HTMLElement>("[data-say]")) {
    node.textContent = message(node.dataset["say"] as MessageKey) ?? node.textContent;
  }
  for (const [name, attribute] of Object.entries(ATTRIBUTES)) {
    const selector = `[data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}]`;
    for (const node of page.querySelectorAll<HTMLElement>(selector)) {
      const words = message(node.dataset[name] as MessageKey);
      if (words !== undefined) node.setAttribute(attribute, words);
    }
  }
}
