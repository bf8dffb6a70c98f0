/** The words of the static markup: `data-say` is the text of an element, `data-say-label` its name, and so on. */

import type { MessageKey } from "../i18n/index.js";
import { say } from "../i18n/index.js";

const ATTRIBUTES = { sayLabel: "aria-label", sayPlaceholder: "placeholder" } as const;

export function translatePage(page: Document): void {
  page.title = say("page.title");
  page.querySelector('meta[name="description"]')?.setAttribute("content", say("page.description"));
  for (const node of page.querySelectorAll<HTMLElement>("[data-say]")) {
    node.textContent = say(node.dataset["say"] as MessageKey);
  }
  for (const [name, attribute] of Object.entries(ATTRIBUTES)) {
    const selector = `[data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}]`;
    for (const node of page.querySelectorAll<HTMLElement>(selector)) {
      node.setAttribute(attribute, say(node.dataset[name] as MessageKey));
    }
  }
}
