"""truth.json of a case for `msdump check`: what the walk finds in the first step that shows something, where it is what
the case intends; what differs is a complaint.
"""
import os
from fnmatch import fnmatchcase

import numpy as np

from check_walk import Walk
from dumps import Dump
from truth import planted


def fits(found, pattern):
    return found.name == pattern if found.name else fits_node(found.node, pattern)


def fits_node(node, pattern):
    return fnmatchcase("/" + node.name, "*/" + pattern)


def in_script(case, node):
    """The line of the net's script that the operator is of: the innermost."""
    lines = [line for file, line in node.lines if file == f"{case.net}.py"]
    return [f"{case.net}.py:{lines[-1]}"] if lines else []


def describe(case, found):
    """An entry of any_of."""
    node = found.node
    names = [found.name] if found.name else names_of(node)
    return {
        "op": names[0], "type": "Parameter" if found.name else node.op_type, "graph": node.graph, "slot": found.slot,
        "kind": found.kind if found.name else "operator", "kinds": [found.kind], "step": found.step,
        "turn": found.turn, "inputs_finite": found.inputs_finite, "names": names,
        "read_by": node.name if found.name else None,
        "in_file": node.in_file,
        "in_dump": {"bad": found.name or node.name}, "in_ir": {"bad": found.name or node.saved_name},
        "source": [] if found.name or "rank_0/graphs/*" in case.lose else in_script(case, node)}


def names_of(node):
    return sorted({node.name, node.saved_name})


def also_acceptable(case, run):
    nodes = [node for node in run.operators() if any(fits_node(node, pattern) for pattern in case.also)]
    return [{"op": node.name, "type": node.op_type, "names": names_of(node)} for node in nodes]


def verify(case, found):
    complaints = []
    if found and case.faults and found[0].step != case.step:
        complaints.append(f"first step {found[0].step}")
    for fault in case.faults:
        for pattern in fault.names:
            kinds = {one.kind for one in found if fits(one, pattern)}
            if kinds != {fault.kind}:
                complaints.append(f"{pattern}: {sorted(kinds) or 'not seen'}, not {fault.kind}")
    patterns = [pattern for fault in case.faults for pattern in fault.names] + list(case.also)
    others = [one.name or one.node.name for one in found if not any(fits(one, pattern) for pattern in patterns)]
    return complaints + ([f"others: {others}"] if others else [])


def write_garbage(run, folder):
    """NaN in what no kernel wrote, as the memory may have held it."""
    dump = Dump(folder)
    walk = Walk(run, dump)
    for turn in walk.turns:
        written = {path for _, _, path in walk.results(turn)}
        for (io, _), path in turn.paths.items():
            if io == "output" and path not in written and turn.node.op_type in ("Adam", "BatchNorm"):
                array = np.load(path)
                os.remove(path)  # the run's own file is the same
                np.save(path, np.full_like(array, np.nan))


def key_of(found):
    return found.step, found.kind, found.name or found.node.name, found.slot, found.turn


def truth_of(case, run, folders):
    """`folders`: the dump, and the same rounded, which is a variant where the rounding has made no other truth."""
    _, places = planted(case)
    walks = {variant: Walk(run, Dump(folder)) for variant, folder in folders.items()}
    found, rounded = walks["bad"].first_step(), walks["bad_f16"].first_step()
    same = list(map(key_of, found)) == list(map(key_of, rounded)) and walks["bad"].given() == walks["bad_f16"].given()
    lines = [f"{place['file']}:{place['line']}" for place in places]
    roots = [{"any_of": [describe(case, one) for one in found if any(fits(one, name) for name in fault.names)],
              "kinds": [fault.kind], "source": lines} for fault in case.faults]
    exit_codes = [1] if case.faults else [0, 1] if case.also else [0]
    truth = {
        "schema": 1, "id": case.name, "net": case.net, "kind": case.what, "command": "check", "steps": case.steps,
        "step": case.step if case.faults else None, "planted": places, "lost": list(case.lose), "roots": roots,
        "also_acceptable": also_acceptable(case, run),
        "preferred": found[0].name or found[0].node.name if found else None,
        "guilty": [{"op": answer["op"], "type": answer["type"]} for root in roots for answer in root["any_of"]],
        "guilty_source": lines, "innocent_early": [], "expect_exit": exit_codes, "expect_exit_device": exit_codes,
        "ambiguous": case.ambiguous or None, "noise_level": None, "variants": ["bad", "bad_f16"] if same else ["bad"],
        "verified": {
            "method": "own walk: no input that is bad, an output that is",
            "roots": [one.name or one.node.name for one in found],
            "roots_rounded": [one.name or one.node.name for one in rounded]}}
    return truth, verify(case, found)
