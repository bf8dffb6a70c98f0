import type { Page } from "playwright-core";

/**
 * Waits until a function or an expression in the page is true, asking from here again and again.
 *
 * Playwright's own waitForFunction asks inside the page, by eval on every frame but the first, which the strict policy
 * refuses: it works only where the answer is true at once.
 */
export async function until<Argument>(
  page: Page,
  condition: string | ((argument: Argument) => unknown),
  argument?: Argument,
): Promise<void> {
  const end = performance.now() + 30_000;
  for (;;) {
    const holds =
      typeof condition === "string"
        ? await page.evaluate(`Boolean(${condition})`)
        : await page.evaluate(condition as (argument: unknown) => unknown, argument as unknown);
    if (holds) return;
    if (performance.now() > end) throw new Error(`after 30 s this still does not hold: ${condition}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
