import puppeteer, { type Browser, type LaunchOptions } from "puppeteer-core";
import { firefox } from "../../../tools/lib/browsers.js";
import { PATIENCE } from "../until.js";

/** Debian's Firefox without a window, by WebDriver BiDi: Playwright drives only a Firefox of its own making. */
export async function launchFirefox(options: LaunchOptions = {}): Promise<Browser> {
  const executablePath = firefox.find();
  if (executablePath === undefined) throw new Error(`There is no Firefox: ${firefox.howToInstall}.`);
  return puppeteer.launch({ browser: "firefox", executablePath, headless: true, timeout: PATIENCE, ...options });
}
