"""Reads the exported file with PyPI's gguf, an independent reader, and compares with what our own reader makes of it.

    python check_gguf.py MODEL.gguf
"""

import pathlib
import sys

import numpy as np
from gguf import GGUFReader, dequantize

import gguf_file


def main() -> None:
    path = pathlib.Path(sys.argv[1])
    reader = GGUFReader(path)
    metadata, tensors = gguf_file.read(path)
    keys = {key for key in reader.fields if not key.startswith("GGUF.")}
    assert keys == set(metadata), keys ^ set(metadata)
    for key in keys:
        assert reader.fields[key].contents() == metadata[key], key
    assert [tensor.name for tensor in reader.tensors] == list(tensors)
    for tensor in reader.tensors:
        assert tensor.data_offset % gguf_file.ALIGNMENT == 0, tensor.name
        theirs = dequantize(tensor.data, tensor.tensor_type).reshape(tensor.shape[::-1])
        assert np.array_equal(theirs, tensors[tensor.name]), tensor.name
        print(f"{tensor.name:28} {tensor.tensor_type.name:5} {list(tensors[tensor.name].shape)}")
    print(f"{len(keys)} keys and {len(tensors)} tensors read alike, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
