// Places of words as in ../abi.ts, for what only models create.

/** Places of the words that `linearCreate` reads. */
export enum W {
  layout,
  type,
  data,
  rowBytes,
  depth,
  columns,
  bias,
}

/** Places of the words that `blockCreate` reads. */
export enum B {
  dModel,
  numHeads,
  numKVHeads,
  headDim,
  valueHeadDim,
  ropePairing,
  ropeDims,
  ropeBase,
  norm,
  postNorm,
  epsilon,
  activation,
  attentionNormWeight,
  attentionNormBias,
  ffnNormWeight,
  ffnNormBias,
  query,
  key,
  value,
  output,
  up,
  gate,
  down,
  ropeFactors,
}
