/** The state in the address bar: written a moment after a change, read when somebody else changed it. */

import type { State } from "./state.js";
import { toFragment } from "./state.js";

/** Browsers refuse more than about a hundred changes of the address in half a minute. */
const DELAY = 250;

export class Address {
  private timer = 0;
  private own = "";

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
    this.timer = window.setTimeout(() => this.write(), DELAY);
  }

  write(): void {
    clearTimeout(this.timer);
    this.own = toFragment(this.shown());
    history.replaceState(null, "", `#${this.own}`);
  }

  /** False where the browser does not let the page write to the clipboard. */
  async copy(): Promise<boolean> {
    this.write();
    try {
      await navigator.clipboard.writeText(location.href);
      return true;
    } catch {
      return false;
    }
  }
}
