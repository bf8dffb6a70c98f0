/** `elements.html`: what the elements are, how they come onto a page, and where each is described. */

import { sources } from "./content/common.js";
import { pages } from "./content/elements.js";
import type { Sample, Text } from "./content/types.js";
import { figure, sample } from "./element-page.js";
import { code, say } from "./html.js";
import type { Page } from "./template.js";

const definition: Text = [
  "Elements that show attention weights from any source: they need no framework, no global and no other host.",
  "显示任意来源注意力权重的元素：不需要框架、全局变量或其他网站。",
];

const words = {
  tag: ["One script tag", "一个 script 标签"],
  tagWhat: [
    "Copy `elements.js` and `elements-define.js` from the package's `dist` beside your page. The file of weights is read by `src`.",
    "把包中 `dist` 里的 `elements.js` 和 `elements-define.js` 复制到页面旁边。权重文件由 `src` 读取。",
  ],
  npm: ["From npm", "使用 npm"],
  npmWhat: [
    "Importing does nothing by itself: `defineElements()` registers the tags, or some of them.",
    "导入本身没有副作用：`defineElements()` 注册全部标签，或其中几个。",
  ],
  elements: ["The elements", "各元素"],
} as const satisfies Record<string, Text>;

const TAG = `<script type="module" src="./elements-define.js"></script>

<head-heatmap src="./attention.json" causal head="4"></head-heatmap>
`;

const NPM = `import { defineElements, ViewState } from "headscope/elements";

defineElements(); // or defineElements(["head-grid", "head-heatmap"])
`;

const frameworks: readonly Sample[] = [
  {
    title: ["React", "React"],
    what: [
      "React 19 sets properties of elements and listens to their events. The second line gives the tags their types.",
      "React 19 会设置元素的属性并监听其事件。第二行给标签加上类型。",
    ],
    language: "tsx",
    code: `import { defineElements } from "headscope/elements";
import type {} from "headscope/elements/react";

defineElements();

export function Heads({ weights, tokens }) {
  return <head-grid weights={weights} tokens={tokens} causal onpick={(event) => console.log(event.detail.head)} />;
}
`,
  },
  {
    title: ["Vue", "Vue"],
    what: [
      "Tell the compiler that the tags are no components: `isCustomElement: (tag) => tag in tags`, or every tag with a hyphen.",
      "告诉编译器这些标签不是组件：`isCustomElement: (tag) => tag in tags`，或所有带连字符的标签。",
    ],
    language: "vue",
    code: `<script setup>
import { defineElements } from "headscope/elements";

defineElements();
defineProps(["weights", "tokens"]);
</script>

<template>
  <head-grid :weights="weights" :tokens="tokens" causal @pick="(event) => console.log(event.detail.head)" />
</template>
`,
  },
  {
    title: ["Svelte", "Svelte"],
    what: ["As any element.", "与普通元素一样。"],
    language: "svelte",
    code: `<script>
  import { defineElements } from "headscope/elements";

  defineElements();
  let { weights, tokens } = $props();
</script>

<head-grid {weights} {tokens} causal onpick={(event) => console.log(event.detail.head)}></head-grid>
`,
  },
  {
    title: ["Style", "样式"],
    what: [
      "Custom properties for what is common, parts for the rest. The elements follow `color-scheme`.",
      "共同的样式用自定义属性，其余用部件。元素跟随 `color-scheme`。",
    ],
    language: "css",
    code: `head-heatmap {
  --hs-paper: #fffdf5;
  --hs-pick: #8a1c7c;
}
head-heatmap::part(sentence) {
  font-style: italic;
}
`,
  },
];

export function overviewPage(): Page {
  const linked = {
    name: "linked",
    title: ["Linked", "联动"],
    what: [
      "Elements that share a `ViewState` show the same query, key and head.",
      "共用一个 `ViewState` 的元素显示同一个查询、键和头。",
    ] satisfies Text,
  } as const;
  const list = pages.map(
    ({ tag, definition: what }) => `<li><a href="./${tag}.html"><code>&lt;${tag}&gt;</code></a> ${say(what)}</li>`,
  );
  const body = `<h1>${say(["Elements", "元素"])}</h1>
<p class="definition">${say(definition)}</p>
<section><h2>${say(words.elements)}</h2><ul class="list">${list.join("\n")}</ul></section>
<section class="example"><h2>${say(words.tag)}</h2><p>${say(words.tagWhat)}</p>${code(TAG, "HTML")}</section>
<section class="example"><h2>${say(words.npm)}</h2><p>${say(words.npmWhat)}</p>${code(NPM, "JavaScript")}</section>
${figure("elements", linked)}
${sources.map(sample).join("\n")}
${frameworks.map(sample).join("\n")}`;
  return {
    name: "elements",
    title: ["Elements", "元素"],
    description: definition,
    body,
    scripts: ["./docs/figures/elements/linked.js"],
  };
}
