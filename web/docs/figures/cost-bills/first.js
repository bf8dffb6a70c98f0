import { defineElements } from "headscope/elements";

defineElements();
