/** The inspector of a model's file. Fetched when somebody opens it. */

import { byId } from "../../elements/dom.js";
import { language, say } from "../../i18n/index.js";
import { busy } from "../busy.js";
import { inspect } from "../inspector/inspect.js";
import type { Scene } from "../shell.js";
import type { ModelFile } from "../sources/source.js";

/** After the last keystroke. */
const PAUSE = 150;

interface Subject {
  readonly file: ModelFile;
  readonly text: string;
  readonly layer: number;
  readonly language: string;
}

export class InspectorPanel {
  private readonly details = byId<HTMLDetailsElement>("inspector");
  private subject: Subject | null = null;
  private drawn: Subject | null = null;
  private running: AbortController | null = null;
  private timer = 0;

  constructor() {
    this.details.addEventListener("toggle", () => this.refresh());
  }

  render({ answer, layer }: Scene, text: string): void {
    const { file } = answer.open;
    this.subject = file && answer.tokens.length > 0 ? { file, text, layer, language: language() } : null;
    this.refresh();
  }

  private refresh(): void {
    const { subject, drawn } = this;
    if (!subject || !this.details.open || this.details.hidden || same(subject, drawn)) return;
    this.drawn = subject;
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void busy(byId("inspector-body"), this.draw(subject, running.signal)), PAUSE);
  }

  private async draw({ file, text, layer }: Subject, signal: AbortSignal): Promise<void> {
    const body = byId("inspector-body");
    try {
      const parts = await inspect(file, text, layer, signal);
      if (!signal.aborted) body.replaceChildren(...parts);
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      const words = document.createElement("p");
      words.className = "problem";
      words.textContent = say("inspect.failed", { reason });
      body.querySelector(":scope > .problem")?.remove();
      body.prepend(words);
    }
  }
}

function same(a: Subject, b: Subject | null): boolean {
  return b !== null && a.file === b.file && a.text === b.text && a.layer === b.layer && a.language === b.language;
}
