const TEXT_BYTES = 400;

/** What a file that is no model is, as far as its first bytes tell: the end of a sentence "… got". */
export function looksLike(bytes: Uint8Array): string {
  if (bytes.length === 0) return "an empty file (0 bytes)";
  const text = String.fromCharCode(...bytes.subarray(0, TEXT_BYTES));
  const trimmed = text.replace(/^(\xef\xbb\xbf)?\s*/, "");
  if (/^<(!doctype html|html|head|body|!--)/i.test(trimmed)) return "what looks like an HTML page";
  if (/^<(\?xml|[a-z]+[\s>])/i.test(trimmed)) return "what looks like XML";
  if (text.startsWith("version https://git-lfs.github.com/spec/"))
    return "a Git LFS pointer, which stands for the file";
  if (text.startsWith("PK\x03\x04")) return "a ZIP archive, as PyTorch's .bin and .pt and NumPy's .npz are";
  if (text.startsWith("\x1f\x8b")) return "a gzip archive";
  if (bytes[0] === 0x80 && (bytes[1] ?? 0) >= 2 && (bytes[1] ?? 0) <= 5) return "a Python pickle";
  if (text.startsWith("\x89HDF")) return "an HDF5 file";
  if (/^(ggml|ggmf|ggjt|ggla|lmgg|fmgg|tjgg|algg)/.test(text)) return "a file of ggml's older formats, before GGUF";
  if (/^[[{]/.test(trimmed)) return "what looks like JSON";
  const start = [...bytes.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return `bytes that start with ${start}`;
}

/** Text pages and pointers that servers send in place of a file, whatever was asked for. */
export function looksLikePage(bytes: Uint8Array): boolean {
  return /HTML|XML|LFS/.test(looksLike(bytes));
}
