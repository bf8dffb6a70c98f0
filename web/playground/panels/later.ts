/** The parts of the page that are fetched when somebody wants them: opening a model, exports, laboratories. */

import { byId } from "../../elements/dom.js";
import { withWords } from "../../i18n/index.js";
import { busy } from "../busy.js";
import { whenSeen } from "../elements.js";
import type { Scene, Shell } from "../shell.js";
import { on } from "../shell.js";
import type { Chosen, OpenProgress } from "../sources/opened-file.js";
import type { ExportPanel } from "./export-panel.js";
import type { InspectorPanel } from "./inspector-panel.js";
import type { LabsPanel } from "./labs-panel.js";
import type { OpenPanel } from "./open-panel.js";
import type { WorthPanel } from "./worth-panel.js";

/** What belongs to a scene without being of its answer. */
interface Page {
  /** As far as it is computed. */
  readonly text: string;
  /** Of all layers. */
  readonly off: ReadonlySet<number>;
  /** There is no text any more. */
  readonly empty: boolean;
}

type Open = (chosen: Chosen, progress: OpenProgress) => Promise<void>;

export class Later {
  private scene: Scene | null = null;
  private page: Page | null = null;
  private exports: Promise<ExportPanel> | null = null;
  private opening: Promise<OpenPanel> | null = null;
  private inspector: InspectorPanel | null = null;
  private labs: LabsPanel | null = null;
  private worth: WorthPanel | null = null;
  private worthWanted = false;

  constructor(
    private readonly shell: Shell,
    private readonly open: Open,
  ) {
    on(byId("export"), "click", () => void this.export().then((panel) => panel.toggle(this.scene), this.missed));
    byId("export").addEventListener("keydown", (event) => {
      // The panel has its own, once it is here.
      if (event.key !== "ArrowDown" || this.exports) return;
      event.preventDefault();
      void this.export().then((panel) => panel.toggle(this.scene), this.missed);
    });
    on(
      byId("numbers-csv"),
      "click",
      () => void this.export().then((panel) => panel.save("csv", this.scene), this.missed),
    );
    on(byId("open-button"), "click", () => void this.openPanel().then((panel) => panel.toggle(), this.missed));
    byId("inspector").addEventListener("toggle", () => this.inspect());
    // Tried again, where it did not come.
    on(byId("sort"), "change", () => {
      this.worthWanted = false;
    });
    this.takeDrops();
  }

  render(scene: Scene, page: Page): void {
    if (!this.scene) whenSeen(byId("labs"), () => this.startLabs());
    this.scene = scene;
    this.page = page;
    this.labs?.render(scene);
    this.worth?.render(scene, page.off, page.empty);
    byId("inspector").hidden = !scene.answer.open.file;
    this.inspector?.render(scene, page.text);
    void this.exports?.then((panel) => panel.render(scene), this.missed);
  }

  /** What measures the worth of heads. Null until it is here; then the page is drawn again. */
  worthPanel(): WorthPanel | null {
    if (this.worth || this.worthWanted) return this.worth;
    this.worthWanted = true;
    busy(byId("sort"), withWords(import("./worth-panel.js"))).then(
      ({ WorthPanel }) => {
        this.worth ??= new WorthPanel(this.shell);
        this.shell.update({});
      },
      (error: unknown) => this.missed(error),
    );
    return null;
  }

  /** Without its code a part does not open; the next try fetches it again. */
  private readonly missed = (error: unknown) => this.shell.missed(error);

  private export(): Promise<ExportPanel> {
    this.exports ??= busy(byId("export"), withWords(import("./export-panel.js"))).then(
      ({ ExportPanel }) => new ExportPanel(this.shell),
      (error: unknown) => {
        // Tried again at the next click.
        this.exports = null;
        throw error;
      },
    );
    return this.exports;
  }

  private openPanel(): Promise<OpenPanel> {
    this.opening ??= busy(byId("open-button"), withWords(import("./open-panel.js"))).then(
      ({ OpenPanel }) => new OpenPanel(this.open, () => this.shell.update({})),
      (error: unknown) => {
        this.opening = null;
        throw error;
      },
    );
    return this.opening;
  }

  private inspect(): void {
    if (this.inspector || !byId<HTMLDetailsElement>("inspector").open) return;
    busy(byId("inspector"), withWords(import("./inspector-panel.js"))).then(
      ({ InspectorPanel }) => {
        this.inspector ??= new InspectorPanel();
        if (this.scene && this.page) this.inspector.render(this.scene, this.page.text);
      },
      // Tried again when it is opened again.
      (error: unknown) => this.missed(error),
    );
  }

  private startLabs(): void {
    busy(byId("labs"), withWords(import("./labs-panel.js"))).then(
      ({ LabsPanel }) => {
        this.labs = new LabsPanel(this.shell);
        if (this.scene) this.labs.render(this.scene);
      },
      (error: unknown) => {
        addEventListener("online", () => this.startLabs(), { once: true });
        this.missed(error);
      },
    );
  }

  /** Files dropped anywhere on the page. */
  private takeDrops(): void {
    // Enter and leave come for every element on the way.
    let depth = 0;
    const withFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const dropping = (now: boolean) => document.body.classList.toggle("dropping", now);
    addEventListener("dragenter", (event) => {
      if (!withFiles(event)) return;
      dropping(++depth > 0);
      void this.openPanel().catch(this.missed);
    });
    addEventListener("dragleave", (event) => {
      if (withFiles(event)) dropping(--depth > 0);
    });
    addEventListener("dragover", (event) => {
      if (withFiles(event)) event.preventDefault();
    });
    addEventListener("drop", (event) => {
      if (!withFiles(event)) return;
      event.preventDefault();
      depth = 0;
      dropping(false);
      // Now: the event's files are gone when it has been handled.
      const files = [...(event.dataTransfer?.files ?? [])];
      void this.openPanel().then((panel) => panel.take(files), this.missed);
    });
  }
}
