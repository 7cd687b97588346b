"""Writes checkpoints byte by byte, by the specifications of the formats."""
import json
import os
import struct

import numpy as np

CKPT_TYPES = {"F32": "Float32", "F16": "Float16", "BF16": "BFloat16", "I32": "Int32"}


def to_bf16(value):
    bits = np.ascontiguousarray(value, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def stored(value, dtype):
    """The dtype's name and the bytes."""
    if value.dtype == np.int32:
        return "I32", value.tobytes()
    if dtype == "BF16":
        return dtype, to_bf16(value).tobytes()
    return dtype, np.ascontiguousarray(value, {"F32": np.float32, "F16": np.float16}[dtype]).tobytes()


def write_safetensors(path, values, dtype="F32"):
    header, data, at = {}, [], 0
    for name in sorted(values):
        kind, raw = stored(values[name], dtype)
        header[name] = {"dtype": kind, "shape": list(values[name].shape), "data_offsets": [at, at + len(raw)]}
        data.append(raw)
        at += len(raw)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def write_ckpt(path, values, dtype="F32"):
    with open(path, "wb") as file:
        for name, value in values.items():
            kind, raw = stored(value, dtype)
            tensor = b"".join(b"\x08" + varint(dim) for dim in value.shape) + field(2, CKPT_TYPES[kind].encode())
            tensor += field(3, raw)
            file.write(field(1, field(1, name.encode()) + field(2, tensor)))


def write(folder, values, count, dtype, form):
    """One file, or several with the parameters dealt out in another order."""
    os.makedirs(folder, exist_ok=True)
    if form == "ckpt":
        return write_ckpt(f"{folder}/net.ckpt", values, dtype)
    names = sorted(values, key=lambda name: (hash_of(name) % count if count > 1 else 0, name))
    for i in range(count):
        part = names[len(names) * i // count:len(names) * (i + 1) // count]
        write_safetensors(f"{folder}/model-{i + 1:05}-of-{count:05}.safetensors", {one: values[one] for one in part},
                          dtype)
    return None


def hash_of(text):
    value = 7
    for char in text.encode():
        value = (value * 31 + char) % 1000003
    return value
