"""Makes blocks.json: random blocks of every type that is decoded, and what gguf-py, ggml's own Python package, makes of
them. Needs PyPI's gguf (0.19.0 was used) and NumPy; the tests need neither.

    python3 tests/models/make_blocks.py > tests/models/blocks.json
"""

import base64
import json
import sys

import gguf
import numpy as np

TYPES = "F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 Q2_K Q3_K Q4_K Q5_K Q6_K".split()
BLOCKS = 3


def text(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode()


def main() -> None:
    random = np.random.default_rng(20)
    out = {}
    for name in TYPES:
        kind = gguf.GGMLQuantizationType[name]
        values, size = gguf.GGML_QUANT_SIZES[kind]
        # Any bits are a block: scales may be huge, subnormal, infinite or NaN.
        blocks = random.integers(0, 256, size=(BLOCKS if values > 1 else 64, size), dtype=np.uint8)
        with np.errstate(all="ignore"):
            decoded = gguf.quants.dequantize(blocks, kind).astype(np.float32)
        out[name] = {"blocks": text(blocks), "values": text(decoded)}
    json.dump(out, sys.stdout, indent=1)
    print()


main()
