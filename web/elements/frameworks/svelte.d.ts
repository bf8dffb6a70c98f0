// `import type {} from "headscope/elements/svelte"` once in a program: markup then knows the tags.
import type { HTMLAttributes } from "svelte/elements";
import type { ElementEvents, ElementProperties, ElementTags } from "../index.js";

type Listeners = { [Name in keyof ElementEvents as `on${Name}`]?: (event: ElementEvents[Name]) => void };

type Tags = {
  [Name in keyof ElementTags]: HTMLAttributes<ElementTags[Name]> & ElementProperties<ElementTags[Name]> & Listeners;
};

declare module "svelte/elements" {
  interface SvelteHTMLElements extends Tags {}
}
