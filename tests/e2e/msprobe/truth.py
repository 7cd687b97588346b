"""Whether an answer of msdump is where a fault is: by the line, or by the module in which its operator runs."""
import fnmatch
import os
import re


def markers(script):
    """Lines by the name in their comment."""
    with open(script, encoding="utf-8") as file:
        return {found.group(1): number for number, line in enumerate(file, 1)
                if (found := re.search(r"# @(\w+)$", line.rstrip()))}


def module_of(operator):
    """'blocks.1.norm' of 'Module.blocks.1.norm.RMSNorm.forward.0'."""
    found = re.search(r"\bModule\.(.+)\.\w+\.(forward|backward|parameters_grad)\b", operator or "")
    return found.group(1) if found else None


def lines_of(fault, level):
    return (*fault.lines, *fault.unseen) if level == "L1" else fault.lines


def is_right(root, fault, level, lines):
    """`lines`: the numbers of `lines_of`."""
    source = root.get("source") or {}
    if os.path.basename(source.get("file") or "") == f"{fault.net}.py" and source.get("line") in lines:
        return True
    near = fault.near if level == "L0" else ()
    parameter = root.get("parameter") or ""
    if "parameters" in near and root.get("kind") == "parameter" and (root.get("step") or 0) > 0:
        return True
    places = [place for place in (module_of(root.get("op_name")), parameter.rpartition(".")[0]) if place]
    return any(fnmatch.fnmatchcase(place, pattern) for place in places for pattern in (*fault.modules, *near))
