/** Strict readers of the formats that the page writes, made from their specifications and not from the writers. */

import assert from "node:assert/strict";

/** NumPy's format 1.0 (NEP 1): magic, version, header length, a dict with three keys, padding to 64, C-order data. */
export function readNpy(bytes: Uint8Array): { shape: number[]; data: Float32Array } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  assert.deepEqual([...bytes.subarray(0, 6)], [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]);
  assert.deepEqual([bytes[6], bytes[7]], [1, 0]);
  const length = view.getUint16(8, true);
  const header = Buffer.from(bytes.subarray(10, 10 + length)).toString("latin1");
  assert.equal((10 + length) % 64, 0);
  assert.ok(header.endsWith("\n"));
  const match = /^\{'descr': '(<f4)', 'fortran_order': (False), 'shape': \((\d+(?:, \d+)*,?)\), \} *\n$/.exec(header);
  assert.ok(match, header);
  const sizes = (match[3] as string).split(",").map((size) => size.trim());
  if (sizes.length === 2 && sizes[1] === "") sizes.pop();
  else if (sizes.length === 1) assert.fail("a tuple of one needs its comma");
  const shape = sizes.map(Number);
  const count = shape.reduce((product, size) => product * size, 1);
  assert.equal(bytes.length, 10 + length + 4 * count);
  return { shape, data: Float32Array.from({ length: count }, (_, i) => view.getFloat32(10 + length + 4 * i, true)) };
}

/** RFC 4180, and nothing more lenient: lines end with CR LF, quotes stand around whole fields and are doubled inside. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let at = text.startsWith("\ufeff") ? 1 : 0;
  let row: string[] = [];
  while (at < text.length) {
    let value = "";
    if (text[at] === '"') {
      for (at++; ; at++) {
        assert.ok(at < text.length, "a quoted field ends");
        if (text[at] !== '"') value += text[at];
        else if (text[at + 1] === '"') value += text[at++];
        else break;
      }
      at++;
    } else {
      while (at < text.length && !",\r\n".includes(text[at] as string)) {
        assert.notEqual(text[at], '"', "a quote only around a whole field");
        value += text[at++];
      }
    }
    row.push(value);
    if (text[at] === ",") at++;
    else {
      assert.equal(text.slice(at, at + 2), "\r\n");
      at += 2;
      rows.push(row);
      row = [];
    }
  }
  assert.ok(
    rows.every(({ length }) => length === rows[0]?.length),
    "all rows are of one length",
  );
  return rows;
}

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (XmlElement | string)[];
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** XML as strict as the files here need it: one root, quoted attributes, known entities, no bare < or &. */
export function parseXml(text: string): XmlElement {
  const resolve = (raw: string): string => {
    assert.doesNotMatch(raw, /<|&(?!(?:amp|lt|gt|quot|apos);)/);
    return raw.replace(/&(\w+);/g, (_, name: string) => NAMED[name] as string);
  };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 has no place for them.
  assert.doesNotMatch(text, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
  assert.ok((text as string & { isWellFormed?(): boolean }).isWellFormed?.() ?? true);
  const root: XmlElement = { name: "", attributes: {}, children: [] };
  const open = [root];
  const body = text.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, "");
  const pattern = /([^<]*)<(\/?)([a-z]+)((?: [\w:-]+="[^"]*")*) ?(\/?)>/gy;
  let end = 0;
  for (const match of body.matchAll(pattern)) {
    const [whole, before = "", close, name = "", given = "", empty] = match;
    end = match.index + whole.length;
    const parent = open.at(-1) as XmlElement;
    if (before !== "") parent.children.push(resolve(before));
    if (close) {
      assert.equal(open.pop()?.name, name);
      continue;
    }
    const attributes: Record<string, string> = {};
    for (const [, key = "", value = ""] of given.matchAll(/ ([\w:-]+)="([^"]*)"/g)) {
      assert.ok(!(key in attributes), `${key} once`);
      attributes[key] = resolve(value);
    }
    const element = { name, attributes, children: [] };
    parent.children.push(element);
    if (!empty) open.push(element);
  }
  assert.equal(body.slice(end).trim(), "", "all of it is read");
  assert.deepEqual(open, [root], "every element is closed");
  const roots = root.children.filter((child) => typeof child !== "string");
  assert.equal(roots.length, 1);
  return roots[0] as XmlElement;
}

export function elementsOf(root: XmlElement, name: string): XmlElement[] {
  return root.children.flatMap((child) =>
    typeof child === "string" ? [] : [...(child.name === name ? [child] : []), ...elementsOf(child, name)],
  );
}
