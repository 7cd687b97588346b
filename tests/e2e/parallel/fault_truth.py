"""The truth of a fault: its lines in the scripts as they ran, and where its run first differs from the one without it.

OUT/truth/<fault>.json: {candidate, reference, lines, near, ranks, first: [[step, rank, entry], ...], check, parted}.
`first` is found by the bytes against the run without the fault, `parted` (what one run shows) against the other ranks.
"""
import json
import os
import re

from cases import RUNS
from fault import IMPORTED
from truth import IO, checksum, leaves, load, rank_folders


def changed_entries(folder, original):
    """Entries of a rank's dump with the slots whose bytes are not those of the run without the fault, in order."""
    with open(f"{folder}/dump.json", encoding="utf-8") as file:
        data = json.load(file)["data"]
    with open(f"{original}/dump.json", encoding="utf-8") as file:
        known = json.load(file)["data"]
    for entry, value in data.items():
        theirs = dict(leaves(known.get(entry, {})))
        slots = [path for path, leaf in leaves(value)
                 if path not in theirs or differ(folder, leaf, original, theirs[path])]
        if slots or entry not in known:
            yield entry, slots


def differ(folder, leaf, original, other):
    if leaf["shape"] != other["shape"] or leaf["dtype"] != other["dtype"]:
        return True
    ours, theirs = (f"{where}/dump_tensor_data/{one['data_name']}" for where, one in
                    ((folder, leaf), (original, other)))
    return not os.path.samefile(ours, theirs) and checksum(load(folder, leaf)) != checksum(load(original, other))


def first_changes(out, name, base, ranks, steps, lines):
    """[[step, rank, entry]]: the first operator of each rank (of `ranks`, if any are given) that differs, and others
    whose outputs alone differ in the first step that shows the fault. A collective is among them on a line of the fault
    alone: elsewhere it hands on what another rank has made."""
    for step in range(steps):
        found = []
        originals = rank_folders(out, base, step)
        for rank, folder in sorted(rank_folders(out, name, step).items()):
            if ranks and rank not in ranks:
                continue
            frames = frames_of(folder)
            for number, (entry, slots) in enumerate(changed_entries(folder, originals[rank])):
                its_own = number == 0 or slots and not any(IO.get(path[0]) == "input" for path in slots)
                if its_own and (not entry.startswith("Distributed.") or on_lines(frames, entry, lines)):
                    found.append([step, rank, entry])
                if number > 400:
                    break
        if found:
            return found
    return []


def checksums(folder):
    """{entry: {path of a leaf: checksum}} of a rank, in the order of the file."""
    with open(f"{folder}/dump.json", encoding="utf-8") as file:
        return {entry: {path: checksum(load(folder, leaf)) for path, leaf in leaves(value)}
                for entry, value in json.load(file)["data"].items()}


def parted(out, name, base, steps):
    """[[step, rank, entry]]: where ranks that have equal bytes without the fault part, in the first step that shows it:
    the first operator of a rank, and those that made a difference or read one that no operator of the step made."""
    for step in range(steps):
        before = {rank: checksums(folder) for rank, folder in rank_folders(out, base, step).items()}
        after = {rank: checksums(folder) for rank, folder in rank_folders(out, name, step).items()}
        found = []
        for rank, entries in after.items():
            made, mine, begun = set(), before[rank], False
            for entry, slots in entries.items():
                differs = [path for path, value in slots.items() if any(
                    mine.get(entry, {}).get(path) == theirs.get(entry, {}).get(path) is not None and
                    after[other].get(entry, {}).get(path) not in (None, value) for other, theirs in before.items())]
                outer = [path for path in differs if IO.get(path[0]) == "input" and slots[path] not in made]
                if outer or differs and not (begun and any(IO.get(path[0]) == "input" for path in differs)):
                    found.append([step, rank, entry])
                begun |= bool(differs)
                made.update(value for path, value in slots.items() if path[0] == "output")
        if found:
            return found
    return []


def lines_of(out, name, markers, script):
    """{file: [lines]} of the markers in the scripts as they ran."""
    found = {}
    for file in (script, *IMPORTED):
        with open(f"{out}/scripts/{name}/{file}.py", encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                marker = re.search(r"# @(\w+)$", line.rstrip())
                if marker and marker.group(1) in markers:
                    found.setdefault(f"{file}.py", []).append(number)
    return found


def write_fault_truth(out, fault, reference):
    base = RUNS[fault.base]
    if fault.removed:
        with open(f"{out}/truth/{fault.name}.json", "w", encoding="utf-8") as file:
            json.dump({"name": fault.name, "candidate": fault.name, "reference": reference, "lines": {}, "near": {},
                       "ranks": list(fault.ranks), "first": [], "check": fault.check, "parted": [], "known": True,
                       "unknown": []}, file)
        return
    steps = base.settings["steps"]
    lines, near = (lines_of(out, fault.name, markers, base.script) for markers in (fault.lines, fault.near))
    unknown = [name for name, found in (("lines", lines), ("near", near)) if getattr(fault, name) and not found]
    first = first_changes(out, fault.name, fault.base, fault.ranks, steps, lines)
    known = any(on_lines(frames_of(rank_folders(out, fault.name, step)[rank]), entry, where)
                for step, rank, entry in first for where in (lines, near))
    with open(f"{out}/truth/{fault.name}.json", "w", encoding="utf-8") as file:
        form = "-statistics" if fault.statistics else ""
        json.dump({"name": fault.name, "candidate": fault.name + form, "reference": reference + form, "lines": lines,
                   "near": near, "ranks": list(fault.ranks), "first": first, "check": fault.check,
                   "parted": parted(out, fault.name, fault.base, steps) if fault.check == "replica" else [],
                   "known": known, "unknown": unknown}, file)


def on_lines(frames, entry, lines):
    """Whether the call, or the call of which this is the gradient, was on one of the lines."""
    return any(line in lines.get(file, ()) for file, line in frames.get(entry.replace(".backward", ".forward"), ()))


def frames_of(folder):
    """{entry: [(file name, line)]} of the stacks of a rank."""
    with open(f"{folder}/stack.json", encoding="utf-8") as file:
        stacks = json.load(file).values()
    found = {}
    for entries, frames in stacks:
        places = [(os.path.basename(match.group(1)), int(match.group(2))) for frame in frames
                  if (match := re.match(r"File (.*?), line (\d+)", frame))]
        found.update(dict.fromkeys(entries, places))
    return found
