// `headscope/elements/define`: registers every element when it is loaded, so that a static page needs one script tag and
// no inline script, which a strict policy would refuse.
import { defineElements } from "./define.js";

defineElements();
