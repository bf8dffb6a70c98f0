/**
 * One head as a picture for papers and slides: title, labels, cells with their numbers, legend, caption. It is drawn on
 * a surface, of which there are two: SVG (svg.ts) and a canvas (png.ts).
 */

export interface TextStyle {
  readonly size: number;
  readonly fill: string;
  readonly anchor?: "start" | "middle" | "end";
  readonly mono?: boolean;
  readonly bold?: boolean;
  /** Degrees, clockwise, around the text's own place. */
  readonly turn?: number;
}

export interface Surface {
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  outline(x: number, y: number, width: number, height: number, stroke: string, line: number): void;
  /** What the mask hides: slanted lines. */
  hatch(x: number, y: number, width: number, height: number): void;
  /** `y` is the middle of the line. */
  text(x: number, y: number, text: string, style: TextStyle): void;
}

export interface FigureColors {
  readonly paper: string;
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  readonly picked: string;
  readonly hatch: string;
  readonly hatchLine: string;
}

export interface FigureCell {
  /** Undefined where the key is hidden. */
  readonly fill: string | undefined;
  /** Colour of a number on it. */
  readonly ink: string;
  /** Its number, and a shorter form for narrow cells. */
  readonly digits: string;
  readonly short: string;
}

export interface FigureContent {
  readonly title: string;
  readonly caption: readonly string[];
  /** "query ↓ key →" */
  readonly axes: string;
  /** Labels as they are shown. */
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  cell(row: number, column: number): FigureCell;
  readonly picked: { readonly row: number; readonly column: number | null } | null;
  readonly legend: {
    /** Colours from one end to the other. */
    readonly stops: readonly string[];
    /** What stands below, and where: 0 to 1. */
    readonly ticks: readonly { readonly place: number; readonly text: string }[];
    readonly notes: readonly string[];
    /** What hatching means; undefined where nothing is hidden. */
    readonly hidden: string | undefined;
  };
  readonly colors: FigureColors;
}

export interface Figure {
  readonly width: number;
  readonly height: number;
  readonly colors: FigureColors;
  draw(surface: Surface): void;
}

const MARGIN = 24;
const LABEL = 12;
const WORDS = 12.5;
const TITLE = 16;
const LINE = 18;
/** Characters of a label. */
const LONGEST_LABEL = 18;
/** Of the field, before labels. */
const WIDEST = 720;
const LARGEST_CELL = 44;
/** Cells that hold their number. */
const NUMBERED = 28;
/** Cells with a line of paper between them. */
const APART = 10;
const LEAST_WIDTH = 420;
const SLANT = Math.PI / 4;
const LEGEND_WIDTH = 240;

export function figureOf(content: FigureContent): Figure {
  const { colors, legend } = content;
  const [rows, columns] = [content.rows, content.columns].map((labels) => labels.map((label) => shorten(label))) as [
    string[],
    string[],
  ];
  const cell = Math.max(1, Math.min(LARGEST_CELL, Math.floor(WIDEST / Math.max(rows.length, columns.length, 1))));
  const [fieldWidth, fieldHeight] = [cell * columns.length, cell * rows.length];
  const widest = (labels: readonly string[]) =>
    Math.max(0, ...labels.map((label) => textWidth(label, LABEL, true)), textWidth(content.axes, LABEL));
  const left = MARGIN + widest(rows) + 8;
  const slanted = widest(columns);
  const top = MARGIN + TITLE + 10 + slanted * Math.sin(SLANT) + 14;
  // The last column's label leans over the field's right edge.
  const right = Math.max(MARGIN, slanted * Math.cos(SLANT) + 8);
  const width = Math.ceil(Math.max(left + fieldWidth + right, LEAST_WIDTH));
  const lineWidth = width - 2 * MARGIN;
  const title = wrap(content.title, TITLE, lineWidth);
  const captions = content.caption.flatMap((line) => wrap(line, WORDS, lineWidth));
  const notes = legend.notes.flatMap((line) => wrap(line, WORDS, lineWidth));
  const shift = (title.length - 1) * (TITLE + 5);
  const field = { x: left, y: top + shift };
  const legendTop = field.y + fieldHeight + 22;
  const hiddenTop = legendTop + 42;
  const notesTop = hiddenTop + (legend.hidden === undefined ? 0 : LINE + 4);
  const captionTop = notesTop + notes.length * LINE + 8;
  const height = Math.ceil(captionTop + captions.length * LINE + MARGIN - 8);

  const draw = (surface: Surface): void => {
    surface.rect(0, 0, width, height, colors.paper);
    for (const [i, line] of title.entries()) {
      surface.text(MARGIN, MARGIN + TITLE / 2 + i * (TITLE + 5), line, { size: TITLE, fill: colors.ink, bold: true });
    }
    drawLabels(surface, content, { rows, columns, cell, field });
    drawCells(surface, content, { cell, field });
    drawLegend(surface, content, { x: MARGIN, y: legendTop });
    const words = { size: WORDS, fill: colors.soft };
    if (legend.hidden !== undefined) {
      surface.hatch(MARGIN, hiddenTop - 6, 18, 12);
      surface.outline(MARGIN, hiddenTop - 6, 18, 12, colors.line, 1);
      surface.text(MARGIN + 26, hiddenTop, legend.hidden, words);
    }
    for (const [i, line] of notes.entries()) surface.text(MARGIN, notesTop + i * LINE, line, words);
    for (const [i, line] of captions.entries()) surface.text(MARGIN, captionTop + i * LINE, line, words);
  };
  return { width, height, colors, draw };
}

interface Field {
  readonly cell: number;
  readonly field: { readonly x: number; readonly y: number };
}

function drawLabels(
  surface: Surface,
  { picked, colors, axes }: FigureContent,
  { rows, columns, cell, field }: Field & { readonly rows: readonly string[]; readonly columns: readonly string[] },
): void {
  const style = (on: boolean): TextStyle => ({
    size: LABEL,
    mono: true,
    fill: on ? colors.picked : colors.ink,
    bold: on,
  });
  // Where a line of text is taller than a cell, every second or tenth label; the picked one always.
  const rowStep = Math.ceil((LABEL + 2) / cell);
  const columnStep = Math.ceil((LABEL + 2) / (cell * Math.sin(SLANT)));
  const shown = (i: number, step: number, at: number | null | undefined) =>
    i === at || (i % step === 0 && (at === null || at === undefined || Math.abs(i - at) >= step));
  for (const [row, label] of rows.entries()) {
    if (!shown(row, rowStep, picked?.row)) continue;
    const y = field.y + (row + 0.5) * cell;
    surface.text(field.x - 8, y, label, { ...style(picked?.row === row), anchor: "end" });
  }
  for (const [column, label] of columns.entries()) {
    if (!shown(column, columnStep, picked?.column)) continue;
    const x = field.x + (column + 0.5) * cell;
    surface.text(x, field.y - 9, label, { ...style(picked?.column === column), turn: -45 });
  }
  surface.text(field.x - 8, field.y - 12, axes, { size: LABEL - 1, fill: colors.soft, anchor: "end" });
}

function drawCells(surface: Surface, content: FigureContent, { cell, field }: Field): void {
  const { rows, columns, picked, colors, legend } = content;
  const gap = cell >= APART ? 1 : 0;
  if (legend.hidden !== undefined) surface.hatch(field.x, field.y, cell * columns.length, cell * rows.length);
  for (let row = 0; row < rows.length; row++) {
    const y = field.y + row * cell;
    const cells = columns.map((_, column) => content.cell(row, column));
    for (const run of runs(cells.map(({ fill }) => fill && colors.paper))) {
      surface.rect(field.x + run.start * cell, y, run.length * cell, cell, run.value);
    }
    // Without gaps, neighbours of one colour are one rectangle.
    const fills = cells.map(({ fill }) => (fill === colors.paper ? undefined : fill));
    for (const run of gap
      ? fills.flatMap((value, start) => (value ? [{ value, start, length: 1 }] : []))
      : runs(fills)) {
      surface.rect(field.x + run.start * cell, y, run.length * cell - gap, cell - gap, run.value);
    }
    if (cell < NUMBERED) continue;
    const wide = cell >= 40;
    const size = wide ? 11 : 10;
    for (const [column, { fill, ink, digits, short }] of cells.entries()) {
      if (fill === undefined) continue;
      const x = field.x + (column + 0.5) * cell - gap / 2;
      surface.text(x, y + cell / 2, wide ? digits : short, { size, fill: ink, anchor: "middle", mono: true });
    }
  }
  surface.outline(field.x, field.y, cell * columns.length, cell * rows.length, colors.line, 1);
  if (picked && picked.column !== null) {
    const size = Math.max(cell, 6);
    const at = (i: number) => (i + 0.5) * cell - size / 2;
    surface.outline(field.x + at(picked.column), field.y + at(picked.row), size, size, colors.picked, 2);
  }
}

function drawLegend(surface: Surface, { legend, colors }: FigureContent, { x, y }: { x: number; y: number }): void {
  const { stops, ticks } = legend;
  const step = LEGEND_WIDTH / stops.length;
  for (const [i, fill] of stops.entries()) surface.rect(x + i * step, y - 6, step, 12, fill);
  surface.outline(x, y - 6, LEGEND_WIDTH, 12, colors.line, 1);
  for (const { place, text } of ticks) {
    const anchor = place === 0 ? "start" : place === 1 ? "end" : "middle";
    surface.text(x + place * LEGEND_WIDTH, y + 16, text, { size: LABEL - 1, fill: colors.soft, anchor, mono: true });
  }
}

interface Run {
  readonly value: string;
  readonly start: number;
  readonly length: number;
}

function runs(values: readonly (string | undefined)[]): Run[] {
  const found: { value: string; start: number; length: number }[] = [];
  for (const [i, value] of values.entries()) {
    if (value === undefined) continue;
    const last = found[found.length - 1];
    if (last && last.value === value && last.start + last.length === i) last.length++;
    else found.push({ value, start: i, length: 1 });
  }
  return found;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
const NO_WIDTH = /\p{M}|\p{Cf}/u;

/** About how wide a line is. There are no fonts to ask where this runs in Node, and both pictures are to be alike. */
function textWidth(text: string, size: number, mono = false): number {
  let ems = 0;
  for (const character of text) {
    if (NO_WIDTH.test(character)) continue;
    ems += WIDE.test(character) ? 1 : mono ? 0.61 : 0.55;
  }
  return ems * size;
}

/** Lines no wider than that; broken at spaces, or anywhere in a word that is longer and in scripts without spaces. */
function wrap(text: string, size: number, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const piece of text.match(/\s*[^\s]+/gu) ?? []) {
    if (line === "" || textWidth(line + piece, size) <= width) line += piece;
    else {
      lines.push(line);
      line = piece.trimStart();
    }
    while (textWidth(line, size) > width) {
      const characters = graphemes(line);
      let fit = characters.length;
      while (fit > 1 && textWidth(characters.slice(0, fit).join(""), size) > width) fit--;
      lines.push(characters.slice(0, fit).join(""));
      line = characters.slice(fit).join("");
    }
  }
  return line === "" ? lines : [...lines, line];
}

export function shorten(label: string, longest = LONGEST_LABEL): string {
  if (label.length <= longest) return label;
  const characters = graphemes(label);
  return characters.length <= longest ? label : `${characters.slice(0, longest - 1).join("")}…`;
}

function graphemes(text: string): string[] {
  if (typeof Intl === "undefined" || !("Segmenter" in Intl)) return [...text];
  return Array.from(new Intl.Segmenter("und", { granularity: "grapheme" }).segment(text), ({ segment }) => segment);
}
