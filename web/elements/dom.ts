/** Building page parts. Text only ever enters through text nodes and attributes: nothing a user types becomes HTML. */

type Attributes = Record<string, string | number | boolean | null | undefined>;
type Child = Node | string | null | undefined;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  setAttributes(node, attributes);
  node.append(...children.filter((child): child is Node | string => child != null));
  return node;
}

export function setAttributes(node: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) node.removeAttribute(name);
    else {
      const text = value === true ? "" : String(value);
      // An unchanged attribute is left alone, so that a repaint costs no style work and no announcement.
      if (node.getAttribute(name) !== text) node.setAttribute(name, text);
    }
  }
}

export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets a CSS length from script; allowed under a strict policy, unlike a style attribute in markup. */
export function place(node: HTMLElement, lengths: Partial<Record<"left" | "top" | "width" | "height", number>>): void {
  for (const [name, value] of Object.entries(lengths)) setStyle(node, name, `${value}px`);
}

export function setStyle(node: HTMLElement, name: string, value: string): void {
  if (node.style.getPropertyValue(name) !== value) node.style.setProperty(name, value);
}

export function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element #${id}`);
  return found as T;
}

export function darkTheme(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  if (chosen === "dark" || chosen === "light") return chosen === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Pixels of the screen for one of the element's own: the display's ratio and the page's CSS zoom. */
export function pixelRatio(node: Element): number {
  const zoom = (node as { currentCSSZoom?: number }).currentCSSZoom ?? 1;
  return Math.min(3, (window.devicePixelRatio || 1) * zoom);
}
