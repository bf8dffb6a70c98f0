/** Tells when the page is shown with other pixels: on another screen, or at another zoom of the browser. */

const listeners = new Set<() => void>();
let query: MediaQueryList | null = null;

/** Calls back after every change, until what it returns is called. */
export function watchPixelRatio(changed: () => void): () => void {
  listeners.add(changed);
  if (!query) listen();
  return () => {
    listeners.delete(changed);
    if (listeners.size > 0) return;
    query?.removeEventListener("change", onChange);
    query = null;
  };
}

/** A media query only tells that the ratio is no longer what it was: after each change it is asked for the new one. */
function listen(): void {
  query = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
  query.addEventListener("change", onChange, { once: true });
}

function onChange(): void {
  listen();
  for (const changed of listeners) changed();
}
