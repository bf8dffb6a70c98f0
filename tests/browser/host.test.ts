import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { en } from "../../web/i18n/en.js";
import { enMore } from "../../web/i18n/en-more.js";
import { CSP, launchChromium, type ServedSite, SITE, serveSite } from "./launch.js";
import { firstPicture, settled, text, tokens, typeText, useBrowser, visit, watch } from "./page.js";
import { eventually, PATIENT, until } from "./until.js";

useBrowser();

let browser: Browser;
before(async () => {
  browser = await launchChromium();
});
after(() => browser.close());

visit(
  "a first visit asks this host alone, for files below its path, and for no other build of the core",
  {},
  async ({ page, site }) => {
    await typeText(page, "a few words");
    await page.locator('#source input[value="numpy"]').check();
    await settled(page);
    assert.ok(site.requests.length >= 3);
    for (const path of site.requests) {
      assert.ok(path.startsWith("/some/where/"), path);
      assert.doesNotMatch(path, /relaxed/);
    }
  },
);

visit("the page goes on working when the network is gone", {}, async ({ page, site, context, complaints }) => {
  // What is fetched when it is first wanted has been.
  await page.locator("#language").click();
  await settled(page);
  await page.locator("#language").click();
  await page.locator("#tab-numbers").click();
  await page.locator("#numbers table").waitFor();
  await page.locator("#labs").scrollIntoViewIfNeeded();
  await page.locator("#lab-wo summary").waitFor();
  await page.locator("#cost [part~=bill]").first().waitFor();
  await page.locator("#tab-matrix").click();
  await page.locator('#source input[value="numpy"]').check();
  await settled(page);
  await page.locator('#source input[value="built"]').check();
  await settled(page);
  await site.close();
  await context.setOffline(true);
  await typeText(page, "no network any more");
  assert.deepEqual(await tokens(page), ["no", "␣network", "␣any", "␣more"]);
  assert.match(await text(page, "#status"), /^4 tokens/);
  await page.locator('#source input[value="numpy"]').check();
  await settled(page);
  assert.match(await text(page, "#status"), /^4 tokens · 2 heads/);
  await page.locator("#language").click();
  await page.locator("#theme").click();
  await page.locator("#tab-numbers").click();
  await settled(page);
  // Chromium asks for the icon again whenever the address changes; the page itself must ask for nothing.
  const own = complaints.filter((complaint) => !/icon\.svg|ERR_INTERNET_DISCONNECTED|ERR_CONNECTION/.test(complaint));
  complaints.length = 0;
  assert.deepEqual(own, []);
});

visit("a part of the page that cannot be fetched says so in a sentence", {}, async ({ page, complaints }) => {
  await page.route("**/assets/lines-panel*.js", (route) => route.abort());
  await page.locator("#tab-lines").click();
  await page.locator("#problem:not([hidden])").waitFor();
  assert.match(await text(page, "#problem"), /^A part of the page could not be fetched: ./);
  await page.unroute("**/assets/lines-panel*.js");
  complaints.length = 0;
});

test("after one visit the page opens without a network, under the same policy", PATIENT, async () => {
  const site = await serveSite(undefined, { csp: CSP, basePath: "/some/where/" });
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(site.url);
  await firstPicture(page);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await site.close();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(`${site.url}#t=still+here&s=built&h=0&q=1&k=0&l=en`);
  await page.reload();
  await firstPicture(page);
  assert.deepEqual(await tokens(page), ["still", "␣here"]);
  assert.match(await text(page, "#sentence"), /^query ␣here reads key still with weight 0\.9895/);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("the trained model opens without a network too, after one visit with the built heads", PATIENT, async () => {
  const site = await serveSite(undefined, { csp: CSP, basePath: "/some/where/" });
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${site.url}#s=built&l=en`);
  await firstPicture(page);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await site.close();
  await page.goto("about:blank");
  await page.goto(`${site.url}#t=still+here&s=tiny&y=1&h=2&q=1&l=en`);
  await page.locator("fieldset#layers:not([hidden])").waitFor();
  await settled(page);
  assert.match(await text(page, "#detail-title"), /^Layer 1, head 2/);
  await page.locator("#inspector > summary").click();
  await page.locator("#inspector-body th", { hasText: "Qcur-1" }).waitFor();
  await context.close();
});

test("a new version replaces the old one whole, and leaves other pages' caches alone", PATIENT, async () => {
  const folder = mkdtempSync(join(tmpdir(), "headscope-site-"));
  cpSync(SITE, folder, { recursive: true });
  const site = await serveSite(folder, { csp: CSP, basePath: "/page/" });
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(site.url);
    await firstPicture(page);
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => caches.open("somebody else's")));
    const names = () => page.evaluate(() => caches.keys());
    const first = (await names()).filter((name) => name.startsWith("headscope"));
    assert.equal(first.length, 1);

    const worker = join(folder, "service-worker.js");
    writeFileSync(worker, readFileSync(worker, "utf8").replace(/const VERSION = .*;/, 'const VERSION = "next";'));
    const html = join(folder, "index.html");
    writeFileSync(html, readFileSync(html, "utf8").replace("</title>", " (next)</title>"));
    // With a network the newest page is shown at once; its worker takes over when the old page has gone.
    const fresh = await (await page.goto(site.url))?.text();
    assert.match(fresh ?? "", /\(next\)<\/title>/);
    await page.evaluate(() => navigator.serviceWorker.ready.then((registration) => registration.update()));
    await until(page, async () => (await navigator.serviceWorker.ready).waiting !== null);
    // Not on the page, on the same host: from here the caches can be seen.
    await page.goto(new URL("/elsewhere", site.url).href);
    await until(page, async (old) => !(await caches.has(old)), first[0] as string);
    await page.goto(site.url);
    await firstPicture(page);
    const kept = await names();
    assert.deepEqual(
      kept.filter((name) => name.startsWith("headscope")).map((name) => name.split(" ").at(-1)),
      ["next"],
    );
    assert.ok(kept.includes("somebody else's"));
  } finally {
    await context.close();
    await site.close();
    rmSync(folder, { recursive: true });
  }
});

test("a visit that the network leaves goes on from what was kept: model, measures, laboratories", {
  timeout: 120_000,
}, async () => {
  const site = await serveSite(undefined, { csp: CSP, basePath: "/some/where/" });
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${site.url}#s=built&l=en`);
  await firstPicture(page);
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    while (!navigator.serviceWorker.controller) await new Promise((done) => setTimeout(done, 50));
  });
  await site.close();
  await context.setOffline(true);
  await page.locator('#source input[value="tiny"]').check();
  await page.locator("fieldset#layers:not([hidden])").waitFor();
  await page.locator("#heads .card input").nth(2).uncheck();
  await settled(page);
  assert.match(
    await text(page, "#change"),
    /^Without L0 H2 the model's last hidden state changes by .* and the loss on the next token/,
  );
  await context.close();
});

visit(
  "what reads models is not fetched before a model is wanted, and asked for again when it did not come",
  {},
  async ({ page, site, complaints }) => {
    const parts = () => site.requests.filter((path) => /worker-(?!parts)/.test(path));
    assert.deepEqual(parts(), []);
    await page.route("**/assets/worker-model*.js", (route) => route.abort());
    await page.locator('#source input[value="tiny"]').check();
    await page.locator("#problem:not([hidden])").waitFor();
    assert.match(await text(page, "#problem"), /^The trained model could not be loaded: ./);
    await page.unroute("**/assets/worker-model*.js");
    await page.locator('#source input[value="tiny"]').check();
    await page.locator("fieldset#layers:not([hidden])").waitFor();
    await settled(page);
    assert.equal(await page.locator("#problem").isHidden(), true);
    assert.deepEqual(
      complaints.splice(0).filter((complaint) => !/worker-model|ERR_FAILED/.test(complaint)),
      [],
    );
  },
);

test("where workers take no modules the page runs the script that is one file, and keeps it for later", {
  timeout: 120_000,
}, async () => {
  // As Firefox before 114: the type is not looked at, and the service worker knows it by its name.
  const old = await launchChromium([
    "--user-agent=Mozilla/5.0 (X11; Linux x86_64; rv:113.0) Gecko/20100101 Firefox/113.0",
  ]);
  const site = await serveSite(undefined, { csp: CSP, basePath: "/some/where/" });
  try {
    const page = await old.newPage();
    await page.addInitScript({
      content:
        "{ const Modern = Worker; window.Worker = function (url, { name }) { return new Modern(url, { name }); }; }",
    });
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(`${site.url}#s=tiny&l=en`);
    await page.locator("fieldset#layers:not([hidden])").waitFor();
    assert.match(
      page
        .workers()
        .map((worker) => worker.url())
        .join(),
      /^[^,]+\/worker-script-[^,]+$/,
    );
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    await site.close();
    await page.reload();
    await page.locator("fieldset#layers:not([hidden])").waitFor();
    assert.deepEqual(complaints, []);
  } finally {
    await old.close();
    await site.close();
  }
});

const packed = (path: string) => gzipSync(readFileSync(path), { level: 9 }).length;
const sum = (files: readonly string[]) => files.reduce((total, file) => total + packed(file), 0);

for (const locale of ["en-US", "zh-CN"]) {
  visit(
    `a first visit in ${locale} fetches at most 150 KB compressed besides the model, the shapes on the way included`,
    // On a window in which they stand in sight.
    { fragment: "", locale, viewport: { width: 1280, height: 1050 } },
    async ({ page, site }) => {
      await page.locator("fieldset#layers:not([hidden])").waitFor();
      await settled(page);
      await page.locator("#trace [part~=step]").first().waitFor();
      const names = [...new Set(site.requests)].map((path) => path.replace("/some/where/", "") || "index.html");
      const files = names.filter((name) => !name.endsWith(".gguf")).map((name) => join(SITE, name));
      assert.ok(files.length >= 5, files.join());
      const bytes = sum(files);
      assert.ok(bytes <= 150_000, `${bytes} bytes: ${files.map((file) => `${file} ${packed(file)}`).join(", ")}`);
    },
  );
}

/** A page whose files come when `pass` says so. */
async function opened(
  locale: string,
  pass: (path: string) => Promise<boolean>,
  body: (page: Page, site: ServedSite) => Promise<void>,
) {
  const site = await serveSite(undefined, { csp: CSP, basePath: "/some/where/" });
  const context = await browser.newContext({ locale, serviceWorkers: "block" });
  const page = await context.newPage();
  await page.route("**/assets/*.js", async (route) => {
    if (await pass(route.request().url())) await route.continue();
    else await route.abort();
  });
  try {
    await page.goto(`${site.url}#s=built${locale === "en-US" ? "&l=zh" : ""}`, { waitUntil: "commit" });
    await body(page, site);
  } finally {
    await context.close();
    await site.close();
  }
}

for (const locale of ["zh-CN", "en-US"]) {
  test(
    `the words are on their way before the code that says them, and no other language's: Chinese in ${locale}`,
    PATIENT,
    async () => {
      const asked: string[] = [];
      let release = () => {};
      const held = new Promise<void>((done) => {
        release = done;
      });
      const pass = async (path: string) => {
        asked.push(path.replace(/.*\/assets\//, ""));
        if (/\/index-/.test(path)) await held;
        return true;
      };
      await opened(locale, pass, async (page) => {
        await eventually(() => asked.some((name) => name.startsWith("index-")));
        await eventually(() => asked.some((name) => name.startsWith("zh-")));
        release();
        await firstPicture(page);
        assert.equal(await text(page, "#heads-title"), "8 个头");
        assert.deepEqual(
          asked.filter((name) => /^en-/.test(name)),
          [],
        );
      });
    },
  );
}

test("while the words are late nothing is said without them, and the first picture stays", PATIENT, async () => {
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  const pass = async (path: string) => {
    if (/\/zh-/.test(path)) await held;
    return true;
  };
  await opened("zh-CN", pass, async (page, site) => {
    // The core is there, and the built heads could be shown.
    await eventually(() => site.requests.some((path) => /worker-parts/.test(path)));
    await until(page, () => performance.now() > 1500);
    assert.equal(await page.locator("#views").isHidden(), true);
    // What is seen: not the markup for browsers without scripts.
    const shown = String(await page.evaluate("document.body.innerText"));
    const names = Object.keys({ ...en, ...enMore }).filter((name) => shown.includes(name));
    assert.deepEqual(names, [], "messages by their names");
    assert.equal(await page.locator("html").getAttribute("lang"), "en");
    release();
    await firstPicture(page);
    assert.equal(await text(page, "#heads-title"), "8 个头");
  });
});

test("where the words of a language do not come, the page speaks the other one", PATIENT, async () => {
  await opened(
    "zh-CN",
    async (path) => !/\/zh-/.test(path),
    async (page) => {
      await firstPicture(page);
      assert.equal(await page.locator("html").getAttribute("lang"), "en");
      assert.equal(await text(page, "#heads-title"), "8 heads");
      assert.equal(await text(page, "#source [data-source=built]"), "Built heads");
    },
  );
});

test("what the markup names, up to the first picture's own code, is at most 75 KB compressed", () => {
  const html = readFileSync(join(SITE, "index.html"), "utf8");
  const names = [...html.matchAll(/(?:src|href)="\.\/([^"#]+)"/g)].map(([, name]) => name as string);
  // Other pages are links.
  const named = names.filter((name) => !name.endsWith(".html")).map((name) => join(SITE, name));
  assert.ok(named.length >= 4, named.join());
  // Of the two languages the longer one.
  const words = [...html.matchAll(/ data-(?:en|zh)="\.\/([^"]+)"/g)].map(([, name]) =>
    packed(join(SITE, name as string)),
  );
  assert.equal(words.length, 2);
  const first = sum([join(SITE, "index.html"), ...named]) + Math.max(...words);
  assert.ok(first <= 75_000, `${first} bytes`);
});

test("no file of the site names another host", () => {
  const files = readdirSync(SITE, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.(html|js|css|svg)$/.test(name),
  );
  assert.ok(files.length >= 4);
  for (const name of files) {
    const hosts = readFileSync(join(SITE, name), "utf8").match(/https?:\/\/[\w.-]+/g) ?? [];
    // None of these is asked for: a namespace, the first line of a Git LFS pointer that the package knows by sight, and
    // the name, of a domain that cannot exist, that parts of files have in the browser's cache.
    const known = ["http://www.w3.org", "https://git-lfs", "https://git-lfs.github.com", "https://headscope.invalid"];
    const asked = hosts.filter((host) => !known.includes(host));
    assert.deepEqual(asked, [], name);
  }
});

test("no page error, foreign request or broken policy at any path depth", PATIENT, async () => {
  for (const basePath of ["/", "/a/", "/a/b%20c/d/"]) {
    const site = await serveSite(undefined, {
      csp: CSP,
      basePath: decodeURIComponent(basePath) === basePath ? basePath : "/deep/er/still/",
    });
    const context = await browser.newContext({ serviceWorkers: "block" });
    const page = await context.newPage();
    const complaints = watch(page, site);
    await page.goto(site.url);
    await firstPicture(page);
    assert.deepEqual(complaints, []);
    await context.close();
    await site.close();
  }
});
