"""One dump of both sides: the scripts, the runs, what they wrote, and whether it is what the configuration asked for.

CASE/round-<n>/{candidate,reference} are the dumps, SCRIPTS/{candidate,reference} the scripts as they ran and their logs.
"""
import json
import os
import pathlib
import shutil

from cases import MSPROBE, SIZES, script_of
from training import changed, start, wait

LOUD = ("[ERROR]", "Traceback")


def read(path):
    return pathlib.Path(path).read_text("utf-8")


def write_scripts(folder, case):
    for side in ("candidate", "reference"):
        changes = case.fault.changes if case.fault and side == "candidate" else ()
        text = changed(changed(read(script_of(case.net)), SIZES.get(case.net, ())), changes)
        os.makedirs(f"{folder}/{side}", exist_ok=True)
        pathlib.Path(folder, side, f"{case.net}.py").write_text(text, "utf-8")
        shutil.copy(f"{MSPROBE}/nets/probe.py", f"{folder}/{side}/probe.py")


def write_configuration(path, dump, task, level, steps=()):
    """Of everything, in all steps where it names none."""
    block = {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": "statistics"}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"task": task, "dump_path": dump, "rank": [], "step": list(steps), "level": level,
                   task: block}, file, indent=1)


def settings(case, side, configuration):
    """The reference knows no noise: it is what a CPU or GPU gives."""
    ours = side == "candidate"
    return {"configuration": configuration, "steps": case.steps, "precision": "float32", "noise": case.noise * ours,
            "seed": 2 + len(case.title) if ours else 1, "threads": case.threads if ours else 1}


def train(case, scripts, configurations):
    """The sides of `configurations` at once; the sides that failed."""
    children = {side: start(f"{scripts}/{side}/{case.net}.py",
                            {"PROBE": json.dumps(settings(case, side, configurations[side]))})
                for side in configurations}
    codes = {side: wait(child) for side, child in children.items()}
    return [side for side, code in codes.items() if code or any(word in read(f"{scripts}/{side}/log") for word in LOUD)]


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


def measure_whole(case, scripts, folder):
    """Bytes of a tensor dump of everything in all steps on both sides: what the reference's step 1 needs, times these.
    All steps have the same shapes, and the whole would be gigabytes. Measured once for each net."""
    known = f"{folder}/{case.net}.json"
    if not os.path.exists(known):
        dump, configuration = f"{folder}/{case.net}", f"{folder}/configuration.json"
        shutil.rmtree(dump, ignore_errors=True)
        os.makedirs(folder, exist_ok=True)
        write_configuration(configuration, dump, "tensor", "mix", [1])
        if train(case, scripts, {"reference": configuration}):
            raise RuntimeError(f"a tensor dump of everything failed: {scripts}/reference/log")
        with open(known, "w", encoding="utf-8") as file:
            json.dump(size_of(dump), file)
        shutil.rmtree(dump)
    return json.loads(read(known)) * case.steps * len(case.sides)
