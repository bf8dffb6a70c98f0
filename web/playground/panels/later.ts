/** The parts of the page that are fetched when somebody wants them: opening a model, exports, laboratories. */

import { byId } from "../../elements/dom.js";
import { withWords } from "../../i18n/index.js";
import { busy } from "../busy.js";
import { whenSeen } from "../elements.js";
import type { Scene, Shell } from "../shell.js";
import { on } from "../shell.js";
import type { Chosen, OpenProgress } from "../sources/opened-file.js";
import type { ExportPanel } from "./export-panel.js";
import type { LabsPanel } from "./labs-panel.js";
import type { OpenPanel } from "./open-panel.js";

type Open = (chosen: Chosen, progress: OpenProgress) => Promise<void>;

export class Later {
  private scene: Scene | null = null;
  private exports: Promise<ExportPanel> | null = null;
  private opening: Promise<OpenPanel> | null = null;
  private labs: LabsPanel | null = null;

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
    this.takeDrops();
  }

  render(scene: Scene): void {
    if (!this.scene) whenSeen(byId("labs"), () => this.startLabs());
    this.scene = scene;
    this.labs?.render(scene);
    void this.exports?.then((panel) => panel.render(scene), this.missed);
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
