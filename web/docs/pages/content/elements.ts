import { ablateEvent, colours, commonParts, loadEvents, sources, spotEvents } from "./common.js";
import { type ElementPage, property } from "./types.js";

const heatmap: ElementPage = {
  tag: "head-heatmap",
  definition: [
    "One head as a matrix: rows are queries, columns are keys, a cell is the weight with which its query reads its key.",
    "把一个头画成矩阵：行是查询，列是键，每个格子是该查询读取该键的权重。",
  ],
  head: true,
  figures: [
    {
      name: "first",
      title: ["One head of a small model", "小模型的一个头"],
      what: [
        "`controls` adds the list of scales. Point at a cell, click to pin it; `+`, `−` and `0` zoom.",
        "`controls` 显示色阶选单。指向一个格子，点击固定；`+`、`−`、`0` 缩放。",
      ],
    },
    {
      name: "cross",
      title: ["Cross-attention", "交叉注意力"],
      what: [
        "Three queries read five keys of another text: `keyTokens` names the columns. Computed here, by headscope.",
        "三个查询读取另一段文字的五个键：`keyTokens` 是列的文字。由 headscope 在此页计算。",
      ],
    },
  ],
  samples: sources,
  properties: [property("controls", "boolean", "false", ["a list to choose the scale from", "显示选择色阶的列表"], "")],
  events: [
    ...spotEvents,
    { name: "scale", what: ["`{ scale }`: another one was chosen in the list", "`{ scale }`：在列表中选了另一种色阶"] },
    ...loadEvents,
  ],
  keys: [
    { name: "← → ↑ ↓, Page Up, Page Down", what: ["move", "移动"] },
    { name: "Home, End", what: ["ends of the row; with Ctrl of the matrix", "行首行尾；按住 Ctrl 为矩阵首尾"] },
    { name: "Enter, Esc", what: ["pin, let go", "固定，取消"] },
    { name: "[ ]", what: ["the head before, the next", "上一个头，下一个头"] },
    { name: "+ − 0", what: ["zoom, the whole", "缩放，全图"] },
  ],
  parts: [
    ...commonParts,
    { name: "frame", what: ["matrix with its axes", "矩阵和坐标轴"] },
    { name: "box", what: ["the cells", "格子"] },
    {
      name: "corner, labels",
      what: [
        "between the axes; the tokens along them (also `rows`, `columns`)",
        "坐标轴之间；轴上的 token（另有 `rows`、`columns`）",
      ],
    },
    {
      name: "tools, map",
      what: ["buttons to zoom; the minimap above 64 tokens", "缩放按钮；超过 64 个 token 时的小地图"],
    },
    { name: "legend, scale", what: ["the ramp with its domain; the list of scales", "色阶及其范围；色阶列表"] },
    { name: "sentence", what: ["what the cell says, in words", "用文字读出格子"] },
  ],
  custom: [
    { name: "--hs-max-plot", what: ["longest side of the cells (720px)", "格子区域的最长边（720px）"] },
    colours,
  ],
  notes: [
    [
      "1 to 1,024 tokens and more on a canvas that is sharp on every screen; above 64 there is a minimap. Hidden cells are hatched and read as “—”, never as 0.",
      "画布在任何屏幕上都清晰，支持 1 到 1,024 个以上的 token；超过 64 个时有小地图。被遮蔽的格子画斜线并读作“—”，绝不写成 0。",
    ],
    [
      "Speed in Chromium 156 without a GPU, by the clock: with 12 heads of 512 tokens 34 ms from the data to the first paint and 2.6 ms for a frame while the pointer moves; with `<head-grid>` linked 49 and 2.6 ms, for 1,024 tokens 65 and 3.2 ms, for 144 heads of 128 tokens 94 and 5.1 ms.",
      "速度（Chromium 156，无 GPU，按时钟）：12 个头、512 个 token，得到数据后首次绘制 34 毫秒，指针移动时每帧 2.6 毫秒；与 `<head-grid>` 联动时为 49 和 2.6 毫秒，1,024 个 token 时为 65 和 3.2 毫秒，144 个头、128 个 token 时为 94 和 5.1 毫秒。",
    ],
  ],
};

const grid: ElementPage = {
  tag: "head-grid",
  definition: [
    "All heads of a layer as small pictures side by side, each with what it does in words and a box that switches it off.",
    "把一层的所有头并排画成小图，每个都用文字说明它在做什么，并有一个开关。",
  ],
  head: true,
  figures: [
    {
      name: "first",
      title: ["Eight heads, and the chosen one large", "八个头，以及选中的大图"],
      what: [
        "Both elements share one `ViewState`: a click in the grid shows the head below.",
        "两个元素共用一个 `ViewState`：在上面点击，下面显示该头。",
      ],
    },
    {
      name: "ablate",
      title: ["Without some heads", "去掉几个头"],
      what: [
        "A box that is unticked sets the head's gate to 0; the layer is computed again without it.",
        "取消勾选即把该头的门控设为 0，并重新计算这一层。",
      ],
    },
  ],
  samples: sources,
  properties: [
    property("captions", "{ name, measure?, spoken? }[] | null", "null", [
      "what each head does; null says what the weights say plainly, or “spread out”",
      "每个头的作用；null 时说明权重明显表现出的作用，否则为“分散”",
    ]),
    property("ordering", "number[] | null", "null", [
      "the heads to show, in this order; null is all of them",
      "要显示的头及其顺序；null 为全部",
    ]),
    property(
      "fixed",
      "boolean",
      "false",
      ["no boxes, where nothing can be computed again", "无法重新计算时，不显示开关"],
      "",
    ),
  ],
  events: [
    { name: "pick", what: ["`{ head, query, key }`: another head is chosen", "`{ head, query, key }`：选中另一个头"] },
    ablateEvent,
    ...loadEvents,
  ],
  keys: [
    { name: "← → ↑ ↓, Home, End", what: ["move", "移动"] },
    { name: "Enter", what: ["choose; with Ctrl or Shift add", "选中；按住 Ctrl 或 Shift 为添加"] },
    { name: "Space", what: ["switch off and on", "关闭或打开"] },
    { name: "[ ]", what: ["the head before, the next", "上一个头，下一个头"] },
  ],
  parts: [
    ...commonParts,
    { name: "grid, card", what: ["all; one head", "全部；一个头"] },
    { name: "picture, name, box, caption", what: ["what a card holds", "卡片中的各部分"] },
  ],
  custom: [colours],
  notes: [
    [
      "1 to 144 heads. Where there are more tokens than pixels, a pixel shows the strongest of its cells.",
      "支持 1 到 144 个头。token 多于像素时，一个像素显示其中最强的格子。",
    ],
    [
      "Speed in Chromium 156 without a GPU, by the clock: with 12 heads of 512 tokens 36 ms from the data to the first paint and 0.8 ms for a frame while the pointer moves over a linked element; with 144 heads of 128 tokens 81 and 1.9 ms.",
      "速度（Chromium 156，无 GPU，按时钟）：12 个头、512 个 token，得到数据后首次绘制 36 毫秒，跟随联动指针每帧 0.8 毫秒；144 个头、128 个 token 为 81 和 1.9 毫秒。",
    ],
  ],
};

const lines: ElementPage = {
  tag: "head-lines",
  definition: [
    "Queries on one side, keys on the other, and a line for each of the strongest weights: the wider, the larger.",
    "一侧是查询，另一侧是键，每个较强的权重画一条线：线越宽，权重越大。",
  ],
  head: true,
  figures: [
    {
      name: "first",
      title: ["Two heads from a file", "来自文件的两个头"],
      what: [
        "Attributes alone: `src` reads the file, `heads` names the heads, `controls` lets the reader filter.",
        "只用属性：`src` 读文件，`heads` 指定头，`controls` 让读者筛选。",
      ],
    },
    {
      name: "across",
      title: ["An alignment of two sentences", "两个句子的对齐"],
      what: [
        "Cross-attention of one head, written out as plain numbers; queries above, keys below.",
        "一个头的交叉注意力，直接写成数字；上面是查询，下面是键。",
      ],
    },
  ],
  samples: sources,
  properties: [
    property(
      "heads",
      'number[] | "all" | null',
      "null",
      ["the heads drawn; null are those of the state", "要画的头；null 取自 state"],
      "",
    ),
    property(
      "top",
      "number | null",
      "4",
      [
        "lines of a query and head at most; null (`all`) for every one",
        "每个查询每个头最多几条线；null（`all`）为全部",
      ],
      "",
    ),
    property("threshold", "number", "0.02", ["the smallest weight that has a line", "画线的最小权重"], ""),
    property(
      "combine",
      '"none" | "mean" | "max"',
      '"none"',
      ["each head in its own colour, or their mean or maximum in one", "各头各色，或合为均值、最大值"],
      "",
    ),
    property(
      "direction",
      '"vertical" | "horizontal"',
      '"vertical"',
      ["queries left and keys right, or above and below", "查询在左、键在右，或一上一下"],
      "",
    ),
    property("controls", "boolean", "false", ["what the reader may filter by", "显示筛选控件"], ""),
  ],
  events: [...spotEvents, { name: "filter", what: ["the choices of the controls", "控件中的选择"] }, ...loadEvents],
  keys: [
    {
      name: "↑ ↓, Page Up, Page Down, Home, End",
      what: ["along a side; ← → where sides are above and below", "沿一侧移动；上下排列时用 ← →"],
    },
    { name: "← →", what: ["across to the other side", "到另一侧"] },
    { name: "Enter, Esc", what: ["pin, let go", "固定，取消"] },
    { name: "[ ]", what: ["the head before, the next, where one is shown", "只显示一个头时，上一个、下一个头"] },
  ],
  parts: [
    ...commonParts,
    { name: "heads, controls", what: ["which head has which colour; the filters", "各头的颜色；筛选控件"] },
    {
      name: "frame, side, token",
      what: ["the figure; a side (also `query`, `key`); one token", "图；一侧（另有 `query`、`key`）；一个 token"],
    },
    { name: "legend, sentence", what: ["what width means; the query in words", "线宽的含义；用文字读出查询"] },
  ],
  custom: [
    {
      name: "--hs-lines-height",
      what: ["height from which the figure scrolls inside itself (480px)", "超过此高度后在内部滚动（480px）"],
    },
    colours,
  ],
  notes: [
    [
      "1 to 1,024 tokens and more: long texts scroll inside the figure. Of what is in view the 2,000 strongest lines are drawn, and the legend says when there are more; on paper the figure is as long as its tokens.",
      "支持 1 到 1,024 个以上的 token：长文本在图内滚动。可见部分最多画最强的 2,000 条线，若有更多，图例会说明；打印时图与 token 等长。",
    ],
    [
      "Speed in Chromium 156 without a GPU, by the clock: with one of 12 heads of 1,024 tokens 35 ms from the data to the first paint and 1.8 ms for a frame while the pointer moves.",
      "速度（Chromium 156，无 GPU，按时钟）：12 个头、1,024 个 token 中的一个头，得到数据后首次绘制 35 毫秒，指针移动时每帧 1.8 毫秒。",
    ],
  ],
};

const compare: ElementPage = {
  tag: "head-compare",
  definition: [
    "Two matrices side by side and their difference around 0: two heads, or the same head before and after a change.",
    "两个矩阵并排，并画出以 0 为中心的差：两个头，或同一个头在改变前后。",
  ],
  head: true,
  figures: [
    {
      name: "first",
      title: ["Two heads of one text", "同一文本的两个头"],
      what: [
        "Without `left` and `right` the first two heads of the state are compared; `controls` lets the reader choose.",
        "没有 `left` 和 `right` 时比较 state 的前两个头；`controls` 让读者选择。",
      ],
    },
    {
      name: "change",
      title: ["With and without the causal mask", "有无因果遮蔽"],
      what: [
        "Each side has weights of its own. What a query may no longer read goes to the keys that are left.",
        "两侧各有自己的权重。不能再读的键，其份额转给余下的键。",
      ],
    },
  ],
  samples: sources,
  properties: [
    property("left", "{ weights?, tokens?, …, head?, label? } | null", "null", [
      "the left side; what it leaves out is the element's own",
      "左侧；未给出的取元素自身的",
    ]),
    property("right", "{ weights?, tokens?, …, head?, label? } | null", "null", ["the right side", "右侧"]),
    property(
      "byPosition",
      "boolean",
      "false",
      ["compares places even if their tokens differ", "即使 token 不同也按位置比较"],
      "by-position",
    ),
    property(
      "limit",
      "number | null",
      "null",
      ["the difference at which colours end; null is the largest there is", "颜色到头的差值；null 为最大的差"],
      "",
    ),
    property("controls", "boolean", "false", ["a list of heads on each side", "两侧各有头的列表"], ""),
  ],
  events: [
    ...spotEvents,
    { name: "heads", what: ["`{ left, right }`: the reader has chosen others", "`{ left, right }`：读者选了别的头"] },
    ...loadEvents,
  ],
  keys: [
    { name: "← → ↑ ↓, Page Up, Page Down, Home, End", what: ["move in each of the maps", "在任一图中移动"] },
    { name: "Enter, Esc", what: ["pin, let go", "固定，取消"] },
    { name: "[ ]", what: ["another head on this side", "此侧换一个头"] },
    { name: "+ − 0", what: ["zoom all maps, the whole", "缩放所有图，全图"] },
  ],
  parts: [
    ...commonParts,
    { name: "maps", what: ["the three matrices", "三个矩阵"] },
    { name: "left, right, difference", what: ["each of them", "各个矩阵"] },
    {
      name: "legend, obstacle, sentence",
      what: ["the colours; why there is no difference; the cell in words", "颜色；为何没有差；用文字读出格子"],
    },
  ],
  custom: [colours],
};

const trace: ElementPage = {
  tag: "shape-trace",
  definition: [
    "The shapes that a layer's numbers go through, from the input to the output, with strides and what is moved in memory.",
    "一层的数据从输入到输出经过的形状，以及步长和内存中的搬动。",
  ],
  head: false,
  figures: [
    {
      name: "first",
      title: ["A fused projection of two heads", "两个头的融合投影"],
      what: [
        '`want: ["trace"]` of a forward pass gives the steps. Click on one to see where its numbers lie.',
        '前向计算时加上 `want: ["trace"]` 即得到各步。点击一步，看数据放在哪里。',
      ],
    },
    {
      name: "grouped",
      title: ["Grouped-query attention, as a table", "分组查询注意力与表格"],
      what: ["Four query heads share two K/V heads.", "四个查询头共用两个 K/V 头。"],
    },
  ],
  properties: [
    property("trace", "TraceStep[] | null", "null", ["the steps of one forward pass", "一次前向计算的各步"]),
    property("scores", "string", '""', ["how scores are scaled, behind QKᵀ", "分数如何缩放，写在 QKᵀ 之后"], ""),
    property(
      "open",
      "string",
      '""',
      ["the step that is open: `split`, `transpose`, `scores` …", "打开的一步：`split`、`transpose`、`scores` 等"],
      "",
    ),
    property("table", "boolean", "false", ["a table of every step below", "下方列出每一步"], ""),
  ],
  events: [{ name: "open", what: ["`{ stage }`: a step is opened, or null", "`{ stage }`：打开了一步，或 null"] }],
  keys: [
    { name: "Tab, Enter", what: ["walk through the steps, open one", "逐步移动，打开一步"] },
    { name: "Esc", what: ["close it", "关闭"] },
  ],
  parts: [...commonParts, { name: "steps, step, details", what: ["all; one; what is open", "全部；一步；打开的内容"] }],
  custom: [colours],
};

const bills: ElementPage = {
  tag: "cost-bills",
  definition: [
    "What a layer costs: parameters, FLOPs, bytes of the scores, and bytes that every token leaves in the K/V cache.",
    "一层的代价：参数量、FLOPs、分数占用的字节，以及每个 token 在 K/V 缓存中留下的字节。",
  ],
  head: false,
  figures: [
    {
      name: "first",
      title: ["From a model that is known", "从已知的模型开始"],
      what: [
        "Sliders for D, H, G, dk, T and the type of number; the line at 4 GiB is what wasm32 can address.",
        "可调 D、H、G、dk、T 和数值类型；4 GiB 的线是 wasm32 的寻址上限。",
      ],
    },
    {
      name: "fixed",
      title: ["Only the bill", "只看账单"],
      what: [
        "`config` takes the names of headscope, `fixed` leaves the controls away.",
        "`config` 使用 headscope 的名称，`fixed` 去掉控件。",
      ],
    },
  ],
  properties: [
    property("config", "{ dModel, numHeads, numKVHeads, headDim, T, layers, bytesPerElement … }", "of the preset", [
      "the sizes shown; what is left out keeps its value",
      "显示的尺寸；未给出的保持不变",
    ]),
    property("preset", "string", '"gpt2-small"', ["a model to start from", "起始模型"], ""),
    property("fixed", "boolean", "false", ["no controls", "没有控件"], ""),
    property("cost", "typeof cost", "headscope's cost", ["what computes the bills", "计算账单的函数"]),
  ],
  events: [{ name: "sizes", what: ["`config`, when the reader has changed something", "读者更改后的 `config`"] }],
  parts: [
    ...commonParts,
    { name: "controls", what: ["the sliders", "滑块"] },
    { name: "bills, bill, notes", what: ["all; one; what is unusual", "全部；一项；不寻常之处"] },
  ],
  custom: [colours],
};

const strip: ElementPage = {
  tag: "token-strip",
  definition: [
    "The tokens of a text in a row, with whitespace, marks and pieces of bytes made visible; with weights they light up.",
    "把文本的 token 排成一行，空白、标记和字节片段都可见；有权重时随之着色。",
  ],
  head: true,
  figures: [
    {
      name: "first",
      title: ["What a query reads", "一个查询读什么"],
      what: [
        "Point at a token: the others take the colour of the weight with which it reads them.",
        "指向一个 token：其余 token 显示它读取它们的权重。",
      ],
    },
    {
      name: "special",
      title: ["Marks, whitespace and bytes", "标记、空白与字节"],
      what: [
        "What looks like markup is text. `special` draws a dashed border, `bytes` shows pieces of a character.",
        "看似标签的也只是文本。`special` 画虚线框，`bytes` 显示字符的片段。",
      ],
    },
  ],
  properties: [
    property("special", "Iterable<number>", "none", ["places of special tokens", "特殊 token 的位置"]),
    property("bytes", "(ArrayLike<number> | null)[] | null", "null", [
      "the bytes of tokens that are pieces of a character",
      "属于字符片段的 token 的字节",
    ]),
    property(
      "side",
      '"query" | "key"',
      '"query"',
      ["which tokens these are, in cross-attention", "交叉注意力中是哪一侧的 token"],
      "",
    ),
  ],
  events: [...spotEvents, ...loadEvents],
  keys: [
    { name: "← →, Home, End", what: ["move", "移动"] },
    { name: "Enter, Esc", what: ["pin, let go", "固定，取消"] },
  ],
  parts: [...commonParts, { name: "chips, chip", what: ["all tokens; one", "全部 token；一个"] }],
  custom: [
    { name: "--hs-strip-height", what: ["height after which it scrolls (190px)", "超过此高度后滚动（190px）"] },
    colours,
  ],
};

export const pages: readonly ElementPage[] = [heatmap, grid, lines, compare, trace, bills, strip];
