/** "Open a model…": files by picker or drop, or an address; its progress, its end, and what was wrong with it. */

import { byId, setAttributes, setText } from "../../elements/dom.js";
import { formatBytes } from "../../elements/format.js";
import { ended, say } from "../../i18n/index.js";
import { on } from "../shell.js";
import type { Chosen, OpenProgress } from "../sources/opened-file.js";

export class OpenPanel {
  private readonly panel = byId("open");
  private readonly files = byId<HTMLInputElement>("open-files");
  private readonly address = byId<HTMLInputElement>("open-address");
  private running: AbortController | null = null;
  /** @param open rejects with what is wrong with the file. */
  constructor(
    private readonly open: (chosen: Chosen, progress: OpenProgress) => Promise<void>,
    private readonly changed: () => void,
  ) {
    on(byId("open-close"), "click", () => {
      this.show(false);
      byId("open-button").focus();
    });
    on(byId("open-choose"), "click", () => this.files.click());
    on(this.files, "change", () => {
      const files = [...(this.files.files ?? [])];
      // The same file can be chosen again: it may have changed.
      this.files.value = "";
      if (files.length > 0) void this.start({ files });
    });
    on(byId("open-form"), "submit", (event) => {
      event.preventDefault();
      const address = this.address.value.trim();
      if (address !== "") void this.start({ address });
    });
    on(byId("open-cancel"), "click", () => this.running?.abort());
  }

  toggle(): void {
    this.show(this.panel.hidden);
  }

  /** Files that were dropped on the page. */
  take(files: readonly File[]): void {
    this.show(true);
    if (files.length > 0) void this.start({ files });
  }

  private show(open: boolean): void {
    this.panel.hidden = !open;
    setAttributes(byId("open-button"), { "aria-expanded": open ? "true" : "false" });
    if (!open) this.running?.abort();
    this.say("");
  }

  private async start(chosen: Chosen): Promise<void> {
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    this.say("");
    const { signal } = running;
    const onBytes = (loaded: number, total: number | undefined) => {
      // An open file goes on telling what it reads.
      if (signal.aborted || this.running !== running) return;
      const bytes = formatBytes(loaded);
      const words =
        total === undefined ? say("open.bytes", { bytes }) : say("open.bytesOf", { bytes, total: formatBytes(total) });
      setText(byId("open-bytes"), words);
    };
    onBytes(0, undefined);
    byId("open-progress").hidden = false;
    try {
      await this.open(chosen, { signal, onBytes });
      if (this.running === running) {
        this.running = null;
        byId("open-progress").hidden = true;
        this.show(false);
      }
    } catch (error) {
      // A newer file has the panel now, or the visitor said to stop.
      if (this.running === running) this.say(signal.aborted ? say("open.cancelled") : messageOf(error));
    } finally {
      if (this.running === running) {
        this.running = null;
        byId("open-progress").hidden = true;
        this.changed();
      }
    }
  }

  private say(words: string): void {
    const problem = byId("open-problem");
    problem.hidden = words === "";
    setText(problem, words);
  }
}

function messageOf(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return say("open.failed", { reason: ended(reason) });
}
