import assert from "node:assert/strict";
import { test } from "node:test";
import { ended, loadLanguage, setLanguage, withWords } from "../../web/i18n/index.js";
import { addressOf } from "../../web/playground/sources/opened-file.js";

await loadLanguage("en");
await withWords(Promise.resolve());

const BASE = "https://example.org/some/where/";

test("addressOf() takes addresses as people type and paste them", () => {
  for (const [given, expected] of [
    ["https://host.org/a/b.gguf?x=1#y", "https://host.org/a/b.gguf?x=1#y"],
    ["models/b.gguf", `${BASE}models/b.gguf`],
    ["b.gguf", `${BASE}b.gguf`],
    ["../b.c/d.gguf", "https://example.org/some/b.c/d.gguf"],
    ["/b.gguf", "https://example.org/b.gguf"],
    ["huggingface.co/o/r/resolve/main/m.gguf", "https://huggingface.co/o/r/resolve/main/m.gguf"],
    ["host.org:8080/m.gguf", "https://host.org:8080/m.gguf"],
    // The page about a file, which is what the address bar shows.
    ["https://huggingface.co/o/r/blob/main/m.gguf", "https://huggingface.co/o/r/resolve/main/m.gguf"],
    ["https://other.org/o/r/blob/main/m.gguf", "https://other.org/o/r/blob/main/m.gguf"],
  ] as const) {
    assert.equal(addressOf(given, BASE).href, expected, given);
  }
});

test("addressOf() says what an address is, and where files on disk are opened", () => {
  for (const given of [
    "ftp://host/x.gguf",
    "C:\\models\\gpt2.gguf",
    "file:///m.gguf",
    "javascript:alert(1)",
    "http://h:99999/",
  ]) {
    assert.throws(
      () => addressOf(given, BASE),
      (error: Error) => {
        assert.ok(
          error.message.startsWith(`expected an address that begins with https://, got “${given}”.`),
          error.message,
        );
        assert.match(error.message, /A file on this device is chosen above or dropped on the page$/);
        return true;
      },
    );
  }
});

test("ended() gives a reason one end, in the page's language", async () => {
  assert.equal(ended("expected a file"), "expected a file.");
  for (const whole of ["was the file cut off?", "Stop!", "so.", "…"]) assert.equal(ended(whole), whole);
  await loadLanguage("zh");
  setLanguage("zh");
  assert.equal(ended("HTTP 503"), "HTTP 503。");
  setLanguage("en");
});
