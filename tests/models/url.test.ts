// Files behind addresses: every way in which a server can answer a Range request (faults F06 and F09).
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { WholeBody } from "../../bindings/models/whole-body.js";
import { HeadscopeError, open, type TensorReader } from "./open-source.js";
import { answer, type Behaviour, serve } from "./range-server.js";
import { sampleModel, tokens, VOCABULARY } from "./sample-model.js";
import { safetensorsFile, writeGguf, writeSafetensors } from "./write-files.js";

const { file, tensors } = sampleModel();

const whole: Behaviour = (_, response, server) => {
  response.writeHead(200, { ...server.headers, "Content-Length": server.file.length });
  response.end(server.file);
  return true;
};

/** The header and every tensor are what the buffer has. */
async function assertSame(opened: TensorReader): Promise<void> {
  const expected = await open(file);
  assert.deepEqual([...opened.tensors], [...expected.tensors]);
  assert.deepEqual([...opened.metadata], [...expected.metadata]);
  assert.deepEqual(opened.metadata.get("tokenizer.ggml.tokens"), tokens(VOCABULARY));
  for (const name of expected.tensors.keys()) {
    assert.deepEqual((await opened.read(name)).data, (await expected.read(name)).data);
  }
}

async function rejection(promise: Promise<unknown>): Promise<HeadscopeError> {
  const error = await promise.then(
    () => assert.fail("it did not fail"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof HeadscopeError, String(error));
  return error;
}

test("a server with ranges is asked for the header in steps and for tensors exactly", async (t) => {
  const server = await serve(t, file);
  const opened = await open(server.url);
  const steps = server.requests.map(({ range }) => (range as { begin: number; end: number }).end);
  assert.equal(steps[0], 64 * 1024);
  assert.ok(opened.bytesRead >= opened.dataOffset && opened.bytesRead < 2 * opened.dataOffset + 64 * 1024);
  assert.equal(opened.size, file.length);

  const before = opened.bytesRead;
  const { offset, bytes } = opened.tensors.get("blk.0.attn_qkv.weight") ?? assert.fail();
  await opened.read("blk.0.attn_qkv.weight");
  assert.equal(opened.bytesRead - before, bytes);
  assert.deepEqual(server.requests.at(-1)?.range, { begin: offset, end: offset + bytes });
  await assertSame(opened);
});

test("only the bytes of the asked rows are read", async (t) => {
  const server = await serve(t, file);
  const opened = await open(new URL(server.url));
  const before = opened.bytesRead;
  const { data, shape } = await opened.read("token_embd.weight", { rows: [3990, 3993] });
  assert.equal(opened.bytesRead - before, (3 * 64 * 34) / 32);
  assert.deepEqual(shape, [3, 64]);
  const all = await (await open(file)).read("token_embd.weight");
  assert.deepEqual(data, all.data.slice(3990 * 64, 3993 * 64));
});

test("neighbouring tensors come in one request", async (t) => {
  const server = await serve(t, file);
  const opened = await open(server.url);
  const before = server.requests.length;
  const names = ["blk.0.attn_qkv.weight", "blk.0.attn_norm.bias", "blk.0.attn_norm.weight"];
  const parts = await opened.readStored(names.map((name) => ({ name })));
  assert.equal(server.requests.length - before, 1);
  parts.forEach(({ bytes }, i) => {
    assert.deepEqual(Buffer.from(bytes), Buffer.from(tensors.find(({ name }) => name === names[i])?.data ?? []));
  });
});

test("F06: a file smaller than one step is read whole by one request", async (t) => {
  const small = writeGguf({ tensors: [{ name: "w", ne: [2], type: 0, data: new Uint8Array(8).fill(64) }] });
  const server = await serve(t, small);
  const opened = await open(server.url);
  assert.deepEqual((await opened.read("w")).data, Float32Array.of(3.0039215087890625, 3.0039215087890625));
  assert.equal(server.requests.length, 1);
  assert.equal(opened.bytesRead, small.length);
});

test("F06: a server that ignores Range and answers 200: the file is streamed and kept", async (t) => {
  const server = await serve(t, file, whole);
  const opened = await open(server.url);
  await assertSame(opened);
  assert.equal(server.requests.length, 1);
  assert.equal(opened.bytesRead, file.length);
});

test("F06: the same without Content-Length: the size is known at the end", async (t) => {
  const server = await serve(t, file, (_, response) => {
    response.writeHead(200, { "Transfer-Encoding": "chunked" });
    response.end(file);
    return true;
  });
  const opened = await open(server.url);
  await assertSame(opened);
  assert.equal(server.requests.length, 1);
});

test("F06: a server that answers every range with 416 is asked for the whole file", async (t) => {
  for (const headers of [{}, { "Content-Range": `bytes */${file.length}` }]) {
    const server = await serve(t, file, ({ range }, response) => {
      if (range === undefined) return false;
      response.writeHead(416, headers);
      response.end();
      return true;
    });
    await assertSame(await open(server.url));
  }
});

test("F06: a server that answers 416 when a range reaches past the end is asked again", async (t) => {
  const small = writeGguf({ tensors: [{ name: "w", ne: [1], type: 0, data: new Uint8Array(4) }] });
  const server = await serve(t, small, ({ range }, response) => {
    if (range === undefined || range.end <= small.length) return false;
    response.writeHead(416, { "Content-Range": `bytes */${small.length}` });
    response.end();
    return true;
  });
  const opened = await open(server.url);
  assert.deepEqual((await opened.read("w")).data, Float32Array.of(0));
  assert.equal(server.requests.length, 2);
});

test("cross-origin servers that hide Content-Range: the end is found by reading", async (t) => {
  for (const hidden of [["Content-Range"], ["Content-Range", "Content-Length"]]) {
    const server = await serve(t, file, ({ range }, response) => {
      if (range === undefined) return false;
      const end = Math.min(range.end, file.length);
      if (range.begin >= end) {
        response.writeHead(416).end();
        return true;
      }
      const headers: Record<string, string> = {
        "Content-Range": `bytes ${range.begin}-${end - 1}/${file.length}`,
        "Content-Length": String(end - range.begin),
      };
      for (const name of hidden) delete headers[name];
      response.writeHead(206, headers).end(file.subarray(range.begin, end));
      return true;
    });
    const opened = await open(server.url);
    assert.equal(opened.size, file.length);
    await assertSame(opened);
  }
});

test("of unknown size and cut off: the missing end is noticed at once", async (t) => {
  for (const missing of [1, 1000, 200_000]) {
    const cut = file.subarray(0, file.length - missing);
    const server = await serve(t, cut, ({ range }, response) => {
      const { begin, end } = range ?? assert.fail();
      if (begin >= cut.length) response.writeHead(416).end();
      else response.writeHead(206).end(cut.subarray(begin, end));
      return true;
    });
    const { code, message } = await rejection(open(server.url));
    assert.equal(code, "format");
    assert.match(message, /tensor "blk\.0\.ffn_up\.weight": .*was the file cut off\?/);
  }
});

test("a server that sends less than the range is asked for the rest", async (t) => {
  const server = await serve(t, file, ({ range }, response, self) => {
    if (range === undefined) return false;
    answer({ range: { begin: range.begin, end: Math.min(range.end, range.begin + 50_000) } }, response, self);
    return true;
  });
  await assertSame(await open(server.url));
});

test("a server that answers with another range is refused", async (t) => {
  const server = await serve(t, file, ({ range }, response, self) => {
    const { begin, end } = range ?? assert.fail();
    answer({ range: { begin: begin + 1, end: end + 1 } }, response, self);
    return true;
  });
  const { code, message } = await rejection(open(server.url));
  assert.equal(code, "format");
  assert.match(message, /expected a part of bytes 0-65535, got the range "bytes 1-65536\//);
});

test("a Content-Range that is nonsense, or more bytes than it says, is refused", async (t) => {
  for (const header of ["bytes 0-", "bytes 9-0/10", "bytes 0-99/50", "lines 0-9/10"]) {
    const server = await serve(t, file, (_, response) => {
      response.writeHead(206, { "Content-Range": header }).end(file.subarray(0, 100));
      return true;
    });
    assert.match((await rejection(open(server.url))).message, /expected a part of bytes/, header);
  }
  const server = await serve(t, file, (_, response) => {
    response.writeHead(206, { "Content-Range": `bytes 0-99/${file.length}` }).end(file.subarray(0, 200));
    return true;
  });
  assert.match((await rejection(open(server.url))).message, /expected 100 bytes, got more than that/);
});

test("a connection that drops is asked for the rest of the range only", async (t) => {
  const server = await serve(t, file, ({ range, number }, response) => {
    const { begin, end } = range ?? assert.fail();
    if (number % 2 === 0) return false;
    const stop = Math.min(end, file.length);
    response.writeHead(206, {
      "Content-Range": `bytes ${begin}-${stop - 1}/${file.length}`,
      "Content-Length": stop - begin,
    });
    response.write(file.subarray(begin, begin + Math.floor((stop - begin) / 2)), () => {
      setTimeout(() => response.destroy(), 10);
    });
    return true;
  });
  const opened = await open(server.url);
  const [first, second] = server.requests;
  assert.equal(first?.range?.begin, 0);
  assert.ok((second?.range?.begin ?? 0) > 0 && second?.range?.end === first?.range?.end);
  await assertSame(opened);
});

test("a whole answer that drops goes on where it broke, with ranges or without", async (t) => {
  for (const ranges of [true, false]) {
    const server = await serve(t, file, ({ range, number }, response, self) => {
      if (number > 1) {
        if (ranges) answer({ range }, response, self);
        else answer({ range: undefined }, response, self);
        return true;
      }
      response.writeHead(200, { "Content-Length": file.length });
      response.write(file.subarray(0, 300_000), () => {
        setTimeout(() => response.destroy(), 10);
      });
      return true;
    });
    await assertSame(await open(server.url));
    assert.equal(server.requests.length, 2);
    const at = server.requests[1]?.range?.begin ?? 0;
    assert.ok(at > 0 && at <= 300_000, String(at));
  }
});

test("a server that is busy is asked again, after what Retry-After says", async (t) => {
  const server = await serve(t, file, ({ number }, response) => {
    if (number > 2) return false;
    response.writeHead(number === 1 ? 503 : 429, { "Retry-After": "0" }).end("later");
    return true;
  });
  await assertSame(await open(server.url));
});

test("a server that never recovers is given up with its last word", async (t) => {
  const server = await serve(t, file, (_, response) => {
    response.writeHead(503, { "Retry-After": "0" }).end();
    return true;
  });
  const { code, message } = await rejection(open(server.url));
  assert.equal(code, "format");
  assert.match(message, /byte 0: expected an answer, got "HTTP 503 Service Unavailable" 5 times in a row/);
  assert.equal(server.requests.length, 5);
});

test("an address where nobody answers is given up soon", async () => {
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  await new Promise((resolve) => http.close(resolve));
  const { message } = await rejection(open(`http://127.0.0.1:${port}/w.gguf`));
  assert.match(message, /byte 0: expected an answer, got ".*ECONNREFUSED.*" 2 times in a row/);
});

test("404, 403 and the like are refused with their number and the address, without another try", async (t) => {
  for (const [status, text] of [
    [404, /model\.gguf: the server's answer: expected the file, got HTTP 404 Not Found/],
    [403, /HTTP 403 Forbidden; the file may need a login/],
  ] as const) {
    const server = await serve(t, file, (_, response) => {
      response.writeHead(status).end("<html>no</html>");
      return true;
    });
    assert.match((await rejection(open(server.url))).message, text);
    assert.equal(server.requests.length, 1);
  }
});

test("F09: HTML pages and Git LFS pointers are named, with the address", async (t) => {
  const pages: [string, RegExp][] = [
    ["<!DOCTYPE html><html><body>Please log in</body></html>", /got what looks like an HTML page/],
    ["\n\n  <html>", /an HTML page/],
    ["version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", /got a Git LFS pointer/],
  ];
  for (const [page, message] of pages) {
    for (const behaviour of [undefined, whole]) {
      for (const format of ["auto", "gguf", "safetensors"] as const) {
        const server = await serve(t, Buffer.from(page), behaviour);
        const error = await rejection(open(server.url, { format }));
        assert.match(error.message, message);
        assert.ok(error.message.includes(server.url), error.message);
      }
    }
  }
});

test("a redirect is followed, and messages name both addresses", async (t) => {
  const target = await serve(t, file);
  const server = await serve(t, file, (_, response) => {
    response.writeHead(302, { Location: target.url }).end();
    return true;
  });
  await assertSame(await open(server.url));
  target.file = Buffer.from("<html></html>");
  const { message } = await rejection(open(server.url));
  assert.ok(message.includes(server.url) && message.includes(target.url), message);
});

test("a file that changes while it is open is an error, by ETag, date or size", async (t) => {
  const changes: [Record<string, string>, Record<string, string>, RegExp][] = [
    [{ ETag: '"1"' }, { ETag: '"2"' }, /expected the ETag "1", got "2"; open it again/],
    [
      { "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT" },
      { "Last-Modified": "Tue, 02 Jan 2024 00:00:00 GMT" },
      /the date/,
    ],
  ];
  for (const [before, after, expected] of changes) {
    const server = await serve(t, file);
    server.headers = before;
    const opened = await open(server.url);
    await opened.read("blk.0.attn_norm.weight");
    server.headers = after;
    const { code, message } = await rejection(opened.read("blk.0.ffn_up.weight"));
    assert.equal(code, "format");
    assert.match(message, expected);
  }
  const server = await serve(t, file);
  const opened = await open(server.url);
  server.file = new Uint8Array(file.length + 1);
  assert.match((await rejection(opened.read("blk.0.ffn_up.weight"))).message, /expected the size \d+, got \d+/);
});

test("a signal stops a slow answer at once, and the file can still be read", { timeout: 10_000 }, async (t) => {
  let slow = true;
  const server = await serve(t, file, ({ range }, response) => {
    const { begin, end } = range ?? assert.fail();
    if (!slow || begin === 0) return false;
    const stop = Math.min(end, file.length);
    response.writeHead(206, { "Content-Range": `bytes ${begin}-${stop - 1}/${file.length}` });
    response.write(file.subarray(begin, begin + 100)); // and then nothing
    return true;
  });
  const controller = new AbortController();
  const promise = open(server.url, { signal: controller.signal });
  setTimeout(() => controller.abort(new Error("changed my mind")), 50);
  const begin = performance.now();
  const error = await rejection(promise);
  assert.equal(error.code, "aborted");
  assert.equal((error.cause as Error).message, "changed my mind");
  assert.ok(performance.now() - begin < 5000);

  slow = false;
  const opened = await open(server.url);
  slow = true;
  const late = new AbortController();
  setTimeout(() => late.abort(), 50);
  assert.equal((await rejection(opened.read("blk.0.ffn_up.weight", { signal: late.signal }))).code, "aborted");
  slow = false;
  await assertSame(opened);
});

test("a signal that was given before stops everything before a request", async (t) => {
  const server = await serve(t, file);
  assert.equal((await rejection(open(server.url, { signal: AbortSignal.abort() }))).code, "aborted");
  assert.equal(server.requests.length, 0);
});

test("a signal stops a read of a whole answer and the pause before another try", { timeout: 10_000 }, async (t) => {
  const stalled = await serve(t, file, (_, response) => {
    response.writeHead(200, { "Content-Length": file.length });
    response.write(file.subarray(0, 1000));
    return true;
  });
  const busy = await serve(t, file, (_, response) => {
    response.writeHead(503, { "Retry-After": "9" }).end();
    return true;
  });
  for (const { url } of [stalled, busy]) {
    const begin = performance.now();
    assert.equal((await rejection(open(url, { signal: AbortSignal.timeout(50) }))).code, "aborted");
    assert.ok(performance.now() - begin < 5000);
  }
});

test("a server that sends only whole files, and a file too large to keep: refused before it is loaded", async (t) => {
  let closed: Promise<unknown> = Promise.resolve();
  const server = await serve(t, file, (_, response) => {
    response.writeHead(200, { "Content-Length": 2 ** 30 });
    response.write(file);
    closed = once(response, "close");
    return true;
  });
  const { code, message } = await rejection(open(server.url));
  assert.equal(code, "unsupported");
  assert.match(message, /1073741824 bytes; this server sends only whole files.*open it from disk/);
  await closed; // the connection is not left hanging
});

test("an endless answer is read no farther than the header says", async (t) => {
  const header = safetensorsFile(" ".repeat(5_000_000));
  const server = await serve(t, header, (_, response) => {
    response.writeHead(200, { "Transfer-Encoding": "chunked" });
    response.write(header.subarray(0, 8));
    const piece = new Uint8Array(2 ** 18);
    const more = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", more);
    more();
    return true;
  });
  let loaded = 0;
  const onProgress = (progress: { loaded: number }) => {
    loaded = progress.loaded;
  };
  assert.match((await rejection(open(server.url, { onProgress }))).message, /the header's JSON at character 0/);
  assert.ok(loaded >= 5_000_000 && loaded < 6_500_000, String(loaded));
});

test("a whole body is kept up to its limit, even where no length was said", async () => {
  const pieces = [new Uint8Array(600), new Uint8Array(600)];
  const body = new WholeBody(new Response(new Blob(pieces).stream()), {
    arrived: () => {},
    tooLarge: () => new Error("too large"),
    limit: 1000,
  });
  await assert.rejects(body.read(0, 2000), /too large/);
  await assert.rejects(body.read(0, 2000), /broke off/);
});

test("progress counts the bytes as they come", async (t) => {
  const server = await serve(t, file);
  const loaded: number[] = [];
  const totals = new Set<number | undefined>();
  const onProgress = (progress: { loaded: number; total?: number }) => {
    loaded.push(progress.loaded);
    totals.add(progress.total);
  };
  const opened = await open(server.url, { onProgress });
  await opened.read("blk.0.ffn_up.weight");
  assert.deepEqual([...totals], [file.length], "the file's size, from the first answer on");
  assert.ok(loaded.length > 2);
  assert.ok(loaded.every((bytes, i) => i === 0 || bytes > (loaded[i - 1] ?? 0)));
  assert.equal(loaded.at(-1), opened.bytesRead);
});

test("progress has no total where the server does not say it", async (t) => {
  const silent: Behaviour = ({ range }, response, { file }) => {
    // A part of the file without Content-Range, as another origin's answer looks that does not expose the header.
    const { begin = 0, end = file.length } = range ?? {};
    response.writeHead(206, { "Content-Length": Math.min(end, file.length) - begin });
    response.end(file.subarray(begin, end));
    return true;
  };
  const chunked: Behaviour = (_, response, { file }) => {
    response.writeHead(200);
    response.write(file.subarray(0, 1000));
    response.end(file.subarray(1000));
    return true;
  };
  for (const behaviour of [silent, chunked]) {
    const server = await serve(t, file, behaviour);
    const seen: object[] = [];
    await open(server.url, { onProgress: (progress) => seen.push(progress) });
    assert.ok(seen.length > 0 && seen.every((progress) => !("total" in progress)));
  }
  for (const source of [file, new Blob([file])]) {
    const seen: (number | undefined)[] = [];
    await open(source, { onProgress: ({ total }: { total?: number }) => seen.push(total) });
    assert.ok(seen.length > 0 && seen.every((total) => total === file.length));
  }
});

test("ten reads at once over one connection-poor server all come right", async (t) => {
  const server = await serve(t, file, whole);
  const opened = await open(server.url);
  const expected = await open(file);
  const names = [...expected.tensors.keys(), ...expected.tensors.keys()];
  const results = await Promise.all(names.map((name) => opened.read(name)));
  for (const [i, name] of names.entries()) assert.deepEqual(results[i], await expected.read(name));
});

test("data: addresses work, addresses that are none do not", async () => {
  const bytes = writeSafetensors({ w: { dtype: "F32", shape: [1], data: new Uint8Array(4) } });
  const opened = await open(`data:application/octet-stream;base64,${Buffer.from(bytes).toString("base64")}`);
  assert.deepEqual((await opened.read("w")).data, Float32Array.of(0));
  await assert.rejects(
    open("C:\\model.gguf"),
    /source: expected an address of http.*files from disk are given as a File/,
  );
  await assert.rejects(open("model.gguf"), /source: expected an address .*there is no page/);
});

test("safetensors behind an address", async (t) => {
  const data = new Uint8Array(100_000).map((_, i) => i);
  const bytes = writeSafetensors({
    a: { dtype: "U8", shape: [90_000], data: data.subarray(0, 90_000) },
    w: { dtype: "F16", shape: [5000], data: data.subarray(90_000) },
  });
  const server = await serve(t, bytes);
  const opened = await open(server.url);
  const before = opened.bytesRead;
  assert.equal((await opened.read("w")).data.length, 5000);
  assert.equal(opened.bytesRead - before, 10_000);
  const empty = await serve(t, safetensorsFile({}));
  assert.equal((await open(empty.url)).tensors.size, 0);
});
