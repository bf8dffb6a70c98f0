/**
 * What a wasm engine can do here and now: chains of multiply-adds that never leave the registers. `relaxed` is
 * f32x4.relaxed_madd, which is one instruction where the processor has it: the limit that everything is measured
 * against. `simd` is f32x4.mul, then f32x4.add: the most that a program without relaxed SIMD can reach. (There the chain
 * goes through the product, or an engine would find that all chains have the same.) `loads` adds up 24 KB over and over,
 * which slows down as soon as someone else uses the same first-level cache.
 */
export type ChainKind = "relaxed" | "simd" | "loads";

/** `loads` over a piece of memory from its beginning to its end. */
type ModuleKind = ChainKind | "stream";

export interface Limit {
  /** GFLOP/s of a millisecond. */
  measure(): number;
}

/** Latency × instructions a cycle of today's processors is 8 to 12; with two constants this still fits 16 registers. */
const CHAINS = 12;
const STEPS = 4;
const BYTES_PER_TURN = CHAINS * STEPS * 16;
const STREAMS = 4;
export const FLOPS_PER_TURN = CHAINS * STEPS * 4 * 2;

function leb(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest & 127;
    rest >>>= 7;
    bytes.push(rest === 0 ? low : low | 128);
  } while (rest !== 0);
  return bytes;
}

const section = (id: number, ...content: number[]) => [id, ...leb(content.length), ...content];
const name = (text: string) => [text.length, ...new TextEncoder().encode(text)];
const simd = (opcode: number) => [0xfd, ...leb(opcode)];
const splat = (value: number) => [0x43, ...new Uint8Array(new Float32Array([value]).buffer), ...simd(0x13)];
const get = (local: number) => [0x20, local];
const set = (local: number) => [0x21, local];

/**
 * The module's one function: (turns: i32) → f32. Local 0 is turns, 1 the factor, 2 the addend, 3 … the chains, then an
 * address.
 */
export function limitModule(kind: ChainKind): Uint8Array<ArrayBuffer> {
  return chainModule(kind, 1);
}

/**
 * A module whose `run(turns)` reads so many bytes from the beginning of its `memory`, a few more to make whole turns. Four
 * places at once, which is 8 % faster than one after another.
 */
export function streamModule(bytes: number): { module: Uint8Array<ArrayBuffer>; turns: number; bytes: number } {
  const turns = Math.ceil(bytes / BYTES_PER_TURN);
  const whole = turns * BYTES_PER_TURN;
  return { module: chainModule("stream", Math.ceil(whole / 65536), whole / STREAMS), turns, bytes: whole };
}

function chainModule(kind: ModuleKind, pages: number, streamBytes = 0): Uint8Array<ArrayBuffer> {
  const chains = Array.from({ length: CHAINS }, (_, i) => 3 + i);
  const address = 3 + CHAINS;
  const load = (chain: number, offset: number) => {
    const at = [...get(address), ...simd(0), 4, ...leb(offset)];
    return [...get(chain), ...at, ...simd(0xe4), ...set(chain)];
  };
  const steps = {
    relaxed: (chain: number) => [...get(1), ...get(2), ...get(chain), ...simd(0x105), ...set(chain)],
    simd: (chain: number) => [...get(chain), ...get(1), ...simd(0xe6), ...get(2), ...simd(0xe4), ...set(chain)],
    loads: (chain: number, n: number) => load(chain, 16 * (n * CHAINS + chain - 3)),
    stream: (chain: number, n: number) => {
      const load16 = n * CHAINS + chain - 3;
      return load(chain, (load16 % STREAMS) * streamBytes + 16 * Math.floor(load16 / STREAMS));
    },
  };
  // 32 pieces of memory in turn: (turns & 31) · bytes of one
  const seek = [...get(0), 0x41, 31, 0x71, 0x41, ...leb(BYTES_PER_TURN), 0x6c, ...set(address)];
  const body = [
    ...[2, ...leb(2 + CHAINS), 0x7b, 1, 0x7f], // locals: v128, i32
    ...[...splat(0.75), ...set(1), ...splat(0.5), ...set(2)],
    ...chains.flatMap((chain) => [...splat(chain), ...set(chain)]),
    ...[0x03, 0x40], // loop
    ...(kind === "loads" ? seek : []),
    ...Array.from({ length: STEPS }, (_, n) => chains.flatMap((chain) => steps[kind](chain, n))).flat(),
    ...(kind === "stream" ? [...get(address), 0x41, ...leb(BYTES_PER_TURN / STREAMS), 0x6a, ...set(address)] : []),
    ...[...get(0), 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b], // turns -= 1, again while it is not 0, end
    ...chains.flatMap((chain, i) => [...get(chain), ...(i > 0 ? simd(0xe4) : [])]), // their sum
    ...[...simd(0x1f), 0, 0x0b], // its lane 0, end
  ];
  return new Uint8Array([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, 1, 0x60, 1, 0x7f, 1, 0x7d),
    ...section(3, 1, 0),
    ...section(5, 1, 0, ...leb(pages)),
    ...section(7, 2, ...name("run"), 0, 0, ...name("memory"), 2, 0),
    ...section(10, 1, ...leb(body.length), ...body),
  ]);
}

/** undefined where the engine does not know the instructions. */
export async function startLimit(kind: ChainKind): Promise<Limit | undefined> {
  const bytes = limitModule(kind);
  if (!WebAssembly.validate(bytes)) return undefined;
  const { instance } = await WebAssembly.instantiate(bytes);
  const chain = instance.exports.run as (turns: number) => number;
  const turns = 1000; // some 25 µs: short, so that engines see a function that is called often
  const measure = () => {
    let calls = 0;
    const begin = performance.now();
    let end = begin;
    for (; end - begin < 1; end = performance.now()) {
      for (let i = 0; i < 10; ++i) chain(turns);
      calls += 10;
    }
    return (calls * turns * FLOPS_PER_TURN) / (end - begin) / 1e6;
  };
  for (const end = performance.now() + 100; performance.now() < end; ) measure();
  return { measure };
}
