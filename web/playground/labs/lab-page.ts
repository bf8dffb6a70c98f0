/** What all laboratories have: a sentence about what they show, controls, results, and a place for what went wrong. */

import { el, setText } from "../../elements/dom.js";
import type { MessageKey } from "../../i18n/index.js";
import { language, say } from "../../i18n/index.js";
import type { Answer } from "../answer.js";
import { busy } from "../busy.js";
import { headKey, namesOf, offIn } from "../head-key.js";
import type { Lab } from "../lab.js";
import type { LayerParts, Scene, Shell } from "../shell.js";
import type { LabLayer } from "./lab-layer.js";
import { layerOfModel, layerOfParts } from "./lab-layer.js";

export abstract class LabPage implements Lab {
  protected readonly results = el("div", { class: "lab-results" });
  protected scene: Scene | null = null;
  private known: {
    answer: Answer;
    parts: LayerParts | null;
    layer: Promise<LabLayer>;
    signal: AbortSignal | undefined;
  } | null = null;
  private readonly intro = el("p", { class: "lab-about" });
  private readonly controls = el("div", { class: "lab-controls" });
  private readonly problem = el("p", { class: "problem", role: "status" });
  private spoken = "";
  private newest = 0;

  /** @param about what this laboratory shows */
  constructor(
    host: HTMLElement,
    protected readonly shell: Shell,
    private readonly about: MessageKey,
  ) {
    host.replaceChildren(this.intro, this.controls, this.problem, this.results);
  }

  update(scene: Scene, parts: LayerParts | null): void {
    this.scene = scene;
    const { answer } = scene;
    if (this.known?.answer !== answer || this.known.parts !== parts) {
      const { file } = answer.open;
      const { layer: at, off } = answer.options;
      // A newer question stops the work on this one, unless it came before that began.
      const signal = answer.options.signal?.aborted ? undefined : answer.options.signal;
      const ids = answer.tokens.map(({ id }) => id);
      const layer = parts
        ? this.shell.core().then((core) => layerOfParts(core, parts, offIn(off, at)))
        : file
          ? Promise.resolve(layerOfModel(file.model, ids, { layer: at, off, signal }))
          : null;
      this.known = layer && { answer, parts, layer, signal };
    }
    if (this.spoken !== language()) {
      this.spoken = language();
      setText(this.intro, say(this.about));
      this.controls.replaceChildren(...this.makeControls());
    }
    this.refresh();
  }

  /** Made once, and again for another language; what they are set to is kept by the laboratory. */
  protected abstract makeControls(): Node[];

  /** After every change of the page, and of the controls. */
  protected abstract refresh(): void;

  /** Shows what a work gives, unless newer work has been started meanwhile. What failed leaves the last good results. */
  protected async show<T>(work: () => Promise<T>, draw: (result: T) => Node[]): Promise<void> {
    const number = ++this.newest;
    const signal = this.known?.signal;
    try {
      const result = await busy(this.results, work());
      if (number !== this.newest) return;
      this.results.replaceChildren(...draw(result));
      setText(this.problem, "");
    } catch (error) {
      if (number !== this.newest || signal?.aborted) return;
      setText(this.problem, say("lab.failed", { reason: error instanceof Error ? error.message : String(error) }));
    }
  }

  /** A sentence about heads of the shown layer that are switched off, where there are any. */
  protected offNote(key: MessageKey, heads: Iterable<number>): Node[] {
    const { answer } = this.scene as Scene;
    const off = new Set([...heads].map((head) => headKey(answer.options.layer, head)));
    if (off.size === 0) return [];
    return [el("p", { class: "note" }, say(key, { heads: namesOf(off, answer.source.layers > 1) }))];
  }

  /** The layer on screen; null where the source hands nothing out. Another one after each answer. */
  protected get layer(): Promise<LabLayer> | null {
    return this.known?.layer ?? null;
  }

  /** As `layer`, and says so where there is none. */
  protected needLayer(): Promise<LabLayer> | null {
    if (!this.layer) {
      this.newest++;
      setText(this.problem, say("lab.noLayer"));
      this.results.replaceChildren();
    }
    return this.layer;
  }
}
