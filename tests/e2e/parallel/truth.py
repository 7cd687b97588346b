"""The truth of a pair: which tensor of the dumps is which logical tensor, and how it is cut.

The scripts mark what they make (nets/run.py). A mark knows the layout, not the name that msprobe gives: the tensor is
found in the rank's dump by its bytes. OUT/truth/<case>.json: {candidate, reference, sizes, tensors: [{name, step,
candidate: side, reference: side}]}, side = {layout: [cuts], factor, shape, places: {rank: [[entry, io, slot], ...]},
files: {rank: path}}.
"""
import itertools
import json
import os
import zlib

import numpy as np
import torch

from cases import RUNS
from mesh import cells


def leaves(value, path=()):
    """(path, leaf) of every tensor below a value of dump.json."""
    if isinstance(value, dict) and "data_name" in value:
        yield path, value
    elif isinstance(value, dict):
        for key, below in value.items():
            yield from leaves(below, (*path, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from leaves(below, (*path, str(index)))


def load(folder, leaf):
    return torch.load(f"{folder}/dump_tensor_data/{leaf['data_name']}", weights_only=True).detach()


def checksum(tensor):
    raw = tensor.contiguous()
    return zlib.crc32((raw.view(torch.int16) if raw.dtype == torch.bfloat16 else raw).numpy().tobytes())


IO = {"input_args": "input", "input_kwargs": "input", "input": "input", "output": "output", "parameters": "parameter"}


def index_dump(folder):
    """{(crc, shape, dtype): [(entry, io, slot, file)]} of a step of a rank, in the order of the file."""
    with open(f"{folder}/dump.json", encoding="utf-8") as file:
        data = json.load(file)["data"]
    found = {}
    for entry, value in data.items():
        for path, leaf in leaves(value):
            io, slot = (IO[path[0]], ".".join(path[1:])) if path[0] in IO else ("parameter", ".".join(path))
            key = (checksum(load(folder, leaf)), tuple(leaf["shape"]), leaf["dtype"])
            found.setdefault(key, []).append((entry, io, slot or "0", leaf["data_name"]))
    return found


def rank_folders(out, name, step):
    """{rank: folder} of a run; the process of a run without ranks is rank 0."""
    folder = f"{out}/dumps/{name}/step{step}"
    found = {}
    for below in sorted(os.listdir(folder)):
        found[int(below[4:]) if below.startswith("rank") and below[4:] else 0] = f"{folder}/{below}"
    return found


def sides(out, name, step):
    """{logical name: side} of a step of a run."""
    run = RUNS[name]
    found = {}
    for rank, folder in sorted(rank_folders(out, name, step).items()):
        dump = index_dump(folder)
        with open(f"{out}/marks/{name}/{rank}.json", encoding="utf-8") as file:
            marks = [mark for mark in json.load(file) if mark["step"] == step]
        for mark in marks:
            where = dump.get((mark["crc"], tuple(mark["shape"]), mark["dtype"]), ())
            if not mark["name"].endswith((".grad", ".reduced")):
                where = [at for at in where if ".backward" not in at[0] and "parameters_grad" not in at[0]]
            layout = [cut for cut in mark["layout"] if run.sizes.get(cut["over"], 1) > 1]
            side = found.setdefault(mark["name"], {"layout": layout, "factor": mark["factor"], "shape": mark["shape"],
                                                   "places": {}, "files": {}})
            if where:
                side["places"].setdefault(rank, [list(at[:3]) for at in where])
                side["files"].setdefault(rank, os.path.relpath(f"{folder}/dump_tensor_data/{where[0][3]}", out))
    return found


def is_found(side, sizes):
    """Whether each rank that has it has it in its dump."""
    return all(rank in side["places"] for rank in cells(side["layout"], sizes))


def assemble(out, side, sizes):
    """The whole tensor, out of the first rank that has each part."""
    parts, files = {}, {int(rank): file for rank, file in side["files"].items()}
    for rank, cell in cells(side["layout"], sizes).items():
        if cell not in parts:
            parts[cell] = torch.load(f"{out}/{files[rank]}", weights_only=True).detach().double().numpy()
    cuts = [cut for cut in side["layout"] if cut["kind"] != "only"]
    while cuts:
        cut = cuts.pop()
        joined = {}
        for head, group in itertools.groupby(sorted(parts), lambda cell: cell[:-1]):
            joined[head] = join(cut, [parts[cell] for cell in group])
        parts = joined
    return parts[()]


def join(cut, parts):
    kind, axis = cut["kind"], cut["axis"]
    if kind == "concat":
        return np.concatenate(parts, axis)
    if kind in ("sum", "mean"):
        return sum(parts) / (len(parts) if kind == "mean" else 1)
    if kind == "zigzag":
        halves = [np.split(part, 2, axis) for part in parts]
        return np.concatenate([half[0] for half in halves] + [half[1] for half in halves][::-1], axis)
    if kind == "blocks":
        ends = np.cumsum([size // len(parts) for size in cut["blocks"]])[:-1]
        split = [np.split(part, ends, axis) for part in parts]
        return np.concatenate([part[block] for block in range(len(cut["blocks"])) for part in split], axis)
    raise ValueError(kind)


def compared(out, tensor, sizes_of_candidate, sizes_of_reference):
    """Relative distance of the two whole tensors."""
    a = assemble(out, tensor["candidate"], sizes_of_candidate)
    b = assemble(out, tensor["reference"], sizes_of_reference)
    a, b = a / tensor["candidate"]["factor"], b / tensor["reference"]["factor"]
    shape = [min(m, n) for m, n in zip(a.shape, b.shape)]  # a padded vocabulary
    a, b = (value[tuple(slice(size) for size in shape)] for value in (a, b))
    return float(np.linalg.norm(a - b) / (np.linalg.norm(b) or 1.0))


def write_truth(out, pair):
    candidate, reference = RUNS[pair.candidate], RUNS[pair.reference]
    tensors, lost = [], 0
    for step in range(candidate.settings["steps"]):
        ours, theirs = (sides(out, run.twin or name, step) for run, name in
                        ((candidate, pair.candidate), (reference, pair.reference)))
        for name in ours:
            if name not in theirs:
                continue
            tensor = {"name": name, "step": step, "candidate": ours[name], "reference": theirs[name]}
            if not (is_found(ours[name], candidate.sizes) and is_found(theirs[name], reference.sizes)):
                lost += step == 0
                continue
            tensors.append(tensor)
    with open(f"{out}/truth/{pair.name}.json", "w", encoding="utf-8") as file:
        json.dump({"name": pair.name, "candidate": pair.candidate, "reference": pair.reference,
                   "sizes": [candidate.sizes, reference.sizes], "tensors": tensors}, file)
    print(f"  {pair.name}: {len(tensors)} tensors, {lost} of a step not dumped")
