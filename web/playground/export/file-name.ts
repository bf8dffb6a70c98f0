/** Names of exported files: by source, layer and head, safe on every system. */

const LONGEST = 48;

export interface Named {
  /** The source's id, or the name of the visitor's own file. */
  readonly source: string;
  readonly layer: number;
  /** Undefined for what holds all heads of the layer. */
  readonly head?: number;
}

/** `headscope-built-L0-H3.png`, `headscope-gpt2.Q8_0-L5.npy`. */
export function fileName({ source, layer, head }: Named, extension: string): string {
  const safe = [...source.normalize("NFC")]
    .map((character) => (/[\p{L}\p{N}._-]/u.test(character) ? character : "-"))
    .join("")
    .replace(/\.(gguf|safetensors)$/i, "")
    .replace(/-{2,}|\.{2,}/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
  const short = [...safe].slice(0, LONGEST).join("");
  const parts = ["headscope", short || "heads", `L${layer}`, ...(head === undefined ? [] : [`H${head}`])];
  return `${parts.join("-")}.${extension}`;
}
