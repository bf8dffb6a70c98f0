/**
 * The strings of the page as it opens; those of what is fetched later are in en-more.ts. `{name}` marks what is filled in.
 * The Chinese files have the same keys, checked by their types.
 */
export const en = {
  "page.title": "headscope: every attention head of your sentence",
  "page.description":
    "Type a sentence and see the weights of every attention head, computed in your browser by a SIMD WebAssembly core.",
  "page.copy": "Copy link",
  "page.copied": "Link copied",
  "page.copyFailed": "Copy the address from the address bar",
  "page.theme.system": "Theme: as the system",
  "page.theme.light": "Theme: light",
  "page.theme.dark": "Theme: dark",
  "page.engine": "headscope {version}, WebAssembly {variant}",
  "page.first": "Head {head}, “{kind}”, computed beforehand; the live page follows.",
  "page.missed": "A part of the page could not be fetched: {reason} Try again when the network is back.",

  "input.empty": "Nothing to read yet: type a word or pick an example.",
  "input.cut": "Only the first {tokens} tokens are computed. The rest, from character {at} of {total}, is left out.",
  "input.failed": "This could not be computed: {reason} The last good picture is kept.",
  "input.loadFailed": "The WebAssembly core could not start: {reason}",
  "input.status": "{tokens} · {characters} · {heads} heads computed in {time}",
  "input.statusFixed": "{tokens} · {heads} heads computed in {time}",
  "count.tokens": "{count} tokens",
  "count.tokens.one": "1 token",
  "count.characters": "{count} characters",
  "count.characters.one": "1 character",
  "input.loading": "Starting the WebAssembly core…",

  "source.built": "Built heads",
  "source.built.about":
    "Built, not learned: eight heads whose matrices were written by hand, each to do one thing you can check. They run through the real layer, on any text.",
  "source.numpy": "NumPy, seed 42",
  "source.numpy.about":
    "Random, not learned: four random vectors and random matrices from the NumPy tutorial, number for number. Without a mask every weight lies within .230–.274: these two heads found nothing, because there was nothing to find.",

  "built.previous": "previous token",
  "built.twoBack": "two back",
  "built.first": "first token",
  "built.same": "same token",
  "built.induction": "after a copy",
  "built.rare": "rarest token",
  "built.nearby": "nearby",
  "built.broad": "broad",

  "kind.previous": "previous token",
  "kind.self": "itself",
  "kind.next": "next token",
  "kind.first": "first token",
  "kind.duplicate": "earlier copies",
  "kind.induction": "after a copy",
  "kind.rare": "rarest token",
  "kind.spread": "spread out",
  "kind.bits": "{bits} bits",
  "kind.noTarget": "no target here",

  "heads.title": "{count} heads",
  "heads.name": "Head {head}",
  "heads.short": "H{head}",
  "heads.spoken": "head {head}: {percent} % on {kind}",
  "heads.spokenKind": "head {head}: {kind}",
  "heads.untick": "Untick a head to compute the layer's output without it.",
  "heads.change":
    "Without {heads} the layer's output changes by {percent} of its size, most at {token} ({tokenPercent}). The weights above stay as they are: a head is left out after it has read.",
  "heads.changeNone": "Without {heads} the layer's output does not change.",
  "heads.changeAll": "Every head is off: the layer's output is zero.",

  "readings.title": "What query {query} reads most, head by head",

  "detail.axes": "query ↓ key →",
  "detail.sentence": "query {query} reads key {key} with weight {weight} · head {head}",
  "detail.sentenceHidden": "query {query} cannot see key {key}: {weight}, hidden by the mask · head {head}",
  "detail.strongest": "query {query} reads most from key {key}, weight {weight} · head {head}",
  "detail.score": "score {score}",
  "detail.hint": "Point at a cell to read its weight, click to keep it.",
  "detail.how": "How it works",

  "legend.note": "each row sums to 1",
  "legend.hidden": "hidden by the mask",

  "cost.change": "Change the sizes",
  "cost.back": "Back to this layer",

  "input.causal.free": "Each token reads only itself and the tokens before it",
  "input.causal.always":
    "This model was trained with the causal mask: each token reads only itself and the tokens before it",
  "input.causal.never": "This model was trained without a mask: every token reads all tokens",
  "input.tinyFailed": "The trained model could not be loaded: {reason} The built heads stay.",
  "input.statusLayers": "{tokens} · {characters} · {layers} × {heads} heads computed in {time}",
  "wait.tiny": "Until the trained model is here these are the built heads ({loaded}).",
  "wait.tinyOf": "Until the trained model is here these are the built heads ({loaded} of {total}).",
  "wait.file":
    "This link shows a model file of its author's. Open the same file to see it; until then these are the built heads.",
  "wait.run": "Computing layer {layer}…",
  "wait.runRead": "Computing layer {layer}: {bytes} read for it so far…",
  "source.tiny": "Tiny GPT · trained here",
  "source.tiny.about":
    "Learned, not built: a GPT-2 of {layers} layers × {heads} heads, width {width}, context {context}, trained for this page on freely licensed text. Three heads (0.0, 0.1, 2.7) were rewarded early in the training for what they do; all others, the induction heads of layer 1 too, found theirs alone. Captions are measured on your text.",
  "source.file": "Your file",
  "source.file.about":
    "{name}: {architecture}, {layers} layers × {heads} heads, width {width}. Read on this device, layer by layer; captions are measured on your text.",
  "heads.titleLayers": "{count} heads of layer",
  "heads.shortLayer": "L{layer} H{head}",
  "heads.andMore": "{heads} and {count} more",
  "heads.place": "{head}, layer {layer}",
  "heads.nameLayer": "Layer {layer}, head {head}",
  "heads.untickModel": "Untick heads in any layer to run the whole model without them.",
  "layers.spoken": "layer {layer}",
  "effect.running": "Without {heads}: running the whole model with and without…",
  "effect.hidden":
    "Without {heads} the model's last hidden state changes by {percent} of its size. Layers behind are shown as they are then.",
  "effect.loss":
    "Without {heads} the model's last hidden state changes by {percent} of its size, and the loss on the next token of your text goes from {before} to {after} nats ({difference}). Layers behind are shown as they are then.",

  "rows.merged":
    "{tokens} tokens in {rows} rows: the weights on the tokens of a column are added up, those of a row averaged.",
  "rows.same": "Every row is one token here: there is nothing to join.",
  "hide.done":
    "{what} left out, {percent} of this head's weight. What remains of each row is scaled up so that it sums to 1.",
  "hide.what.first": "Row and column {token}",
  "hide.what.special": "{count} special tokens",
  "hide.noSpecial": "There are no special tokens in this text: nothing is left out.",
  "hide.onlyOne": "There is only one row: it stays.",
  "input.linkFailed":
    "The text in this link could not be unpacked: the link is damaged, or the browser too old. Ask for it again, or type a text.",

  "lab.head": "head",
} as const;
