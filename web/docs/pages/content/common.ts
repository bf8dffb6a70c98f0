import { type Property, property, type Row, type Sample } from "./types.js";

/** Of every element. */
export const everyProperty: readonly Property[] = [
  property(
    "language",
    '"en" | "zh" | ""',
    '""',
    ['its words; `""` follows the nearest `lang` attribute', '元素的文字；`""` 取最近的 `lang` 属性'],
    "",
  ),
  property(
    "theme",
    '"light" | "dark" | ""',
    '""',
    ['its colours; `""` follows `color-scheme` of the place', '配色；`""` 跟随所在位置的 `color-scheme`'],
    "",
  ),
];

/** Of the elements that show weights. */
export const headProperties: readonly Property[] = [
  property("weights", "{ data, shape | dims } | number[][][] | null", "null", [
    "`[H,T,S]`, `[T,S]` or `[1,H,T,S]`: heads, queries (rows), keys (columns). Numbers with their shape, or lists in lists. A Float32Array is read, never changed nor copied",
    "`[H,T,S]`、`[T,S]` 或 `[1,H,T,S]`：头、查询（行）、键（列）。带形状的数组，或嵌套列表。Float32Array 只读取，不修改也不复制",
  ]),
  property("tokens", "string[]", "[]", [
    "a text for each query; without them positions are shown",
    "每个查询的文本；没有时显示位置",
  ]),
  property("keyTokens", "string[] | null", "null", [
    "a text for each key, where keys are not the queries",
    "键与查询不同时，每个键的文本",
  ]),
  property("scores", "{ data, shape | dims } | number[][][] | null", "null", [
    "in the shape of the weights; −Infinity marks hidden cells",
    "与权重同形状；−Infinity 标出被遮蔽的格子",
  ]),
  property("masked", "ArrayLike<number> | null", "null", [
    "not 0 where a key is hidden, for H·T·S or T·S cells",
    "非 0 处的键被遮蔽，共 H·T·S 或 T·S 个格子",
  ]),
  property("causal", "boolean", "false", ["hides the keys after the query", "遮蔽查询之后的键"], ""),
  property(
    "head",
    "number | null",
    "null",
    ["the head of this element, whatever the state says", "本元素显示的头，优先于 state"],
    "",
  ),
  property(
    "scale",
    '"unit" | "head" | "uniform" | "log"',
    '"unit"',
    [
      "weights to colours: 0–1; to the head's maximum; the even share in the middle; logarithmic from 0.0001",
      "权重到颜色：0–1；到该头的最大值；均匀份额居中；从 0.0001 起取对数",
    ],
    "",
  ),
  property("state", "ViewState", "its own", [
    "what is looked at; elements that share one are linked. null gives a new one",
    "当前所看之处；共用同一个的元素互相联动。null 表示新建一个",
  ]),
  property(
    "src",
    "string",
    '""',
    [
      "address of a JSON file `{ tokens, weights, keyTokens?, scores?, masked?, causal? }`, weights as `{ shape, data }` or as lists in lists. Python's `NaN` and `-Infinity` are read too",
      "JSON 文件的地址：`{ tokens, weights, keyTokens?, scores?, masked?, causal? }`，weights 为 `{ shape, data }` 或嵌套列表。也能读 Python 写出的 `NaN` 和 `-Infinity`",
    ],
    "",
  ),
];

export const spotEvents: readonly Row[] = [
  {
    name: "preview",
    what: [
      "`{ head, query, key }`: the pointer or the keyboard looks there; null is nowhere, or the whole row",
      "`{ head, query, key }`：指针或键盘正看着这里；null 表示没有，或整行",
    ],
  },
  {
    name: "pick",
    what: ["the same, when it is pinned or unpinned", "同上，在固定或取消固定时"],
  },
];

export const loadEvents: readonly Row[] = [
  { name: "load", what: ["the file of `src` is there", "`src` 的文件已读入"] },
  { name: "error", what: ["it could not be read; the last good picture stays", "文件无法读取；保留上一张正确的图"] },
];

export const ablateEvent: Row = {
  name: "ablate",
  what: ["`{ head, off }`: a head is switched off or on", "`{ head, off }`：关闭或打开一个头"],
};

export const commonParts: readonly Row[] = [
  { name: "base", what: ["everything", "整个元素"] },
  { name: "problem", what: ["the sentence about data that is wrong", "说明数据错误的句子"] },
];

export const colours: Row = {
  name: "--hs-paper, --hs-ink, --hs-soft, --hs-line, --hs-on, --hs-pick, --hs-hatch, --hs-sans, --hs-mono, --hs-radius …",
  what: [
    "paper (where the ramp of colours starts), text, lesser text, hairlines, what is on, what is picked, hidden cells, fonts",
    "纸色（色阶的起点）、文字、次要文字、细线、开启、选中、被遮蔽的格子、字体",
  ],
};

/** The same weights from elsewhere. */
export const sources: readonly Sample[] = [
  {
    title: ["A file made in Python", "用 Python 生成的文件"],
    what: [
      "`src` reads it: no script of your own is needed. Any model that returns its attentions will do.",
      "用 `src` 读取，无需自己的脚本。任何能返回注意力的模型都可以。",
    ],
    language: "python",
    code: `import json
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModel.from_pretrained("bert-base-uncased", attn_implementation="eager")
inputs = tokenizer("the cat saw the dog", return_tensors="pt")
layer = model(**inputs, output_attentions=True).attentions[5][0]  # [heads, queries, keys]

with open("attention.json", "w") as file:
    json.dump({
        "tokens": tokenizer.convert_ids_to_tokens(inputs.input_ids[0]),
        "weights": {"shape": list(layer.shape), "data": [round(w, 4) for w in layer.flatten().tolist()]},
    }, file)
`,
  },
  {
    title: ["Outputs of transformers.js", "transformers.js 的输出"],
    what: [
      "Its tensors have `dims` instead of `shape`, and are taken as they are. The ONNX file has to have the attentions among its outputs; their names are those in the file.",
      "其张量用 `dims` 代替 `shape`，可直接使用。ONNX 文件的输出中要有注意力；名称以文件中的为准。",
    ],
    language: "js",
    code: `import { AutoModel, AutoTokenizer } from "@huggingface/transformers";

const tokenizer = await AutoTokenizer.from_pretrained(name);
const model = await AutoModel.from_pretrained(name);
const inputs = await tokenizer("the cat saw the dog");
const output = await model(inputs);

element.weights = output["attentions.5"]; // { dims: [1, heads, queries, keys], data: Float32Array }
element.tokens = inputs.input_ids.tolist()[0].map((id) => tokenizer.decode([id]));
`,
  },
];
