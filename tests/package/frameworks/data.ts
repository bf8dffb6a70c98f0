// Two heads of three tokens, for the app of every framework.
export const tokens = ["a", "b", "c"];
export const weights = {
  data: new Float32Array([1, 0, 0, 0.5, 0.5, 0, 0.2, 0.3, 0.5, 1, 0, 0, 0.9, 0.1, 0, 0.1, 0.8, 0.1]),
  shape: [2, 3, 3],
};
