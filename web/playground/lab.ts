/** What the laboratories and exports give to the page; the lists are in labs/index.ts and export/index.ts. */

import type { MessageKey } from "../i18n/index.js";
import type { LayerParts, Scene, Shell } from "./shell.js";
import type { State } from "./state.js";

/** A laboratory below the costs. Its code is fetched when somebody opens it. */
export interface LabEntry {
  readonly id: string;
  readonly title: MessageKey;
  load(): Promise<LabModule>;
  /** Whether it has anything to say about this scene. Default: always. */
  fits?(scene: Scene): boolean;
}

export interface LabModule {
  mount(host: HTMLElement, shell: Shell): Lab;
}

export interface Lab {
  /** Called while the laboratory is open, after each change. `layer` is null where the source does not hand it out. */
  update(scene: Scene, layer: LayerParts | null): void;
}

/** A line of the export menu. */
export interface ExportEntry {
  readonly id: string;
  readonly title: MessageKey;
  load(): Promise<ExportModule>;
}

export interface ExportModule {
  /** Saves or copies. Throws an Error with a sentence for the visitor. */
  run(scene: Scene, state: State): void | Promise<void>;
}
