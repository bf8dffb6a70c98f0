/** `api.html`: every entry of the package, with what it exports. */

import { fileURLToPath } from "node:url";
import type { Text } from "./content/types.js";
import { declarations } from "./declarations.js";
import { code, escapeHtml, say } from "./html.js";
import type { Page } from "./template.js";

interface Entry {
  readonly name: string;
  readonly file: string;
  readonly what: Text;
  readonly code: string;
}

const entries: readonly Entry[] = [
  {
    name: "headscope",
    file: "index.d.ts",
    what: [
      "The module with its bytes inside: nothing to configure in any bundler, on a CDN or in a bare script of type module.",
      "内含字节的模块：任何打包工具、CDN 或普通的 module 脚本都无需配置。",
    ],
    code: `import { load } from "headscope";

const hs = await load();
const layer = hs.multiHeadAttention({ dModel: 8, numHeads: 2 }, { layout: "in-out", wq, wk, wv, wo });
const x = { data, shape: [4, 8] };
const { output, weights } = layer.forward(x, { causal: true });
layer.forward(x, { causal: true, out: { weights: weights.data } }); // the next one's weights, in the same memory
`,
  },
  {
    name: "headscope/worker",
    file: "worker/index.d.ts",
    what: [
      "The same API in a module worker, as promises with a signal for each call: typing never stutters, a newer input cancels an older one. `dispose()` ends the worker and gives its memory back.",
      "在 module worker 中的同一 API，返回 Promise，每次调用都可带 signal：输入不卡顿，新的输入取消旧的。`dispose()` 结束 worker 并归还内存。",
    ],
    code: `import { loadWorker } from "headscope/worker";

// Vite and webpack find the script by themselves; elsewhere give the address of a copy of it.
const worker = new Worker(new URL("headscope/worker-script", import.meta.url), { type: "module" });
const hs = await loadWorker({ worker });
const layer = await hs.multiHeadAttention(config, weights);
const { weights: map } = await layer.forward(x, { causal: true, signal });
`,
  },
  {
    name: "headscope/models",
    file: "models/index.d.ts",
    what: [
      "GGUF and safetensors files: tensors, tokenizers, and models that run layer by layer in your browser.",
      "GGUF 与 safetensors 文件：张量、分词器，以及在浏览器中逐层运行的模型。",
    ],
    code: `import { openModel } from "headscope/models";

const model = await openModel(hs, file); // a File, a Blob, an address or a buffer
for await (const { layer, weights } of model.run(model.tokenize("How are you"))) console.log(layer, weights.shape);
`,
  },
  {
    name: "headscope/inspect",
    file: "inspect/index.d.ts",
    what: [
      "Files and prompts as data, as `npx headscope` prints them.",
      "以数据形式查看文件和提示词，即 `npx headscope` 打印的内容。",
    ],
    code: `import { inspectFile, inspectPrompt } from "headscope/inspect";

const { summary, tensors } = inspectFile(model);
const { nodes, weights } = await inspectPrompt(model, "How are you", { layer: 0 });
`,
  },
];

const core: Text = [
  "`headscope/core` is the same without the bytes: bring `headscope/simd.wasm` or `headscope/relaxed.wasm` yourself, for edge runtimes and bundlers that treat wasm files.",
  "`headscope/core` 与之相同但不含字节：自行提供 `headscope/simd.wasm` 或 `headscope/relaxed.wasm`，用于边缘运行时和会处理 wasm 文件的打包工具。",
];

const definition: Text = [
  "Multi-head attention with every head's weights, in the browser and in Node.js. The declarations below are the package's own.",
  "在浏览器和 Node.js 中计算多头注意力，并给出每个头的权重。以下声明即包中的声明。",
];

const dist = fileURLToPath(new URL("../../../dist/", import.meta.url));

export function apiPage(): Page {
  // What another entry exports too is described once.
  const known = new Set<string>();
  const sections = entries.map(({ name, file, what, code: example }) => {
    const declared = declarations(dist + file).filter((each) => !known.has(each.text) && known.add(each.text));
    const links = declared.map(
      (each) => `<a href="#${escapeHtml(each.name)}"><code>${escapeHtml(each.name)}</code></a>`,
    );
    const bodies = declared.map(
      (each) =>
        `<h3 id="${escapeHtml(each.name)}"><code>${escapeHtml(each.name)}</code></h3>${code(each.text, "TypeScript")}`,
    );
    const more = name === "headscope" ? `<p>${say(core)}</p>` : "";
    return `<section><h2 id="${name.replace("/", "-")}"><code>${name}</code></h2><p>${say(what)}</p>${more}${code(example, "JavaScript")}
<details><summary>${say(["Declarations", "声明"])} (${declared.length})</summary><p class="names">${links.join(" ")}</p>
${bodies.join("\n")}</details></section>`;
  });
  const body = `<h1>API</h1>
<p class="definition">${say(definition)}</p>
${sections.join("\n")}
<section><h2><code>headscope/elements</code></h2><p><a href="./elements.html">${say(["Elements for anyone's page", "可用于任何页面的元素"])}</a></p></section>`;
  return { name: "api", title: ["API", "API"], description: definition, body, scripts: [] };
}
