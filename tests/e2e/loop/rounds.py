"""One dump of both sides: the scripts, the runs, what they wrote, and whether it is what the configuration asked for.

CASE/round-<n>/{candidate,reference} are the dumps, SCRIPTS/{candidate,reference} the scripts as they ran and their logs.
"""
import json
import os
import pathlib
import shutil

from cases import MSPROBE, SIZES, script_of
from training import changed, start, wait

SIDES = ("candidate", "reference")
LOUD = ("[ERROR]", "Traceback")


def read(path):
    return pathlib.Path(path).read_text("utf-8")


def write_scripts(folder, case):
    for side in SIDES:
        changes = case.fault.changes if case.fault and side == "candidate" else ()
        text = changed(changed(read(script_of(case.net)), SIZES.get(case.net, ())), changes)
        os.makedirs(f"{folder}/{side}", exist_ok=True)
        pathlib.Path(folder, side, f"{case.net}.py").write_text(text, "utf-8")
        shutil.copy(f"{MSPROBE}/nets/probe.py", f"{folder}/{side}/probe.py")


def write_configuration(path, dump, task, level):
    """Of everything in all steps."""
    block = {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": "statistics"}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"task": task, "dump_path": dump, "rank": [], "step": [], "level": level, task: block}, file, indent=1)


def settings(case, side, configuration):
    """The reference knows no noise: it is what a CPU or GPU gives."""
    ours = side == "candidate"
    return {"configuration": configuration, "steps": case.steps, "precision": "float32", "noise": case.noise * ours,
            "seed": 2 + len(case.title) if ours else 1, "threads": case.threads if ours else 1}


def train(case, scripts, configurations):
    """Both sides at once; the sides that failed."""
    children = {side: start(f"{scripts}/{side}/{case.net}.py",
                            {"PROBE": json.dumps(settings(case, side, configurations[side]))}) for side in SIDES}
    failed = [side for side, child in children.items() if wait(child)]
    return failed + [side for side in SIDES if any(word in read(f"{scripts}/{side}/log") for word in LOUD)]


def size_of(folder):
    return sum(file.stat().st_size for file in pathlib.Path(folder).rglob("*") if file.is_file())


def steps_of(configuration, case):
    """Steps that it asks for: [] is all, "2-4" a range."""
    steps = set()
    for entry in configuration.get("step") or range(case.steps):
        first, _, last = str(entry).partition("-")
        steps |= set(range(int(first), int(last or first) + 1))
    return steps


def missing_in(case, path):
    """What a configuration asked for and the dump lacks, in words."""
    configuration = json.loads(read(path))
    block = configuration.get(configuration["task"]) or {}
    wanted, missing, names = steps_of(configuration, case), [], set()
    tensors = configuration["task"] == "tensor" or bool(block.get("tensor_list"))
    for step in sorted(wanted):
        dumps = list(pathlib.Path(configuration["dump_path"]).glob(f"step{step}/*/dump.json"))
        found = {name for dump in dumps for name in json.loads(dump.read_text("utf-8"))["data"]}
        names |= found
        if not found:
            missing.append(f"step {step}")
        elif tensors and not any(any(dump.parent.glob("dump_tensor_data/*.pt")) for dump in dumps):
            missing.append(f"tensors of step {step}")
    asked = [*(block.get("list") or []), *(block.get("scope") or [])]
    return missing + [name for name in asked if not any(name in one for one in names)]


def measure_all(case, scripts, folder):
    """Bytes of a tensor dump of everything in all steps on both sides, which is removed."""
    configurations = {side: f"{folder}/{side}.json" for side in SIDES}
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        for side in SIDES:
            write_configuration(configurations[side], f"{folder}/{side}", "tensor", "mix")
        if failed := train(case, scripts, configurations):
            raise RuntimeError(f"{case.title}: a tensor dump of everything failed: {scripts}/{failed[0]}/log")
        return sum(size_of(f"{folder}/{side}") for side in SIDES)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
