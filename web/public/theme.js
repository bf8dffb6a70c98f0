// Before the first paint, so that a chosen theme does not flash in the other one, and the first picture is in the visitor's
// language, or not there where a link asks for another view. Not a module: modules run later.
(() => {
  const { dataset } = document.documentElement;
  const files = document.currentScript.dataset;
  let language = null;
  try {
    const theme = localStorage.getItem("headscope.theme");
    if (theme === "light" || theme === "dark") dataset.theme = theme;
    language = localStorage.getItem("headscope.language");
  } catch {
    // No storage: the system's theme.
  }
  const known = [language, ...navigator.languages].map((tag) => String(tag).slice(0, 2).toLowerCase());
  const own = known.find((tag) => tag === "en" || tag === "zh") ?? "en";
  const linked = location.hash.length > 1;
  dataset.first = linked ? "none" : own;
  // The words of the language (language-files.ts), on their way together with the code that will ask for them.
  const words = (linked && files[new URLSearchParams(location.hash.slice(1)).get("l")]) || files[own];
  if (words === undefined) return;
  const link = document.createElement("link");
  link.rel = "modulepreload";
  link.href = words;
  document.head.append(link);
})();
