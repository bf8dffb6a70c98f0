/** A figure as a PNG of twice its size, so that it stays sharp on paper and on fine screens. */

import type { Figure, Surface, TextStyle } from "./figure.js";

const SCALE = 2;

export function toPng(figure: Figure, fonts: { readonly sans: string; readonly mono: string }): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = figure.width * SCALE;
  canvas.height = figure.height * SCALE;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser gives no canvas");
  context.scale(SCALE, SCALE);
  figure.draw(new CanvasSurface(context, figure, fonts));
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))), "image/png");
  });
}

class CanvasSurface implements Surface {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly figure: Figure,
    private readonly fonts: { readonly sans: string; readonly mono: string },
  ) {
    context.textBaseline = "alphabetic";
    context.direction = "ltr";
  }

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.context.fillStyle = fill;
    this.context.fillRect(x, y, width, height);
  }

  outline(x: number, y: number, width: number, height: number, stroke: string, line: number): void {
    this.context.strokeStyle = stroke;
    this.context.lineWidth = line;
    this.context.strokeRect(x, y, width, height);
  }

  hatch(x: number, y: number, width: number, height: number): void {
    const { context } = this;
    const { hatch, hatchLine } = this.figure.colors;
    this.rect(x, y, width, height, hatch);
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.beginPath();
    for (let at = -height; at < width; at += 6 * Math.SQRT2) {
      context.moveTo(x + at, y + height);
      context.lineTo(x + at + height, y);
    }
    context.strokeStyle = hatchLine;
    context.lineWidth = 1.5;
    context.stroke();
    context.restore();
  }

  text(x: number, y: number, text: string, { size, fill, anchor = "start", mono, bold, turn = 0 }: TextStyle): void {
    const { context, fonts } = this;
    context.save();
    context.translate(x, y);
    context.rotate((turn * Math.PI) / 180);
    context.font = `${bold ? "700 " : ""}${size}px ${mono ? fonts.mono : fonts.sans}`;
    // Not "start" and "end": those turn round with the text's direction.
    context.textAlign = anchor === "start" ? "left" : anchor === "end" ? "right" : "center";
    context.fillStyle = fill;
    context.fillText(text, 0, size * 0.35);
    context.restore();
  }
}
