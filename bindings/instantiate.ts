import { CONVENTION, type NativeModule } from "./abi.js";
import { describe } from "./describe.js";
import { supports, type Variant } from "./engine.js";
import { HeadscopeError, mismatch } from "./errors.js";
import createModule from "./generated/glue.mjs";
import { VERSION } from "./version.js";

/** What `load({ module })` takes. */
export type ModuleSource = WebAssembly.Module | BufferSource | URL | string;

const MAGIC = [0, 97, 115, 109]; // "\0asm"

export function aborted(signal: AbortSignal): HeadscopeError {
  return new HeadscopeError("aborted", "load: stopped by its signal", { argument: "signal", cause: signal.reason });
}

/** The promise, or the signal's abort, whichever comes first. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(aborted(signal));
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Refuses engines that cannot run a build, in words rather than by a CompileError. */
export function checkEngine(variant: Variant): void {
  if (typeof WebAssembly !== "object") {
    throw mismatch("unsupported", "engine", "WebAssembly", "none, or switched off");
  }
  if (!supports("simd")) {
    const hint = "Chromium 91, Firefox 89, Safari 16.4 and Node.js 20 have it, and newer ones";
    throw mismatch("unsupported", "engine", "WebAssembly with 128-bit SIMD", "WebAssembly without it", hint);
  }
  if (variant === "relaxed" && !supports("relaxed")) {
    const hint = 'the variant "simd" runs here';
    throw mismatch("unsupported", "variant", "WebAssembly with relaxed SIMD", "WebAssembly without it", hint);
  }
}

/** A compiled module from any source. */
export async function compile(source: ModuleSource, signal: AbortSignal | undefined): Promise<WebAssembly.Module> {
  const tag = Object.prototype.toString.call(source);
  if (tag === "[object WebAssembly.Module]") return source as WebAssembly.Module;
  if (typeof source === "string" || tag === "[object URL]") {
    const address = String(source);
    return compileBytes(await download(address, signal), `the file at ${address}`);
  }
  return compileBytes(source as BufferSource, "the bytes");
}

async function download(address: string, signal: AbortSignal | undefined): Promise<ArrayBuffer> {
  try {
    const response = await fetch(address, signal === undefined ? {} : { signal });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    // Not compileStreaming: it insists on a MIME type that many static hosts do not send, and the module is small.
    return await response.arrayBuffer();
  } catch (cause) {
    if (signal?.aborted) throw aborted(signal);
    const why = cause instanceof Error ? cause.message : String(cause);
    const expected = "a file that can be fetched";
    const message = `module: expected ${expected}, got "${why}" for ${address}`;
    throw new HeadscopeError("format", message, { argument: "module", expected, actual: why, cause });
  }
}

async function compileBytes(source: BufferSource, name: string): Promise<WebAssembly.Module> {
  const bytes = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  if (!MAGIC.every((byte, i) => bytes[i] === byte)) {
    throw mismatch("format", "module", "a wasm file", `${looksLike(bytes)} in ${name}`);
  }
  try {
    return await WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>);
  } catch (cause) {
    const expected = "a wasm file that this engine compiles";
    const actual = cause instanceof Error ? cause.message : String(cause);
    const message = `module: expected ${expected}, got ${name}: ${actual}`;
    throw new HeadscopeError("format", message, { argument: "module", expected, actual, cause });
  }
}

/** What bytes without the wasm magic number are, as far as their beginning tells. */
function looksLike(bytes: Uint8Array): string {
  if (bytes.length === 0) return "nothing (0 bytes)";
  const text = String.fromCharCode(...bytes.subarray(0, 200)).trimStart();
  if (/^<(!doctype|html|\?xml|head|body)/i.test(text)) return "what looks like HTML";
  if (text.startsWith("version https://git-lfs")) return "a Git LFS pointer";
  const start = [...bytes.subarray(0, 4)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return `${bytes.length} bytes that start with ${start}`;
}

/**
 * Runs the glue over a compiled module. The glue's own promise never hears of a failure inside `instantiateWasm`, so
 * that is carried out beside it.
 */
export async function instantiate(module: WebAssembly.Module): Promise<NativeModule> {
  let native: NativeModule;
  try {
    native = await new Promise<NativeModule>((resolve, reject) => {
      const created = createModule({
        instantiateWasm(imports, receive) {
          WebAssembly.instantiate(module, imports)
            .then((instance) => receive(instance, module))
            .catch(reject);
          return {};
        },
      });
      created.then(resolve, reject);
    });
  } catch (cause) {
    const expected = `a headscope ${VERSION} module`;
    const actual = "a module that does not fit, of another version or another program";
    const message = `module: expected ${expected}, got ${actual} (${describeCause(cause)})`;
    throw new HeadscopeError("format", message, { argument: "module", expected, actual, cause });
  }
  checkFit(native);
  return native;
}

function describeCause(cause: unknown): string {
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : describe(cause);
}

/** The bytes from an address of the module up to a 0, as text. */
export function readText(native: NativeModule, address: number): string {
  const { HEAPU8: bytes } = native;
  let text = "";
  for (let at = address; bytes[at]; ++at) text += String.fromCharCode(bytes[at] as number);
  return text;
}

/** Versions and the order of the words have to agree, or every later call would be misread. */
function checkFit(native: NativeModule): void {
  const version = typeof native.version === "function" ? readText(native, native.version()) : "unknown";
  if (version !== VERSION) {
    throw mismatch("format", "module", `version ${VERSION}`, `version ${version}`, "the versions differ");
  }
  if (native.convention() !== CONVENTION) {
    throw mismatch("format", "module", `the calling convention of ${VERSION}`, "another one", "the versions differ");
  }
}
