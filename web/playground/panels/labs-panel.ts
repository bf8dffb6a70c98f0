/** The laboratories: each is fetched when it is opened, and told of changes while it is. */

import "../../styles/labs.css";
import { byId, el, setText } from "../../elements/dom.js";
import { language, say } from "../../i18n/index.js";
import type { Answer } from "../answer.js";
import { busy } from "../busy.js";
import type { Lab, LabEntry } from "../lab.js";
import { labs } from "../labs/index.js";
import { pruneLab } from "../prune/index.js";
import type { LayerParts, Scene, Shell } from "../shell.js";

interface Bench {
  readonly entry: LabEntry;
  readonly details: HTMLDetailsElement;
  readonly title: HTMLElement;
  readonly host: HTMLElement;
  /** Null until it is opened; then once, however often the page changes before its code is here. */
  lab: Promise<Lab> | null;
  /** What the laboratory was told last. */
  told: string;
  answer: Answer | null;
}

export class LabsPanel {
  private readonly benches: readonly Bench[];
  private scene: Scene | null = null;
  private parts: { readonly answer: Answer; readonly layer: Promise<LayerParts | null> } | null = null;

  constructor(private readonly shell: Shell) {
    this.benches = [pruneLab, ...labs].map((entry) => {
      const title = el("summary");
      const host = el("div", { class: "lab-host" });
      const details = el("details", { class: "lab", id: `lab-${entry.id}` }, title, host);
      const bench: Bench = { entry, details, title, host, lab: null, told: "", answer: null };
      details.addEventListener("toggle", () => void this.refresh(bench));
      return bench;
    });
    byId("labs").append(...this.benches.map(({ details }) => details));
  }

  render(scene: Scene): void {
    this.scene = scene;
    for (const bench of this.benches) {
      setText(bench.title, say(bench.entry.title));
      bench.details.hidden = bench.entry.fits?.(scene) === false;
      void this.refresh(bench);
    }
  }

  private async refresh(bench: Bench): Promise<void> {
    const { scene } = this;
    if (!scene || !bench.details.open || bench.details.hidden) return;
    try {
      const lab = await this.mounted(bench);
      const layer = await busy(bench.host, this.layerOf(scene));
      // The page has gone on meanwhile, and has told the laboratory itself.
      if (this.scene !== scene) return;
      const told = [scene.head, scene.pinned?.query, scene.pinned?.key, language(), this.look()].join();
      if (bench.answer === scene.answer && bench.told === told) return;
      bench.answer = scene.answer;
      bench.told = told;
      bench.host.querySelector(":scope > .problem[role=alert]")?.remove();
      lab.update(scene, layer);
    } catch (error) {
      if (this.scene !== scene) return;
      const reason = error instanceof Error ? error.message : String(error);
      const words = el("p", { class: "problem", role: "alert" }, say("lab.failed", { reason }));
      bench.host.querySelector(":scope > .problem[role=alert]")?.remove();
      bench.host.prepend(words);
    }
  }

  private mounted(bench: Bench): Promise<Lab> {
    bench.lab ??= busy(bench.host, bench.entry.load()).then(
      (module) => module.mount(bench.host, this.shell),
      (error: unknown) => {
        // Fetched again at the next change, or when it is opened again.
        bench.lab = null;
        throw error;
      },
    );
    return bench.lab;
  }

  private layerOf({ answer }: Scene): Promise<LayerParts | null> {
    if (this.parts?.answer !== answer) {
      this.parts = { answer, layer: answer.open.parts(answer.tokens, answer.options) };
    }
    return this.parts.layer;
  }

  private look(): string {
    const { theme = "" } = document.documentElement.dataset;
    return `${theme}${matchMedia("(prefers-color-scheme: dark)").matches}`;
  }
}
