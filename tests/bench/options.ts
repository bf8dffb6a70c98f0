import { parseArgs } from "node:util";

export const ENGINES = ["node20", "node24", "node26", "chromium", "firefox"] as const;
export type EngineName = (typeof ENGINES)[number] | "node";

export interface Options {
  /** `node` is the program that runs the bench. */
  readonly engines: readonly EngineName[];
  /** Ids or groups of cases, and `first` and `lengths`. */
  readonly cases: readonly string[];
  readonly who: readonly string[];
  readonly quick: boolean;
  readonly check: boolean;
  readonly recorded: boolean;
  readonly report: boolean;
}

const list = (text: string | undefined): string[] =>
  (text ?? "")
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean);

export const HELP = `npm run bench -- [options]
  --engine node20,node24,node26,chromium,firefox or all   default: this Node.js
  --cases tiny,short,middle,long,decode,grouped,core, an id, its beginning as "D768 T128*",
          first (fresh processes), lengths (up to 16,384 tokens)   default: all but grouped, first and lengths
  --who relaxed,ORT    only contenders whose names begin so
  --quick              fewer and shorter rounds
  --check              then says what falls short of the table in tests/bench/requirements.ts; exits 1 if anything does
  --recorded           measures nothing: what build/bench/results.json holds
  --report             writes tests/bench/README.md's tables and plots from it
  --kernels            products, exp, softmax on their own
`;

/** @throws an Error for the user where something is not known. */
export function parseOptions(args: readonly string[]): Options {
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      engine: { type: "string" },
      cases: { type: "string" },
      who: { type: "string" },
      ...{ quick: flag, check: flag, recorded: flag, report: flag },
    },
  });
  const named = list(values.engine);
  const engines = named.includes("all") ? [...ENGINES] : named;
  for (const engine of engines) {
    if (![...ENGINES, "node"].includes(engine)) {
      throw new Error(`there is no engine ${engine}; known: ${ENGINES.join(", ")}`);
    }
  }
  const { quick, check, recorded, report } = values;
  return {
    engines: engines.length > 0 ? (engines as EngineName[]) : ["node"],
    cases: list(values.cases),
    who: list(values.who),
    ...{ quick, check, recorded, report },
  };
}
