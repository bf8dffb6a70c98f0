import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { projectRoot } from "./packed.ts";

const site = path.join(projectRoot, "build/site");
const files = readdirSync(site, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => path.join(entry.parentPath, entry.name));

test("the page is at most 150 KB gzipped, every file of it but the model together; the model at most 3 MB", () => {
  const isModel = (file: string) => file.endsWith(".gguf");
  const models = files.filter(isModel).map((file) => readFileSync(file).length);
  assert.ok(models.length === 1 && (models[0] as number) <= 3 * 2 ** 20, models.join());
  const sizes = files.filter((file) => !isModel(file)).map((file) => gzipSync(readFileSync(file), { level: 9 }).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(total > 0 && total <= 150_000, `${total} bytes`);
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
