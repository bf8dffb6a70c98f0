/**
 * JSON as Python writes it: `json.dump` has NaN, Infinity and -Infinity for what JSON has no word for. They become the
 * strings "NaN", "Infinity" and "-Infinity", which `Number()` reads.
 */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // A word inside of a string stays as it is.
    const quoted = text.replace(/"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g, (found) =>
      found.startsWith('"') ? found : `"${found}"`,
    );
    if (quoted === text) throw error;
    return JSON.parse(quoted);
  }
}
