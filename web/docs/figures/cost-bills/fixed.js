document.querySelector("#grouped-bill").config = {
  dModel: 4096,
  numHeads: 32,
  numKVHeads: 8,
  headDim: 128,
  T: 8192,
  layers: 32,
  bytesPerElement: 2,
};
