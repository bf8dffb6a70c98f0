import { defineElements, ViewState } from "headscope/elements";

defineElements();

document.querySelector("#two-heads").state = new ViewState({ heads: [3, 4] });
