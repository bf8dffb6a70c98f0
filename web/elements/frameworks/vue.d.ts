// `import type {} from "headscope/elements/vue"` once in a program: templates then know the tags. Tell the compiler that
// they are no components: `compilerOptions.isCustomElement: (tag) => tag.startsWith("head-") || …`.
import type { EmitFn, HTMLAttributes } from "vue";
import type { ElementEvents, ElementProperties, ElementTags } from "../index.js";

type Listeners = { [Name in keyof ElementEvents as `on${Capitalize<Name>}`]?: (event: ElementEvents[Name]) => void };
type Emits = { [Name in keyof ElementEvents]: (event: ElementEvents[Name]) => void };

type Tags = {
  [Name in keyof ElementTags]: new () => ElementTags[Name] & {
    /** @deprecated for the type check of templates only */
    $props: HTMLAttributes & ElementProperties<ElementTags[Name]> & Listeners;
    /** @deprecated for the type check of templates only */
    $emit: EmitFn<Emits>;
  };
};

declare module "vue" {
  interface GlobalComponents extends Tags {}
}
