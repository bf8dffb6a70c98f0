/** A figure as SVG: a file of its own, without scripts, styles, fonts or anything fetched. */

import type { Figure, Surface, TextStyle } from "./figure.js";

const SANS = "system-ui, 'Segoe UI', 'Helvetica Neue', 'Noto Sans', 'PingFang SC', 'Noto Sans CJK SC', sans-serif";
const MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', 'PingFang SC', 'Noto Sans Mono CJK SC', monospace";

export function toSvg(figure: Figure, { title, description }: { title: string; description: string }): string {
  const { width, height, colors } = figure;
  const writer = new SvgWriter();
  figure.draw(writer);
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description" direction="ltr" font-family="${SANS}">`,
    `<title id="title">${escapeXml(title)}</title>`,
    `<desc id="description">${escapeXml(description)}</desc>`,
    '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">',
    `<rect width="6" height="6" fill="${colors.hatch}"/><rect width="1.5" height="6" fill="${colors.hatchLine}"/>`,
    "</pattern></defs>",
    ...writer.parts,
    "</svg>",
  ].join("\n")}\n`;
}

class SvgWriter implements Surface {
  readonly parts: string[] = [];

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.parts.push(`<rect ${box(x, y, width, height)} fill="${fill}"/>`);
  }

  outline(x: number, y: number, width: number, height: number, stroke: string, line: number): void {
    this.parts.push(`<rect ${box(x, y, width, height)} fill="none" stroke="${stroke}" stroke-width="${line}"/>`);
  }

  hatch(x: number, y: number, width: number, height: number): void {
    this.rect(x, y, width, height, "url(#hatch)");
  }

  text(x: number, y: number, text: string, { size, fill, anchor = "start", mono, bold, turn }: TextStyle): void {
    const attributes = [
      `x="${number(x)}" y="${number(y)}" font-size="${size}" fill="${fill}"`,
      // Not dominant-baseline, which office programs do not know.
      `dy="0.35em"`,
      ...(anchor === "start" ? [] : [`text-anchor="${anchor}"`]),
      ...(mono ? [`font-family="${MONO}"`] : []),
      ...(bold ? ['font-weight="700"'] : []),
      ...(turn ? [`transform="rotate(${turn} ${number(x)} ${number(y)})"`] : []),
    ];
    // Each text by itself, from left to right: a label in Hebrew is anchored where all others are.
    this.parts.push(
      `<text ${attributes.join(" ")} unicode-bidi="isolate" xml:space="preserve">${escapeXml(text)}</text>`,
    );
  }
}

function box(x: number, y: number, width: number, height: number): string {
  return `x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}"`;
}

function number(value: number): string {
  return String(Math.round(value * 100) / 100);
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};
// XML 1.0 has no way to write these, not even as references: a file with one of them does not open.
const FORBIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function escapeXml(text: string): string {
  return text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
