"""What `msdump next --json` says, and whether it is right."""
import json
import subprocess
from dataclasses import dataclass, field

from cases import script_of
from truth import is_right, lines_of, markers

MOST_LINES = 4  # of which an answer may name calls beside its first: as many as its text shows


@dataclass
class Answer:
    state: str  # pinned, nothing, asked; or failed
    pinned: list = field(default_factory=list)
    text: str = ""  # why it failed
    asked: bool = False  # the exit code said that there are configurations of a next round


def read_answer(code, text, errors):
    try:
        said = json.loads(text)
        state, pinned = said["state"], [row for row in said["rows"] if row["state"] == "pinned"]
    except (json.JSONDecodeError, KeyError, TypeError):
        return Answer("failed", text=f"exit {code}, no document: {errors.strip()[-200:]}")
    if code not in (0, 1) or (code == 0) != (state == "asked"):
        return Answer("failed", text=f"exit {code} with state '{state}': {errors.strip()[-200:]}")
    return Answer(state, pinned, asked=code == 0)


def ask(msdump, *arguments):
    try:
        done = subprocess.run([msdump, "next", *arguments, "--json"], capture_output=True, text=True, check=False,
                              timeout=300)
    except subprocess.TimeoutExpired:
        return Answer("failed", text="no answer in 300 s")
    return read_answer(done.returncode, done.stdout, done.stderr)


def calls_of(entry):
    """It and the calls that it names beside it, of the nearest lines."""
    lines = {}
    for one in entry.get("candidates") or []:
        source = one.get("source")
        lines.setdefault(json.dumps(source) if source else one.get("op_name"), []).append(one)
    return [entry, *(one for line in list(lines.values())[:MOST_LINES] for one in line)]


def rights(case, level, pinned):
    """Of each entry whether it is the fault. `level`: of the last dump."""
    named = markers(script_of(case.net))
    lines = {named[line] for line in lines_of(case.fault, level)} if case.fault else set()
    return [bool(case.fault) and any(is_right(one, case.fault, level, lines) for one in calls_of(entry))
            for entry in pinned]


def describe(entry):
    source = entry.get("source") or {}
    others = len(entry.get("candidates") or [])
    return (f"{entry.get('op_name') or entry.get('parameter')}:{source.get('line')} step {entry.get('step')} "
            f"{entry.get('kind')}" + (f" or {others}" if others else ""))
