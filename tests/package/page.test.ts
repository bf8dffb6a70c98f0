import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { compressed, filesOf } from "../support/site.ts";
import { projectRoot } from "./packed.ts";

const site = path.join(projectRoot, "build/site");
const files = readdirSync(site, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => path.join(entry.parentPath, entry.name));

test("the site holds one model, of at most 3 MB", () => {
  const models = files.filter((file) => file.endsWith(".gguf")).map((file) => readFileSync(file).length);
  assert.ok(models.length === 1 && (models[0] as number) <= 3 * 2 ** 20, models.join());
});

// What a first visit of the playground fetches is measured in tests/browser/host.test.ts.
const documentation = files.map((file) => path.relative(site, file)).filter((name) => /^(?!index).*\.html$/.test(name));

test("every page of the documentation is at most 150 KB gzipped, with all that it can fetch", (t) => {
  assert.ok(documentation.length >= 9, documentation.join());
  for (const name of documentation) {
    const parts = filesOf(site, name);
    const bytes = compressed(parts);
    t.diagnostic(`${name}: ${bytes} bytes in ${parts.length} files`);
    assert.ok(parts.length > 5 && bytes <= 150_000, `${name}: ${bytes} bytes`);
    assert.ok(
      parts.every((file) => !/gguf|assets\/worker-|relaxed/.test(file)),
      parts.join(),
    );
  }
});

test("the page is static files with relative addresses, so that it works under any path and offline", () => {
  const html = files.filter((file) => file.endsWith(".html"));
  assert.ok(html.length > 0);
  for (const file of html) {
    for (const [, address = ""] of readFileSync(file, "utf8").matchAll(/(?:src|href)="([^"]*)"/g)) {
      assert.match(
        address,
        /^(\.\/|#|data:|https:\/\/github\.com\/)|^[\w-]+\.html/,
        `${path.relative(site, file)} asks for ${address}`,
      );
    }
  }
});
