"""What `msdump diff` says about a case, against its truth. Every root that it names is to be a right answer, and every
fault that can be seen is to be named.
"""
import os

from answers import fits, lines_of, run

UNREADABLE = (2, 4)  # usage and internal errors: no answer at all


def remarks_about(found, root, answer, truth):
    """What is right about the operator and wrong about the rest."""
    remarks = []
    if found["kind"] not in answer["kinds"]:
        remarks.append(f"kind {found['kind']}, not {'/'.join(answer['kinds'])}")
    if found["step"] is not None and found["step"] < truth["first_step"]:
        remarks.append(f"step {found['step']}, not {truth['first_step']}")
    right = set(root["source"]) | set(answer["source"])
    if answer["source"] and not lines_of(found["source"], *(found["stack"] or [])) & right:
        remarks.append(f"no source of {', '.join(sorted(right))}")
    return remarks


def judge_roots(divergences, truth, variant):
    wrong, remarks, named = [], [], set()
    for found in divergences:
        answers = [(number, answer) for number, root in enumerate(truth["roots"]) for answer in root["any_of"]
                   if fits(found["op_name"], answer)]
        if answers:
            number, answer = answers[0]
            named.add(number)
            remarks += remarks_about(found, truth["roots"][number], answer, truth)
        elif not any(fits(found["op_name"], answer) for answer in truth["also_acceptable"]):
            wrong.append(f"accuses {found['op_name']} ({found['kind']})")
    if truth["must_be_named"].get(variant, False):
        for number, root in enumerate(truth["roots"]):
            if number not in named:
                wrong.append(f"does not name {root['any_of'][0]['op']}")
    return wrong, remarks


def count(divergences, truth, variant):
    """For the table: is the first root right, are all faults named, how many innocent operators are."""
    hits = [next((number for number, root in enumerate(truth["roots"]) if any(
        fits(found["op_name"], answer) for answer in root["any_of"])), None) for found in divergences]
    verdicts = [hit is not None or (None if any(fits(found["op_name"], answer) for answer in truth["also_acceptable"])
                                    else False) for found, hit in zip(divergences, hits)]
    kind = "silent" if not truth["roots"] else "fault" if truth["must_be_named"].get(variant) else "too small to see"
    return {"kind": kind, "cases": 1, "first right": hits[:1] not in ([], [None]),
            "all right": bool(truth["roots"]) and set(hits) >= set(range(len(truth["roots"]))),
            "innocent": verdicts.count(False), "with innocent": False in verdicts, "nothing named": not divergences,
            "roots": [(verdict, found) for found, verdict in zip(divergences, verdicts)]}


def judge(msdump, folder, variant, truth):
    """What is wrong, what is remarkable, and what to count."""
    of_form = f"{folder}/{variant.replace('bad', 'ref')}"
    reference = of_form if os.path.isdir(of_form) else f"{folder}/ref"
    code, report, complaint = run(msdump, "diff", "--json", f"{folder}/{variant}", reference)
    if report is None or code in UNREADABLE:
        return [f"exit code {code}: {complaint}"], [], {}
    wrong, remarks = judge_roots(report["first_divergence"], truth, variant)
    expected = truth["expect_exit"] if variant == "bad" else truth["expect_exit_device"]
    if code not in expected:
        remarks.append(f"exit code {code}, not {expected}")
    return wrong, remarks, count(report["first_divergence"], truth, variant)
