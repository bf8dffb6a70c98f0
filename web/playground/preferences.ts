/** What the page remembers between visits: theme and language. Without storage (private windows) it forgets. */

export type Theme = "system" | "light" | "dark";

function read(name: string): string | null {
  try {
    return localStorage.getItem(`headscope.${name}`);
  } catch {
    return null;
  }
}

function write(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`headscope.${name}`);
    else localStorage.setItem(`headscope.${name}`, value);
  } catch {
    // Nothing to do: the choice holds for this visit.
  }
}

export function savedTheme(): Theme {
  const theme = read("theme");
  return theme === "light" || theme === "dark" ? theme : "system";
}

/** public/theme.js sets the same attribute before the first paint. */
export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  write("theme", theme === "system" ? null : theme);
}

export function savedLanguage(): string | null {
  return read("language");
}

export function saveLanguage(language: string): void {
  write("language", language);
}
