/** The state in the address bar: written a moment after a change, read when somebody else changed it. */

import { packFragment, toFragment } from "./fragment.js";
import type { State } from "./state.js";

/** Browsers refuse more than about a hundred changes of the address in half a minute. */
const DELAY = 250;

export class Address {
  private timer = 0;
  private own = "";
  private writes = 0;

  /** @param shown the state with the text as far as it is shown: a tail that was cut off would only lengthen the link. */
  constructor(
    private readonly shown: () => State,
    changed: (fragment: string) => void,
  ) {
    addEventListener("hashchange", () => {
      // Set by the visitor (a pasted link, the back button), not by this page.
      if (location.hash.replace(/^#/, "") !== this.own) changed(location.hash);
    });
  }

  writeSoon(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.write(), DELAY);
  }

  async write(): Promise<void> {
    clearTimeout(this.timer);
    const write = ++this.writes;
    const fragment = await packFragment(toFragment(this.shown()));
    // Packing takes a moment: a newer state is not overwritten by an older.
    if (write !== this.writes) return;
    this.own = fragment;
    history.replaceState(null, "", `#${fragment}`);
  }

  /** False where the browser does not let the page write to the clipboard. */
  async copy(): Promise<boolean> {
    await this.write();
    try {
      await navigator.clipboard.writeText(location.href);
      return true;
    } catch {
      return false;
    }
  }
}
