/** The export menu. What writes the files is fetched when the first is asked for. */

import { byId, el, setAttributes, setText } from "../../elements/dom.js";
import { say } from "../../i18n/index.js";
import { busy } from "../busy.js";
import { exports } from "../export/index.js";
import type { Scene, Shell } from "../shell.js";

export class ExportPanel {
  private readonly button = byId<HTMLButtonElement>("export");
  private readonly menu = byId("export-menu");
  private readonly items: readonly HTMLButtonElement[];
  private scene: Scene | null = null;

  constructor(private readonly shell: Shell) {
    this.items = exports.map(({ id }) => {
      const item = el("button", { type: "button", role: "menuitem", tabindex: -1, "data-export": id });
      item.addEventListener("click", () => {
        this.show(false);
        this.button.focus();
        void busy(this.button, this.save(id, this.scene));
      });
      return item;
    });
    this.menu.append(...this.items);
    this.button.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      this.show(true);
    });
    this.menu.addEventListener("keydown", (event) => this.onKey(event));
    // Wherever else somebody goes, the menu is in the way.
    document.addEventListener("pointerdown", (event) => {
      if (!this.menu.hidden && !byId("export-part").contains(event.target as Node)) this.show(false);
    });
    byId("export-part").addEventListener("focusout", (event) => {
      if (!byId("export-part").contains(event.relatedTarget as Node | null)) this.show(false);
    });
  }

  render(scene: Scene): void {
    this.scene = scene;
    for (const [i, item] of this.items.entries()) setText(item, say((exports[i] as (typeof exports)[number]).title));
  }

  toggle(scene: Scene | null): void {
    if (scene) this.render(scene);
    this.show(this.menu.hidden);
  }

  private show(open: boolean): void {
    this.menu.hidden = !open;
    this.menu.classList.remove("above");
    if (open) {
      // Where the window ends below it, and there is room above.
      const { bottom, height } = this.menu.getBoundingClientRect();
      const { top } = this.button.getBoundingClientRect();
      this.menu.classList.toggle("above", bottom > innerHeight && top > height);
    }
    setAttributes(this.button, { "aria-expanded": open ? "true" : "false" });
    if (open) this.items[0]?.focus();
  }

  private onKey(event: KeyboardEvent): void {
    const now = this.items.indexOf(document.activeElement as HTMLButtonElement);
    const count = this.items.length;
    const steps: Record<string, number> = { ArrowDown: now + 1, ArrowUp: now - 1 + count, Home: 0, End: count - 1 };
    const next = steps[event.key];
    if (next !== undefined) this.items[next % count]?.focus();
    else if (event.key === "Escape") {
      this.show(false);
      this.button.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  async save(id: string, scene: Scene | null): Promise<void> {
    const entry = exports.find((each) => each.id === id);
    if (!entry || !scene) return;
    const problem = byId("export-problem");
    try {
      await (await entry.load()).run(scene, this.shell.state);
      setText(problem, "");
      this.shell.announce(say("export.done", { what: say(entry.title) }));
    } catch (error) {
      setText(problem, error instanceof Error ? error.message : String(error));
    }
    problem.hidden = problem.textContent === "";
  }
}
