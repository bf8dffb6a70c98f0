const tokens = ["[CLS]", "tab\t", "line\n", "<0xE6><0x88>", "<0x91>", "e\u0301", "<img src=x onerror=…>", "[SEP]"];

Object.assign(document.querySelector("#pieces"), {
  tokens,
  special: [0, tokens.length - 1],
  bytes: [null, null, null, [0xe6, 0x88], [0x91], null, null, null],
});
