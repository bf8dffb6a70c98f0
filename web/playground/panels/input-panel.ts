/** Text, examples, source, mask and unit: what goes in, and the sentence beside it when something is the matter. */

import { byId, el, setAttributes, setText } from "../../elements/dom.js";
import { formatBytes, formatInteger, formatMilliseconds } from "../../elements/format.js";
import type { MessageKey } from "../../i18n/index.js";
import { ended, say } from "../../i18n/index.js";
import type { Input, Shell, Wait } from "../shell.js";
import { choose, on } from "../shell.js";
import { entries, entryById } from "../sources/index.js";
import type { HeadSource } from "../sources/source.js";
import { examples, ownView } from "../state.js";
import type { Unit } from "../tokens.js";
import { hasUnspaced } from "../tokens.js";

/** Whether the browser lets the field grow with its text by itself. */
const GROWS = CSS.supports("field-sizing", "content");

export class InputPanel {
  private readonly text = byId<HTMLTextAreaElement>("text");
  private readonly fixed = byId("fixed");
  private readonly source = byId("source");
  private readonly unit = byId("unit");
  private readonly causal = byId<HTMLInputElement>("causal");

  constructor(private readonly shell: Shell) {
    for (const { id } of entries) {
      const input = el("input", { type: "radio", name: "source", value: id });
      // Named when there are words (renderSources).
      byId("open-button").before(el("label", { "data-source": id, hidden: true }, input, el("span")));
    }
    for (const { text, unit, head, pinned } of examples) {
      const button = el("button", { type: "button", class: "example" }, text);
      button.addEventListener("click", () => {
        shell.preview(null);
        shell.update({ text, unit, head, pinned });
      });
      byId("examples").append(button);
    }
    this.text.addEventListener("input", () => shell.update({ text: this.text.value }));
    on(this.source, "change", (event) => this.selectSource((event.target as HTMLInputElement).value));
    on(this.unit, "change", (event) => shell.update({ unit: (event.target as HTMLInputElement).value as Unit }));
    on(this.causal, "change", () => shell.update({ causal: this.causal.checked }));
  }

  render(input: Input): void {
    const { text, unit, causal } = this.shell.state;
    const { source, file } = input;
    const typed = source.input === "text";
    this.text.hidden = !typed;
    if (this.text.value !== text) this.text.value = text;
    if (!GROWS) grow(this.text);
    this.fixed.hidden = typed;
    if (source.input !== "text") setText(this.fixed, source.input.code);
    byId("examples").hidden = !typed;
    this.unit.hidden = !source.splits || !hasUnspaced(text);
    this.renderSources(file);
    choose(this.unit, unit);
    this.causal.checked = source.causal === "free" ? causal : source.causal === "always";
    this.causal.disabled = source.causal !== "free";
    const title = say(`input.causal.${source.causal}`);
    setAttributes(byId("causal-label"), { title });
    setAttributes(this.causal, { "aria-description": title });
    setText(byId("about"), source.about());
    show("wait", input.wait ? waitingFor(input.wait) : "");
    this.renderMessages(input, text);
  }

  private renderSources(file: HeadSource | null): void {
    const { source } = this.shell.state;
    choose(this.source, source);
    for (const label of this.source.querySelectorAll<HTMLElement>("label")) {
      const id = label.dataset["source"] as string;
      label.hidden = id === "file" && !file && source !== "file";
      setText(label.lastElementChild as HTMLElement, id === "file" && file ? file.title() : say(entryById(id).name));
    }
  }

  private renderMessages({ source, tokenization, problem, answer }: Input, text: string): void {
    show("problem", problem ? say(problem.key, { reason: ended(problem.reason) }) : "");
    const { tokens, cutAt } = tokenization;
    const used = cutAt === null ? text : text.slice(0, cutAt);
    let note = "";
    if (tokens.length === 0) note = say("input.empty");
    else if (cutAt !== null) {
      note = say("input.cut", {
        tokens: formatInteger(tokens.length),
        at: formatInteger(countCharacters(used) + 1),
        total: formatInteger(countCharacters(text)),
      });
    }
    show("note", note);
    let status = tokens.length === 0 || problem ? "" : say("input.loading");
    // While another source's first answer is on its way the last one's numbers would stand beside the wrong tokens.
    if (answer && answer.source === source && tokens.length > 0) {
      const { layersRun, milliseconds } = answer.run;
      const alone = source.input === "text" ? "input.status" : "input.statusFixed";
      const message = source.layers > 1 ? "input.statusLayers" : alone;
      // Of the text that was computed: what is typed may be ahead of it.
      const computed = answer.cutAt === null ? answer.text : answer.text.slice(0, answer.cutAt);
      const characters = countCharacters(computed);
      status = say(message, {
        tokens: counted(answer.tokens.length, ["count.tokens.one", "count.tokens"]),
        characters: counted(characters, ["count.characters.one", "count.characters"]),
        layers: layersRun,
        heads: answer.open.config.numHeads,
        time: formatMilliseconds(milliseconds),
      });
    }
    setText(byId("status"), status);
  }

  private selectSource(id: string): void {
    const { defaultCausal } = entryById(id);
    this.shell.preview(null);
    this.shell.update({ ...ownView, source: id, causal: defaultCausal });
  }
}

function waitingFor(wait: Wait): string {
  if (wait.for === "file") return say("wait.file");
  if (wait.for === "run") {
    const { layer, read } = wait;
    return read > 0 ? say("wait.runRead", { layer, bytes: formatBytes(read) }) : say("wait.run", { layer });
  }
  const { loaded = 0, total = null } = wait.state ?? {};
  if (total === null) return say("wait.tiny", { loaded: formatBytes(loaded) });
  return say("wait.tinyOf", { loaded: formatBytes(loaded), total: formatBytes(total) });
}

function grow(field: HTMLTextAreaElement): void {
  field.style.setProperty("height", "auto");
  // The stylesheet has the greatest height; 2 is the border.
  field.style.setProperty("height", `${field.scrollHeight + 2}px`);
}

function show(id: string, words: string): void {
  const node = byId(id);
  node.hidden = words === "";
  setText(node, words);
}

/** "1 token", "1,024 tokens" */
function counted(count: number, [one, several]: readonly [MessageKey, MessageKey]): string {
  return count === 1 ? say(one) : say(several, { count: formatInteger(count) });
}

const counts = new Map<string, number>();

/** The page asks at every change, of the text and of what is shown of it. */
function countCharacters(text: string): number {
  let count = counts.get(text);
  if (count === undefined) {
    count = countNow(text);
    if (counts.size >= 4) counts.clear();
    counts.set(text, count);
  }
  return count;
}

/** Characters as a reader counts them. A very long text is counted by code point: close enough, and quick. */
function countNow(text: string): number {
  const graphemes = text.length <= 20_000 && "Segmenter" in Intl;
  const parts = graphemes ? new Intl.Segmenter("und", { granularity: "grapheme" }).segment(text) : text;
  let count = 0;
  for (const _ of parts) count++;
  return count;
}
