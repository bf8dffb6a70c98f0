const queries = ["I", " saw", " her"];
const keys = ["je", " l'", " ai", " vue"];
// One head, as a matrix of 3 queries and 4 keys.
const data = [0.91, 0.03, 0.04, 0.02, 0.04, 0.06, 0.35, 0.55, 0.03, 0.82, 0.05, 0.1];

Object.assign(document.querySelector("#across"), {
  weights: { shape: [3, 4], data },
  tokens: queries,
  keyTokens: keys,
});
