/** The W_O laboratory: what each head adds to the output, with the layer's own W_O and with others. */

import { el } from "../../elements/dom.js";
import { say } from "../../i18n/index.js";
import type { Lab } from "../lab.js";
import type { Shell } from "../shell.js";
import { segments } from "./controls.js";
import { heatPicture, percent, scrollTable, signedBar, threeDigits } from "./drawing.js";
import type { LabLayer, OutputProjection } from "./lab-layer.js";
import { projectHeads } from "./lab-layer.js";
import { LabPage } from "./lab-page.js";
import type { OutputReport, Projection } from "./output-projection.js";
import { projectionOf, projections, reportOutput } from "./output-projection.js";

const NAMES = {
  real: ["lab.wo.real", "lab.wo.realWhat"],
  identity: ["lab.wo.identity", "lab.wo.identityWhat"],
  shuffled: ["lab.wo.shuffled", "lab.wo.shuffledWhat"],
  cancelling: ["lab.wo.cancelling", "lab.wo.cancellingWhat"],
} as const;

/** Columns of a picture; wider outputs show the strongest of neighbours. */
const MOST_PLACES = 256;

class OutputLab extends LabPage {
  private kind: Projection = "real";

  protected makeControls(): Node[] {
    const choices = projections.map((value) => ({ value, label: say(NAMES[value][0]) }));
    return [
      segments(say("lab.wo.choose"), choices, this.kind, (kind) => {
        this.kind = kind;
        this.refresh();
      }),
    ];
  }

  protected refresh(): void {
    const layer = this.needLayer();
    const { kind } = this;
    if (!layer) return;
    void this.show(
      async () => this.measure(await layer, kind),
      (found) => [...this.offNote("lab.wo.off", found.off), ...draw(found)],
    );
  }

  private async measure(layer: LabLayer, kind: Projection): Promise<Measured> {
    const [{ heads }, own] = await Promise.all([layer.results(), layer.projection()]);
    const { off } = layer;
    const wo = projectionOf(kind, own.sizes, own.wo, heads, off);
    const { contributions, output } = await projectHeads(await this.shell.core(), heads, { ...own, wo }, off);
    const report = reportOutput(contributions, output, own.bo);
    return { kind, ...own, report, off, tokens: heads.shape[1] as number };
  }
}

interface Measured extends OutputProjection {
  readonly kind: Projection;
  readonly report: OutputReport;
  readonly off: ReadonlySet<number>;
  readonly tokens: number;
}

function draw({ kind, report, sizes, bo, off, tokens }: Measured): Node[] {
  const { width, outDim } = sizes;
  const what = say(NAMES[kind][1], { width });
  const values = { difference: threeDigits(report.difference), norm: threeDigits(report.norm) };
  const top = Math.max(...report.heads.flatMap(({ places }) => [...places]));
  const rows = report.heads.map(({ norm, share, places }, head): (Node | string)[] =>
    off.has(head)
      ? [String(head), say("lab.wo.isOff"), "", ""]
      : [String(head), threeDigits(norm), shareCell(share), strip(places, top, head)],
  );
  if (bo) rows.push(["b_O", "", shareCell(report.biasShare), ""]);
  const headings = [say("lab.head"), "‖O_h·W_O‖", say("lab.wo.share"), say("lab.wo.places", { last: outDim - 1 })];
  return [
    el("p", {}, what),
    el("p", { class: "lab-sum" }, say("lab.wo.sum", values)),
    scrollTable(say("lab.wo.caption", { tokens }), headings, rows),
    el("p", { class: "soft" }, say("lab.wo.shares")),
  ];
}

function shareCell(share: number): Node {
  return el("div", { class: "lab-share" }, percent(share), signedBar(share));
}

function strip(places: Float64Array, top: number, head: number): Node {
  const pool = Math.ceil(places.length / MOST_PLACES);
  const columns = Math.ceil(places.length / pool);
  const pooled = Array.from({ length: columns }, (_, i) => Math.max(...places.subarray(i * pool, (i + 1) * pool)));
  const count = places.filter((length) => length > 1e-6 * top).length;
  const label = say("lab.wo.placesLabel", { head, count, all: places.length });
  return heatPicture(pooled, { rows: 1, columns, top, label, name: "lab-strip" });
}

export function mount(host: HTMLElement, shell: Shell): Lab {
  return new OutputLab(host, shell, "lab.wo.about");
}
