/** The values of error messages in a few words. Never throws, whatever the value is. */
export function describe(value: unknown): string {
  switch (typeof value) {
    case "string":
      return `${JSON.stringify(short(value))} (a string)`;
    case "bigint":
      return `${short(String(value))}n (a bigint)`;
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "function":
      return "a function";
    case "symbol":
      return "a symbol";
    case "object":
      return value === null ? "null" : describeObject(value);
    default:
      return String(value);
  }
}

function short(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

function describeObject(value: object): string {
  try {
    if (Array.isArray(value)) return `an array of length ${value.length}`;
    if (ArrayBuffer.isView(value) && "length" in value) return `${nameOf(value)} of length ${String(value.length)}`;
    const name = nameOf(value);
    return name === "Object" || name === "" ? "an object" : `an object (${name})`;
  } catch {
    return "an object"; // a proxy or getter that throws
  }
}

function nameOf(value: object): string {
  const made: unknown = value.constructor;
  return typeof made === "function" ? made.name : "";
}

/** `[2, 4, 8]`, as shapes are written in messages. */
export function shapeText(shape: readonly number[]): string {
  return `[${shape.join(", ")}]`;
}

/** The product of a shape in full digits, also above 2^53. */
export function productText(shape: readonly number[]): string {
  let product = 1n;
  for (const size of shape) product *= BigInt(size);
  return String(product);
}
