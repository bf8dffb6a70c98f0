// Before the first paint, so that a chosen theme does not flash in the other one, and the first picture is in the visitor's
// language, or not there where a link asks for another view. Not a module: modules run later.
(() => {
  const { dataset } = document.documentElement;
  let language = null;
  try {
    const theme = localStorage.getItem("headscope.theme");
    if (theme === "light" || theme === "dark") dataset.theme = theme;
    language = localStorage.getItem("headscope.language");
  } catch {
    // No storage: the system's theme.
  }
  const known = [language, ...navigator.languages].map((tag) => String(tag).slice(0, 2).toLowerCase());
  dataset.first = location.hash.length > 1 ? "none" : (known.find((tag) => tag === "en" || tag === "zh") ?? "en");
})();
