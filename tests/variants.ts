import test, { type TestContext } from "node:test";
import { type Headscope, HeadscopeError, load } from "headscope";

/** The two builds of the module, in the order in which tests run over them. */
export const VARIANTS = ["simd", "relaxed"] as const;
export type Variant = (typeof VARIANTS)[number];

async function loadOrSkip(variant: Variant, t: TestContext): Promise<Headscope | undefined> {
  try {
    return await load({ variant });
  } catch (error) {
    // An engine without relaxed SIMD is no fault of ours; a CI machine on which half of the tests is left out is one.
    if (!(error instanceof HeadscopeError) || error.code !== "unsupported" || process.env.CI) throw error;
    t.skip(`${error.message} (Node.js 20 has it with --experimental-wasm-relaxed-simd)`);
    return undefined;
  }
}

/** One test over every build of the module, each time on a fresh instance. */
export function eachVariant(name: string, body: (hs: Headscope, t: TestContext) => void | Promise<void>): void {
  for (const variant of VARIANTS) {
    test(`${name} [${variant}]`, async (t) => {
      const hs = await loadOrSkip(variant, t);
      if (hs !== undefined) await body(hs, t);
    });
  }
}
