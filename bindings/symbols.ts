/**
 * `Symbol.dispose` where the engine has it, else the symbol that the helpers of compilers fall back to. Globals are left
 * as they are.
 */
export const disposeSymbol: typeof Symbol.dispose =
  Symbol.dispose ?? (Symbol.for("Symbol.dispose") as typeof Symbol.dispose);
