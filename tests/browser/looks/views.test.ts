// The views of the playground against pictures of them.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { settled, useBrowser, visit } from "../page.js";
import { differences, lookOf } from "./look.js";
import { needsChinese, reference, unlike } from "./references.js";

useBrowser();

const DESKTOP = { width: 1280, height: 1000 };
const PHONE = { width: 390, height: 1800 };
const ENGLISH = "t=The+cat+sat+on+the+mat+because+it+was&s=built&h=6&q=7&k=5";
const CHINESE = "t=小明在北京的大学里学习计算机科学&u=word&s=built&h=6&q=6&k=4";

interface State {
  readonly name: string;
  readonly view: string;
  readonly dark?: boolean;
  readonly chinese?: boolean;
  readonly phone?: boolean;
}

const STATES: readonly State[] = [
  { name: "matrix-light", view: "matrix" },
  { name: "matrix-dark", view: "matrix", dark: true },
  { name: "matrix-chinese-light", view: "matrix", chinese: true },
  { name: "matrix-phone-light", view: "matrix", phone: true },
  { name: "lines-light", view: "lines" },
  { name: "lines-dark", view: "lines", dark: true },
  { name: "lines-chinese-phone-dark", view: "lines", dark: true, chinese: true, phone: true },
  { name: "compare-light", view: "compare" },
  { name: "compare-chinese-dark", view: "compare", dark: true, chinese: true },
  { name: "numbers-light", view: "numbers" },
  { name: "numbers-chinese-dark", view: "numbers", dark: true, chinese: true },
];

const options = ({ view, dark, chinese, phone }: State) => ({
  colorScheme: dark ? ("dark" as const) : ("light" as const),
  viewport: phone ? PHONE : DESKTOP,
  reducedMotion: "reduce" as const,
  // Styles of the tests below pass the page's own policy.
  bypassCSP: true,
  skip: needsChinese(chinese),
  fragment: `${chinese ? CHINESE : ENGLISH}&v=${view}&l=${chinese ? "zh" : "en"}`,
});

async function ready(page: Page, view: string): Promise<void> {
  const drawn = { matrix: ".box", lines: "[part~=frame]", compare: "[part~=difference] canvas", numbers: "td" }[view];
  await page.locator(`#panel-${view} ${drawn}`).first().waitFor();
  await settled(page);
}

for (const state of STATES) {
  visit(`looks like its picture: ${state.name}`, options(state), async ({ page }) => {
    await ready(page, state.view);
    assert.deepEqual(await unlike(page, state.name, { least: 9 }), []);
  });
}

const [LIGHT] = STATES as [State, ...State[]];

/** What would be a regression, and what the comparison must say to it. */
const BROKEN: readonly { name: string; style?: string; change?: readonly [string, string]; says: RegExp }[] = [
  { name: "another colour scale", change: ["&v=", "&d=log&v="], says: /canvas of head 7 has other colours/ },
  { name: "another head", change: ["&h=6", "&h=3"], says: /matrix canvas has other colours/ },
  {
    name: "a hue that is off",
    style: "#heads { filter: hue-rotate(40deg) }",
    says: /canvas of head 3 has other colours/,
  },
  { name: "a picture that is blank", style: "#matrix { visibility: hidden }", says: /matrix canvas is gone/ },
  { name: "dark parts on a light page", style: ".detail { filter: invert(1) }", says: /detail has other colours/ },
  { name: "one column for two", style: ".views { grid-template-columns: 1fr !important }", says: /detail has moved/ },
  { name: "a part that is too narrow", style: "#heads { width: 75% }", says: /heads has moved/ },
];

for (const { name, style, change: [from, to] = ["", ""], says } of BROKEN) {
  const given = options(LIGHT);
  visit(
    `the comparison fails for ${name}`,
    { ...given, fragment: given.fragment.replace(from, to) },
    async ({ page }) => {
      await ready(page, LIGHT.view);
      if (style) await page.addStyleTag({ content: style });
      await settled(page);
      assert.match(differences(reference(LIGHT.name), await lookOf(page)).join("\n"), says);
    },
  );
}

// By name: what "serif" is depends on what else is installed, and Times would break other lines.
for (const font of ["DejaVu Serif", "DejaVu Sans Mono", "DejaVu Sans"]) {
  visit(`the comparison does not mind other fonts: ${font}`, options(LIGHT), async ({ page }) => {
    await ready(page, LIGHT.view);
    await page.addStyleTag({ content: `:root { --sans: ${JSON.stringify(font)} }` });
    await settled(page);
    assert.deepEqual(differences(reference(LIGHT.name), await lookOf(page)), []);
  });
}
