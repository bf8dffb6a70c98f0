// Copies for the way to the worker. Every array is copied once, here and now, and the copy is transferred: the caller may
// go on writing to its own at once. structuredClone would take the whole buffer behind a view.
import { checkAttached, typedArrayName } from "../check.js";
import { wrongType } from "../errors.js";

export class Copier {
  /** What to transfer with the message. */
  readonly transfer: ArrayBuffer[] = [];
  readonly #done = new Map<object, unknown>();

  /** @param path how messages call the value */
  copy(path: string, value: unknown): unknown {
    if (typeof value === "function" || typeof value === "symbol") {
      throw wrongType(path, "a value that can be sent to a worker", value);
    }
    if (typeof value !== "object" || value === null) return value;
    const done = this.#done.get(value);
    if (done !== undefined) return done;
    const copied = this.#copyObject(path, value);
    this.#done.set(value, copied);
    return copied;
  }

  #copyObject(path: string, value: object): unknown {
    if (Array.isArray(value)) return Array.from(value, (each: unknown, i) => this.copy(`${path}[${i}]`, each));
    if (ArrayBuffer.isView(value)) return this.#copyView(path, value);
    const kind = Object.prototype.toString.call(value).slice(8, -1);
    if (kind === "URL") return String(value);
    if (kind === "ArrayBuffer" || kind === "SharedArrayBuffer") return this.#copyBuffer(path, value as ArrayBuffer);
    // Tensors of other libraries have their values behind getters of their class, which cloning does not see.
    if ("data" in value && "shape" in value) {
      return { data: this.copy(`${path}.data`, value.data), shape: this.copy(`${path}.shape`, value.shape) };
    }
    if (kind !== "Object") return value; // Blob, File, Map, WebAssembly.Module: the platform clones them
    const copied: Record<string, unknown> = {};
    for (const [name, each] of Object.entries(value)) copied[name] = this.copy(`${path}.${name}`, each);
    return copied;
  }

  #copyView(path: string, view: ArrayBufferView): ArrayBufferView {
    if (view.byteLength === 0) checkAttached(path, view);
    const bytes = new Uint8Array(view.byteLength);
    bytes.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    this.transfer.push(bytes.buffer);
    const name = typedArrayName(view) ?? "DataView";
    const Kind = (globalThis as unknown as Record<string, new (buffer: ArrayBuffer) => ArrayBufferView>)[name];
    return Kind === undefined ? bytes : new Kind(bytes.buffer);
  }

  #copyBuffer(path: string, buffer: ArrayBuffer): ArrayBuffer {
    let copied: ArrayBuffer;
    try {
      copied = new Uint8Array(buffer).slice().buffer;
    } catch {
      throw new TypeError(`${path}: expected an ArrayBuffer with its memory, got a detached one`);
    }
    this.transfer.push(copied);
    return copied;
  }
}

/** The buffers of a result's tensors: they are nobody else's, so they go to the page as they are. */
export function buffersOf(result: unknown, found: Set<ArrayBuffer> = new Set()): Set<ArrayBuffer> {
  if (typeof result !== "object" || result === null) return found;
  if (ArrayBuffer.isView(result)) {
    const { buffer, byteLength } = result;
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && byteLength > 0) found.add(buffer);
    return found;
  }
  for (const each of Object.values(result)) buffersOf(each, found);
  return found;
}
