// Before the first paint, so that a chosen theme does not flash in the other one. Not a module: modules run later.
(() => {
  try {
    const theme = localStorage.getItem("headscope.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // No storage: the system's theme.
  }
})();
