"""What `msdump next --json` says, what a case came to, and the totals. ../planted/loop uses it too."""
import itertools
import json
import statistics
import subprocess
from dataclasses import dataclass, field

HALVES = ("fit", "held")
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


@dataclass
class Result:
    answer: Answer | None = None
    dumps: int = 0
    volume: int = 0
    whole: int = 0  # bytes of a tensor dump of everything
    level: str = ""  # of the last dump
    written: int = 0  # configurations of next
    refused: list = field(default_factory=list)  # of these, in words


def calls_of(entry):
    """It and the calls that it names beside it, of the nearest lines."""
    lines = {}
    for one in entry.get("candidates") or []:
        source = one.get("source")
        lines.setdefault(json.dumps(source) if source else one.get("op_name"), []).append(one)
    return [entry, *(one for line in list(lines.values())[:MOST_LINES] for one in line)]


def describe(entry):
    source = entry.get("source") or {}
    others = len(entry.get("candidates") or [])
    return (f"{entry.get('op_name') or entry.get('parameter')}:{source.get('line')} step {entry.get('step')} "
            f"{entry.get('kind')}" + (f" or {others}" if others else ""))


def share(result):
    return 100 * result.volume / result.whole


def write_totals(results):
    """`results`: (case, verdict, Result) each. Of a case `half`, `alone` and `fault` (None of a clean pair) are known."""
    for half, alone, clean in itertools.product(HALVES, (False, True), (False, True)):
        rows = [(verdict, result) for case, verdict, result in results
                if (case.half, case.alone, case.fault is None) == (half, alone, clean)]
        if not rows:
            continue
        counts = [verdict for verdict, _ in rows]
        dumps, shares = [result.dumps for _, result in rows], [share(result) for _, result in rows]
        print(f"{half}: {'without a reference, ' if alone else ''}"
              f"{'clean, ended in the first dump' if clean else 'faults, pinned'}: "
              f"{counts.count('right')} of {len(rows)}; wrong {counts.count('wrong')}, "
              f"not pinned {counts.count('not pinned')}, failed {counts.count('failed')}; "
              f"dumps {statistics.median(dumps):g} (most {max(dumps)}); "
              f"volume {statistics.median(shares):.2f} % (most {max(shares):.2f} %); "
              f"configurations accepted {sum(result.written - len(result.refused) for _, result in rows)} "
              f"of {sum(result.written for _, result in rows)}")
