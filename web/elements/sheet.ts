/**
 * Styles of the elements, as style sheets that are adopted and not as `<style>`: a policy without 'unsafe-inline' allows
 * them, and a hundred elements share one.
 *
 * Custom properties, each with a default for light and for dark; set them on the element or anywhere above it:
 * `--hs-paper` (behind the cells, and where the ramp starts), `--hs-card`, `--hs-ink`, `--hs-soft` (lesser text),
 * `--hs-line` (hairlines), `--hs-line-strong`, `--hs-on` and `--hs-on-ink` (what is switched on), `--hs-pick`,
 * `--hs-pick-text`, `--hs-pick-ink` and `--hs-pick-wash` (what is picked), `--hs-hatch` and `--hs-hatch-line` (hidden
 * cells), `--hs-problem`, `--hs-radius`, `--hs-sans`, `--hs-mono`.
 *
 * Inside, the styles use the same names with an underscore (`--_paper`): the outer value, or the default of the theme.
 */

const LIGHT = {
  paper: "#fbfaf7",
  card: "#ffffff",
  ink: "#1b1d22",
  soft: "#5c6270",
  line: "#e4e1d8",
  "line-strong": "#8b8878",
  on: "#1f4e8c",
  "on-ink": "#ffffff",
  pick: "#c8571b",
  "pick-text": "#b34a12",
  "pick-ink": "#ffffff",
  "pick-wash": "#fcf3ed",
  hatch: "#f1efe8",
  "hatch-line": "#e0dccf",
  problem: "#a3261c",
} as const;

const DARK: Readonly<Record<keyof typeof LIGHT, string>> = {
  paper: "#101216",
  card: "#171a20",
  ink: "#e9e7e1",
  soft: "#9aa1ae",
  line: "#282c35",
  "line-strong": "#6c7484",
  on: "#8fb7f0",
  "on-ink": "#101216",
  pick: "#f0924f",
  "pick-text": "#f0924f",
  "pick-ink": "#101216",
  "pick-wash": "#231d1a",
  hatch: "#1b1f26",
  "hatch-line": "#2a2f39",
  problem: "#ff9b8f",
};

function properties(colors: Readonly<Record<string, string>>): string {
  return Object.entries(colors)
    .map(([name, color]) => `--_${name}: var(--hs-${name}, ${color});`)
    .join("\n  ");
}

/** What every element starts from. `.hs` is the element's base, `.hs.dark` the same in the dark theme. */
export const BASE = `
:host {
  display: block;
  position: relative;
}
:host([hidden]) {
  display: none;
}
.hs {
  ${properties(LIGHT)}
  --_radius: var(--hs-radius, 9px);
  --_sans: var(--hs-sans, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "PingFang SC",
    "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", sans-serif);
  --_mono: var(--hs-mono, ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono",
    "Noto Sans Mono", "Noto Sans Mono CJK SC", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", monospace);
  color: var(--_ink);
  font-family: var(--_sans);
  font-variant-numeric: tabular-nums;
  text-align: start;
  direction: ltr;
}
.hs.dark {
  ${properties(DARK)}
}
.hs *, .hs *::before, .hs *::after {
  box-sizing: border-box;
}
.hs [hidden] {
  display: none !important;
}
.blank > .data {
  display: none;
}
.undrawn {
  visibility: hidden;
}
/* What is as wide as the screen still would have the whole page printed smaller. */
@media print {
  .hs {
    overflow-x: clip;
  }
}
.token, code {
  font-family: var(--_mono);
}
.token {
  white-space: pre;
}
.token .mark {
  color: var(--_soft);
}
.soft {
  color: var(--_soft);
}
.hatch {
  background: repeating-linear-gradient(135deg, var(--_hatch-line) 0 1px, var(--_hatch) 1px 5px);
  -webkit-print-color-adjust: exact;
  print-color-adjust: exact;
}
/* Colours that a reader has chosen: what is told apart by a background alone has one of theirs. */
@media (forced-colors: active) {
  .hatch {
    forced-color-adjust: none;
    background: repeating-linear-gradient(135deg, GrayText 0 1px, Canvas 1px 5px);
  }
}
.live {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
.problem {
  margin: 0 0 8px;
  padding: 8px 12px;
  border-left: 3px solid var(--_problem);
  color: var(--_problem);
  font-size: 13px;
  line-height: 1.4;
  overflow-wrap: anywhere;
}
.probe {
  position: absolute;
  width: 0;
  height: 0;
  visibility: hidden;
  pointer-events: none;
  color: CanvasText;
  background: var(--_paper);
  transition: color 1ms;
}
`;

const made = new Map<string, CSSStyleSheet>();

/** Gives a shadow root these styles. Sheets are made once for the page and shared. */
export function adopt(root: ShadowRoot, ...styles: readonly string[]): void {
  // Firefox before 101 and Safari before 16.4 cannot make sheets from script.
  if (!("adoptedStyleSheets" in root)) {
    const style = document.createElement("style");
    style.textContent = styles.join("\n");
    (root as ShadowRoot).prepend(style);
    return;
  }
  root.adoptedStyleSheets = styles.map((text) => {
    let sheet = made.get(text);
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(text);
      made.set(text, sheet);
    }
    return sheet;
  });
}
