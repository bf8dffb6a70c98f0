import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A page of Playwright's or of Puppeteer's. */
interface Asked {
  evaluate(question: string | (() => unknown)): Promise<unknown>;
}

/** What axe finds in the page as it stands, once what moves has come to rest: half-way between two themes no contrast is anyone's. */
export async function violations(page: Asked): Promise<string[]> {
  await page.evaluate(async () => {
    const ends = ({ effect }: Animation) => effect?.getComputedTiming().endTime !== Infinity;
    await Promise.allSettled(document.getAnimations().filter(ends).map(({ finished }) => finished));
  });
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: {
        run(o: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
      };
    };
    const { violations } = await axe.run({ resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}\n${node.failureSummary}`));
  });
  return found as string[];
}
