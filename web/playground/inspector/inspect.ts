/** What the inspector shows: what the file says of itself, and one layer's nodes for the text. */

import { inspectFile } from "headscope/inspect";
import type { ModelFile } from "../sources/source.js";
import { metadataPart, summaryPart, tensorsPart } from "./file-parts.js";
import { nodesPart, referencePart } from "./prompt-parts.js";

export async function inspect(
  { core, model, origin }: ModelFile,
  text: string,
  layer: number,
  signal: AbortSignal,
): Promise<HTMLElement[]> {
  // Once more for what an opened model no longer knows: the types of the metadata and the size of the file.
  const file = await core.openTensors(origin, { signal });
  try {
    const { summary, metadata, tensors } = inspectFile(file, model);
    const report = await model.inspectPrompt(text, { layer, signal });
    const parts = [summaryPart(summary), nodesPart(report), metadataPart(metadata), tensorsPart(tensors)];
    if (report.reference) parts.splice(2, 0, referencePart(report.reference));
    return parts;
  } finally {
    await file.dispose();
  }
}
