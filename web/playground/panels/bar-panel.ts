/** The bar at the top: language, theme, and the link to this view. */

import { byId, setAttributes, setText } from "../../elements/dom.js";
import { language, say, setLanguage } from "../../i18n/index.js";
import type { Address } from "../address.js";
import { translatePage } from "../page-text.js";
import type { Theme } from "../preferences.js";
import { applyTheme, savedTheme, saveLanguage } from "../preferences.js";
import type { Shell } from "../shell.js";
import { on } from "../shell.js";

const THEMES: readonly Theme[] = ["system", "light", "dark"];

export class BarPanel {
  private theme: Theme = savedTheme();
  private translated = false;

  constructor(
    private readonly shell: Shell,
    private readonly address: Address,
  ) {
    on(byId("language"), "click", () => {
      const next = shell.state.language === "zh" ? "en" : "zh";
      saveLanguage(next);
      shell.update({ language: next });
    });
    on(byId("theme"), "click", () => {
      this.theme = THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length] as Theme;
      applyTheme(this.theme);
      shell.update({});
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shell.update({}));
    on(byId("copy"), "click", () => void this.copyLink());
  }

  render(): void {
    // A language that has yet to be fetched leaves the page in the one it has.
    setLanguage(this.shell.state.language);
    const tag = language() === "zh" ? "zh-CN" : "en";
    if (document.documentElement.lang !== tag || !this.translated) {
      document.documentElement.lang = tag;
      translatePage(document);
      this.translated = true;
    }
    const name = say(`page.theme.${this.theme}`);
    setAttributes(byId("theme"), { "aria-label": name, title: name, "data-theme-choice": this.theme });
  }

  private async copyLink(): Promise<void> {
    const copied = await this.address.copy();
    const message = say(copied ? "page.copied" : "page.copyFailed");
    const button = byId("copy").firstElementChild as HTMLElement;
    setText(button, message);
    this.shell.announce(message);
    setTimeout(() => setText(button, say("page.copy")), 2500);
  }
}
