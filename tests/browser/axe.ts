import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Asked, atRest } from "./until.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds in the page, once that has come to rest. */
export async function violations(page: Asked): Promise<string[]> {
  await atRest(page);
  await page.evaluate(axe, undefined as never);
  const found = await page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: {
        run(o: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
      };
    };
    const { violations } = await axe.run({ resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}\n${node.failureSummary}`));
  }, undefined as never);
  return found as string[];
}
