"""Dump trees as they lie on the disk: which .npy files an operator has, and trees made from others."""
import fnmatch
import io
import os
import shutil

import numpy as np

TIME_SHIFT = 3_600_000_000  # microseconds


def fields_of(name):
    """Type.name.task.stream.time.io.slot.format.dtype.npy; the name of a parameter has no dots either."""
    parts = name.split(".")
    return {"op": ".".join(parts[:2]), "time": int(parts[4]), "io": parts[5], "slot": int(parts[6]), "dtype": parts[8]}


class Dump:
    """(graph, step, Type.name) to (io, slot) to the files, in the order in which they were written."""

    def __init__(self, folder):
        self.folder = folder
        self.files = {}
        for where, _, names in os.walk(os.path.join(folder, "rank_0/Net")):
            for name in sorted(names, key=lambda name: fields_of(name)["time"]):
                fields = fields_of(name)
                key = (int(os.path.basename(os.path.dirname(where))), int(os.path.basename(where)), fields["op"])
                slots = self.files.setdefault(key, {})
                slots.setdefault((fields["io"], fields["slot"]), []).append(os.path.join(where, name))

    def steps(self):
        return sorted({step for _, step, _ in self.files})

    def of(self, graph, step, op):
        return self.files.get((graph, step, op), {})


def link(source, target):
    """The same tree without its bytes a second time."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, copy_function=os.link)


def lose(folder, pattern):
    """Without the files whose path fits; * is anything, also '/'."""
    for where, _, names in os.walk(folder):
        for path in (os.path.join(where, name) for name in names):
            if fnmatch.fnmatchcase(path, f"*/{pattern}"):
                os.remove(path)


def round_to_half(source, target):
    """As a device would have written it: float16 but for the optimizer and the parameters, at another time."""
    shutil.rmtree(target, ignore_errors=True)
    for where, _, names in os.walk(source):
        there = os.path.join(target, os.path.relpath(where, source))
        os.makedirs(there, exist_ok=True)
        for name in names:
            copy_rounded(os.path.join(where, name), there)


def copy_rounded(path, there):
    name = os.path.basename(path)
    if not name.endswith(".npy"):
        os.link(path, os.path.join(there, name))
        return
    parts = name.split(".")
    parts[4] = str(int(parts[4]) + TIME_SHIFT)
    if parts[8] != "Float32" or parts[0] == "Parameter" or "optimizer-" in parts[1]:
        os.link(path, os.path.join(there, ".".join(parts)))
        return
    parts[8] = "Float16"
    with np.errstate(over="ignore"):
        np.save(os.path.join(there, ".".join(parts)), np.load(path).astype(np.float16))


def without_graphs(source, target):
    link(source, target)
    shutil.rmtree(os.path.join(target, "rank_0/graphs"))


STATISTICS = ("Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,"
              "L2Norm Value")


def load(path):
    """A tensor and its bytes. numpy has no bfloat16, which MindSpore's header calls E2."""
    with open(path, "rb") as file:
        raw = file.read()
    is_bfloat16 = b"'<E2'" in raw[:128]
    values = np.load(io.BytesIO(raw.replace(b"'<E2'", b"'<u2'", 1)))
    return (values.astype(np.uint32) << 16).view(np.float32) if is_bfloat16 else values, values.nbytes


def as_statistics(source, target):
    """What 2.10.0 writes of each tensor by itself, in the order of the files; graphs as they are."""
    link(source, target)
    for where, _, names in os.walk(os.path.join(target, "rank_0/Net")):
        rows = []
        for name in sorted(names, key=lambda name: fields_of(name)["time"]):
            path, parts = os.path.join(where, name), name.split(".")
            values, size = load(path)
            wide = values.astype(np.float64)
            known = (wide.max(), wide.min(), np.linalg.norm(wide)) if wide.size else (-np.inf, np.inf, 0.0)
            shape = "[" + ",".join(map(str, values.shape)) + "]"
            rows.append(",".join([*parts[:7], str(size), parts[8].lower(), f'"{shape}"',
            *(f"{value:.6g}" for value in known)]))
            os.remove(path)
        if rows:
            with open(os.path.join(where, "statistic.csv"), "w", encoding="utf-8") as file:
                file.write("\n".join([STATISTICS, *(row + "," for row in rows), ""]))


# Of both sides of a case, beside the tensors with graphs.
FORMS = {"no_ir": without_graphs, "statistics": as_statistics}
