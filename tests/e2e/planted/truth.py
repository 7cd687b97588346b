"""truth.json of a case: the operators of its changed line, as the dump files and the IR call them, what the fault does
there, and whether an own walk over both runs agrees. The form is that of the planted dumps msdump was first tried with.
"""
import os

from cases import NETS
from walk import walk

HERE = os.path.dirname(os.path.abspath(__file__))
# In units of |b| + rms(b): what a fault must do to be seen in float32, and next to the noise of float16.
SEEN_IN_FLOAT32, SEEN_IN_FLOAT16 = 2e-4, 1.5e-2


def planted(case):
    """The text of the net with its lines changed, and where: (line, old, new)."""
    with open(f"{HERE}/nets/{case.net}.py", encoding="utf-8") as file:
        lines = file.read().splitlines()
    places = []
    for old, new in case.changes:
        hits = [number for number, line in enumerate(lines) if old in line]
        assert len(hits) == 1, (case.name, old, hits)
        lines[hits[0]] = lines[hits[0]].replace(old, new)
        places.append({"file": f"{case.net}.py", "line": hits[0] + 1, "old": old, "new": new})
    return "\n".join(lines) + "\n", places


def find(run, end):
    """The operator whose name ends so."""
    hits = [node for node in run.operators() if ("/" + node.name).endswith("/" + end)]
    assert len(hits) == 1, (run.folder, end, [node.name for node in hits])
    return hits[0]


def both_ends(operator):
    ends = [end.strip() for end in operator.split("->")]
    return ends * 2 if len(ends) == 1 else ends


def describe(ref, bad, operator, kinds):
    """An entry of any_of."""
    nodes = [find(run, end) if end else None for run, end in zip((ref, bad), both_ends(operator))]
    return describe_nodes(*nodes, kinds)


def describe_nodes(ref, bad, kinds):
    nodes = {side: node for side, node in (("ref", ref), ("bad", bad)) if node}
    some = nodes.get("bad") or nodes["ref"]
    lines = {f"{file}:{line}" for node in nodes.values() for file, line in node.lines if file[:-3] in NETS}
    return {
        "op": some.name, "type": some.op_type, "graph": some.graph, "kinds": list(kinds),
        "in_dump": {side: node.name for side, node in nodes.items()},
        "in_ir": {side: node.saved_name for side, node in nodes.items()},
        "names": sorted({name for node in nodes.values() for name in (node.name, node.saved_name)}),
        "source": sorted(lines)}


def describe_parameter(name, kinds):
    kinds = [kind for kind in kinds if kind in ("parameter", "input")]
    return {"op": name, "type": "Parameter", "kinds": kinds, "names": [name], "source": []}


def side_effects(found, ref, bad):
    """What the changed line did besides: what holds a changed constant, as gradients do, what is new, what is gone."""
    changed = [(pair.ref, pair.bad) for pair in found.pairs if pair.constants]
    of_ref = {id(node) for node in ref.operators()}
    return changed + [(node, None) if id(node) in of_ref else (None, node) for node in found.alone]


def innocent(found, known):
    """The first operators that differ because something in front of them does."""
    pairs = sorted((pair for pair in found.pairs if pair.effect()), key=lambda pair: (pair.bad.graph, pair.bad.index))
    return [{"op": pair.bad.name, "reason": "downstream"} for pair in pairs if pair.bad.name not in known][:20]


def measured(case, found, run):
    """What the fault does where it is, in units of |b| + rms(b)."""
    if case.measured_at:
        pair = next(pair for pair in found.pairs if pair.ref is find(run, both_ends(case.measured_at)[0]))
        return max(pair.inputs.values())
    effects = []
    for root in case.roots:
        ends = {both_ends(operator)[0] for operator in root.operators}
        effect = max((pair.effect() for pair in found.pairs
                      if any(("/" + pair.ref.name).endswith("/" + end) for end in ends if end)), default=0.0)
        changed = [value for name, (_, value, _) in found.parameters().items() if name in root.parameters]
        effects.append(max([effect, *changed]))
    return min(effects, default=None)


def is_float32_on_a_device(case):
    """What keeps its precision in bad_f16."""
    return all(root.parameters or all("optimizer-" in name or "Momentum" in name for name in root.operators)
               for root in case.roots)


def nodes_of(ref, bad, operators):
    """By identity: one name may be two operators in two runs."""
    return {id(find(run, end)) for operator in operators for run, end in zip((ref, bad), both_ends(operator)) if end}


def verify(case, found, ref, bad):
    """What the walk finds, and complaints where it contradicts the case."""
    if case.noise:
        return {"method": "none to the bit: all weights differ", "roots": []}, []
    roots, parameters, complaints = found.roots(), found.parameters(), []
    seen = {id(node) for pair in roots for node in (pair.ref, pair.bad)} | {id(node) for node in found.alone}
    seen |= {id(node) for pair in found.pairs if pair.blind and pair.constants for node in (pair.ref, pair.bad)}
    known, known_parameters = nodes_of(ref, bad, case.also), set()
    for root in case.roots:
        nodes = nodes_of(ref, bad, root.operators)
        if not nodes & seen and not parameters.keys() & set(root.parameters) and not case.rewired:
            complaints.append(f"not seen: {root}")
        known |= nodes
        known_parameters |= set(root.parameters)
    others = [pair.bad.name for pair in roots if id(pair.bad) not in known]
    others += [name for name in parameters if name not in known_parameters]
    if others:
        complaints.append(f"others: {others}")
    steps = [pair.faulty(0.0) for pair in roots] + [step for step, _, _ in parameters.values()]
    if roots and not case.structure and not known_parameters and min(steps) != case.first_step:
        complaints.append(f"first step {min(steps)}")
    return {
        "method": "own walk: inputs equal to the bit, outputs not", "roots": sorted(pair.bad.name for pair in roots),
        "parameters": sorted(parameters), "alone": sorted(node.name for node in found.alone), "others": others
    }, complaints


def truth_of(case, ref, bad):
    _, places = planted(case)
    found = walk(ref, bad)
    verified, complaints = verify(case, found, ref, bad)
    lines = [f"{place['file']}:{place['line']}" for place in places]
    effect = measured(case, found, ref)
    seen = {"bad": True, "bad_f16": True}
    if effect is not None and not case.noise:
        seen["bad"] = effect > SEEN_IN_FLOAT32
        seen["bad_f16"] = effect > (SEEN_IN_FLOAT32 if is_float32_on_a_device(case) else SEEN_IN_FLOAT16)
    seen.update(case.seen)
    roots = [{"any_of": [describe(ref, bad, operator, root.kinds) for operator in root.operators] +
                        [describe_parameter(name, root.kinds) for name in root.parameters],
              "kinds": list(root.kinds), "source": lines} for root in case.roots]
    known = {name for root in roots for answer in root["any_of"] for name in answer["names"]}
    also = [describe(ref, bad, operator, ("value", "missing")) for operator in case.also]
    taken = nodes_of(ref, bad, [operator for root in case.roots for operator in root.operators] + list(case.also))
    also += [describe_nodes(*nodes, ("value", "missing")) for nodes in side_effects(found, ref, bad)
             if (case.roots or case.also) and not {id(node) for node in nodes} & taken]
    truth = {
        "schema": 1, "id": case.name, "net": case.net, "kind": case.what, "command": "diff", "steps": case.steps,
        "first_step": case.first_step, "planted": places, "roots": roots, "also_acceptable": also,
        "guilty": [{"op": root["any_of"][0]["op"], "type": root["any_of"][0]["type"]} for root in roots],
        "guilty_source": lines, "innocent_early": innocent(found, known), "expect_exit": list(case.exit_codes),
        "expect_exit_device": [0, 1] if not (case.roots and seen["bad_f16"]) else [1],
        "ambiguous": case.ambiguous or None, "noise_level": case.noise or None, "effect": effect,
        "must_be_named": {variant: bool(case.roots) and seen[variant] for variant in seen},
        "variants": ["bad", "bad_f16"], "verified": verified}
    return truth, complaints
