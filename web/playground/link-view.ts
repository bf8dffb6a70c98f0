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
  private layer = 0;
  private head = 0;
  /** Set while the page itself writes. */
  private writing = false;

  constructor(private readonly shell: Shell) {
    this.state.addEventListener("change", () => {
      if (!this.writing) this.read();
    });
  }

  /** What is looked at as the page has it. */
  write(scene: Scene | null, off: ReadonlySet<number>): void {
    const { head = 0, layer = 0, pinned = null, given = null } = scene ?? {};
    this.layer = layer;
    this.head = head;
    const heads = [head, ...[...this.shell.state.lines].filter((other) => other !== head)];
    this.writing = true;
    this.state.set({ layer, heads, off, pinned, query: given?.query ?? null, key: given?.key ?? null });
    this.writing = false;
  }

  private read(): void {
    const { shell } = this;
    const now = this.state.values;
    const { head, ...others } = { ...this.changedHeads(now), ...this.changedOff(now), ...this.changedPin(now) };
    if (head !== undefined) shell.selectHead(head);
    if (Object.keys(others).length > 0) shell.update(others);
    const pinned = now.pinned;
    const previewed = now.query !== null && !(pinned?.query === now.query && pinned.key === now.key);
    shell.preview(previewed ? { query: now.query as number, key: now.key } : null);
  }

  private changedHeads({ heads }: ViewValues): Partial<State> {
    const { state } = this.shell;
    const [head = state.head, ...others] = heads;
    // A link may name a head that the source does not have: the elements show the last one.
    const change: Partial<State> = head === this.head ? {} : { head };
    const same = others.length === state.lines.size && others.every((other) => state.lines.has(other));
    return same ? change : { ...change, lines: new Set(others) };
  }

  private changedOff({ off }: ViewValues): Partial<State> {
    const { state } = this.shell;
    const here = new Set([...state.off].filter((key) => headPlace(key).layer === this.layer));
    const next = [...off].map((head) => headKey(this.layer, head));
    if (next.length === here.size && next.every((key) => here.has(key))) return {};
    return { off: new Set([...[...state.off].filter((key) => !here.has(key)), ...next]) };
  }

  private changedPin({ pinned }: ViewValues): Partial<State> {
    const before = this.shell.state.pinned;
    return before?.query === pinned?.query && before?.key === pinned?.key ? {} : { pinned };
  }
}
