import { defineElements } from "headscope/elements";

defineElements();

const { tokens, weights } = await (await fetch("./attention.json")).json();
Object.assign(document.querySelector("#one-head"), { tokens, weights, causal: true, head: 4 });
