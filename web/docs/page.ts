/** What every page of the documentation does itself: language, theme, and buttons that copy code. */

import { startOffline } from "../offline/register.js";
import { applyTheme, savedTheme, saveLanguage, type Theme } from "../playground/preferences.js";

startOffline();

const root = document.documentElement;
const isChinese = () => root.lang === "zh";
const title = document.querySelector("title");
const english = title?.textContent ?? "";

function translate(): void {
  if (title) title.textContent = isChinese() ? (title.dataset["zh"] ?? english) : english;
  for (const button of document.querySelectorAll<HTMLElement>("button.copy")) {
    button.textContent = isChinese() ? "复制" : "Copy";
  }
}

for (const block of document.querySelectorAll("figure.code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code")?.textContent ?? "");
    button.textContent = isChinese() ? "已复制" : "Copied";
    setTimeout(translate, 1500);
  });
  block.querySelector("figcaption")?.append(button);
}
translate();

document.querySelector("#language")?.addEventListener("click", () => {
  root.lang = isChinese() ? "en" : "zh";
  saveLanguage(root.lang);
  translate();
});

document.querySelector("#theme")?.addEventListener("click", () => {
  const order: Theme[] = ["system", "light", "dark"];
  applyTheme(order[(order.indexOf(savedTheme()) + 1) % order.length] as Theme);
});

// A link to a declaration opens the list that it is in.
function openTarget(): void {
  const details = document.getElementById(location.hash.slice(1))?.closest("details");
  if (!details || details.open) return;
  details.open = true;
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}
addEventListener("hashchange", openTarget);
openTarget();
