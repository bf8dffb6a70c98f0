/** The sort of the table of numbers as links write it: a column, and "-" behind it for the largest first. */

/** `q`: order of the text. `k3`: the weight on key 3. `t`, `w`, `s`: token, weight, score, where one query is shown. */
const CODE = /^(?:[qtws]|k\d{1,4})-?$/;

export const TEXT_ORDER = "q";

export function isSort(code: string): boolean {
  return CODE.test(code);
}
