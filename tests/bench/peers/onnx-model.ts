/** Writes ONNX models: the few fields of its protobuf messages that a graph of float32 needs. */

type Bytes = Uint8Array;

const utf8 = new TextEncoder();

function varint(value: number | bigint): Bytes {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 128);
  } while (rest !== 0n);
  return Uint8Array.from(bytes);
}

function join(parts: readonly Bytes[]): Bytes {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const number = (field: number, value: number) => join([varint(field * 8), varint(value)]);
const bytes = (field: number, value: Bytes) => join([varint(field * 8 + 2), varint(value.length), value]);
const text = (field: number, value: string) => bytes(field, utf8.encode(value));
const message = (field: number, ...parts: readonly Bytes[]) => bytes(field, join(parts));
const float = (field: number, value: number) =>
  join([varint(field * 8 + 5), new Uint8Array(new Float32Array([value]).buffer)]);

const FLOAT = 1;
const INT64 = 7;

function valueInfo(field: number, name: string, shape: readonly number[]): Bytes {
  const dims = shape.map((size) => message(1, number(1, size)));
  return message(field, text(1, name), message(2, message(1, number(1, FLOAT), message(2, ...dims))));
}

/** Whole numbers become INT (and lists of them INTS), anything else FLOAT. */
export type Attribute = number | readonly number[] | { readonly float: number };

function attribute(name: string, value: Attribute): Bytes {
  if (typeof value === "number") return message(5, text(1, name), number(3, value), number(20, 2));
  if ("float" in value) return message(5, text(1, name), float(2, value.float), number(20, 1));
  return message(5, text(1, name), ...value.map((each) => number(8, each)), number(20, 7));
}

/** A graph under construction. Values are known by name; every method returns the name of what it adds. */
export class OnnxModel {
  readonly #nodes: Bytes[] = [];
  readonly #constants: Bytes[] = [];
  readonly #inputs: Bytes[] = [];
  readonly #outputs: Bytes[] = [];
  #names = 0;

  input(name: string, shape: readonly number[]): string {
    this.#inputs.push(valueInfo(11, name, shape));
    return name;
  }

  output(name: string, shape: readonly number[]): void {
    this.#outputs.push(valueInfo(12, name, shape));
  }

  #constant(type: number, shape: readonly number[], raw: Bytes): string {
    const name = `c${this.#names++}`;
    const dims = shape.map((size) => number(1, size));
    this.#constants.push(message(5, ...dims, number(2, type), text(8, name), bytes(9, raw)));
    return name;
  }

  constant(data: Float32Array, shape: readonly number[]): string {
    return this.#constant(FLOAT, shape, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }

  integers(...values: readonly number[]): string {
    const raw = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
    return this.#constant(INT64, [values.length], raw);
  }

  /** `outputs`: names of one's own, "" for one that is not wanted; default one new name. The first is returned. */
  node(
    type: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>> = {},
    outputs: readonly string[] = [`v${this.#names++}`],
  ): string {
    this.#nodes.push(
      message(
        1,
        ...inputs.map((name) => text(1, name)),
        ...outputs.map((name) => text(2, name)),
        text(4, type),
        ...Object.entries(attributes).map(([name, value]) => attribute(name, value)),
      ),
    );
    return outputs[0] as string;
  }

  /** The file's bytes: IR version 10, operator set 23 (the first with Attention). */
  bytes(): Bytes {
    const graph = [...this.#nodes, text(2, "g"), ...this.#constants, ...this.#inputs, ...this.#outputs];
    return join([number(1, 10), message(7, ...graph), message(8, text(1, ""), number(2, 23))]);
  }
}
