"""What `msdump check` says about a case, against its truth: with --first and without it names the same, a right one of
the right kind, step and line; of a healthy run it names none and has nothing worse than notes.
"""
from answers import fits, lines_of, run


def ask(msdump, tree, *options):
    return run(msdump, "check", "-d", tree, "--json", *options)


def answer_to(first, truth):
    """The root and the answer that fit; of what came in it is the name of the parameter that counts."""
    for root in truth["roots"]:
        for answer in root["any_of"]:
            name = first["op_name"] if answer["kind"] == "operator" else first["parameter"]
            if fits(name, answer):
                return root, answer
    return None, None


def judge_first(first, truth):
    if first is None:
        return [f"does not name {truth['preferred']}"] if truth["roots"] else [], []
    told = f"{first['kind']} {first['parameter'] or first['op_name']}, step {first['step']}"
    root, answer = answer_to(first, truth)
    if answer is None:
        if any(fits(first["op_name"], known) for known in truth["also_acceptable"]):
            return [], [f"names {told}"]
        return [f"accuses {told}"], []
    wrong, remarks = [], []
    if first["kind"] not in answer["kinds"]:
        wrong.append(f"kind {first['kind']}, not {'/'.join(answer['kinds'])}")
    if first["step"] != truth["step"]:
        wrong.append(f"step {first['step']}, not {truth['step']}")
    right = set(answer["source"]) | set(root["source"])
    if answer["source"] and not lines_of(first["source"]) & right:
        wrong.append(f"source {first['source']}, not {', '.join(sorted(right))}")
    # A number in the IR may be that of another operator in the files.
    if answer["kind"] == "operator" and not truth["lost"] and f"/{answer['in_file']}." not in first["path"]:
        wrong.append(f"shows {first['path']}")
    if first["inputs_finite"] and answer["kind"] == "operator" and not answer["inputs_finite"]:
        remarks.append("calls inputs finite that are not, or were not dumped")
    if truth["preferred"] not in answer["names"]:
        remarks.append(f"not the earliest: {truth['preferred']}")
    return wrong, remarks


def judge(msdump, folder, variant, truth):
    """What is wrong, and what is remarkable."""
    tree = f"{folder}/{variant}"
    expected = truth["expect_exit"] if variant == "bad" else truth["expect_exit_device"]
    wrong, firsts = [], []
    for options in (("--first",), ()):
        code, report, complaint = ask(msdump, tree, *options)
        if report is None:
            return [f"exit code {code}: {complaint}"], []
        if code not in expected:
            wrong.append(f"exit code {code} {' '.join(options)}, not {expected}")
        firsts.append(report["first"])
        if not truth["roots"] and not truth["also_acceptable"]:
            wrong += [f"{row['severity']} {row['kind']} of {row['op_name']} {row['io']} {row['slot']}: {row['message']}"
                      for row in report["rows"] if row["severity"] != "note"][:3]
    if firsts[0] != firsts[1]:
        wrong.append(f"another without --first: {firsts[1] and firsts[1]['op_name']}")
    wrong_first, remarks = judge_first(firsts[0], truth)
    return list(dict.fromkeys(wrong_first + wrong)), remarks
