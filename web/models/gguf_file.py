"""The few lines of GGUF v3 that this model needs: writing the whole file, and reading its tensors back.

Layout: "GGUF", u32 version, u64 tensor count, u64 key count, the keys, one record per tensor, padding, data. Dimensions
are stored fastest first: a row-major [out,in] matrix has dims [in,out]. Offsets count from the start of the data.
"""

import pathlib
import struct

import numpy as np

ALIGNMENT = 32
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9  # gguf_metadata_value_type
F32, Q8_0 = 0, 8  # ggml_type
BLOCK = 32  # Q8_0: one f16 scale, then 32 signed bytes


def quantise(matrix: np.ndarray) -> bytes:
    """Q8_0 as ggml's reference does it: scale = largest magnitude / 127, halves rounded away from zero."""
    blocks = matrix.astype(np.float32).reshape(-1, BLOCK)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / np.float32(127)
    inverse = np.divide(np.float32(1), scale, out=np.zeros_like(scale), where=scale > 0)
    scaled = blocks * inverse
    codes = (np.sign(scaled) * np.floor(np.abs(scaled) + np.float32(0.5))).astype(np.int8)
    out = np.empty((len(blocks), 2 + BLOCK), np.uint8)
    out[:, :2] = scale.astype("<f2").view(np.uint8)
    out[:, 2:] = codes.view(np.uint8)
    return out.tobytes()


def dequantise(data: bytes, shape: tuple[int, ...]) -> np.ndarray:
    blocks = np.frombuffer(data, np.uint8).reshape(-1, 2 + BLOCK)
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    return (scale * blocks[:, 2:].view(np.int8).astype(np.float32)).reshape(shape)


def string(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def value(content) -> bytes:
    """A typed value: the type follows from the Python value; every list holds values of one type."""
    if isinstance(content, bool):
        return struct.pack("<I?", BOOL, content)
    if isinstance(content, int):
        return struct.pack("<II", UINT32, content)
    if isinstance(content, float):
        return struct.pack("<If", FLOAT32, content)
    if isinstance(content, str):
        return struct.pack("<I", STRING) + string(content)
    if isinstance(content[0], str):
        return struct.pack("<IIQ", ARRAY, STRING, len(content)) + b"".join(string(item) for item in content)
    return struct.pack("<IIQ", ARRAY, INT32, len(content)) + np.array(content, "<i4").tobytes()


def write(path: pathlib.Path, metadata: dict, tensors: dict[str, np.ndarray]) -> None:
    """Matrices become Q8_0, vectors stay F32."""
    records, payloads, offset = [], [], 0
    for name, tensor in tensors.items():
        quantised = tensor.ndim == 2
        assert not quantised or tensor.shape[1] % BLOCK == 0, f"{name}: a row must be whole blocks"
        data = quantise(tensor) if quantised else tensor.astype("<f4").tobytes()
        dims = tensor.shape[::-1]
        records.append(
            string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, Q8_0 if quantised else F32, offset)
        )
        payloads.append(data + bytes(-len(data) % ALIGNMENT))
        offset += len(payloads[-1])
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    head += b"".join(string(key) + value(content) for key, content in metadata.items()) + b"".join(records)
    path.write_bytes(head + bytes(-len(head) % ALIGNMENT) + b"".join(payloads))


class Cursor:
    def __init__(self, data: bytes):
        self.data = data
        self.at = 0

    def take(self, layout: str):
        found = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return found[0] if len(found) == 1 else found

    def string(self) -> str:
        length = self.take("Q")
        self.at += length
        return self.data[self.at - length : self.at].decode()

    def value(self, kind: int):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            item, count = self.take("IQ")
            return [self.value(item) for _ in range(count)]
        return self.take({UINT32: "I", INT32: "i", FLOAT32: "f", BOOL: "?"}[kind])


def read(path: pathlib.Path) -> tuple[dict, dict[str, np.ndarray]]:
    """(metadata, tensors as float32 in row-major order); knows the types that `write` writes."""
    cursor = Cursor(path.read_bytes())
    magic, version, tensor_count, key_count = cursor.take("4sIQQ")
    assert magic == b"GGUF" and version == 3, "not a GGUF v3 file"
    metadata = {}
    for _ in range(key_count):
        key = cursor.string()
        metadata[key] = cursor.value(cursor.take("I"))
    records = []
    for _ in range(tensor_count):
        name = cursor.string()
        dims = [cursor.take("Q") for _ in range(cursor.take("I"))]
        records.append((name, dims[::-1], *cursor.take("IQ")))
    start = cursor.at + -cursor.at % ALIGNMENT
    tensors = {}
    for name, shape, kind, offset in records:
        count = int(np.prod(shape))
        size = count * 4 if kind == F32 else count // BLOCK * (2 + BLOCK)
        data = cursor.data[start + offset : start + offset + size]
        tensors[name] = np.frombuffer(data, "<f4").reshape(shape) if kind == F32 else dequantise(data, shape)
    return metadata, tensors
