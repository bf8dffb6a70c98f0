/**
 * The words of the elements, English and Chinese side by side, so that none can be missing. They are few, and apart from
 * the playground's: whoever takes one element takes only its words.
 */

export type Language = "en" | "zh";

/** [English, Chinese], with `{name}` for what is filled in. */
export type Words = readonly [en: string, zh: string];

export const axis = {
  query: ["query", "查询"],
  key: ["key", "键"],
  head: ["head {head}", "头 {head}"],
} as const satisfies Record<string, Words>;

export const problems = {
  src: ["{src} could not be read: {reason}", "无法读取 {src}：{reason}"],
} as const satisfies Record<string, Words>;

export function phrase(
  language: Language,
  words: Words,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return words[language === "zh" ? 1 : 0].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** The phrase with nodes in it; whatever a node holds stays a node and is never read as markup. */
export function phraseNodes(
  language: Language,
  words: Words,
  values: Readonly<Record<string, Node | string | number>>,
): (Node | string)[] {
  return words[language === "zh" ? 1 : 0].split(/\{(\w+)\}/).map((part, i) => {
    if (i % 2 === 0) return part;
    const value = values[part] ?? "";
    return value instanceof Node ? value : String(value);
  });
}

/** The language of a node by the nearest `lang` attribute; English where there is none the elements speak. */
export function inheritedLanguage(node: Element): Language {
  for (let at: Element | null = node; at; at = parentAcross(at)) {
    const tag = at.getAttribute("lang");
    if (tag !== null) return tag.toLowerCase().split("-")[0] === "zh" ? "zh" : "en";
  }
  return "en";
}

function parentAcross(node: Element): Element | null {
  if (node.parentElement) return node.parentElement;
  const root = node.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
}
