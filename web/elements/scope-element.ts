/**
 * What all elements have in common: an open shadow root with adopted styles, a theme, a language, a width that is known
 * without asking the page for it, and drawing at most once a frame.
 */

import { el, setText } from "./dom.js";
import { watchPixelRatio } from "./pixel-ratio.js";
import { adopt, BASE } from "./sheet.js";
import type { Language, Words } from "./strings.js";
import { inheritedLanguage, phrase } from "./strings.js";
import { type Theme, themeOf } from "./theme.js";

/**
 * Why an element draws: new data, another look (theme, language, scale …), another size, another part in view (zoomed,
 * scrolled), another place looked at.
 */
export type Reason = "data" | "look" | "size" | "view" | "state";

// Servers import the elements too, to render a page that holds them; there is nothing to extend there.
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

/**
 * Attributes and properties: `language` ("en", "zh"; default: the nearest `lang` attribute), `theme` ("light", "dark";
 * default: the `color-scheme` of the place). Part: `base`, `problem`.
 */
export abstract class ScopeElement extends Base {
  static get observedAttributes(): string[] {
    return ["language", "theme", "lang"];
  }

  /**
   * Holds everything; has the class "dark" in the dark theme, and "undrawn" before the first drawing: words and names
   * come with that, and controls without them must not be seen, tabbed to or read aloud.
   */
  protected readonly base = el("div", { class: "hs undrawn", part: "base" });
  /** Content box of the element in CSS pixels, 0 while it is not on screen. */
  protected width = 0;
  private readonly probe = el("i", { class: "probe" });
  private readonly problemLine = el("p", { class: "problem", part: "problem", role: "alert", hidden: true });
  private reasons = new Set<Reason>();
  private pendingFrame = 0;
  private drawn: Promise<void> = Promise.resolve();
  private tell: (() => void) | null = null;
  private shownTheme: Theme | null = null;
  private isPrinting = false;
  private paperMedia: MediaQueryList | null = null;
  private unwatchRatio: (() => void) | null = null;
  private readonly resized: ResizeObserver | null = null;
  private readonly relabelled: MutationObserver | null = null;
  private readonly look = () => this.invalidate("look");

  /** `styles` are CSS texts of the element, after the common ones. */
  constructor(...styles: readonly string[]) {
    super();
    const root = this.attachShadow({ mode: "open" });
    adopt(root, BASE, ...styles);
    this.base.append(this.problemLine, this.probe);
    root.append(this.base);
    this.probe.addEventListener("transitionrun", this.look);
    this.resized = new ResizeObserver(([entry]) => {
      const width = entry?.contentRect.width ?? 0;
      if (width === this.width) return;
      this.width = width;
      this.invalidate("size");
    });
    this.relabelled = new MutationObserver(this.look);
  }

  connectedCallback(): void {
    this.upgradeProperties();
    this.resized?.observe(this);
    // The language of the page may change under the element, and with it its words.
    this.relabelled?.observe(this.ownerDocument.documentElement, { attributeFilter: ["lang"] });
    for (const type of ["beforeprint", "afterprint"]) window.addEventListener(type, this.onPrint);
    this.paperMedia ??= matchMedia("print");
    this.paperMedia.addEventListener("change", this.onPaper);
    this.unwatchRatio = watchPixelRatio(this.look);
    this.invalidate("look");
  }

  disconnectedCallback(): void {
    this.resized?.disconnect();
    this.relabelled?.disconnect();
    for (const type of ["beforeprint", "afterprint"]) window.removeEventListener(type, this.onPrint);
    this.paperMedia?.removeEventListener("change", this.onPaper);
    this.unwatchRatio?.();
    this.width = 0;
  }

  attributeChangedCallback(_name: string, before: string | null, now: string | null): void {
    if (before !== now) this.invalidate("look");
  }

  /** The words of the element: `"en"`, `"zh"`, or `""` for the nearest `lang` attribute. Default `""`. */
  get language(): Language | "" {
    const value = this.getAttribute("language");
    return value === "en" || value === "zh" ? value : "";
  }
  set language(value: Language | "") {
    this.reflect("language", value);
  }

  /** `"light"`, `"dark"`, or `""` for what `color-scheme` says where the element stands. Default `""`. */
  get theme(): Theme | "" {
    const value = this.getAttribute("theme");
    return value === "light" || value === "dark" ? value : "";
  }
  set theme(value: Theme | "") {
    this.reflect("theme", value);
  }

  /** Settles when what was set so far is on screen. */
  get updateComplete(): Promise<void> {
    return this.drawn;
  }

  /** Draws into `this.base`; called once a frame, while the element is on the page and has a width. */
  protected abstract render(reasons: ReadonlySet<Reason>): void;

  /** Asks for one drawing in the next frame. */
  protected invalidate(...reasons: readonly Reason[]): void {
    for (const reason of reasons) this.reasons.add(reason);
    if (this.pendingFrame !== 0 || !this.isConnected) return;
    this.drawn = new Promise((done) => {
      this.tell = done;
    });
    this.pendingFrame = requestAnimationFrame(() => this.draw());
  }

  /** The theme of the present drawing. */
  protected get shown(): Theme {
    return this.shownTheme ?? "light";
  }

  /** Draws for paper, on which nothing scrolls and nothing can be pointed at. */
  protected get printing(): boolean {
    return this.isPrinting || (this.paperMedia?.matches ?? false);
  }

  /** The language of the present drawing. */
  protected get speaks(): Language {
    return this.language || inheritedLanguage(this);
  }

  protected say(words: Words, values?: Readonly<Record<string, string | number>>): string {
    return phrase(this.speaks, words, values);
  }

  /** What is behind the cells, as #rrggbb; null where a page gave a colour that is not opaque. Asks for styles. */
  protected paper(): string | null {
    const found = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(getComputedStyle(this.probe).backgroundColor);
    return (
      found &&
      `#${found
        .slice(1)
        .map((channel) => Number(channel).toString(16).padStart(2, "0"))
        .join("")}`
    );
  }

  /** A colour or font of the sheet, `"pick"` for --_pick. Asks for styles. */
  protected styleOf(name: string): string {
    return getComputedStyle(this.base).getPropertyValue(`--_${name}`).trim();
  }

  /** Shows what is wrong with what was set, above the last good picture; null takes it away. */
  protected showProblem(message: string | null): void {
    setText(this.problemLine, message ?? "");
    this.problemLine.hidden = message === null;
  }

  protected reflect(name: string, value: string): void {
    if (value === "") this.removeAttribute(name);
    else this.setAttribute(name, value);
  }

  private draw(): void {
    this.pendingFrame = 0;
    const tell = this.tell;
    this.tell = null;
    try {
      if (this.isConnected) this.drawNow();
    } finally {
      // A large picture is painted in parts: a drawing that asks for another one has not shown all yet.
      const next = this.tell as (() => void) | null;
      if (next) {
        this.tell = () => {
          tell?.();
          next();
        };
      } else tell?.();
    }
  }

  private drawNow(): void {
    // What has no box has nothing to draw on; the observer calls again when it gets one.
    if (this.width === 0) this.width = this.measure();
    if (this.width === 0) return;
    const reasons = this.reasons;
    this.reasons = new Set();
    // Asking for styles costs a layout: not at every move of the pointer.
    if ([...reasons].some((reason) => reason !== "state" && reason !== "view")) {
      const theme = this.printing ? "light" : this.theme || themeOf(this);
      if (theme !== this.shownTheme) {
        this.shownTheme = theme;
        this.base.classList.toggle("dark", theme === "dark");
        reasons.add("look");
      }
    }
    this.base.classList.remove("undrawn");
    this.render(reasons);
  }

  private measure(): number {
    const style = getComputedStyle(this);
    return Math.max(0, this.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight));
  }

  // The paper does not wait for a frame, and the observer does not hear of its width.
  private readonly onPrint = (event: Event) => {
    // The media are those of the screen still when browsers announce the paper.
    this.isPrinting = event.type === "beforeprint";
    this.drawOnPaper();
  };

  private readonly onPaper = () => this.drawOnPaper();

  private drawOnPaper(): void {
    this.width = this.measure();
    this.reasons.add("look");
    this.reasons.add("size");
    this.drawNow();
  }

  /** Properties that were set before the element was defined hide the accessors: they are set again. */
  private upgradeProperties(): void {
    for (const name of Object.keys(this)) {
      if (!hasSetter(this, name)) continue;
      const value: unknown = Reflect.get(this, name);
      Reflect.deleteProperty(this, name);
      Reflect.set(this, name, value);
    }
  }
}

function hasSetter(node: object, name: string): boolean {
  for (let at = Object.getPrototypeOf(node); at && at !== Base.prototype; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, name);
    if (found) return found.set !== undefined;
  }
  return false;
}
