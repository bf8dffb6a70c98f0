// A font with Chinese characters for the browser tests: without one every character is the same empty box, and a page
// in Chinese is narrower than any reader sees it. Debian's browsers come without.
import { spawnSync } from "node:child_process";
import { installPackage } from "./browsers.js";
import { say } from "./process.js";

/** The smallest that draws simplified Chinese: 1.6 MB to fetch. */
const PACKAGE = "fonts-wqy-microhei";

/** Whether the system can draw Chinese. Only fontconfig can be asked; systems without it bring their own fonts. */
function find() {
  const { status, stdout } = spawnSync("fc-list", [":lang=zh-cn", "family"], { encoding: "utf8" });
  return status === null ? process.platform !== "linux" : status === 0 && stdout.trim() !== "";
}

async function findOrInstall() {
  if (find()) return true;
  if (process.getuid?.() !== 0) return false;
  say(`Installing a Chinese font for the browser tests (apt-get install ${PACKAGE})`);
  await installPackage(PACKAGE);
  return find();
}

export const chineseFont = {
  find,
  findOrInstall,
  howToInstall: `install a font with Chinese characters (Debian: sudo apt-get install ${PACKAGE}) and run this again`,
};
