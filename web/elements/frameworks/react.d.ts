// `import type {} from "headscope/elements/react"` once in a program: JSX then knows the tags. React 19, which sets
// properties of custom elements and listens to their events (`onpick`).
import type { DetailedHTMLProps, HTMLAttributes } from "react";
import type { ElementEvents, ElementProperties, ElementTags } from "../index.js";

type Listeners = { [Name in keyof ElementEvents as `on${Name}`]?: (event: ElementEvents[Name]) => void };

type Tags = {
  [Name in keyof ElementTags]: DetailedHTMLProps<HTMLAttributes<ElementTags[Name]>, ElementTags[Name]> &
    ElementProperties<ElementTags[Name]> &
    Listeners;
};

declare module "react" {
  namespace JSX {
    interface IntrinsicElements extends Tags {}
  }
}
