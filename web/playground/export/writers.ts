/** What each line of the menu does with the scene. */

import { themeOf } from "../../elements/theme.js";
import { say } from "../../i18n/index.js";
import type { ExportModule } from "../lab.js";
import type { Scene } from "../shell.js";
import type { State } from "../state.js";
import { codeOf } from "./code.js";
import { toCsv } from "./csv.js";
import { captionOf, codeViewOf, metaOf, nameOf, titleOf } from "./described.js";
import type { Figure, FigureColors } from "./figure.js";
import { figureOf } from "./figure.js";
import { fileName } from "./file-name.js";
import { headFigure } from "./head-figure.js";
import { toJson } from "./json.js";
import { toNpy } from "./npy.js";
import { toPng } from "./png.js";
import { save } from "./save.js";
import { toSvg } from "./svg.js";

function figure(scene: Scene, state: State): Figure {
  const { view, head, pinned } = scene;
  const root = document.documentElement;
  return figureOf(
    headFigure({
      view,
      head,
      pinned,
      scale: state.scale,
      title: titleOf(scene),
      caption: captionOf(scene),
      theme: themeOf(root),
      colors: pageColors(root),
      axes: say("detail.axes"),
      hidden: say("legend.hidden"),
      notes: [say("legend.note")],
    }),
  );
}

function pageColors(root: Element): FigureColors {
  const style = getComputedStyle(root);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    paper: color("paper"),
    ink: color("ink"),
    soft: color("soft"),
    line: color("line"),
    picked: color("picked-text"),
    hatch: color("hatch"),
    hatchLine: color("hatch-line"),
  };
}

export const png: ExportModule = {
  async run(scene, state) {
    const sans = getComputedStyle(document.body).fontFamily;
    const mono = getComputedStyle(document.documentElement).getPropertyValue("--mono").trim();
    const blob = await toPng(figure(scene, state), { sans, mono });
    save(blob, "image/png", fileName(nameOf(scene, scene.head), "png"));
  },
};

export const svg: ExportModule = {
  run(scene, state) {
    const description = captionOf(scene).join(" ");
    const text = toSvg(figure(scene, state), { title: titleOf(scene), description });
    save(text, "image/svg+xml", fileName(nameOf(scene, scene.head), "svg"));
  },
};

export const csv: ExportModule = {
  run(scene) {
    const { view, layer, head } = scene;
    save(toCsv(view, layer, head), "text/csv;charset=utf-8", fileName(nameOf(scene, head), "csv"));
  },
};

export const json: ExportModule = {
  run(scene, state) {
    save(toJson(scene.view, metaOf(scene, state)), "application/json", fileName(nameOf(scene), "json"));
  },
};

export const npy: ExportModule = {
  run(scene) {
    const { heads, queries, keys, weights } = scene.view;
    const bytes = toNpy({ data: weights, shape: [heads, queries, keys] });
    save(bytes, "application/octet-stream", fileName(nameOf(scene), "npy"));
  },
};

export const code: ExportModule = {
  async run(scene) {
    const program = codeOf(codeViewOf(scene));
    try {
      await navigator.clipboard.writeText(program);
    } catch {
      const name = fileName(nameOf(scene, scene.head), "mjs");
      save(program, "text/javascript", name);
      throw new Error(say("export.copyFailed", { file: name }));
    }
  },
};
