/** After the first visit the page opens without a network. Only the built site has a service worker. */
export function startOffline(): void {
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  // After the page has what it needs itself. No worker (private window, plain http) means no offline start, nothing else.
  addEventListener("load", () => void navigator.serviceWorker.register("./service-worker.js").catch(() => {}));
}
