/** The pages of the documentation as HTML: made when the site is built, so that they are whole without a script. */

import type { Text } from "./content/types.js";
import { escapeHtml, say } from "./html.js";

export interface Page {
  /** The file's name without `.html`. */
  readonly name: string;
  readonly title: Text;
  readonly description: Text;
  readonly body: string;
  /** Modules, as addresses from the folder of the pages. */
  readonly scripts: readonly string[];
}

export interface NavigationEntry {
  readonly address: string;
  readonly title: Text;
}

const words = {
  skip: ["Skip to the text", "跳到正文"],
  pages: ["Pages", "页面"],
  theme: ["Colours: light, dark or the system's", "配色：浅色、深色或跟随系统"],
  offline: [
    "Everything on this page runs in your browser and asks no other host.",
    "本页的一切都在浏览器中运行，不访问其他网站。",
  ],
} as const satisfies Record<string, Text>;

const THEME_ICON =
  '<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><circle cx="8" cy="8" r="6.25" fill="none" stroke="currentColor" stroke-width="1.5" /><path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" /></svg>';

export function render(page: Page, navigation: readonly NavigationEntry[]): string {
  const links = navigation
    .map(({ address, title }) => {
      // A page that the bar does not name lies below the overview.
      const named = navigation.some((entry) => entry.address === `./${page.name}.html`);
      const here =
        address === `./${named ? page.name : "elements"}.html` ? ` aria-current="${named ? "page" : "true"}"` : "";
      return `<a href="${address}"${here}>${say(title)}</a>`;
    })
    .join("\n          ");
  const scripts = ["./docs/page.ts", ...page.scripts].map((src) => `<script type="module" src="${src}"></script>`);
  const [title, titleZh] = page.title;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title data-zh="${escapeHtml(titleZh)} · headscope">${escapeHtml(title)} · headscope</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="description" content="${escapeHtml(page.description[0].replaceAll("`", ""))}" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="./icon.svg" type="image/svg+xml" />
    <script vite-ignore src="./theme.js"></script>
    <script vite-ignore src="./language.js"></script>
    <link rel="stylesheet" href="./docs/page.css" />
    ${scripts.join("\n    ")}
  </head>
  <body>
    <a class="skip" href="#main">${say(words.skip)}</a>
    <header class="bar">
      <div class="bar-inner">
        <a class="wordmark" href="./">head<em>scope</em></a>
        <nav>
          <span class="hidden-label">${say(words.pages)}</span>
          ${links}
        </nav>
        <div class="bar-buttons">
          <button type="button" id="language"><span lang="zh">English</span><span lang="en">中文</span></button>
          <button type="button" id="theme">${THEME_ICON}<span class="hidden-label">${say(words.theme)}</span></button>
        </div>
      </div>
    </header>
    <main id="main">
${page.body}
    </main>
    <footer>${say(words.offline)}</footer>
  </body>
</html>
`;
}
