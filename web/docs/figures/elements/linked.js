import { defineElements, ViewState } from "headscope/elements";

defineElements();

const state = new ViewState({ heads: [4], pinned: { query: 10, key: null }, query: 10 });
for (const element of document.querySelectorAll(".linked")) element.state = state;
