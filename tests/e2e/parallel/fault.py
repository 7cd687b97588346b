"""A fault: what is changed in the scripts of a cut run, and where a right answer lies.

Lines are called by the marker at their end ("# @row"), in the net's script or in what it imports. A root is right on
one of `lines`, or at the operator where a rank in `ranks` (none given: any) first differs from the same run without the
fault (fault_truth.py finds it by the bytes). `near` are the lines that read a wrong value first when the operator that
made it, or that is missing, is not in the dump: a root there is right, too. `check`: what the run shows without a
reference: `replica` (ranks differ in what they should share), `collective` (a result is not what its inputs give),
`nan` (where the first number is made that is not finite), `missing` (ranks), or nothing.
"""
import pathlib
from dataclasses import dataclass, replace

from cases import PAIRS, RUNS

NETS = pathlib.Path(__file__).resolve().parent / "nets"
IMPORTED = ("parallel", "attention")  # what the scripts of the nets share


@dataclass
class Fault:
    name: str
    what: str
    base: str  # the run of cases.py that is changed
    changes: tuple  # (script, old, new), each text once in the script
    lines: tuple
    ranks: tuple = ()
    near: tuple = ()
    check: str = ""
    statistics: bool = False
    removed: tuple = ()  # folders of the dump
    reference: str = ""  # the run that it is compared with, where that is not the whole one

    @property
    def script(self):
        return RUNS[self.base].script


FAULTS = []


def pair_of(fault):
    return next(pair for pair in PAIRS if pair.candidate == fault.base and (
        pair.reference == fault.reference if fault.reference else pair.reference.endswith("whole")))


def fault(name, what, base, changes, lines, **more):
    """`changes`: one or several of (old, new), in the script of the net or in what it imports."""
    changes = changes if isinstance(changes[0], tuple) else (changes,)
    changes = tuple((script_with(old, RUNS[base].script), old, new) for old, new in changes)
    FAULTS.append(Fault(name, what, base, changes, lines.split(), near=tuple(more.pop("near", "").split()), **more))


def again(name, base):
    """A fault in another run of the same script."""
    known = next(fault for fault in FAULTS if fault.name == name)
    FAULTS.append(replace(known, name=f"{name}-in-{base}", base=base))


def script_with(text, script):
    for name in (script, *IMPORTED):
        if text in (NETS / f"{name}.py").read_text("utf-8"):
            return name
    raise ValueError(f"{text!r} is in no script of {script}")


def started(base, statement):
    """A statement after the model is made."""
    old = {"gpt_parallel": "model = ParallelGPT(run)", "moe_parallel": "model = MoENet(run).to(run.precision)",
           "conv_parallel": "p = make_parameters(run)"}[RUNS[base].script]
    return old, f"{old}; {statement}"


def before_step(base, statement):
    """A statement before the forward of a step, which is in the dump if msprobe knows what it calls."""
    old = {"gpt_parallel": "            mark_norms(run, model)\n", "moe_parallel": "        with run.step(model):\n",
           "conv_parallel": "        with run.step(torch.nn.Identity()):\n"}[RUNS[base].script]
    spaces = " " * 12
    if old.startswith(spaces):
        return old, f"{spaces}{statement}\n{old}"
    return old, f"        {statement}\n{old}"


def flip(tensor, place=5, bit=24):
    """A bit of the exponent of one element, as broken memory has it; numpy is not in the dump."""
    return f"{tensor}.detach().numpy().reshape(-1).view('i4')[{place}] ^= 1 << {bit}"


def corrupted(name, what, base, collective, result, rank, lines, call=3):
    """Below msprobe: it sees the arguments and the result of a call that did something else."""
    FAULTS.append(Fault(name, what, base, (("run", "        torch.manual_seed(1)\n",
                  f"        torch.manual_seed(1); right, calls = dist.{collective}, []\n\n"
                  f"        def other(*a, **k):\n"
                  f"            done = right(*a, **k)\n"
                  f"            calls.append(1)\n"
                  f"            if self.rank == {rank} and len(calls) == {call}:\n"
                  f"                {flip(result, 3)}\n"
                  f"            return done\n"
                  f"        dist.{collective} = other\n"),), lines.split(), (rank,), check="collective"))


def missing(name, what, base, folders, ranks):
    """The dump without these folders: step<N>/rank<R>."""
    FAULTS.append(Fault(name, what, base, (), [], ranks, check="missing", removed=folders))
