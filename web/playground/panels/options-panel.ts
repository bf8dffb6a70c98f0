/** How weights are shown, in every view: scale, rows and columns, what is left out; and what that did, in a sentence. */

import { byId, setText } from "../../elements/dom.js";
import type { HeatScale } from "../../elements/scale.js";
import { labelText } from "../../elements/token-label.js";
import { say } from "../../i18n/index.js";
import type { Scene, Shell } from "../shell.js";
import { on } from "../shell.js";
import type { State } from "../state.js";
import { groupText } from "../view/groups.js";

export class OptionsPanel {
  private readonly scale = byId<HTMLSelectElement>("scale");
  private readonly rows = byId<HTMLSelectElement>("rows");
  private readonly hide = byId<HTMLSelectElement>("hide");

  constructor(private readonly shell: Shell) {
    on(this.scale, "change", () => shell.update({ scale: this.scale.value as HeatScale }));
    on(this.rows, "change", () => shell.update({ rows: this.rows.value as State["rows"] }));
    on(this.hide, "change", () => shell.update({ hide: this.hide.value as State["hide"] }));
  }

  render(scene: Scene): void {
    const { scale, rows, hide } = this.shell.state;
    this.scale.value = scale;
    this.rows.value = rows;
    this.hide.value = hide;
    const words = [rowsSentence(scene, rows), hideSentence(scene, hide)].filter(Boolean).join(" ");
    const note = byId("rows-note");
    note.hidden = words === "";
    setText(note, words);
  }
}

function rowsSentence({ layout }: Scene, rows: State["rows"]): string {
  if (rows === "token") return "";
  const { merged, tokens, groups } = layout;
  return merged ? say("rows.merged", { tokens: tokens.length, rows: groups.length }) : say("rows.same");
}

function hideSentence({ answer, layout, share, head }: Scene, hide: State["hide"]): string {
  if (hide === "none") return "";
  if (!share) return say(hide === "first" ? "hide.onlyOne" : "hide.noSpecial");
  const { tokens, groups, out } = layout;
  const first = groupText(answer.text, tokens, groups[0] as readonly number[]);
  const what =
    hide === "first"
      ? say("hide.what.first", { token: labelText(first) })
      : say("hide.what.special", { count: out.size });
  return say("hide.done", { what, percent: `${((share[head] as number) * 100).toFixed(1)} %` });
}
