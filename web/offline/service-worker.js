// Keeps one whole version of the page. FILES, CLASSIC and VERSION are filled in by the build (offline/plugin.ts).
//
// A page is always one version: index.html names its files by content hash, a version is cached completely or not at
// all, and a cached index.html is only used together with the files that were cached with it. With a network the
// newest index.html wins; without one the last complete version opens.

const FILES = ["./"];
// For browsers whose workers take no modules (playground/core.ts), which have no other mark that can be seen from here.
const CLASSIC = [];
const VERSION = "dev";

const PREFIX = `headscope ${self.registration.scope} `;
const CACHE = PREFIX + VERSION;

self.addEventListener("install", (event) => {
  const firefox = /Firefox\/(\d+)/.exec(navigator.userAgent);
  const files = firefox && Number(firefox[1]) < 114 ? [...FILES, ...CLASSIC] : FILES;
  // "reload": past the HTTP cache, which may hold an older index.html.
  const requests = files.map((file) => new Request(file, { cache: "reload" }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(requests)));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    (async () => {
      const names = await caches.keys();
      // Only this page's own: other pages of the host have caches too.
      await Promise.all(
        names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name)),
      );
      await self.clients.claim();
    })(),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin || !url.href.startsWith(self.registration.scope))
    return;
  // Only names with a content hash can be trusted to be the page's own version.
  const hashed = url.href.startsWith(`${self.registration.scope}assets/`);
  event.respondWith(hashed ? keptFirst(request) : networkFirst(request));
});

async function networkFirst(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const cache = await caches.open(CACHE);
    // Another page of the site by its own name; the first one has many names: "./", "index.html", any search.
    const kept = (await cache.match(request)) ?? (request.mode === "navigate" ? await cache.match("./") : undefined);
    if (kept) return kept;
    throw error;
  }
}

async function keptFirst(request) {
  const cache = await caches.open(CACHE);
  return (await cache.match(request)) ?? fetch(request);
}
