import { describe } from "./describe.js";
import { keepsTallTiles, supports, type Variant } from "./engine.js";
import { HeadscopeError } from "./errors.js";
import { Instance } from "./headscope.js";
import { Heap } from "./heap.js";
import { aborted, checkEngine, compile, instantiate, type ModuleSource, orAborted, readText } from "./instantiate.js";
import { suggest } from "./suggest.js";
import type { Headscope, LoadOptions } from "./types.js";
import { VERSION } from "./version.js";

const OPTION_NAMES = ["variant", "module", "signal"] as const;
const VARIANTS = ["auto", "simd", "relaxed"] as const;

/** Bytes inside the package. */
export type Builtin = (variant: Variant) => BufferSource | Promise<BufferSource>;

function wrong(argument: string, expected: string, value: unknown, hint?: string): HeadscopeError {
  const actual = describe(value);
  const message = `${argument}: expected ${expected}, got ${actual}${hint === undefined ? "" : `; ${hint}`}`;
  return new HeadscopeError("config", message, { argument, expected, actual });
}

interface Checked {
  readonly variant: (typeof VARIANTS)[number];
  readonly module: ModuleSource | undefined;
  readonly signal: AbortSignal | undefined;
}

// `load` rejects with HeadscopeErrors only, so a wrong option is one too, of code "config".
function check(options: unknown): Checked {
  if (options === undefined) return { variant: "auto", module: undefined, signal: undefined };
  if (typeof options !== "object" || options === null) {
    throw wrong("options", "an object { variant, module, signal }", options);
  }
  for (const name in options) {
    if (!(OPTION_NAMES as readonly string[]).includes(name) && Object.hasOwn(options, name)) {
      throw wrong(`options.${name}`, "a known name", name, suggest(name, OPTION_NAMES));
    }
  }
  const { variant = "auto", module, signal } = options as LoadOptions;
  if (!VARIANTS.includes(variant)) throw wrong("variant", '"auto", "simd" or "relaxed"', variant);
  if (module !== undefined && !isModuleSource(module)) throw wrong("module", MODULE_SOURCES, module);
  if (signal !== undefined && typeof signal?.addEventListener !== "function") {
    throw wrong("signal", "an AbortSignal", signal);
  }
  return { variant, module, signal };
}

const MODULE_SOURCES = "a WebAssembly.Module, bytes, a URL or a string";

/** By their tags, so that objects of other realms (frames, jsdom) count too. */
function isModuleSource(value: unknown): boolean {
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  return (
    ["String", "URL", "ArrayBuffer", "SharedArrayBuffer", "WebAssembly.Module"].includes(tag) ||
    ArrayBuffer.isView(value)
  );
}

/** What both entries share: `builtin` is missing where the caller has to bring the module. */
export async function start(options: unknown, builtin: Builtin | undefined): Promise<Headscope> {
  const checked = check(options);
  if (checked.module === undefined && builtin === undefined) {
    throw wrong("module", MODULE_SOURCES, undefined);
  }
  if (checked.signal?.aborted) throw aborted(checked.signal);
  return orAborted(run(checked, builtin), checked.signal);
}

async function run({ variant, module, signal }: Checked, builtin: Builtin | undefined): Promise<Headscope> {
  checkEngine(variant === "relaxed" ? "relaxed" : "simd");
  const compiled =
    module !== undefined || builtin === undefined
      ? await compile(module as ModuleSource, signal)
      : await compileBuiltin(variant, builtin);
  const native = await instantiate(compiled);
  const running: Variant = readText(native, native.variant()) === "relaxed" ? "relaxed" : "simd";
  if (variant !== "auto" && running !== variant) {
    throw wrong("module", `the ${variant} build, as variant says`, running);
  }
  if (running === "simd" && keepsTallTiles()) native.tileRows(5);
  return new Instance(new Heap(native), VERSION, running);
}

async function compileBuiltin(variant: Checked["variant"], builtin: Builtin): Promise<WebAssembly.Module> {
  if (variant === "auto" && supports("relaxed")) {
    try {
      return await compile(await builtin("relaxed"), undefined);
    } catch {
      // The second file did not arrive, or this engine's relaxed SIMD is an older draft: the baseline always works.
    }
  }
  const chosen = variant === "relaxed" ? "relaxed" : "simd";
  let bytes: BufferSource;
  try {
    bytes = await builtin(chosen);
  } catch (cause) {
    const message = `variant: the package's ${chosen} build could not be imported`;
    throw new HeadscopeError("format", message, { argument: "variant", cause });
  }
  return compile(bytes, undefined);
}
