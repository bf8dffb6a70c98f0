/**
 * The page's state and the one that the elements share. The elements say at once what is looked at and picked; the page
 * keeps it, puts it into the link, and sets what it makes of it.
 */

import type { ViewValues } from "../elements/view-state.js";
import { ViewState } from "../elements/view-state.js";
import { headKey, headPlace } from "./head-key.js";
import type { Scene, Shell } from "./shell.js";
import type { State } from "./state.js";

export class LinkedView {
  readonly state = new ViewState();
  /** What the page has set: what differs from it has been done in an element. */
  private written = this.state.values;
  private writing = false;

  constructor(private readonly shell: Shell) {
    this.state.addEventListener("change", () => {
      if (!this.writing) this.read();
    });
  }

  /** What is looked at as the page has it. */
  write(scene: Scene | null, off: ReadonlySet<number>): void {
    const { head = 0, layer = 0, pinned = null, given = null } = scene ?? {};
    const heads = [head, ...[...this.shell.state.lines].filter((other) => other !== head)];
    this.writing = true;
    this.state.set({ layer, heads, off, pinned, query: given?.query ?? null, key: given?.key ?? null });
    this.writing = false;
    this.written = this.state.values;
  }

  private read(): void {
    const { shell, written } = this;
    const now = this.state.values;
    this.written = now;
    const { head, ...others } = changes(written, now, shell.state);
    if (head !== undefined) shell.selectHead(head);
    if (Object.keys(others).length > 0) shell.update(others);
    const { pinned } = now;
    const previewed = now.query !== null && !(pinned?.query === now.query && pinned.key === now.key);
    shell.preview(previewed ? { query: now.query as number, key: now.key } : null);
  }
}

function changes(before: ViewValues, now: ViewValues, state: State): Partial<State> {
  const change: { -readonly [Name in keyof State]?: State[Name] } = {};
  if (now.heads !== before.heads) {
    const [head = 0, ...others] = now.heads;
    if (head !== before.heads[0]) change.head = head;
    change.lines = new Set(others);
  }
  if (now.off !== before.off) {
    const elsewhere = [...state.off].filter((key) => headPlace(key).layer !== now.layer);
    change.off = new Set([...elsewhere, ...[...now.off].map((head) => headKey(now.layer, head))]);
  }
  if (now.pinned?.query !== before.pinned?.query || now.pinned?.key !== before.pinned?.key) change.pinned = now.pinned;
  return change;
}
