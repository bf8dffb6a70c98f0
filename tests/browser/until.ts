/**
 * How long one thing may take, and a whole test, before it is given up. Nothing here is about speed: a machine that
 * builds, computes and shows at the same time may be slower by an order of magnitude, and only a hang shall fail.
 */
export const PATIENCE = 90_000;
export const PATIENT = { timeout: 5 * PATIENCE };

/** A page of Playwright's or of Puppeteer's. */
export interface Asked {
  evaluate(question: string | ((argument: never) => unknown), argument: never): Promise<unknown>;
}

/**
 * Waits until a function or an expression in the page is true, asking from here again and again.
 *
 * Playwright's own waitForFunction asks inside the page, by eval on every frame but the first, which the strict policy
 * refuses: it works only where the answer is true at once.
 */
export async function until<Argument>(
  page: Asked,
  condition: string | ((argument: Argument) => unknown),
  argument?: Argument,
): Promise<void> {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const question = typeof condition === "string" ? `Boolean(${condition})` : condition;
    const holds = await page.evaluate(question, argument as never);
    if (holds) return;
    if (performance.now() > end) throw new Error(`this still does not hold after ${PATIENCE / 1000} s: ${condition}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

// Text: Node would add helpers of its own to functions.
const TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))";
const BUSY = `document.querySelector('[aria-busy="true"]') !== null`;
/**
 * Waits until all elements have drawn, in every shadow tree, and those that they give something to; then whether anything
 * is under way: an answer or code, or a transition, as half-way between two themes no colour is anyone's. What never ends
 * is not waited for, nor what Firefox never begins, as nobody sees it.
 */
const UNDER_WAY = `(async () => {
  const below = (root) => [...root.querySelectorAll("*")].flatMap((node) => {
    return node.shadowRoot ? [node, ...below(node.shadowRoot)] : [];
  });
  for (let i = 0; i < 2; i++) {
    await ${TWO_FRAMES};
    await Promise.all(below(document).map((node) => node.updateComplete));
  }
  const roots = [document, ...below(document).map((node) => node.shadowRoot)];
  return ${BUSY} || roots.flatMap((root) => root.getAnimations()).some(({ playState, effect }) => {
    const ends = effect.getComputedTiming().endTime !== Infinity;
    return playState === "running" && ends && effect.target.checkVisibility({ contentVisibilityAuto: true });
  });
})()`;

/**
 * After a change is drawn, the answer of the worker to it has come, and the code that is fetched for it. A page that is
 * at rest may be read; every other moment is one of many.
 */
export async function atRest(page: Asked): Promise<void> {
  await drawn(page);
  const end = performance.now() + PATIENCE;
  // What has come may want more: a panel its element.
  do {
    if (performance.now() > end) throw new Error(`the page is still not at rest after ${PATIENCE / 1000} s`);
    await until(page, `!(${BUSY})`);
  } while (await page.evaluate(UNDER_WAY, undefined as never));
}

/** After what has been done is drawn, whatever it has started. */
export async function drawn(page: Asked): Promise<void> {
  await page.evaluate(TWO_FRAMES, undefined as never);
}

/** The same for what is known here, such as what a server was asked. */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  otherwise = `this does not hold: ${holds}`,
): Promise<void> {
  const end = performance.now() + PATIENCE;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`${otherwise}, still after ${PATIENCE / 1000} s`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
