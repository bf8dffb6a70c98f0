import { el } from "./dom.js";

/** [value, text] */
export type SelectOption = readonly [value: string, text: string];

/** Options of a list and the chosen one; a list that is open is left alone as long as it says the same. */
export function fillSelect(select: HTMLSelectElement, options: readonly SelectOption[], value: string): void {
  const same =
    select.options.length === options.length &&
    options.every(([id, text], i) => select.options[i]?.value === id && select.options[i]?.text === text);
  if (!same) select.replaceChildren(...options.map(([id, text]) => el("option", { value: id }, text)));
  select.value = value;
}
