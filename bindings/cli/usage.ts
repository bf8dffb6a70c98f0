import { suggest } from "../suggest.js";

/** Something is wrong with how the program was called: exit code 2. */
export class UsageError extends Error {}

export const HELP = `headscope: look into a model file, head by head

  headscope inspect FILE [options]

FILE is a GGUF or safetensors file on disk, or its http(s) address. Only the bytes
that are needed are read. For safetensors, config.json and tokenizer.json are taken
from beside the file where they are.

  --prompt TEXT      run this text and show one layer's nodes, weights and head statistics
  --tokens IDS       the same for token ids, 2437,389: for files without a tokenizer
  --layer N          which layer, from 0 (default 0)
  --head N           whose weights to draw, from 0 (default 0)
  --numerics WORD    f32 (default), or ggml, which repeats llama.cpp's rounding
  --config PATH      the model's config.json
  --tokenizer PATH   the model's tokenizer.json
  --json             everything as one JSON object; without --head, the weights of all heads
  --help, --version

Exit codes: 0 done, 1 the file cannot be read or run, 2 the call is wrong.
NO_COLOR is respected; what is no terminal gets plain text.
`;

export interface InspectCall {
  readonly file: string;
  readonly prompt: string | undefined;
  readonly tokens: readonly number[] | undefined;
  readonly layer: number;
  readonly head: number | undefined;
  readonly numerics: "f32" | "ggml";
  readonly config: string | undefined;
  readonly tokenizer: string | undefined;
  readonly json: boolean;
}

export type Call = "help" | "version" | InspectCall;

const WITH_VALUE = ["prompt", "tokens", "layer", "head", "numerics", "config", "tokenizer"] as const;
const WITHOUT_VALUE = ["json", "help", "version"] as const;

/** What the words after the program's name ask for. */
export function readCall(words: readonly string[]): Call {
  const { values, flags, rest } = split(words);
  if (flags.has("help")) return "help";
  if (flags.has("version")) return "version";
  const [command, file, ...more] = rest;
  if (command === undefined) throw new UsageError("expected a command: headscope inspect FILE");
  if (command !== "inspect") throw new UsageError(`expected the command inspect, got ${quote(command)}`);
  if (file === undefined || file === "") throw new UsageError("inspect: expected a FILE");
  if (more.length > 0) throw new UsageError(`inspect: expected one FILE, got ${quote(more[0] as string)} as well`);
  const prompt = values.get("prompt");
  const tokens = values.get("tokens");
  if (prompt !== undefined && tokens !== undefined) throw new UsageError("expected --prompt or --tokens, got both");
  if (prompt === "") throw new UsageError("--prompt: expected a text, got an empty one");
  for (const name of ["layer", "head", "numerics"]) {
    if (values.has(name) && prompt === undefined && tokens === undefined) {
      throw new UsageError(`--${name}: expected a --prompt or --tokens to go with it`);
    }
  }
  return {
    file,
    prompt,
    tokens: tokens?.split(",").map((id) => whole("tokens", id.trim())),
    layer: whole("layer", values.get("layer") ?? "0"),
    head: values.has("head") ? whole("head", values.get("head") as string) : undefined,
    numerics: numericsOf(values.get("numerics") ?? "f32"),
    config: values.get("config"),
    tokenizer: values.get("tokenizer"),
    json: flags.has("json"),
  };
}

function split(words: readonly string[]) {
  const values = new Map<string, string>();
  const flags = new Set<string>();
  const rest: string[] = [];
  for (let i = 0; i < words.length; ++i) {
    const word = words[i] as string;
    if (word === "--") {
      rest.push(...words.slice(i + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      rest.push(word);
      continue;
    }
    const [option = "", given] = cutAtEquals(word);
    const name = option === "-h" ? "help" : option.slice(2);
    if ((WITHOUT_VALUE as readonly string[]).includes(name) && (option === "-h" || option.startsWith("--"))) {
      if (given !== undefined) throw new UsageError(`--${name}: expected no value, got ${quote(given)}`);
      flags.add(name);
      continue;
    }
    if (!option.startsWith("--") || !(WITH_VALUE as readonly string[]).includes(name)) {
      const hint = suggest(name, [...WITH_VALUE, ...WITHOUT_VALUE]);
      throw new UsageError(`unknown option ${quote(option)}; ${hint}`);
    }
    if (values.has(name)) throw new UsageError(`--${name}: expected once, got it twice`);
    const next = words[i + 1];
    const value = given ?? next;
    // A text may begin with a dash; anything else that does is the next option.
    const missing = given === undefined && (next === undefined || (next.startsWith("--") && name !== "prompt"));
    if (value === undefined || missing) throw new UsageError(`--${name}: expected a value`);
    if (given === undefined) i += 1;
    values.set(name, value);
  }
  return { values, flags, rest };
}

function cutAtEquals(word: string): [string, string | undefined] {
  const at = word.indexOf("=");
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function whole(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name}: expected a whole number from 0, got ${quote(text)}`);
  return Number(text);
}

function numericsOf(word: string): "f32" | "ggml" {
  if (word === "f32" || word === "ggml") return word;
  throw new UsageError(`--numerics: expected f32 or ggml, got ${quote(word)}`);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
