/** Light or dark, as the place on the page has it. */

export type Theme = "light" | "dark";

/**
 * Follows CSS `color-scheme`: where a page allows both, the reader's system decides; where it says nothing, browsers draw
 * a light page, and so do the elements. Paper is light.
 */
export function themeOf(node: Element): Theme {
  if (matchMedia("print").matches) return "light";
  const scheme = getComputedStyle(node).colorScheme ?? "";
  const light = /\blight\b/.test(scheme);
  const dark = /\bdark\b/.test(scheme);
  if (dark && light) return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  return dark ? "dark" : "light";
}
