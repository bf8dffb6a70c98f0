/** What the keys do, in a dialog: by the "?" key, and by a button for those who do not know it yet. */

import { byId } from "../../elements/dom.js";
import { on } from "../shell.js";

export class KeysPanel {
  private readonly dialog = byId<HTMLDialogElement>("keys");

  constructor() {
    on(byId("keys-button"), "click", () => this.show());
    on(byId("keys-close"), "click", () => this.dialog.close());
    // A click beside the dialog's box falls on the dialog itself.
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
  }

  get shown(): boolean {
    return this.dialog.open;
  }

  show(): void {
    // Safari before 15.4 and Firefox before 98 know no dialogs: there it opens in the page.
    if (this.dialog.showModal) this.dialog.showModal();
    else this.dialog.toggleAttribute("open");
  }
}
