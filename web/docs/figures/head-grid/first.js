import { defineElements, ViewState } from "headscope/elements";

defineElements();

const { tokens, weights, causal } = await (await fetch("./attention.json")).json();
const state = new ViewState({ heads: [1] });
for (const id of ["#heads", "#large"]) {
  Object.assign(document.querySelector(id), { tokens, weights, causal, state });
}
