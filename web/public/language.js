// Before the first paint of a documentation page, which holds both languages. Not a module: modules run later.
(() => {
  let saved = null;
  try {
    saved = localStorage.getItem("headscope.language");
  } catch {
    // No storage: the browser's own languages.
  }
  const known = [saved, ...navigator.languages].map((tag) => (tag ?? "").toLowerCase().split("-")[0]);
  document.documentElement.lang = known.find((tag) => tag === "zh" || tag === "en") ?? "en";
})();
