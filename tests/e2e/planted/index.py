"""INDEX.md: a row for every case that is there."""
import json
import os

import check_cases
from cases import ALL

HEAD = """# Planted faults: made with MindSpore 2.10.0 on the CPU

`ref`, `bad` (the same script with the planted line), `bad_f16` (`bad` rounded to float16), `truth.json`.
"""
DIFF = """
For `msdump diff`; `must`: whether the fault must be named in bad / bad_f16.

| case | net, steps | fault | right answers | must | effect |
|---|---|---|---|---|---|
"""
CHECK = """
For `msdump check`; without a right answer the run is healthy.

| case | net, steps | fault | right answers | step | variants |
|---|---|---|---|---|---|
"""


def truths(out, cases):
    for case in cases:
        path = f"{out}/{case.name}/truth.json"
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                yield case, json.load(file)


def right_answers(truth):
    return "; ".join(" or ".join(answer["op"].rsplit("/", 2)[-1] for answer in root["any_of"][:3])
                     for root in truth["roots"]) or "none"


def diff_row(case, truth):
    must = "/".join("yes" if truth["must_be_named"][variant] else "no" for variant in ("bad", "bad_f16"))
    effect = "" if truth["effect"] is None else f"{truth['effect']:.1e}"
    return f"| {case.name} | {case.net}, {case.steps} | {case.what} | {right_answers(truth)} | {must} | {effect} |\n"


def check_row(case, truth):
    step = "" if truth["step"] is None else truth["step"]
    return (f"| {case.name} | {case.net}, {case.steps} | {case.what} | {right_answers(truth)} | {step} | "
            f"{', '.join(truth['variants'])} |\n")


def write_index(out):
    text = HEAD
    for head, row, cases in ((DIFF, diff_row, ALL), (CHECK, check_row, check_cases.ALL)):
        rows = [row(case, truth) for case, truth in truths(out, cases)]
        text += head + "".join(rows) if rows else ""
    if os.path.isdir(f"{out}/must_pass"):
        passing = ", ".join(sorted(os.listdir(f"{out}/must_pass")))
        text += f"\n`must_pass/`, where nothing may be named: {passing}\n"
    with open(f"{out}/INDEX.md", "w", encoding="utf-8") as file:
        file.write(text)
